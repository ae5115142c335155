import type { SitePolicy } from '../../../shared/domain/site/site-policy.ts';
import type { ErrorBody } from '../../../shared/refusals.ts';
import { type Fields, keepTyped, type Problems, problemsAt } from '../fields.ts';

/** Maximum number of rows of blocked paths that the API accepts. The form shows `EMPTY_ROWS` more rows than are filled in. */
const MAX_ROWS = 100;
const EMPTY_ROWS = 3;

export interface PolicyFields {
    blocked: boolean;
    writes: boolean;
    rows: { host: string; path: string; hostName: string; pathName: string }[];
    requests_per_minute: string;
    from: string;
    to: string;
    timezone: string;
}

/** The form's values for a stored policy. */
export function shownPolicy({ blocked, writes, blocked_paths: paths, requests_per_minute: pace, hours }: SitePolicy): PolicyFields {
    return {
        blocked,
        writes,
        rows: rowsOf(paths.map(({ host, path_prefix: path }) => ({ host, path }))),
        requests_per_minute: pace === null ? '' : String(pace),
        from: hours?.from ?? '',
        to: hours?.to ?? '',
        timezone: hours?.timezone ?? 'UTC',
    };
}

/** The form's values as they were sent. */
export function typedPolicy(fields: Fields): PolicyFields {
    const shown = keepTyped(fields);
    const text = (name: string) => shown[name] ?? '';
    const last = Math.max(-1, ...sentRows(fields).map(({ place }) => place));
    const rows = Array.from({ length: last + 1 }, (_, place) => ({ host: text(hostName(place)), path: text(pathName(place)) }));
    return {
        blocked: fields.has('blocked'),
        writes: fields.has('writes'),
        rows: rowsOf(rows),
        requests_per_minute: text('requests_per_minute'),
        from: text('from'),
        to: text('to'),
        timezone: text('timezone') === '' ? 'UTC' : text('timezone').slice(0, 64),
    };
}

/** Builds the API's request body from the form. `rows` maps the paths in the body to rows of the form. */
export function orderOf(fields: Fields): { body: object; rows: number[] } {
    const text = (name: string) => (fields.get(name) ?? '').toWellFormed().trim();
    const rows = sentRows(fields);
    const [pace, from, to] = [text('requests_per_minute'), text('from'), text('to')];
    const body = {
        blocked: fields.has('blocked'),
        writes: fields.has('writes'),
        blocked_paths: rows.map(({ host, path }) => ({ host, path_prefix: path })),
        // A text that is not a number is passed on, so that the API rejects it.
        requests_per_minute: pace === '' ? null : /^\d{1,15}(\.\d{1,15})?$/.test(pace) ? Number(pace) : pace,
        hours: from === '' && to === '' ? null : { from, to, timezone: text('timezone') },
    };
    return { body, rows: rows.map(({ place }) => place) };
}

export function problemsOf(refused: ErrorBody, { domain, rows }: { domain: string; rows: readonly number[] }): Problems {
    return problemsAt(refused, ({ path, message }) => {
        const [field, place = '', part] = path.slice(1).split('/');
        const row = field === 'blocked_paths' ? rows[Number(place)] : undefined;
        if (row !== undefined && part === 'host') return [hostName(row), `Enter ${domain} or one of its hosts, such as www.${domain}.`];
        if (row !== undefined) return [pathName(row), 'Start with /. Use at most 1,001 characters, without spaces or accents.'];
        if (field === 'requests_per_minute') return [field, 'Use a whole number from 1 to 1,000,000, or leave it empty.'];
        if (field === 'hours' && place === 'timezone') return ['timezone', 'Choose a time zone.'];
        return field === 'hours' && place !== '' ? [place, hourProblem(message)] : ['', message];
    });
}

function hourProblem(message: string): string {
    return message.includes('the same') ? 'Start and end are the same.' : 'Enter both times, such as 09:00.';
}

/** The rows that are not empty, each with its place in the form. */
function sentRows(fields: Fields): { place: number; host: string; path: string }[] {
    const read = (name: string) => (fields.get(name) ?? '').toWellFormed().trim();
    return Array.from({ length: MAX_ROWS }, (_, place) => ({ place, host: read(hostName(place)), path: read(pathName(place)) })).filter(
        ({ host, path }) => host !== '' || path !== '',
    );
}

function rowsOf(filled: readonly { host: string; path: string }[]): PolicyFields['rows'] {
    const count = Math.min(MAX_ROWS, filled.length + EMPTY_ROWS);
    return Array.from({ length: count }, (_, place) => ({
        host: filled[place]?.host ?? '',
        path: filled[place]?.path ?? '',
        hostName: hostName(place),
        pathName: pathName(place),
    }));
}

function hostName(place: number): string {
    return `host_${place}`;
}

function pathName(place: number): string {
    return `path_${place}`;
}
