import { compileJsonSchema } from '../../shared/domain/json-schema.ts';
import type { Endpoint, Json, JsonObject, JsonSchema, Method, ResponseType } from '../../shared/domain/types.ts';
import { wrapResult } from '../../shared/domain/wrap-result.ts';
import type { DetailCode } from '../../shared/refusals.ts';
import { decode } from './decode.ts';
import { InvalidResponse } from './invalid-response.ts';
import { parseJson, selectJson } from './json.ts';

/** What came from the site; plain enough to cross to a thread. */
export interface RawPage {
    status: number;
    contentType: string | undefined;
    body: Uint8Array;
    url: string;
    method: Method;
    /** What the body is read as. */
    type: ResponseType;
}

export type ResponseRules = Endpoint['response'];

/** What a body says, before it is wrapped and judged. */
export type ReadBody = (text: string, page: RawPage, rules: ResponseRules) => Json;

/**
 * Turns an answer into `data` (CONTRACT 4): decoded, parsed, selected, wrapped, and judged by `response.schema`.
 * @throws InvalidResponse
 */
export function readPage(page: RawPage, rules: ResponseRules, readBody: ReadBody = readPlainBody): JsonObject {
    const data = isBodyless(page) ? {} : wrapResult(readBody(decode(page), page, rules));
    if (rules.schema !== undefined) validate(data, rules.schema);
    return data;
}

/** 204, 205 and the answer to HEAD have no body by definition; an empty 200 is another matter. */
export function isBodyless(page: Pick<RawPage, 'status' | 'method'>): boolean {
    return page.method === 'HEAD' || page.status === 204 || page.status === 205;
}

/** JSON and text. HTML is read by `html.ts`, whose libraries are heavy, in threads of its own. */
function readPlainBody(text: string, { type }: RawPage, { select }: ResponseRules): Json {
    if (type === 'text') return text;
    const parsed = parseJson(text);
    return select === undefined ? parsed : selectJson(parsed, select);
}

function validate(data: JsonObject, schema: JsonSchema): void {
    const verdict = compileJsonSchema(schema)(data);
    if (verdict.ok) return;
    const details = verdict.errors.map(({ path, message, keyword }) => ({ path, message, code: codeOf(keyword) }));
    throw new InvalidResponse('The answer does not fit the response schema of this endpoint.', details);
}

function codeOf(keyword: string): DetailCode {
    if (keyword === 'required') return 'REQUIRED';
    if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties') return 'UNKNOWN_FIELD';
    return keyword === 'type' ? 'INVALID_TYPE' : 'INVALID_VALUE';
}
