import { AUTH_NEEDS, AUTH_TYPES, BODY_FORMATS, KINDS, METHODS, OAUTH_FLOWS, RESPONSE_TYPES, SOURCES, STYLES } from '../../types.ts';
import { ENDPOINT_NAME } from '../endpoint.ts';
import { CATEGORY_PATHS } from '../taxonomy.ts';
import type { Path, Report } from './report.ts';
import { anyJson, anyObject, flag, listOf, objectOf, oneOf, type Reader, text, wholeNumber, withDescription } from './shape.ts';

/**
 * The fields of a package (docs/api.md, "Schema packages") as tables. The JSON Schema of packages is generated from them, and so are the
 * types of drafts: a draft contains the fields of the right type. All other fields are left out and reported.
 */
type Read<R> = R extends Reader<infer T> ? T : never;

export const MAX_ENDPOINTS = 500;
export const MAX_PARAMS = 2000;
export const MAX_TITLE = 200;
export const MAX_DESCRIPTION = 10_000;
export const MAX_EXAMPLES = 20;
const MAX_AUTH = 10;
const MAX_AUTH_PREFIX = 32;
export const MAX_URL = 2048;
const MAX_EXPRESSION = 1000;
const MAX_COLUMNS = 1000;

const description = (about: string) => ({ read: text({ max: MAX_DESCRIPTION, empty: true, multiline: true }), about });
const jsonSchema = withDescription(anyJson, { type: ['object', 'boolean'] });
const select = withDescription(anyJson, { type: ['object', 'string'] });
const expression = text({ max: MAX_EXPRESSION, multiline: true });
const paramName = text({ max: 64, pattern: /^[!-z|~]+$/, hint: 'The name of a param has 1 to 64 visible ASCII characters and no braces.' });
const snakeName = (hint: string) =>
    text({
        max: 64,
        pattern: ENDPOINT_NAME,
        hint: `${hint} is a lower-case letter, followed by up to 63 lower-case letters, digits and underscores.`,
    });

const readParam = objectOf({
    name: {
        read: paramName,
        required: true,
        about: 'What callers write, and what is sent: the placeholder in the path, or the name in query, header or body.',
    },
    source: { read: oneOf(SOURCES), required: true, about: 'Where the value goes.' },
    required: { read: flag, required: true, about: 'Whether a call without it is refused. A path param is required or has a default.' },
    description: description('What the value means. Callers and agents read it.'),
    schema: {
        read: jsonSchema,
        about: 'JSON Schema 2020-12 of the value. Without one: a string, number or boolean; in the body any JSON.',
    },
    default: { read: anyJson, about: 'Sent where the caller gives no value.' },
    example: { read: anyJson, about: 'A value that works.' },
    style: { read: oneOf(STYLES), about: 'How a list or an object is written into a query or form; repeat by default.' },
    segments: { read: flag, about: 'Of a path param: the value may hold slashes, each part a segment of the path.' },
});
export type ParamDraft = Read<typeof readParam>;

const readStep = objectOf({
    url: {
        read: text({ max: MAX_URL }),
        required: true,
        about: 'The page to get. Its cookies are kept for this call. Placeholders are path and query params, and {prepare.name} of earlier steps.',
    },
    form: {
        read: text({ max: MAX_EXPRESSION }),
        about: 'Of the last step: selector of the one form on it, such as form#search. Its action and fields are sent with the params.',
    },
    extract: {
        read: anyObject,
        about: 'Values by name, which later steps and the call use as {prepare.name}: JMESPath or a selector, {selector, value}, or {cookie}.',
    },
});

export type StepDraft = Read<typeof readStep>;

export const MAX_STEPS = 3;

/** One step, or a list of steps; `undefined` for a step that could not be read. */
interface PrepareDraft {
    steps: (StepDraft | undefined)[];
    isList: boolean;
}

const readSteps = listOf(readStep, { min: 1, max: MAX_STEPS, of: 'steps' });
const readPrepare: Reader<PrepareDraft> = Object.assign(
    (value: unknown, at: Path, report: Report): PrepareDraft | undefined => {
        const isList = Array.isArray(value);
        const steps = isList ? readSteps(value, at, report) : [readStep(value, at, report)];
        return steps === undefined ? undefined : { steps, isList };
    },
    { schema: { anyOf: [readStep.schema, readSteps.schema, { type: 'null' }] } },
);

const readCsv = objectOf({
    delimiter: {
        read: text({ max: 1, empty: true, multiline: true, pattern: /^[^"\r\n]$/, hint: 'A delimiter is one character, such as ";".' }),
        about: 'The character between two values; found out where it is left out.',
    },
    header: { read: flag, about: 'Whether the first row names the columns; true by default.' },
    columns: {
        read: listOf(text({ max: 200 }), { min: 1, max: MAX_COLUMNS, of: 'columns' }),
        about: 'Names of the columns in order, in place of those in the header.',
    },
});

const readResponse = objectOf({
    type: { read: oneOf(RESPONSE_TYPES), about: 'How to read the answer; as json, html or text by its content type where left out.' },
    select: {
        read: select,
        about: 'What to keep. JSON: JMESPath by the name of each output, or one expression; of tables and feeds, too. HTML and XML: selectors by name, {selector, value, type, decimal}, one-element arrays for lists.',
    },
    schema: { read: jsonSchema, about: 'JSON Schema 2020-12 of the data. An answer that does not fit it is a failure and costs nothing.' },
    charset: { read: text({ max: 40 }), about: 'The encoding of the answer, such as windows-1252, where the site announces a wrong one.' },
    csv: { read: readCsv, about: 'Of type csv: how the table is written.' },
    sse: { read: flag, about: 'Of type ndjson: the answer is an event stream, whose data are the values.' },
});
export type ResponseDraft = Read<typeof readResponse>;

const readBilling = objectOf({
    unit: { read: oneOf(['request', 'result'] as const), about: 'Whether a call costs once (request, the default) or for each result.' },
    results: {
        read: text({
            max: 200,
            // Any JSON key, including `@graph` and `2024`. The dot is our separator.
            pattern: /^[^.\p{Cc}]+(?:\.[^.\p{Cc}]+)*$/u,
            hint: 'This is a dotted path into data, such as items or page.items, without empty steps.',
        }),
        about: 'Dotted path to the list of results in the data; items by default.',
    },
    max_results: { read: wholeNumber(1, 1000), about: 'Results of one call at most; 100 by default.' },
});

const readPageEnd = objectOf({
    total: { read: expression, about: 'JMESPath of the number of all items in the raw JSON: the page that reaches it is the last.' },
    has_more: { read: expression, about: 'JMESPath in the raw JSON: null, false or empty on the last page.' },
    short_page: { read: flag, about: 'True: a page with fewer items than the first page is the last.' },
});

const readPagination = objectOf({
    style: {
        read: oneOf(['page', 'offset', 'cursor', 'link'] as const),
        about: 'How the next page is found: a number, an offset, a cursor in the answer, or the Link header. Page by default.',
    },
    param: { read: paramName, about: 'The param that carries page, offset or cursor.' },
    start: { read: wholeNumber(0, 1_000_000_000), about: 'Number of the first page (1 by default) or its offset (0).' },
    step: { read: wholeNumber(1, 1_000_000), about: 'What is added for the next page; of offsets the items of the last page by default.' },
    next: {
        read: expression,
        orNull: true,
        about: 'Of style cursor: the place of the cursor in the raw page, as JMESPath or a selector.',
    },
    unique: {
        read: expression,
        about: 'JMESPath of the id of an item of data, such as id. Items whose id was there before are left out and not billed.',
    },
    end: { read: readPageEnd, about: 'How the site tells its last page, so that no page after it is requested.' },
    max_pages: { read: wholeNumber(1, 20), about: 'Pages of one call at most; 5 by default.' },
});
export type PaginationDraft = Read<typeof readPagination>;

const scopeName = text({
    max: 200,
    pattern: /^[!#-[\]-~]+$/,
    hint: 'A scope has visible ASCII characters without quotes and backslashes.',
});

const readOAuth = objectOf({
    authorization_url: { read: text({ max: MAX_URL }), about: 'Page where people consent; needed for authorization_code.' },
    token_url: { read: text({ max: MAX_URL }), required: true, about: 'Where tokens are granted.' },
    revocation_url: { read: text({ max: MAX_URL }), about: 'Where tokens are revoked, as RFC 7009 says.' },
    scopes: {
        read: listOf(
            objectOf({
                name: { read: scopeName, required: true, about: 'The scope as the site writes it.' },
                description: description('What it allows.'),
            }),
            { max: 100, of: 'scopes' },
        ),
        about: 'What people can consent to.',
    },
    pkce: { read: flag, about: 'False: the site refuses PKCE. Codes are asked for with it by default.' },
    flows: {
        read: listOf(oneOf(OAUTH_FLOWS), { min: 1, max: OAUTH_FLOWS.length, of: 'flows' }),
        about: 'How tokens are granted; authorization_code alone by default.',
    },
});

const readAuth = objectOf({
    id: {
        read: snakeName('The id of an entry'),
        required: true,
        about: 'What connections name it by, such as api_key. Unique in the package.',
    },
    type: { read: oneOf(AUTH_TYPES), required: true, about: 'How the site takes the credential.' },
    name: {
        read: text({ max: 100, pattern: /^[!-z|~]+$/, hint: 'This name has 1 to 100 visible ASCII characters and no braces.' }),
        about: 'Of types header, query and cookie: the name of the header, parameter or cookie.',
    },
    prefix: {
        read: text({
            max: MAX_AUTH_PREFIX,
            pattern: /^[!-~](?:[ -~]*[!-~])? ?$/,
            hint: `A prefix has 1 to ${MAX_AUTH_PREFIX} visible ASCII characters, with one blank at its end at most.`,
        }),
        about: 'Of type header: text before the value, such as "token ". Never a credential.',
    },
    description: description('What the credential is, for who has to get one.'),
    obtain_url: { read: text({ max: MAX_URL }), about: 'Page where people get a credential.' },
    test: {
        read: text({ max: 64 }),
        about: 'Name of an endpoint that proves a credential: a read without required params. New connections are tried with it.',
    },
    hosts: {
        read: listOf(text({ max: 253 }), { min: 1, max: 50, of: 'hosts' }),
        about: 'The hosts of the package that may get the credential; all of them by default.',
    },
    oauth2: { read: readOAuth, about: 'For type oauth2: how tokens are obtained.' },
});
export type AuthDraft = Read<typeof readAuth>;

const readEndpoint = objectOf({
    name: {
        read: snakeName('The name of an endpoint'),
        required: true,
        about: 'What callers name it by, such as search_products. Unique in the package.',
    },
    kind: { read: oneOf(KINDS), about: 'What calling it is like; api_call by default.' },
    description: description('When to use it. Callers and agents choose by it.'),
    method: { read: oneOf(METHODS), required: true, about: 'The HTTP method.' },
    url: {
        read: text({ max: MAX_URL }),
        required: true,
        about: 'URL template on the domain of the site, https. {name} in path or query is replaced by a path param; query params are appended.',
    },
    headers: {
        read: withDescription(anyObject, { additionalProperties: { type: 'string' } }),
        about: 'Fixed headers, such as accept. None that carries a credential, a cookie or another sender.',
    },
    params: { read: listOf(readParam, { max: MAX_PARAMS, of: 'params' }), about: 'What callers give.' },
    body: {
        read: anyJson,
        orNull: true,
        about: 'Template of the body: a string that is exactly "{name}" is replaced by that body param. By default the body params as one object.',
    },
    body_format: { read: oneOf(BODY_FORMATS), about: 'How the body is written; json by default, form for submit_form.' },
    body_required: { read: flag, about: 'False: without any body param no body is sent.' },
    prepare: {
        read: readPrepare,
        orNull: true,
        about: 'A page to get before the call, or up to three in order, for cookies, values or a form.',
    },
    hosted: { read: flag, about: 'False: Routebook describes the endpoint and does not call it.' },
    effect: {
        read: oneOf(['read', 'write'] as const),
        about: 'Whether a call changes something. Read by default for GET, HEAD and kind search; PUT, PATCH and DELETE always write.',
    },
    auth: {
        read: oneOf(AUTH_NEEDS),
        about: 'Whether a call takes a credential of the caller. Required by default where the package has auth, otherwise none.',
    },
    scopes: {
        read: listOf(scopeName, { max: 50, of: 'scopes' }),
        about: 'OAuth scopes that a call needs, as an entry of auth lists them.',
    },
    response: { read: readResponse, about: 'What comes back.' },
    billing: { read: readBilling, about: 'What a call costs.' },
    pagination: { read: readPagination, orNull: true, about: 'How to go on to the next page. Only a read has pages.' },
    examples: {
        read: listOf(objectOf({ params: { read: anyObject, required: true, about: 'Values by the name of the param.' } }), {
            max: MAX_EXAMPLES,
            of: 'examples',
        }),
        about: 'Calls that work. Verification sends the first one of each read.',
    },
});
export type EndpointDraft = Read<typeof readEndpoint>;

/** Reads a whole package into a draft and reports every unknown or invalid field. */
export const readPackage = objectOf({
    $schema: { read: text({ max: MAX_URL }), about: 'Address of this JSON Schema, for editors. It is not published.' },
    format: { read: oneOf(['routebook/1'] as const), required: true, about: 'The version of the format.' },
    site: { read: text({ max: 1024 }), required: true, about: 'Host name of the site, such as shop.example.com.' },
    title: { read: text({ max: MAX_TITLE }), required: true, about: 'Name of the site for people.' },
    description: description('What the site offers.'),
    intent_category: {
        read: withDescription(text({ max: 100 }), { enum: [...CATEGORY_PATHS] }),
        required: true,
        about: 'What the site is for: parent/child, or only the parent.',
    },
    pace: {
        read: objectOf({
            requests_per_minute: { read: wholeNumber(1, 6000), required: true, about: 'Requests a minute to each host.' },
        }),
        about: 'The pace that the site asks for. It is kept for all callers together.',
    },
    auth: {
        read: listOf(readAuth, { max: MAX_AUTH, of: 'ways to authenticate' }),
        about: 'How the site takes credentials of callers. Names only; a package never holds a value.',
    },
    endpoints: {
        read: listOf(readEndpoint, { min: 1, max: MAX_ENDPOINTS, of: 'endpoints' }),
        required: true,
        about: 'What can be called.',
    },
});
export type PackageDraft = Read<typeof readPackage>;
