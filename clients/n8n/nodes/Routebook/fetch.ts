import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { call, objectField } from './call';

/** The longest timeout of a fetch, with time for the way of the answer. */
const TIMEOUT_MS = 90_000;

/** Makes one call: `data` is the site's answer, `meta` includes the cost. */
export async function fetchEndpoint(functions: IExecuteFunctions, item: number): Promise<INodeExecutionData[]> {
    const options = functions.getNodeParameter('options', item, {}) as IDataObject;
    const { data, meta } = await call<IDataObject>(functions, item, {
        method: 'POST',
        path: '/v1/fetch',
        timeout: TIMEOUT_MS,
        // The key is the same for each retry of the same item of the same run.
        idempotencyKey: `n8n-${functions.getExecutionId()}-${functions.getNode().id}-${functions.getWorkflowDataProxy(item).$runIndex}-${item}`,
        body: { ...callOf(functions, item), ...options },
    });
    return [{ json: { data, meta }, pairedItem: { item } }];
}

/** Reads the endpoint and the params from the fields of the node. */
export function callOf(functions: IExecuteFunctions, item: number): { site: string; endpoint: string; params: IDataObject } {
    return {
        site: functions.getNodeParameter('site', item) as string,
        endpoint: functions.getNodeParameter('endpoint', item) as string,
        params: objectField(functions, 'params', item),
    };
}
