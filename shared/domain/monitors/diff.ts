import { escapePointer } from '../json/json-bounds.ts';
import { isObject } from '../json/schema/structure.ts';
import type { Json, JsonObject } from '../types.ts';
import { DIFF_BYTES, DIFF_ENTRIES } from './bounds.ts';

/** The difference of two values: added and removed array items, and changed values. */
interface Diff {
    added: Json[];
    removed: Json[];
    changed: Changed[];
}

/** A changed value. `path` is a JSON pointer into the later value. A missing field counts as null. */
interface Changed {
    path: string;
    before: Json;
    after: Json;
}

interface Comparison {
    diff: Diff;
    isTruncated: boolean;
}

/** The ids of items, as text; null for an item without one. */
export type IdsOf = (items: readonly Json[]) => (string | null)[];

/**
 * Compares two values of a monitor. Array items are matched by their ids, in any order. If an id is missing or repeated, or items have no
 * ids, complete items are compared. Numbers are compared by their digits. A diff has at most 1,000 entries and 256 KiB.
 * @param idsOf absent if items have no ids
 */
export function compareValues(before: Json, after: Json, idsOf?: IdsOf): Comparison {
    const progress: DiffInProgress = {
        diff: { added: [], removed: [], changed: [] },
        entries: 0,
        bytes: JSON.stringify(NOTHING).length,
        isTruncated: false,
    };
    compare(before, after, '', { progress, idsOf });
    return { diff: progress.diff, isTruncated: progress.isTruncated };
}

/** Whether the values differ. */
export function isChange({ diff: { added, removed, changed }, isTruncated }: Comparison): boolean {
    return isTruncated || added.length + removed.length + changed.length > 0;
}

const NOTHING: Diff = { added: [], removed: [], changed: [] };

interface DiffInProgress extends Comparison {
    entries: number;
    bytes: number;
}

interface Work {
    progress: DiffInProgress;
    idsOf: IdsOf | undefined;
}

function compare(before: Json, after: Json, path: string, work: Work): void {
    if (work.progress.isTruncated || isSame(before, after)) return;
    if (Array.isArray(before) && Array.isArray(after)) compareItems(before, after, path, work);
    else if (isObject(before) && isObject(after)) {
        for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
            compare(fieldOf(before, name), fieldOf(after, name), `${path}/${escapePointer(name)}`, work);
        }
    } else addEntry(work.progress, 'changed', { path, before, after });
}

function compareItems(before: readonly Json[], after: readonly Json[], path: string, work: Work): void {
    const [known, found] = [idsIn(before, work), idsIn(after, work)];
    if (known === undefined || found === undefined) {
        compareWhole(before, after, work);
        return;
    }
    for (const [id, at] of known) if (!found.has(id)) addEntry(work.progress, 'removed', before[at] ?? null);
    for (const [id, at] of found) {
        const was = known.get(id);
        if (was === undefined) addEntry(work.progress, 'added', after[at] ?? null);
        else compare(before[was] ?? null, after[at] ?? null, `${path}/${at}`, work);
    }
}

/** The index of each id; undefined if an item has no id or an id is repeated. */
function idsIn(items: readonly Json[], { idsOf }: Work): Map<string, number> | undefined {
    const ids = idsOf?.(items);
    if (ids === undefined || ids.includes(null)) return undefined;
    const places = new Map(ids.map((id, at) => [id as string, at]));
    return places.size === items.length ? places : undefined;
}

/** Compares two arrays as multisets of complete items. */
function compareWhole(before: readonly Json[], after: readonly Json[], { progress }: Work): void {
    const left = new Map<string, number>();
    for (const item of before) count(left, textOf(item), 1);
    const added = after.filter((item) => !take(left, textOf(item)));
    const removed = before.toReversed().filter((item) => take(left, textOf(item)));
    for (const item of removed.toReversed()) addEntry(progress, 'removed', item);
    for (const item of added) addEntry(progress, 'added', item);
}

function count(counts: Map<string, number>, text: string, by: number): void {
    counts.set(text, (counts.get(text) ?? 0) + by);
}

function take(counts: Map<string, number>, text: string): boolean {
    if ((counts.get(text) ?? 0) === 0) return false;
    count(counts, text, -1);
    return true;
}

function addEntry(progress: DiffInProgress, kind: 'added' | 'removed', entry: Json): void;
function addEntry(progress: DiffInProgress, kind: 'changed', entry: Changed): void;
function addEntry(progress: DiffInProgress, kind: keyof Diff, entry: Json | Changed): void {
    if (progress.isTruncated) return;
    const bytes = Buffer.byteLength(JSON.stringify(entry)) + 1;
    if (progress.entries + 1 > DIFF_ENTRIES || progress.bytes + bytes > DIFF_BYTES) {
        progress.isTruncated = true;
        return;
    }
    progress.entries += 1;
    progress.bytes += bytes;
    (progress.diff[kind] as (Json | Changed)[]).push(entry);
}

function fieldOf(value: JsonObject, name: string): Json {
    return Object.hasOwn(value, name) ? (value[name] ?? null) : null;
}

/** Whether two values are equal, ignoring the order of fields and items, and treating null fields as missing. */
function isSame(before: Json, after: Json): boolean {
    if (before === after) return true;
    if (typeof before !== 'object' || typeof after !== 'object') return false;
    return textOf(before) === textOf(after);
}

/** A canonical text: equal for equal values. The depth limit of answers bounds the recursion. */
function textOf(value: Json): string {
    if (Array.isArray(value)) return `[${value.map(textOf).toSorted().join()}]`;
    if (!isObject(value)) return JSON.stringify(value) ?? 'null';
    const fields = Object.keys(value).toSorted();
    const said = fields.flatMap((name) => {
        const field = fieldOf(value, name);
        return field === null ? [] : [`${JSON.stringify(name)}:${textOf(field)}`];
    });
    return `{${said.join()}}`;
}
