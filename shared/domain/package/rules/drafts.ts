import type {
    AuthNeed,
    AuthType,
    BillingUnit,
    BodyFormat,
    Effect,
    Json,
    JsonObject,
    Kind,
    Method,
    OAuthFlow,
    PaginationStyle,
    ParamSource,
    ParamStyle,
    ResponseType,
} from '../../types.ts';

/** A package after the rules have read it. It contains the fields of the right type. All other fields are left out and reported. */
export interface ParamFields {
    name: string;
    source: ParamSource;
    required: boolean;
    description: string;
    schema: Json;
    default: Json;
    example: Json;
    style: ParamStyle;
    segments: boolean;
}
export type ParamDraft = Partial<ParamFields>;

export interface PrepareFields {
    url: string;
    form: string;
    extract: JsonObject;
}
export type StepDraft = Partial<PrepareFields>;

/** One step, or a list of steps; `undefined` for a step that could not be read. */
export interface PrepareDraft {
    steps: (StepDraft | undefined)[];
    isList: boolean;
}

export interface ResponseFields {
    type: ResponseType;
    select: Json;
    schema: Json;
    charset: string;
    csv: Partial<CsvFields>;
    sse: boolean;
}

export interface CsvFields {
    delimiter: string;
    header: boolean;
    columns: (string | undefined)[];
}

export interface BillingFields {
    unit: BillingUnit;
    results: string;
    max_results: number;
}

export interface PageEndFields {
    total: string;
    has_more: string;
    short_page: boolean;
}

export interface PaginationFields {
    style: PaginationStyle;
    param: string;
    start: number;
    step: number;
    next: string;
    unique: string;
    end: Partial<PageEndFields>;
    max_pages: number;
}

export interface OAuthFields {
    authorization_url: string;
    token_url: string;
    revocation_url: string;
    scopes: (Partial<{ name: string; description: string }> | undefined)[];
    pkce: boolean;
    flows: (OAuthFlow | undefined)[];
}

export interface AuthFields {
    id: string;
    type: AuthType;
    name: string;
    prefix: string;
    description: string;
    obtain_url: string;
    test: string;
    hosts: (string | undefined)[];
    oauth2: Partial<OAuthFields>;
}
export type AuthDraft = Partial<AuthFields>;

export interface EndpointFields {
    name: string;
    kind: Kind;
    description: string;
    method: Method;
    url: string;
    headers: JsonObject;
    params: (ParamDraft | undefined)[];
    body: Json;
    body_format: BodyFormat;
    body_required: boolean;
    prepare: PrepareDraft;
    hosted: boolean;
    effect: Effect;
    auth: AuthNeed;
    scopes: (string | undefined)[];
    response: Partial<ResponseFields>;
    billing: Partial<BillingFields>;
    pagination: Partial<PaginationFields>;
    examples: ({ params?: JsonObject } | undefined)[];
}
export type EndpointDraft = Partial<EndpointFields>;

export interface PackageFields {
    $schema: string;
    format: string;
    site: string;
    title: string;
    description: string;
    intent_category: string;
    pace: { requests_per_minute?: number };
    auth: (AuthDraft | undefined)[];
    endpoints: (EndpointDraft | undefined)[];
}
export type PackageDraft = Partial<PackageFields>;
