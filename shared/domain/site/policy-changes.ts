import type { JsonObject } from '../types.ts';
import type { BlockedPath, Hours, SitePolicy } from './site-policy.ts';

/** Maximum number of paths in one audit entry, and of characters of each. */
const MAX_PATHS = 20;
const MAX_LETTERS = 200;

/** Fields that differ between two policies. */
export function changesOfPolicy(before: SitePolicy, after: SitePolicy): JsonObject {
    const changes: JsonObject = {};
    if (before.blocked !== after.blocked) changes['blocked'] = after.blocked;
    if (before.writes !== after.writes) changes['writes'] = after.writes;
    const added = missingIn(before.blocked_paths, after.blocked_paths);
    const removed = missingIn(after.blocked_paths, before.blocked_paths);
    if (added.length > 0) changes['blocked_paths_added'] = shorten(added);
    if (removed.length > 0) changes['blocked_paths_removed'] = shorten(removed);
    if (before.requests_per_minute !== after.requests_per_minute) changes['requests_per_minute'] = after.requests_per_minute;
    if (textOf(before.hours) !== textOf(after.hours)) changes['hours'] = textOf(after.hours);
    return changes;
}

function missingIn(paths: readonly BlockedPath[], of: readonly BlockedPath[]): string[] {
    const known = new Set(paths.map(textOfPath));
    return of.map(textOfPath).filter((text) => !known.has(text));
}

function textOfPath({ host, path_prefix: prefix }: BlockedPath): string {
    return host + prefix;
}

function shorten(texts: readonly string[]): string[] {
    const shown = texts.slice(0, MAX_PATHS).map((text) => (text.length > MAX_LETTERS ? `${text.slice(0, MAX_LETTERS)}…` : text));
    return texts.length > MAX_PATHS ? [...shown, `and ${texts.length - MAX_PATHS} more`] : shown;
}

function textOf(hours: Hours | null): string | null {
    return hours === null ? null : `${hours.from} to ${hours.to} (${hours.timezone})`;
}
