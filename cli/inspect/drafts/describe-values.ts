import { percentDecode } from '../../../shared/domain/text/percent-decode.ts';
import type { PackageParam } from '../../../shared/domain/types.ts';
import type { AnswerField, AnswerFields } from '../routes/answer-fields.ts';
import type { Group } from '../routes/groups.ts';
import { wordsOf } from '../words/harmless.ts';
import { isRange, isVarying, singular } from '../words/segments.ts';
import type { Shape } from '../words/shape.ts';
import { hashOf } from '../words/values.ts';
import type { RouteOf } from './route-links.ts';

/** The response field that contained the value of a param, and the route that responded: the param's own route or another one. */
interface FoundInAnswers {
    field: string;
    route: Group;
}

/**
 * Finds the response field that contained a value of a param. A common value counts only if the names of field and param share a word.
 * @param hashes of the values that the param had
 * @param routeOf finds the route of an address, and of the operation that its body names
 * @param related the reads of the same thing, whose fields a write often sends
 */
export function findInAnswers(
    param: PackageParam,
    own: Group,
    { hashes, fields, routeOf, related }: { hashes: Iterable<number>; fields: AnswerFields; routeOf: RouteOf; related: readonly Group[] },
): FoundInAnswers | undefined {
    let best: (FoundInAnswers & { rank: number }) | undefined;
    for (const hash of hashes) {
        for (const one of fields.get(hash) ?? []) {
            const route = routeOf(one.from, one.operation);
            // A response about an item repeats the id from its path.
            if (route === undefined || (route === own && param.source === 'path')) continue;
            const rank = rankOf(param, one, route);
            if ((one.isCommon && rank === 0) || rank < (best?.rank ?? 0) || (rank === best?.rank && best.route !== own)) continue;
            best = { field: one.field, route, rank };
        }
    }
    if (best !== undefined) return best;
    return param.source === 'path' ? undefined : findByName(param.name, [own, ...related]);
}

/** A filter often has the name of the field that it compares, and a write those of the fields that it sets. */
export function findByName(name: string, routes: readonly Group[]): FoundInAnswers | undefined {
    for (const route of routes)
        for (const wanted of namesOfField(name)) {
            const field = fieldNamed(route.shape, wordsOf(wanted).join(' '));
            if (field !== undefined) return { field, route };
        }
    return undefined;
}

/** The param itself, and the field that it compares: `filter[title]` and `title__gt` compare `title`. */
function namesOfField(name: string): string[] {
    const [, compared] = /^filters?\[([^[\]]+)\]/i.exec(name) ?? /^(\w+?)__[a-z]{2,12}$/.exec(name) ?? [];
    return compared === undefined ? [name] : [name, compared];
}

/**
 * The hashes of the values of a param, computed like those of response values. @param place the index of a path param among the path params
 */
export function hashesOf({ name, source }: PackageParam, { segments, query, body, form }: Group, place: number): Iterable<number> {
    if (source === 'query') return (query.get(name) ?? form?.query.get(name))?.different ?? [];
    if (source === 'body') return body?.fields.get(name)?.values.different ?? [];
    const piece = segments.filter(isVarying).flatMap((one) => (isRange(one) ? [one, undefined] : [one]))[place];
    if (piece === undefined) return [];
    const at = segments.indexOf(piece);
    // A name such as `@scope/name` is one value in two segments.
    const pairs = [segments.slice(at - 1, at + 1), segments.slice(at, at + 2)].filter(
        ([first, next]) => first?.prefix === '@' && next !== undefined,
    );
    // Answers have the paths of files and keys with a slash.
    const texts = [piece.core, `/${piece.core}`, ...pairs.map((pair) => pair.map(({ prefix, core }) => `${prefix}${core}`).join('/'))];
    return texts.map((text) => hashOf(JSON.stringify(percentDecode(text))));
}

/** How similar the names of a field and a param are. `post_id` also matches the `id` of posts. */
function rankOf({ name }: PackageParam, { field }: AnswerField, from: Group): number {
    const wanted = wordsOf(name).map(singular);
    const here = wordsOf(field).map(singular);
    // Some join the words: `userid`.
    if (wanted.join('') === here.join('')) return 4;
    const things = from.segments.filter((piece) => !isVarying(piece)).flatMap(({ core }) => wordsOf(core).map(singular));
    const isOfThing = wanted.some((word) => things.includes(word));
    if (isOfThing && here.at(-1) === wanted.at(-1)) return 3;
    if (isOfThing && /^(?:id|name|key|slug|code)$/.test(here.at(-1) ?? '')) return 2;
    return here.some((word) => wanted.includes(word)) ? 1 : 0;
}

const MAX_LEVELS = 3;

function fieldNamed({ fields, items, entries }: Shape, words: string, level = 0): string | undefined {
    const here = [...fields.keys()].find((field) => wordsOf(field).join(' ') === words);
    if (here !== undefined || level >= MAX_LEVELS) return here;
    for (const inside of [items, entries, ...fields.values()]) {
        const found = inside === undefined ? undefined : fieldNamed(inside, words, level + 1);
        if (found !== undefined) return found;
    }
    return undefined;
}

/**
 * Returns a function that finds the reads of the thing that a route acts on: at its own address, at that of the thing or list above it, and
 * at that of the items below it. Calls by POST at fixed addresses act on what those beside them answer with (`/kv/put`, `/kv/range`).
 */
export function createRelatedFinder(routes: readonly Group[]): (route: Group) => Group[] {
    const reads = Map.groupBy(
        routes.filter((route) => methodOf(route) === 'GET' && route.shape.seen > 0),
        (route) => addressOf(route, route.segments.length),
    );
    const calls = Map.groupBy(routes.filter(isCall), (route) => addressOf(route, route.segments.length - 1));
    return (route) => {
        if (methodOf(route) === undefined) return [];
        const { length } = route.segments;
        const own = addressOf(route, length);
        // The last of two words does not act on the first (`/api/reindex`).
        const isOfThing = route.segments.slice(-2).some(isVarying);
        return [own, ...(isOfThing ? [addressOf(route, length - 1)] : []), `${own}/{}`]
            .flatMap((address) => reads.get(address) ?? [])
            .concat(isCall(route) ? (calls.get(addressOf(route, length - 1)) ?? []) : [])
            .filter((one) => one !== route);
    };
}

/** The method, or the one that a field of the body sets; `undefined` for any other operation that the body names. */
function methodOf({ method, operation }: Group): string | undefined {
    if (operation === undefined) return method;
    return operation.protocol === 'override' ? operation.name : undefined;
}

function isCall(route: Group): boolean {
    return methodOf(route) === 'POST' && route.answers.json > 0 && route.segments.length > 2 && !route.segments.some(isVarying);
}

function addressOf({ origin, segments }: Group, length: number): string {
    const path = segments.slice(0, length).map((piece) => (isVarying(piece) ? '{}' : piece.core));
    return `${origin}/${path.join('/')}`;
}
