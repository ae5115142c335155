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

/** Bytes of the longest answer that is read. Those of Routebook are several times shorter. */
const MAX_BYTES = 64 * 1024 * 1024;
/** The default time of a call, in milliseconds. */
const TIMEOUT_MS = 60_000;

/**
 * Calls the API with the key of the credential. The answer is read as a stream, because n8n would read one without end into memory.
 * @throws NodeApiError with Routebook's message
 */
export async function call<Data>(
    functions: IExecuteFunctions,
    item: number,
    request: Pick<IHttpRequestOptions, 'method' | 'qs' | 'body' | 'timeout'> & { path: string; idempotencyKey?: string },
): Promise<Answer<Data>> {
    const { path, idempotencyKey, timeout = TIMEOUT_MS, ...options } = request;
    const { baseUrl } = await functions.getCredentials<{ baseUrl: string }>('routebookApi', item);
    let status: number;
    let body: Partial<Answer<Data>> & { error?: Refusal };
    try {
        const answer = (await functions.helpers.httpRequestWithAuthentication.call(functions, 'routebookApi', {
            ...options,
            timeout,
            url: `${baseUrl.replace(/\/+$/, '')}${path}`,
            json: true,
            encoding: 'stream',
            returnFullResponse: true,
            ignoreHttpStatusErrors: true,
            // n8n's own timeout does not cover the body of a stream.
            abortSignal: AbortSignal.timeout(timeout),
            ...(idempotencyKey === undefined ? {} : { headers: { 'idempotency-key': idempotencyKey } }),
        })) as { statusCode: number; body: AsyncIterable<Uint8Array> };
        status = answer.statusCode;
        body = JSON.parse(await textOf(answer.body));
    } catch (error) {
        throw new NodeApiError(functions.getNode(), error as JsonObject, { itemIndex: item });
    }
    if (typeof body.error?.code === 'string') throw refusalError(functions, item, { status, ...body.error });
    if (status >= 300 || body.data === undefined) {
        const message = `The address answered ${status}, but not with an answer of Routebook.`;
        throw new NodeOperationError(functions.getNode(), message, { itemIndex: item });
    }
    return body as Answer<Data>;
}

/** @throws Error if it has too many bytes */
async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
    const decoder = new TextDecoder();
    let text = '';
    let bytes = 0;
    for await (const chunk of body) {
        bytes += chunk.length;
        if (bytes > MAX_BYTES) throw new Error(`The answer has more than ${MAX_BYTES} bytes and was not read to its end.`);
        text += decoder.decode(chunk, { stream: true });
    }
    return text + decoder.decode();
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

function hintOf({ details = [], did_you_mean: similar = [], upstream, doc_url: url }: Refusal): string {
    const lines = details.map(({ path, message }) => (path === undefined ? message : `${path}: ${message}`));
    if (similar.length > 0) lines.push(`Did you mean ${similar.join(', ')}?`);
    if (upstream !== undefined) lines.push([`The site answered ${upstream.status}`, upstream.snippet].filter(Boolean).join(': '));
    if (url !== undefined) lines.push(url);
    return lines.join('\n');
}
