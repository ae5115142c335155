import { percentDecode } from '../../shared/domain/text/percent-decode.ts';
import type { PackageParam } from '../../shared/domain/types.ts';
import type { AnswerField, AnswerFields } from './answer-fields.ts';
import { isVarying } from './fold.ts';
import type { Group } from './groups.ts';
import { wordsOf } from './harmless.ts';
import type { RouteOf } from './route-links.ts';
import { singular } from './segments.ts';
import type { Shape } from './shape.ts';
import { hashOf } from './values.ts';

/** The response field that contained the value of a param, and the route that responded: the param's own route or another one. */
interface FoundInAnswers {
    field: string;
    route: Group;
}

/**
 * Finds the response field that contained a value of a param. A common value counts only if the names of field and param share a word.
 * @param hashes of the values that the param had
 * @param routeOf finds the route of an address, and of the operation that its body names
 */
export function findInAnswers(
    param: PackageParam,
    own: Group,
    { hashes, fields, routeOf }: { hashes: Iterable<number>; fields: AnswerFields; routeOf: RouteOf },
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
    // A filter often has the name of the field that it compares.
    return param.source !== 'path' && hasField(own.shape, param.name) ? { field: param.name, route: own } : undefined;
}

/**
 * The hashes of the values of a param, computed like those of response values. @param place the index of a path param among the path params
 */
export function hashesOf({ name, source }: PackageParam, { segments, query, body }: Group, place: number): Iterable<number> {
    if (source === 'query') return query.get(name)?.different ?? [];
    if (source === 'body') return body?.fields.get(name)?.values.different ?? [];
    const piece = segments.filter(isVarying)[place];
    if (piece === undefined) return [];
    const at = segments.indexOf(piece);
    // A name such as `@scope/name` is one value in two segments.
    const pairs = [segments.slice(at - 1, at + 1), segments.slice(at, at + 2)].filter(
        ([first, next]) => first?.prefix === '@' && next !== undefined,
    );
    const texts = [piece.core, ...pairs.map((pair) => pair.map(({ prefix, core }) => `${prefix}${core}`).join('/'))];
    return texts.map((text) => hashOf(JSON.stringify(percentDecode(text))));
}

/** How similar the names of a field and a param are. `post_id` also matches the `id` of posts. */
function rankOf({ name }: PackageParam, { field }: AnswerField, from: Group): number {
    const wanted = wordsOf(name).map(singular);
    const here = wordsOf(field).map(singular);
    if (wanted.join(' ') === here.join(' ')) return 4;
    const things = from.segments.filter((piece) => !isVarying(piece)).flatMap(({ core }) => wordsOf(core).map(singular));
    const isOfThing = wanted.some((word) => things.includes(word));
    if (isOfThing && here.at(-1) === wanted.at(-1)) return 3;
    if (isOfThing && /^(?:id|name|key|slug|code)$/.test(here.at(-1) ?? '')) return 2;
    return here.some((word) => wanted.includes(word)) ? 1 : 0;
}

const MAX_LEVELS = 3;

function hasField({ fields, items, entries }: Shape, name: string, level = 0): boolean {
    if (fields.has(name)) return true;
    if (level >= MAX_LEVELS) return false;
    return [items, entries, ...fields.values()].some((inside) => inside !== undefined && hasField(inside, name, level + 1));
}
