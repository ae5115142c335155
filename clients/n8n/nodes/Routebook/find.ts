import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { call } from './call';

/** Finds endpoints for a task, best first. Each item has `fetch`, the body of a call, if the package has an example. */
export async function findEndpoints(functions: IExecuteFunctions, item: number): Promise<INodeExecutionData[]> {
    const filters = functions.getNodeParameter('filters', item, {}) as IDataObject;
    const { data } = await call<IDataObject[]>(functions, item, {
        method: 'GET',
        path: '/v1/endpoints',
        qs: {
            task: functions.getNodeParameter('task', item),
            limit: functions.getNodeParameter('limit', item),
            ...Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== '')),
        },
    });
    return data.map((json) => ({ json, pairedItem: { item } }));
}
