import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { call, objectField } from './call';

/** Longest that the service waits for a site, and the way back. */
const TIMEOUT_MS = 90_000;

/** One call: `data` is what the site answered, `meta` what it cost. */
export async function fetchEndpoint(functions: IExecuteFunctions, item: number): Promise<INodeExecutionData[]> {
    const options = functions.getNodeParameter('options', item, {}) as IDataObject;
    const { data, meta } = await call<IDataObject>(functions, item, {
        method: 'POST',
        path: '/v1/fetch',
        timeout: TIMEOUT_MS,
        // The same run of the same item is the same call, however often n8n tries it.
        idempotencyKey: `n8n-${functions.getExecutionId()}-${functions.getNode().id}-${functions.getWorkflowDataProxy(item).$runIndex}-${item}`,
        body: { ...callOf(functions, item), ...options },
    });
    return [{ json: { data, meta }, pairedItem: { item } }];
}

/** The endpoint and the params that the fields of the node name. */
export function callOf(functions: IExecuteFunctions, item: number): { site: string; endpoint: string; params: IDataObject } {
    return {
        site: functions.getNodeParameter('site', item) as string,
        endpoint: functions.getNodeParameter('endpoint', item) as string,
        params: objectField(functions, 'params', item),
    };
}
