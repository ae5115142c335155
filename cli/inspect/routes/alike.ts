import { getOrMake } from '../../../shared/domain/get-or-make.ts';
import { jaccardIndex } from '../words/jaccard-index.ts';
import { textOf } from '../words/segments.ts';
import { featuresOf } from '../words/shape.ts';
import type { Group } from './groups.ts';

/** Whether two words of one place have similar responses. @param below whether their addresses may differ below them */
export function areAlike(
    some: readonly Group[] | undefined,
    others: readonly Group[] | undefined,
    place: number,
    { below = 'same' }: { below?: 'same' | 'any' } = {},
): boolean {
    if (takeOtherFields(some ?? [], others ?? [], place)) return false;
    return (some ?? []).some((one) =>
        (others ?? []).some(
            (other) => one !== other && (below === 'any' || areSameBelow(one, other, place)) && areOneRoute(one, other, place),
        ),
    );
}

/** Things of one kind take the same fields. Two programs that send their forms to themselves do not. */
function takeOtherFields(some: readonly Group[], others: readonly Group[], place: number): boolean {
    const [own, more] = [sentTo(some, place), sentTo(others, place)];
    return own.size > 0 && more.size > 0 && jaccardIndex(own, more) < MIN_FIELDS;
}

function sentTo(groups: readonly Group[], place: number): Set<string> {
    const posts = groups.filter(({ method, segments }) => method === 'POST' && segments.length === place + 1);
    return new Set(posts.flatMap(({ body, form }) => [...(body?.fields.keys() ?? []), ...(form?.fields.keys() ?? [])]));
}

function areSameBelow(one: Group, other: Group, place: number): boolean {
    return one.segments.slice(place + 1).every((piece, index) => textOf(piece) === textOf(other.segments[place + 1 + index]));
}

/** How many words of one place are compared. */
export const MAX_COMPARED = 50;

/** Responses at least this similar belong to one route. */
export const MIN_JSON_SIMILARITY = 0.6;
const MIN_PAGE_SIMILARITY = 0.7;
const MIN_FIELDS = 0.5;

function areOneRoute(one: Group, other: Group, place: number): boolean {
    if (one.method !== other.method || one.segments.length !== other.segments.length) return false;
    if (jaccardIndex(fieldsOf(one), fieldsOf(other)) < MIN_JSON_SIMILARITY) return false;
    if (one.shape.seen > 0 && other.shape.seen > 0) {
        const [a, b] = [knownFeatures(one), knownFeatures(other)];
        return a.size > 1 && b.size > 1 && jaccardIndex(a, b) >= MIN_JSON_SIMILARITY;
    }
    if (one.skeleton.size + other.skeleton.size === 0 && one.answers.text > 0 && other.answers.text > 0)
        return one.segments.length > place + 1 && other.segments[place]?.form !== 'word';
    return haveOneLayout(one, other);
}

/** Whether the pages of two addresses have the same elements. Small pages have little to differ in. */
export function haveOneLayout(one: Group, other: Group): boolean {
    const [size, similarity] = [Math.min(one.skeleton.size, other.skeleton.size), jaccardIndex(one.skeleton, other.skeleton)];
    return size > 20 ? similarity >= MIN_PAGE_SIMILARITY : size > 4 && similarity === 1;
}

/** Lists of plain values are alike, whatever their type: the years of boats and their names. */
function withoutItemType(feature: string): string {
    return feature.replace(/(?<=\[\]:)\w+$/, 'value');
}

/** The fields that a write sends. Reads leave out what they do not need. */
function fieldsOf({ method, body }: Group): Set<string> {
    return new Set(method === 'GET' ? [] : body?.fields.keys());
}

const features = new WeakMap<Group, Set<string>>();

function knownFeatures(group: Group): Set<string> {
    return getOrMake(features, group, () => new Set([...featuresOf(group.shape)].map(withoutItemType)));
}
