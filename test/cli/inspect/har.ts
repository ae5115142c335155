import { Readable } from 'node:stream';
import { type Inspected, type InspectOptions, inspect } from '../../../cli/inspect/inspect.ts';
import type { PackageEndpoint } from '../../../shared/domain/types.ts';

/** One call of a browser recording. By default, its response is `{}`. */
export interface Call {
    method?: string;
    url: string;
    headers?: Record<string, string>;
    /** Sent as JSON. */
    body?: unknown;
    /** Sent as a plain text. */
    text?: string;
    /** Sent as XML. */
    xml?: string;
    /** Sent as a form. */
    form?: Record<string, string>;
    /** Sent as multipart, each with the lines of its head and its content. */
    parts?: [head: string, content: string][];
    status?: number;
    /** The response: JSON, or a page. */
    json?: unknown;
    html?: string;
    type?: string;
    answerHeaders?: Record<string, string>;
    resource?: string;
}

/** An entry of a HAR file. */
export function entry(call: Call): unknown {
    const { method = 'GET', url, headers = {}, status = 200, html, json = {}, answerHeaders = {} } = call;
    const type = call.type ?? (html === undefined ? 'application/json' : 'text/html; charset=utf-8');
    const text = html ?? (typeof json === 'string' ? json : JSON.stringify(json));
    const sent = sentBy(call);
    return {
        startedDateTime: '2026-11-21T08:00:00.000Z',
        ...(call.resource === undefined ? {} : { _resourceType: call.resource }),
        request: { method, url, headers: pairs(headers), ...(sent === undefined ? {} : { postData: sent }) },
        response: {
            status,
            headers: pairs(answerHeaders),
            content: { mimeType: type, size: text.length, ...(status === 204 ? {} : { text }) },
        },
    };
}

function sentBy({ body, text, xml, form, parts }: Call): { mimeType: string; text: string } | undefined {
    if (text !== undefined) return { mimeType: 'text/plain', text };
    if (xml !== undefined) return { mimeType: 'application/xml', text: xml };
    if (form !== undefined) return { mimeType: 'application/x-www-form-urlencoded', text: new URLSearchParams(form).toString() };
    if (parts !== undefined) {
        const lines = parts.map(([head, content]) => `--xx\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`).join('');
        return { mimeType: 'multipart/form-data; boundary=xx', text: `${lines}--xx--\r\n` };
    }
    return body === undefined ? undefined : { mimeType: 'application/json', text: JSON.stringify(body) };
}

function pairs(headers: Record<string, string>): { name: string; value: string }[] {
    return Object.entries(headers).map(([name, value]) => ({ name, value }));
}

/** A complete file with these calls. */
export function harOf(calls: readonly Call[]): string {
    return JSON.stringify({
        log: { version: '1.2', creator: { name: 'a test', version: '1' }, pages: [{ id: 'p' }], entries: calls.map(entry) },
    });
}

export function inspectCalls(calls: readonly Call[], options: InspectOptions = {}): Promise<Inspected> {
    return inspect({ har: Readable.from([Buffer.from(harOf(calls))]) }, options);
}

export const SHOP = 'https://shop.example';

/** The route of each endpoint without its host, such as `GET /items?page`. */
export function routesOf({ package: { endpoints } }: Inspected): string[] {
    return endpoints.map(({ method, url }) => `${method} ${url.replace(SHOP, '')}`);
}

export function endpointOf({ package: { endpoints } }: Inspected, route: string): PackageEndpoint {
    const found = endpoints.find(({ method, url }) => `${method} ${url.replace(SHOP, '')}` === route);
    if (found === undefined) throw new Error(`no ${route} among ${endpoints.map(({ method, url }) => `${method} ${url}`).join(', ')}`);
    return found;
}

export function paramsOf(endpoint: PackageEndpoint, source: string): string[] {
    return (endpoint.params ?? []).filter((param) => param.source === source).map(({ name }) => name);
}
