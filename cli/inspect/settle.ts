import { defined } from '../../shared/domain/defined.ts';
import { checkPackage } from '../../shared/domain/package/rules.ts';
import type { PackageDocument, PackageEndpoint } from '../../shared/domain/types.ts';
import type { Detail } from '../../shared/refusals.ts';

/** A draft without the parts that the publishing rules refuse. */
export interface Settled {
    package: PackageDocument;
    /** Parts of endpoints that were removed, since the rules refuse them. */
    removed: { endpoint: PackageEndpoint; part: string; why: string }[];
    /** Endpoints that were removed completely. */
    refused: { endpoint: PackageEndpoint; why: string }[];
    /** Problems that the contributor must fix. */
    leftToDo: { path: string; message: string }[];
}

const ROUNDS = 8;

/**
 * Removes from a draft what the server's own rules refuse. If an endpoint can exist without the refused part (a header, a description, a
 * schema, an example), only the part is removed, otherwise the endpoint. Problems of the package itself (its site, its category) are left
 * to the contributor.
 */
export function settle(draft: PackageDocument, isPortAllowed: (port: number) => boolean): Settled {
    const removed: Settled['removed'] = [];
    const refused: Settled['refused'] = [];
    let endpoints = draft.endpoints;
    for (let round = 0; round < ROUNDS; round++) {
        const verdict = checkPackage({ ...draft, endpoints }, { isPortAllowed });
        if (verdict.ok) {
            const leftToDo = verdict.warnings.map(({ path, message }) => ({ path, message }));
            return { package: verdict.document, removed, refused, leftToDo };
        }
        const faults = byEndpoint(verdict.problems);
        if (faults.size === 0 || endpoints.length === 0) {
            const leftToDo = verdict.problems.map(({ path, message }) => ({ path, message }));
            return { package: { ...draft, endpoints }, removed, refused, leftToDo };
        }
        endpoints = endpoints.flatMap((endpoint, index) => repair(endpoint, faults.get(index) ?? [], round, removed, refused));
    }
    return {
        package: { ...draft, endpoints },
        removed,
        refused,
        leftToDo: [{ path: '/endpoints', message: 'The draft still breaks the rules after the refused parts were removed.' }],
    };
}

function byEndpoint(problems: readonly Detail[]): Map<number, Detail[]> {
    const faults = new Map<number, Detail[]>();
    for (const problem of problems) {
        const index = /^\/endpoints\/(\d+)\//.exec(problem.path)?.[1];
        if (index !== undefined) faults.set(Number(index), [...(faults.get(Number(index)) ?? []), problem]);
    }
    return faults;
}

function repair(
    endpoint: PackageEndpoint,
    faults: readonly Detail[],
    round: number,
    removed: Settled['removed'],
    refused: Settled['refused'],
): PackageEndpoint[] {
    let repaired = endpoint;
    for (const { path, message } of faults) {
        const steps = path.split('/').slice(3).map(plainStep);
        const without = round < ROUNDS - 2 ? takeOut(repaired, steps) : undefined;
        if (without === undefined) {
            refused.push({ endpoint, why: message });
            return [];
        }
        if (without.part !== undefined) removed.push({ endpoint, part: without.part, why: message });
        repaired = without.endpoint;
    }
    return [repaired];
}

function plainStep(step: string): string {
    return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** `undefined`: the endpoint needs the refused part. `part` is undefined if it was already removed. */
function takeOut(
    endpoint: PackageEndpoint,
    [field, ...rest]: string[],
): { endpoint: PackageEndpoint; part: string | undefined } | undefined {
    const { description, examples, billing, pagination, headers, response, ...bare } = endpoint;
    const optional = { description, examples, billing, pagination, headers, response };
    const keep = (changed: { [K in keyof typeof optional]?: (typeof optional)[K] | undefined }) =>
        defined({ ...bare, ...optional, ...changed });
    if (field === 'description')
        return { endpoint: keep({ description: undefined }), part: description === undefined ? undefined : 'description' };
    if (field === 'examples') return { endpoint: keep({ examples: undefined }), part: examples === undefined ? undefined : 'examples' };
    if (field === 'pagination' || field === 'billing') {
        const { kind, ...kept } = keep({ pagination: undefined, billing: undefined });
        // Without pagination it is an ordinary call.
        const settled = defined({ ...kept, kind: kind === 'paginate' ? ('api_call' as const) : kind });
        return { endpoint: settled, part: pagination === undefined ? undefined : 'pagination' };
    }
    if (field === 'headers') {
        const name = rest[0] ?? '';
        const kept = Object.fromEntries(Object.entries(headers ?? {}).filter(([key]) => name !== '' && key !== name));
        return { endpoint: keep({ headers: kept }), part: `header ${name}` };
    }
    if (field === 'response') {
        const { schema, ...others } = response ?? {};
        const isSchema = rest[0] === 'schema' && schema !== undefined;
        return { endpoint: keep({ response: isSchema ? others : undefined }), part: isSchema ? 'schema of the response' : 'response' };
    }
    return field === 'params' ? takeFromParam(endpoint, rest) : undefined;
}

function takeFromParam(
    endpoint: PackageEndpoint,
    [index, part]: string[],
): { endpoint: PackageEndpoint; part: string | undefined } | undefined {
    const place = Number(index);
    const param = endpoint.params?.[place];
    if (param === undefined || !['schema', 'description', 'default', 'example'].includes(part ?? '')) return undefined;
    if (part === 'default' && !param.required && param.source === 'path') return undefined;
    const without = defined({ ...param, [part ?? '']: undefined });
    const params = (endpoint.params ?? []).map((one, at) => (at === place ? without : one));
    return { endpoint: { ...endpoint, params }, part: Object.hasOwn(param, part ?? '') ? `${part} of the param ${param.name}` : undefined };
}
