import { countNodes, MAX_PACKAGE_NODES, MAX_PARAM_NODES } from '../../shared/domain/json/schema/count-nodes.ts';
import { MAX_NODES } from '../../shared/domain/json/schema/measure.ts';
import { isObject } from '../../shared/domain/json/schema/structure.ts';
import type { JsonSchema, PackageEndpoint } from '../../shared/domain/types.ts';
import type { NotCarried, ReadOperation } from './operation.ts';

/** Shortens schemas until each endpoint and the whole package are within the limits of publishing. Lists the shortened schemas. */
export function shortenResponses(operations: readonly ReadOperation[], notCarried: NotCarried[]): ReadOperation[] {
    const short = operations.map((operation) => ({ ...operation, endpoint: withSimplerParams(operation, notCarried) }));
    let nodes = short.reduce((sum, { endpoint }) => sum + nodesOf(endpoint), 0);
    const bySize = short.toSorted((a, b) => sizeOf(b.endpoint.response?.schema) - sizeOf(a.endpoint.response?.schema));
    const dropped = new Set<ReadOperation>();
    for (const operation of bySize) {
        if (nodes <= MAX_PACKAGE_NODES) break;
        nodes -= sizeOf(operation.endpoint.response?.schema);
        dropped.add(operation);
        const why = 'The schemas of the package would be more than can be published.';
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
        const why = 'The schemas of all params of an endpoint would be more than can be published; its type was carried.';
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

function nodesOf({ params = [], response }: PackageEndpoint): number {
    return params.reduce((sum, { schema }) => sum + sizeOf(schema), sizeOf(response?.schema));
}

function sizeOf(schema: JsonSchema | undefined): number {
    return schema === undefined ? 0 : countNodes(schema, 2 * MAX_NODES);
}
