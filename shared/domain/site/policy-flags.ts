import { hostAsInUrls } from './policy-rules.ts';
import type { BlockedPath, Hours, SitePolicy } from './site-policy.ts';

/** Two times of day, in any time zone. */
export type Times = Pick<Hours, 'from' | 'to'>;

/** The command-line options for changing a policy. Absent options change nothing. */
export interface PolicyFlags {
    block?: true;
    unblock?: true;
    writes?: 'on' | 'off';
    rpm?: number | 'none';
    /** False for `--no-hours`. */
    hours?: Times | false;
    timezone?: string;
    blockPath?: BlockedPath[];
    unblockPath?: BlockedPath[];
}

type ChangedPolicy = { ok: true; policy: SitePolicy } | { ok: false; problem: string };

/** Applies the options to a policy; `problem` names the option that contradicts another setting. */
export function changePolicy(before: SitePolicy, flags: PolicyFlags): ChangedPolicy {
    const { block, unblock, writes, rpm, blockPath = [], unblockPath = [] } = flags;
    if (block === true && unblock === true) return { ok: false, problem: '--block and --unblock contradict each other' };
    const strange = unblockPath.find((path) => !isNamed(before.blocked_paths, path));
    if (strange !== undefined) {
        return {
            ok: false,
            problem: `${strange.host}${strange.path_prefix} is not blocked; run the command without options to see the policy`,
        };
    }
    const hours = changeHours(before.hours, flags);
    if (!hours.ok) return hours;
    const kept = before.blocked_paths.filter((path) => !isNamed(unblockPath, path));
    const policy = {
        blocked: block === true || (before.blocked && unblock !== true),
        writes: writes === undefined ? before.writes : writes === 'on',
        blocked_paths: [...kept, ...blockPath.filter((path) => !isNamed(kept, path))],
        requests_per_minute: rpm === 'none' ? null : (rpm ?? before.requests_per_minute),
        hours: hours.hours,
    };
    return { ok: true, policy };
}

function isNamed(paths: readonly BlockedPath[], { host, path_prefix }: BlockedPath): boolean {
    return paths.some((path) => path.host === host && path.path_prefix === path_prefix);
}

type ChangedHours = { ok: true; hours: Hours | null } | { ok: false; problem: string };

function changeHours(before: Hours | null, { hours, timezone }: PolicyFlags): ChangedHours {
    if (hours === false) {
        return timezone === undefined
            ? { ok: true, hours: null }
            : { ok: false, problem: '--no-hours and --timezone contradict each other' };
    }
    const times = hours ?? before;
    if (times === null) {
        if (timezone === undefined) return { ok: true, hours: null };
        return { ok: false, problem: '--timezone needs --hours, such as --hours 09:00-17:00' };
    }
    const zone = timezone ?? before?.timezone;
    if (zone === undefined) return { ok: false, problem: '--hours needs --timezone, such as --timezone Europe/Berlin' };
    return { ok: true, hours: { from: times.from, to: times.to, timezone: zone } };
}

/** Parses `22:00-06:00`; undefined for any other text, and for an empty period. */
export function readTimes(text: string): Times | undefined {
    const [, from, to] = /^((?:[01]\d|2[0-3]):[0-5]\d)-((?:[01]\d|2[0-3]):[0-5]\d)$/.exec(text) ?? [];
    return from === undefined || to === undefined || from === to ? undefined : { from, to };
}

/** Parses `www.shop.example/admin`; undefined for any other text. */
export function readBlockedPath(text: string): BlockedPath | undefined {
    const [, written = '', path_prefix] = /^([^/\s]+)(\/\S*)$/.exec(text) ?? [];
    const host = hostAsInUrls(written);
    return host === '' || path_prefix === undefined ? undefined : { host, path_prefix };
}

export function policyRows({ blocked, writes, blocked_paths: paths, requests_per_minute: pace, hours }: SitePolicy): [string, string][] {
    const [first = 'none', ...more] = paths.map(({ host, path_prefix }) => `${host}${path_prefix}`);
    return [
        ['blocked', blocked ? 'yes: nothing is called, looked up or published' : 'no'],
        ['writes', writes ? 'on' : 'off: nothing that may change the site is called'],
        ['pace', pace === null ? 'not limited' : `${pace} requests a minute`],
        ['hours', hours === null ? 'always' : `${hours.from} to ${hours.to} (${hours.timezone})`],
        ['blocked paths', first],
        ...more.map((path): [string, string] => ['', path]),
    ];
}
