import {
    type IExecuteFunctions,
    type INodeExecutionData,
    type INodeType,
    type INodeTypeDescription,
    type JsonObject,
    NodeApiError,
    NodeConnectionTypes,
} from 'n8n-workflow';
import { runBatch } from './batch';
import { fetchEndpoint } from './fetch';
import { findEndpoints } from './find';
import { properties } from './properties';

/** Finds endpoints of websites and calls them through Routebook. */
export class Routebook implements INodeType {
    description: INodeTypeDescription = {
        displayName: 'Routebook',
        name: 'routebook',
        icon: { light: 'file:../../icons/routebook.svg', dark: 'file:../../icons/routebook.dark.svg' },
        group: ['input'],
        version: 1,
        subtitle: '={{$parameter["operation"] + ": " + ($parameter["site"] || $parameter["task"] || "")}}',
        description: 'Find endpoints of websites by a task, and call them',
        defaults: { name: 'Routebook' },
        usableAsTool: true,
        inputs: [NodeConnectionTypes.Main],
        outputs: [NodeConnectionTypes.Main],
        credentials: [{ name: 'routebookApi', required: true }],
        properties,
    };

    async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
        const operation = this.getNodeParameter('operation', 0);
        if (operation === 'batch') return [await runBatch(this)];
        const each = operation === 'find' ? findEndpoints : fetchEndpoint;
        const all: INodeExecutionData[] = [];
        for (let item = 0; item < this.getInputData().length; item += 1) {
            try {
                all.push(...(await each(this, item)));
            } catch (error) {
                // Errors of this node are already in n8n's form.
                if (!this.continueOnFail()) throw new NodeApiError(this.getNode(), error as JsonObject, { itemIndex: item });
                all.push({ json: { error: (error as Error).message }, pairedItem: { item } });
            }
        }
        return [all];
    }
}
