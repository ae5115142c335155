/**
 * The main types: a schema package (`PackageDocument`, in the snake_case of the format in which it is published, hashed and downloaded), an
 * endpoint with all defaults filled in (`Endpoint`), and a request to a site (`UpstreamRequest`).
 */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export const KINDS = ['api_call', 'navigate', 'search', 'paginate', 'submit_form'] as const;
export type Kind = (typeof KINDS)[number];

export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type Method = (typeof METHODS)[number];

export const SOURCES = ['path', 'query', 'header', 'body'] as const;
export type ParamSource = (typeof SOURCES)[number];

/** How a list or an object is serialized in a query or a form. */
export const STYLES = ['repeat', 'comma', 'brackets', 'space', 'pipe', 'deepObject'] as const;
export type ParamStyle = (typeof STYLES)[number];

export type Effect = 'read' | 'write';

/** How a site accepts a caller's credential. */
export const AUTH_TYPES = ['header', 'query', 'basic', 'bearer', 'oauth2', 'cookie'] as const;
export type AuthType = (typeof AUTH_TYPES)[number];
export const OAUTH_FLOWS = ['authorization_code', 'client_credentials'] as const;
export type OAuthFlow = (typeof OAUTH_FLOWS)[number];
export const AUTH_NEEDS = ['required', 'optional', 'none'] as const;
export type AuthNeed = (typeof AUTH_NEEDS)[number];
export const BODY_FORMATS = ['json', 'form', 'multipart', 'xml', 'text', 'ndjson'] as const;
export type BodyFormat = (typeof BODY_FORMATS)[number];
export const RESPONSE_TYPES = ['json', 'ndjson', 'html', 'xml', 'feed', 'csv', 'text', 'binary'] as const;
export type ResponseType = (typeof RESPONSE_TYPES)[number];
export type BillingUnit = 'request' | 'result';
export type PaginationStyle = 'page' | 'offset' | 'cursor' | 'link';

/** A JSON Schema 2020-12 document in a package. `true` and `false` are schemas too. */
export type JsonSchema = boolean | JsonObject;

/** Types to which a text of HTML can be converted. */
export const SELECTED_TYPES = ['string', 'number', 'integer', 'boolean'] as const;
export type SelectedType = (typeof SELECTED_TYPES)[number];

/** `select` for JSON: a JMESPath expression, or expressions by output name. For HTML: the form of cheerio's `extract`, with types. */
export type Select = string | JsonObject;

// --- the package, as published (docs/api.md, "Schema packages") ---

export interface PackageParam {
    name: string;
    source: ParamSource;
    required: boolean;
    description?: string;
    schema?: JsonSchema;
    default?: Json;
    example?: Json;
    style?: ParamStyle;
    segments?: boolean;
}

/** One way to authenticate at the site. Contains names only, never a value. */
export interface PackageAuth {
    id: string;
    type: AuthType;
    /** Name of the header, query parameter or cookie. */
    name?: string;
    /** Text before the value in a header, such as `token `. */
    prefix?: string;
    description?: string;
    /** Where people get a credential. */
    obtain_url?: string;
    /** The endpoint that tests a credential: a read without required params. */
    test?: string;
    /** The hosts that may receive it; by default all hosts of the package. */
    hosts?: string[];
    /** How tokens are obtained, for type oauth2. */
    oauth2?: PackageOAuth;
}

export interface PackageOAuth {
    /** The page where people consent; required for authorization_code. */
    authorization_url?: string;
    token_url: string;
    /** The URL that revokes tokens (RFC 7009). */
    revocation_url?: string;
    scopes?: { name: string; description?: string }[];
    /** Whether authorization uses PKCE; true by default. */
    pkce?: boolean;
    /** Absent: only authorization_code. */
    flows?: OAuthFlow[];
}

/** A page to request before a call. */
export interface PackageStep {
    url: string;
    form?: string;
    /** Values by name: an entry of `select`, or `{cookie}`. */
    extract?: Record<string, Extract>;
}

/** An expression or selector, an entry of `select` for HTML, or the name of a cookie of the call. */
export type Extract = string | JsonObject;

/** How an answer is read. */
interface PackageResponse {
    type?: ResponseType;
    select?: Select;
    schema?: JsonSchema;
    /** The encoding of the answer. It overrides the one that the answer declares. */
    charset?: string;
    csv?: CsvFormat;
    /** For type `ndjson`: the values are the data of an event stream. */
    sse?: boolean;
}

export interface CsvFormat {
    /** One character; detected if absent. */
    delimiter?: string;
    /** Whether the first row names the columns; true by default. */
    header?: boolean;
    /** Names of the columns. They replace those of the header. */
    columns?: string[];
}

export interface PackageEndpoint {
    name: string;
    kind?: Kind;
    description?: string;
    method: Method;
    url: string;
    headers?: Record<string, string>;
    params?: PackageParam[];
    body?: Json;
    body_format?: BodyFormat;
    body_required?: boolean;
    prepare?: PackageStep | PackageStep[] | null;
    hosted?: boolean;
    effect?: Effect;
    /** Whether a call needs a credential; `required` by default in a package with `auth`. */
    auth?: AuthNeed;
    /** OAuth scopes that a call needs. */
    scopes?: string[];
    response?: PackageResponse;
    billing?: { unit?: BillingUnit; results?: string; max_results?: number };
    pagination?: {
        style?: PaginationStyle;
        param?: string;
        start?: number;
        step?: number;
        next?: string | null;
        unique?: string;
        end?: { total?: string; has_more?: string; short_page?: boolean };
        max_pages?: number;
    } | null;
    examples?: { params: JsonObject }[];
}

export interface PackageDocument {
    format: 'routebook/1';
    site: string;
    title: string;
    description?: string;
    intent_category: string;
    /** The rate limit that the site asks for: requests a minute to each host of the package. */
    pace?: { requests_per_minute: number };
    auth?: PackageAuth[];
    endpoints: PackageEndpoint[];
}

// --- an endpoint with all defaults filled in; used by all code after publishing ---

export interface Param extends Pick<PackageParam, 'name' | 'source' | 'required'> {
    description: string;
    schema: JsonSchema | undefined;
    default: Json | undefined;
    example: Json | undefined;
    style: ParamStyle;
    /** For a path param: whether its value may consist of several segments, separated by slashes. */
    segments: boolean;
}

export interface Pagination {
    style: PaginationStyle;
    /** Name of the path, query or body param that contains page, offset or cursor; absent for `link`. */
    param: string | undefined;
    start: number;
    /** Absent for `offset`: the number of items of the last page. */
    step: number | undefined;
    next: string | undefined;
    /** JMESPath of the id of an item. An item is dropped if its id appeared before. */
    unique: string | undefined;
    /** Further signs of the last page. `total` and `hasMore` are JMESPath expressions over the raw page. */
    end: { total: string | undefined; hasMore: string | undefined; isShort: boolean };
    maxPages: number;
}

export interface PrepareStep {
    /** URL template with placeholders for path and query params, and for values that earlier steps extract. */
    url: string;
    form: string | undefined;
    extract: Readonly<Record<string, Extract>>;
}

export interface Endpoint {
    name: string;
    kind: Kind;
    description: string;
    method: Method;
    /** URL template. Placeholders `{name}` occur only in path and query. */
    url: string;
    headers: Readonly<Record<string, string>>;
    params: readonly Param[];
    /** Template of the body; a text for XML, text and NDJSON. `undefined`: the body params as one flat object. */
    body: Json | undefined;
    bodyFormat: BodyFormat;
    /** False: without any body param, neither a body nor a content type is sent. */
    bodyRequired: boolean;
    /** Pages to request before the call, in order; at least one. */
    prepare: readonly PrepareStep[] | undefined;
    hosted: boolean;
    effect: Effect;
    /** Absent: the default of the package applies (`needOf`). */
    auth: AuthNeed | undefined;
    /** OAuth scopes that a call needs. */
    scopes: readonly string[];
    response: Pick<PackageResponse, 'charset' | 'csv' | 'sse'> & {
        type: ResponseType | undefined;
        select: Select | undefined;
        schema: JsonSchema | undefined;
    };
    /** `hasList`: the package says that there is a list at `results`. */
    billing: { unit: BillingUnit; results: string; hasList: boolean; maxResults: number };
    pagination: Pagination | undefined;
    examples: readonly { params: JsonObject }[];
}

/** Bound values of one call by param name, with defaults; absent params have no entry. Read them with `valueIn`. */
export type Values = Readonly<Record<string, Json>>;

/** A complete HTTP request to a site. Only host, content-length and connection headers are added later. */
export interface UpstreamRequest {
    method: Method;
    url: string;
    /** Lower-case names, including `user-agent` and `content-type`. */
    headers: Record<string, string>;
    /** The body as sent, as UTF-8 text or bytes; absent: no body. */
    body?: string | Uint8Array;
    /** The body as `dry_run` shows it: the JSON value, the fields with file sizes, or the text; null without a body. */
    bodyShown: Json;
}
