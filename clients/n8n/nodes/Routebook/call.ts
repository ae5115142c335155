import {
    type IDataObject,
    type IExecuteFunctions,
    type IHttpRequestOptions,
    type JsonObject,
    NodeApiError,
    NodeOperationError,
} from 'n8n-workflow';

/** The body of an answer. */
export interface Answer<Data = IDataObject> {
    data: Data;
    meta: IDataObject;
}

/** The error of an answer. */
interface Refusal {
    code: string;
    message: string;
    status?: number;
    details?: Array<{ path?: string; message: string }>;
    did_you_mean?: string[];
    upstream?: { status: number; snippet: string };
    doc_url?: string;
}

interface Failed {
    message: string;
    response?: { status?: number; data?: unknown };
    context?: { data?: unknown };
}

/** Calls the API with the key of the credential. @throws NodeApiError with Routebook's message */
export async function call<Data>(
    functions: IExecuteFunctions,
    item: number,
    request: Pick<IHttpRequestOptions, 'method' | 'qs' | 'body' | 'timeout'> & { path: string; idempotencyKey?: string },
): Promise<Answer<Data>> {
    const { path, idempotencyKey, ...options } = request;
    const { baseUrl } = await functions.getCredentials<{ baseUrl: string }>('routebookApi', item);
    try {
        return (await functions.helpers.httpRequestWithAuthentication.call(functions, 'routebookApi', {
            ...options,
            url: `${baseUrl.replace(/\/+$/, '')}${path}`,
            json: true,
            ...(idempotencyKey === undefined ? {} : { headers: { 'idempotency-key': idempotencyKey } }),
        })) as Answer<Data>;
    } catch (error) {
        throw failureOf(functions, item, error as Failed);
    }
}

/** Presents the error of a call or of an item of a batch in n8n. */
export function refusalError(functions: IExecuteFunctions, item: number, error: Refusal): NodeApiError {
    return new NodeApiError(functions.getNode(), { ...error } as unknown as JsonObject, {
        message: `${error.code}: ${error.message}`,
        description: hintOf(error),
        httpCode: error.status === undefined ? undefined : String(error.status),
        itemIndex: item,
    });
}

/** Reads a field of the node that contains an object, as JSON or from an expression. */
export function objectField(functions: IExecuteFunctions, name: string, item: number): IDataObject {
    const given = functions.getNodeParameter(name, item, {});
    let value: unknown = given;
    if (typeof given === 'string') {
        try {
            value = given.trim() === '' ? {} : JSON.parse(given);
        } catch (cause) {
            throw new NodeOperationError(functions.getNode(), `"${name}" is not JSON: ${(cause as Error).message}`, { itemIndex: item });
        }
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        throw new NodeOperationError(functions.getNode(), `"${name}" takes an object, such as {"q": "shoes"}`, { itemIndex: item });
    }
    return value as IDataObject;
}

function failureOf(functions: IExecuteFunctions, item: number, error: Failed): Error {
    const body = (error.response?.data ?? error.context?.data) as { error?: Refusal } | undefined;
    if (typeof body?.error?.code === 'string') return refusalError(functions, item, { status: error.response?.status, ...body.error });
    return new NodeApiError(functions.getNode(), error as unknown as JsonObject, { itemIndex: item });
}

function hintOf({ details = [], did_you_mean: similar = [], upstream, doc_url: url }: Refusal): string {
    const lines = details.map(({ path, message }) => (path === undefined ? message : `${path}: ${message}`));
    if (similar.length > 0) lines.push(`Did you mean ${similar.join(', ')}?`);
    if (upstream !== undefined) lines.push([`The site answered ${upstream.status}`, upstream.snippet].filter(Boolean).join(': '));
    if (url !== undefined) lines.push(url);
    return lines.join('\n');
}
