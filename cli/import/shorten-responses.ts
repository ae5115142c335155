import { countNodes, MAX_PARAM_NODES } from '../../shared/domain/json/schema/count-nodes.ts';
import { MAX_NODES } from '../../shared/domain/json/schema/measure.ts';
import { isObject } from '../../shared/domain/json/schema/structure.ts';
import { MAX_VALUES } from '../../shared/domain/package/rules/tree.ts';
import type { JsonSchema, PackageEndpoint } from '../../shared/domain/types.ts';
import type { NotCarried, ReadOperation } from './operation.ts';

/** Maximum number of values in the endpoints of a package. A schema has several, so its schemas are few enough, too. */
const MAX_OF_ENDPOINTS = MAX_VALUES - 2000;

/** Shortens schemas until each endpoint and the whole package are within the limits of publishing. Lists the shortened schemas. */
export function shortenResponses(operations: readonly ReadOperation[], notCarried: NotCarried[]): ReadOperation[] {
    const short = operations.map((operation) => ({ ...operation, endpoint: withSimplerParams(operation, notCarried) }));
    let values = valuesIn(short.map(({ endpoint }) => endpoint));
    const size = ({ endpoint }: ReadOperation) => valuesIn(endpoint.response?.schema);
    const bySize = values <= MAX_OF_ENDPOINTS ? [] : short.toSorted((a, b) => size(b) - size(a));
    const dropped = new Set<ReadOperation>();
    for (const operation of bySize) {
        if (values <= MAX_OF_ENDPOINTS) break;
        values -= size(operation);
        dropped.add(operation);
        const why = 'With this schema, the package would be too large to publish.';
        notCarried.push({ where: `${operation.where}, schema of the response`, why, scope: 'part' });
    }
    return short.map((operation) => (dropped.has(operation) ? { ...operation, endpoint: withoutAnswer(operation.endpoint) } : operation));
}

/** Reduces the largest schemas of an endpoint's params to their type, until all together are small enough. */
function withSimplerParams({ where, endpoint }: ReadOperation, notCarried: NotCarried[]): PackageEndpoint {
    const { params = [] } = endpoint;
    let nodes = params.reduce((sum, { schema }) => sum + sizeOf(schema), 0);
    if (nodes <= MAX_PARAM_NODES) return endpoint;
    const simpler = new Set<string>();
    for (const { name, schema } of params.toSorted((a, b) => sizeOf(b.schema) - sizeOf(a.schema))) {
        if (nodes <= MAX_PARAM_NODES) break;
        nodes -= sizeOf(schema) - 1;
        simpler.add(name);
        const why = 'The schemas of the endpoint’s params would be too large to publish; only its type is imported.';
        notCarried.push({ where: `${where}, schema of ${name}`, why, scope: 'part' });
    }
    return {
        ...endpoint,
        params: params.map((param) => (simpler.has(param.name) ? { ...param, schema: typeAlone(param.schema) } : param)),
    };
}

function typeAlone(schema: JsonSchema | undefined): JsonSchema {
    return isObject(schema) && schema['type'] !== undefined ? { type: schema['type'] } : {};
}

function withoutAnswer({ response: { schema: _schema, ...response } = {}, ...endpoint }: PackageEndpoint): PackageEndpoint {
    return { ...endpoint, response };
}

/** The number of values in a value, itself included. */
function valuesIn(value: unknown): number {
    if (typeof value !== 'object' || value === null) return 1;
    return Object.values(value).reduce<number>((sum, one) => sum + valuesIn(one), 1);
}

function sizeOf(schema: JsonSchema | undefined): number {
    return schema === undefined ? 0 : countNodes(schema, 2 * MAX_NODES);
}
