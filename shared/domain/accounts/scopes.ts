import ipaddr from 'ipaddr.js';
import { Refusal } from '../../refusals.ts';
import { ENDPOINT_NAME } from '../package/endpoint.ts';
import { normaliseSite } from '../site/site-name.ts';
import { isId } from '../text/ids.ts';
import type { Effect } from '../types.ts';

export const ROUTE_SCOPES = ['fetch', 'catalog', 'jobs', 'publish', 'maintain', 'account'] as const;
export type RouteScope = (typeof ROUTE_SCOPES)[number];
export const EFFECTS = ['read', 'write'] as const;

/** In each part, null means all. */
export interface Scopes {
    effects: readonly Effect[];
    /** Exact, normalised names. */
    sites: readonly string[] | null;
    /** Names of endpoints, on every site that the key may use. */
    endpoints: readonly string[] | null;
    /** Connection ids; empty: none. */
    connections: readonly string[] | null;
    routes: readonly RouteScope[];
    /** Addresses and CIDR ranges from which the key may be used. */
    ip_allow: readonly string[] | null;
}

const MAX_SITES = 100;
const MAX_ENDPOINTS = 100;
const MAX_CONNECTIONS = 100;
const MAX_RANGES = 50;

/** The scopes of keys that operators create. */
export const EVERY_SCOPE: Scopes = {
    effects: EFFECTS,
    sites: null,
    endpoints: null,
    connections: null,
    routes: ROUTE_SCOPES,
    ip_allow: null,
};

/** The scopes of keys that were created before scopes existed, and of the demo key. Also the default of `api_keys.scopes`. */
export const EARLIER_SCOPES: Scopes = { ...EVERY_SCOPE, connections: [], routes: ROUTE_SCOPES.filter((route) => route !== 'maintain') };

/** The preselected scopes of a new key. */
export const FIRST_SCOPES: Scopes = { ...EARLIER_SCOPES, routes: ['fetch', 'catalog', 'jobs', 'account'] };

/** The scopes of a key for an agent: only reads, without connections and account data. */
export const AGENT_SCOPES: Scopes = { ...EARLIER_SCOPES, effects: ['read'], routes: ['fetch', 'catalog', 'jobs'] };

/** A missing scope, and the value that the call requires. */
interface Lack {
    part: 'effects' | 'sites' | 'endpoints' | 'connections' | 'routes' | 'ip_allow';
    needs: string;
}

export interface KeyScopes {
    listed: Scopes;
    allowsAddress(address: string): boolean;
}

/** Parses the scopes of a key. Runs once each time the key is loaded. */
export function prepareScopes(listed: Scopes): KeyScopes {
    const ranges = listed.ip_allow?.map(parseRange);
    return {
        listed,
        allowsAddress: (address) =>
            ranges === undefined || (ipaddr.isValid(address) && ranges.some((range) => covers(range, ipaddr.process(address)))),
    };
}

/** The parts that people write as lists of names. */
export type ListedPart = 'sites' | 'endpoints' | 'connections' | 'ip_allow';

/** `read` normalises a value; undefined if it is not of this kind. */
const LISTS: Readonly<Record<ListedPart, { read: (text: string) => string | undefined; kind: string; max: number }>> = {
    sites: { read: readSite, kind: 'the name of a site', max: MAX_SITES },
    endpoints: { read: (text) => (ENDPOINT_NAME.test(text) ? text : undefined), kind: 'the name of an endpoint', max: MAX_ENDPOINTS },
    connections: { read: (text) => (isId('con', text) ? text : undefined), kind: 'the id of a connection', max: MAX_CONNECTIONS },
    ip_allow: { read: readRange, kind: 'an address or a range such as 203.0.113.0/24', max: MAX_RANGES },
};

function readSite(text: string): string | undefined {
    const name = normaliseSite(text);
    return name.ok ? name.site : undefined;
}

function readRange(text: string): string | undefined {
    const range = parseRange(text);
    return range && `${range[0].toString()}/${range[1]}`;
}

/** Parses a list that is separated by commas or white space. An empty text gives null: all. */
export function readScopeList(part: ListedPart, text: string): { ok: true; values: string[] | null } | { ok: false; message: string } {
    const { read, kind, max } = LISTS[part];
    const written = text.split(/[\s,]+/).filter((piece) => piece !== '');
    if (written.length > max) return { ok: false, message: `At most ${max} of them are accepted` };
    const values = new Set<string>();
    for (const piece of written) {
        const value = read(piece);
        if (value === undefined) return { ok: false, message: `${piece.slice(0, 100)} is not ${kind}` };
        values.add(value);
    }
    return { ok: true, values: values.size === 0 ? null : [...values] };
}

/** Whether `next` allows anything that `before` does not. */
export function isWider(next: Scopes, before: Scopes): boolean {
    if (NAMED_PARTS.some((part) => isMore(next[part], before[part]))) return true;
    const { ip_allow: ranges } = before;
    return ranges !== null && !next.ip_allow?.every((text) => ranges.some((range) => isWithin(text, range)));
}

const NAMED_PARTS = ['effects', 'sites', 'endpoints', 'connections', 'routes'] as const;

function isMore(next: readonly string[] | null, before: readonly string[] | null): boolean {
    if (before === null) return false;
    return next === null || next.some((value) => !before.includes(value));
}

type Range = [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

function parseRange(text: string): Range | undefined {
    // The library also reads 10.1 as 10.0.0.1, and 010.0.0.1 as 8.0.0.1.
    const [host = ''] = text.split('/');
    if (!host.includes(':') && !ipaddr.IPv4.isValidFourPartDecimal(host)) return undefined;
    try {
        const [address, bits] = text.includes('/') ? ipaddr.parseCIDR(text) : [ipaddr.parse(text), undefined];
        // Converts an IPv4-mapped IPv6 address to IPv4, because connections show the IPv4 address.
        if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress()) {
            return [address.toIPv4Address(), Math.max(0, (bits ?? 128) - 96)];
        }
        return [address, bits ?? (address.kind() === 'ipv4' ? 32 : 128)];
    } catch {
        return undefined;
    }
}

function covers(range: Range | undefined, address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
    return range !== undefined && range[0].kind() === address.kind() && address.match(range);
}

function isWithin(inner: string, outer: string): boolean {
    const [small, large] = [parseRange(inner), parseRange(outer)];
    return small !== undefined && large !== undefined && small[1] >= large[1] && covers(large, small[0]);
}

/** The 403 that names the missing scope. */
export function missingScope({ part, needs }: Lack, why = ''): Refusal {
    const message =
        part === 'ip_allow'
            ? `This key may not be used from ${needs} (scope ip_allow).`
            : `This key lacks the scope ${needs} (${part}).${why === '' ? '' : ` ${why}`}`;
    return new Refusal('FORBIDDEN', message, { details: [{ path: '', code: 'SCOPE_MISSING', message: `${part}: ${needs}` }] });
}
