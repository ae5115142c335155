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
/** The default milliseconds until an answer begins, and again until it has been read. The same as n8n's default. */
const TIMEOUT_MS = 300_000;

type Body<Data> = Partial<Answer<Data>> & { error?: Refusal };

/** The part of a Node.js stream that is used here. */
interface ByteStream extends AsyncIterable<Uint8Array> {
    destroy(error: Error): unknown;
}

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
    let text: string;
    try {
        const answer = (await functions.helpers.httpRequestWithAuthentication.call(functions, 'routebookApi', {
            ...options,
            timeout,
            url: `${baseUrl.replace(/\/+$/, '')}${path}`,
            json: true,
            encoding: 'stream',
            returnFullResponse: true,
            ignoreHttpStatusErrors: true,
            ...(idempotencyKey === undefined ? {} : { headers: { 'idempotency-key': idempotencyKey } }),
        })) as { statusCode: number; body: ByteStream };
        status = answer.statusCode;
        text = await textOf(answer.body, timeout);
    } catch (error) {
        throw new NodeApiError(functions.getNode(), error as JsonObject, { itemIndex: item });
    }
    const body = bodyOf<Data>(text);
    if (typeof body.error?.code === 'string') throw refusalError(functions, item, { status, ...body.error });
    if (status >= 300 || body.data === undefined) {
        const message = `The address answered ${status}, but not with an answer of Routebook.`;
        throw new NodeApiError(functions.getNode(), { message }, { message, httpCode: String(status), itemIndex: item });
    }
    return body as Answer<Data>;
}

/**
 * Reads a body to its end. n8n's timeout ends only a body that stands still, and n8n replaces the signal of a request by its own.
 * @throws Error if it has too many bytes or takes too long
 */
async function textOf(body: ByteStream, timeout: number): Promise<string> {
    const late = () => body.destroy(new Error(`The answer began, but did not end within ${timeout / 1000} s.`));
    const signal = AbortSignal.timeout(timeout);
    signal.addEventListener('abort', late);
    const decoder = new TextDecoder();
    let text = '';
    let bytes = 0;
    try {
        for await (const chunk of body) {
            bytes += chunk.length;
            if (bytes > MAX_BYTES) throw new Error(`The answer has more than ${MAX_BYTES} bytes and was not read to its end.`);
            text += decoder.decode(chunk, { stream: true });
        }
    } finally {
        // A signal with a listener, and so the body, would stay in memory until its time.
        signal.removeEventListener('abort', late);
    }
    return text + decoder.decode();
}

/** Reads an answer. What is not JSON, such as a proxy's page of an error, has neither data nor an error of Routebook. */
function bodyOf<Data>(text: string): Body<Data> {
    try {
        return (JSON.parse(text) as Body<Data> | null) ?? {};
    } catch {
        return {};
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

function hintOf({ details = [], did_you_mean: similar = [], upstream, doc_url: url }: Refusal): string {
    const lines = details.map(({ path, message }) => (path === undefined ? message : `${path}: ${message}`));
    if (similar.length > 0) lines.push(`Did you mean ${similar.join(', ')}?`);
    if (upstream !== undefined) lines.push([`The site answered ${upstream.status}`, upstream.snippet].filter(Boolean).join(': '));
    if (url !== undefined) lines.push(url);
    return lines.join('\n');
}
