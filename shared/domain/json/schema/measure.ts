import type { Detail } from '../../../refusals.ts';
import type { JsonSchema } from '../../types.ts';
import { PLACING } from './keywords.ts';
import { partsOf, resolveReference } from './places.ts';
import type { Places } from './structure.ts';

/** Maximum depth of a schema once its references are resolved (docs/api.md, "Schema packages"). The outermost is at depth 0. */
export const MAX_DEPTH = 8;
export const MAX_NODES = 1000;

/** The number of schemas once each `$ref` is resolved; otherwise what prevents that. Expects a schema of valid structure. */
export function measureSchema(schema: JsonSchema, places: Places): { ok: true; nodes: number } | { ok: false; problem: Detail } {
    const walk: Walk = { places, nodes: 0 };
    const problem = visit(walk, schema, { at: '', depth: 0, followed: [''] });
    return problem === undefined ? { ok: true, nodes: walk.nodes } : { ok: false, problem };
}

interface Walk {
    places: Places;
    nodes: number;
}

interface Spot {
    at: string;
    depth: number;
    /** Pointers of the references that led here. Following one of them again would never end. */
    followed: readonly string[];
}

function visit(walk: Walk, schema: JsonSchema, { at, depth, followed }: Spot): Detail | undefined {
    walk.nodes++;
    if (depth > MAX_DEPTH)
        return { path: at, code: 'TOO_COMPLEX', message: `The JSON Schema is nested more than ${MAX_DEPTH} levels deep.` };
    if (walk.nodes > MAX_NODES) {
        const message = `With its references resolved, the JSON Schema has more than ${MAX_NODES} schemas.`;
        return { path: '', code: 'TOO_COMPLEX', message };
    }
    if (typeof schema === 'boolean') return undefined;
    for (const [keyword, value] of Object.entries(schema)) {
        if (PLACING.has(keyword)) continue;
        for (const [step, part] of partsOf(keyword, value)) {
            const problem = visit(walk, part, { at: `${at}/${keyword}${step}`, depth: depth + 1, followed });
            if (problem !== undefined) return problem;
        }
    }
    const { $ref: ref } = schema;
    return typeof ref === 'string' ? follow(walk, ref, { at: `${at}/$ref`, depth, followed }) : undefined;
}

function follow(walk: Walk, ref: string, { at, depth, followed }: Spot): Detail | undefined {
    const target = resolveReference(ref, walk.places);
    if (target === undefined) return { path: at, code: 'INVALID_VALUE', message: 'This $ref does not point to a schema of the document.' };
    if (followed.includes(target)) {
        return { path: at, code: 'TOO_COMPLEX', message: 'This $ref is recursive: a schema may not contain itself.' };
    }
    return visit(walk, walk.places.schemas.get(target) ?? true, { at: target, depth, followed: [...followed, target] });
}
