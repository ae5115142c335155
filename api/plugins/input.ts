import { isUtf8 } from 'node:buffer';
import { parse } from 'node:querystring';
import type { Lifecycle, Request } from '@hapi/hapi';
import Joi, { type ObjectSchema, type Schema, type ValidationErrorItem } from 'joi';
import type { AnyContract } from '../../shared/contracts/contract.ts';
import { escapePointer } from '../../shared/domain/json/json-bounds.ts';
import { textProblem } from '../../shared/domain/text/text-rule.ts';
import { MAX_DETAILS } from '../../shared/fetch/error-object.ts';
import { type Detail, type DetailCode, invalidFields } from '../../shared/refusals.ts';
import { countRefused } from '../admission/count-call.ts';
import { isTooComplex, type JsonBody, readJsonBody, readJsonBytes, readUnwantedJson } from '../bodies/json-body.ts';
import type { AppPlugin } from './plugin.ts';

declare module '@hapi/hapi' {
    interface RequestApplicationState {
        problems: Detail[];
    }
    interface PluginSpecificConfiguration {
        input?: { body: Schema };
    }
}

/**
 * Checks the input of every route with a contract and reports all problems together. hapi validates path and query by the route's schemas.
 * The body is read and checked here (decision 21).
 * @throws Refusal VALIDATION_ERROR with a detail for each problem, and the refusals of reading the body
 */
export const input: AppPlugin = {
    name: 'input',
    register(server, { app }) {
        server.ext('onPostAuth', (request, h) => {
            const { contract } = request.route.settings.app ?? {};
            if (contract === undefined) return h.continue;
            request.app.problems = [];
            const query = singleValues(request, request.app.problems);
            if (contract.query === undefined) request.app.problems.push(...Object.keys(query).map(unwanted));
            setInput(request, { query });
            return h.continue;
        });
        server.ext('onPreHandler', async (request, h) => {
            const { contract } = request.route.settings.app ?? {};
            if (contract === undefined) return h.continue;
            const { problems } = request.app;
            try {
                await readBody(request, contract, problems);
                if (problems.length > 0) throw invalidFields(problems);
            } catch (refusal) {
                await countRefused(app, request);
                throw refusal;
            }
            return h.continue;
        });
    },
};

export function inputOptions({ params, query, body }: AnyContract) {
    return {
        validate: {
            ...(params === undefined ? {} : { params: prepare(params, { convert: true }) }),
            ...(query === undefined ? {} : { query: prepare(asWritten(query), { convert: true }) }),
        },
        plugins: { input: { body: prepare(body?.schema ?? NO_BODY, { convert: false }) } },
    };
}

/** The `failAction` of every route. It continues, so that all problems are reported together. */
export const collectProblems: Lifecycle.Method = (request, h, error) => {
    request.app.problems.push(...problemsOf((error as Error & { details: ValidationErrorItem[] }).details));
    return h.continue;
};

/** Sets the input. hapi's types declare it read-only, but hapi's documentation allows to set it. */
function setInput(request: Request, input: { query: Request['query'] } | { payload: unknown }): void {
    Object.assign(request, input);
}

/** Sets the payload: the value of a JSON body, the bytes of a body that is parsed elsewhere, or nothing. */
async function readBody(request: Request, { method, body }: AnyContract, problems: Detail[]): Promise<void> {
    if (method === 'GET' || body?.isStreamed) return;
    if (body?.mayBeEmpty && isEmpty(request)) return setInput(request, { payload: {} });
    if (body?.guard === false) setInput(request, { payload: await readJsonBytes(request, body.maxBytes) });
    else {
        const value = checkBody(request, await (body === undefined ? readUnwantedJson(request) : readJsonBody(request, body)), problems);
        setInput(request, { payload: body === undefined ? undefined : value });
    }
}

function isEmpty({ raw: { req } }: Request): boolean {
    return req.headers['transfer-encoding'] === undefined && (req.headers['content-length'] ?? '0') === '0';
}

/** Validates a body. Skips values that are too complex for a schema, and problems that were already found. */
function checkBody(request: Request, { value, faults }: JsonBody, problems: Detail[]): unknown {
    problems.push(...faults);
    if (isTooComplex({ faults })) return undefined;
    const checked = request.route.settings.plugins?.input?.body.validate(value);
    const found = problemsOf(checked?.error?.details ?? []);
    problems.push(...found.filter(({ path, code }) => !faults.some((fault) => fault.path === path && fault.code === code)));
    return checked?.value;
}

/**
 * Adds our options to a schema. Query strings and path segments are text, so the schema converts them; the values of a body are never
 * converted. Joi merges these options only once here. Merging them for each value took a third of the validation time.
 */
export function prepare(schema: Schema, { convert }: { convert: boolean }): Schema {
    return schema.prefs({ abortEarly: false, convert, errors: { wrap: { label: false } }, messages: OWN_MESSAGES });
}

/** Joi converts `1e1`, `01` and `TRUE` too. A query accepts numbers and booleans only as JSON writes them. */
function asWritten(query: ObjectSchema): Schema {
    return query.fork(Object.keys(query.describe().keys), (schema) =>
        schema.custom((value, { original, error }) =>
            typeof value === 'string' || String(value) === original ? value : error('text.form', { value }),
        ),
    );
}

const NO_BODY = Joi.object({}).messages({ 'object.unknown': 'This route takes no body field of this name' });

function unwanted(name: string): Detail {
    return { path: pointerStep(name), code: 'UNKNOWN_FIELD', message: 'This route has no query parameter of this name.' };
}

export function problemsOf(items: readonly ValidationErrorItem[]): Detail[] {
    const known = new Set(items.map(({ type, path }) => placed(type, path)));
    return items.filter(({ type, path }) => !known.has(placed(COVERED_BY[type], path))).map(toDetail);
}

/** Maps a problem to another one that makes it redundant for the same value. */
const COVERED_BY: Readonly<Record<string, string>> = {
    'string.base': 'any.only',
    'string.empty': 'any.only',
    'string.pattern.base': 'text.secret',
};

function placed(type: string | undefined, path: ValidationErrorItem['path']): string {
    return `${type} ${path.join('/')}`;
}

/** Replaces Joi's messages, which would show the pattern and repeat the value, which may be a secret. */
const OWN_MESSAGES = {
    'string.pattern.base': '{{#label}} has an invalid format',
    'string.pattern.name': '{{#label}} must be {{#name}}',
    'text.form': '{{#label}} must be written as {{#value}}',
    'number.unsafe': '{{#label}} must have at most 15 digits',
};

const DETAIL_BY_JOI: Record<string, DetailCode> = {
    'any.required': 'REQUIRED',
    'object.unknown': 'UNKNOWN_FIELD',
    'any.only': 'INVALID_VALUE',
    'string.pattern.base': 'INVALID_VALUE',
    'alternatives.match': 'INVALID_TYPE',
    'alternatives.types': 'INVALID_TYPE',
    'text.secret': 'SECRET_DETECTED',
    'category.unknown': 'UNKNOWN_CATEGORY',
};

function toDetail(item: ValidationErrorItem): Detail {
    const path = item.path.map((part) => pointerStep(String(part))).join('');
    const code = DETAIL_BY_JOI[item.type] ?? (item.type.endsWith('.base') ? 'INVALID_TYPE' : 'INVALID_VALUE');
    // The last part of the path is the caller's text. It is cut, so that an error is never larger than its request.
    return { path: path.slice(0, 512), code, message: `${item.message.slice(0, 256)}${isNullField(item) ? NOT_NULL : ''}.` };
}

/** Some clients send null for every field that they were not given. */
const NOT_NULL = ', not null; leave the field out if it has no value';

function isNullField({ type, path, context }: ValidationErrorItem): boolean {
    return type !== 'object.unknown' && path.length > 0 && context?.['value'] === null;
}

function singleValues({ query, raw }: Request, problems: Detail[]): Record<string, unknown> {
    // Without a prototype, since a parameter may be named __proto__.
    const single: Record<string, unknown> = Object.create(null);
    const garbled = findNamesWithBadUtf8(raw.req.url ?? '');
    for (const [name, value] of Object.entries(query)) {
        const path = pointerStep(name);
        const isRepeated = Array.isArray(value);
        if (isRepeated) problems.push({ path, code: 'REPEATED', message: 'This query parameter may appear only once.' });
        const fault = garbled.has(name) ? 'is not UTF-8' : textProblem(`${name}${value}`, { multiline: MULTILINE.has(name) });
        if (fault !== undefined) problems.push({ path, code: 'INVALID_VALUE', message: `This query parameter ${fault}.` });
        else if (!isRepeated) single[name] = value;
    }
    return single;
}

/** Query parameters with free text, which may have several lines. */
const MULTILINE: ReadonlySet<string> = new Set(['intent', 'task']);

/**
 * Finds the decoded names of query parameters with escapes that are not UTF-8. Decoding replaced these with characters that were not sent.
 */
export function findNamesWithBadUtf8(url: string): Set<string> {
    const names = new Set<string>();
    const [, query = ''] = /^[^?#]*\?([^#]*)/.exec(url) ?? [];
    for (const pair of query.split('&')) {
        const runs = pair.match(/(?:%[\da-f]{2})+/gi) ?? [];
        if (runs.every((run) => isUtf8(Buffer.from(run.replaceAll('%', ''), 'hex')))) continue;
        for (const name of Object.keys(parse(pair))) names.add(name);
        // As many as an error shows. Others are still unknown.
        if (names.size >= MAX_DETAILS) break;
    }
    return names;
}

/** One step of a JSON pointer, cut to a maximum length, since callers choose the names. */
function pointerStep(name: string): string {
    return `/${escapePointer(name.slice(0, 128))}`;
}
