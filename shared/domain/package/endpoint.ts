import type {
    BodyFormat,
    Effect,
    Endpoint,
    Kind,
    Method,
    PackageEndpoint,
    PackageParam,
    PackageStep,
    Pagination,
    PaginationStyle,
    Param,
} from '../types.ts';

/** Valid names of endpoints (docs/api.md, "Schema packages"). */
export const ENDPOINT_NAME = /^[a-z][a-z0-9_]{0,63}$/;

/** Fills in every default of docs/api.md, "Schema packages", for an endpoint of a checked package. `null` means absent. */
export function readEndpoint(document: PackageEndpoint): Endpoint {
    const kind = document.kind ?? 'api_call';
    return {
        name: document.name,
        kind,
        description: document.description ?? '',
        method: document.method,
        url: document.url,
        headers: document.headers ?? {},
        params: (document.params ?? []).map(readParam),
        body: document.body ?? undefined,
        bodyFormat: document.body_format ?? defaultBodyFormat(kind),
        bodyRequired: document.body_required ?? true,
        prepare: readSteps(document.prepare),
        hosted: document.hosted ?? true,
        effect: document.effect ?? defaultEffect(kind, document.method),
        auth: document.auth,
        scopes: document.scopes ?? [],
        response: { type: undefined, select: undefined, schema: undefined, ...document.response },
        billing: {
            unit: document.billing?.unit ?? 'request',
            results: document.billing?.results ?? DEFAULT_RESULTS,
            hasList:
                document.billing?.results != null ||
                document.billing?.unit === 'result' ||
                document.pagination != null ||
                kind === 'search',
            maxResults: document.billing?.max_results ?? 100,
        },
        pagination: document.pagination ? readPagination(document.pagination) : undefined,
        examples: document.examples ?? [],
    };
}

/** The place of the result array in `data` if `billing.results` is absent. */
export const DEFAULT_RESULTS = 'items';

export function sendsBody({ method, body, params }: Endpoint): boolean {
    if (isSafeMethod(method)) return false;
    return body !== undefined || params.some(({ source }) => source === 'body');
}

/** Whether a method is safe (RFC 9110): GET and HEAD, which have no body and change nothing. */
export function isSafeMethod(method: string | undefined): boolean {
    return method === 'GET' || method === 'HEAD';
}

/** Methods that always change something, regardless of the package. */
const WRITING_METHODS: ReadonlySet<Method> = new Set<Method>(['PUT', 'PATCH', 'DELETE']);

/** Whether `method` always makes an endpoint a write. `effect: read` is then refused. */
export function isWritingMethod(method: Method): boolean {
    return WRITING_METHODS.has(method);
}

export function defaultEffect(kind: Kind, method: Method): Effect {
    if (isWritingMethod(method)) return 'write';
    return isSafeMethod(method) || kind === 'search' ? 'read' : 'write';
}

export function defaultBodyFormat(kind: Kind): BodyFormat {
    return kind === 'submit_form' ? 'form' : 'json';
}

function readSteps(prepare: PackageEndpoint['prepare']): Endpoint['prepare'] {
    const steps = stepsOf(prepare).map(({ url, form, extract = {} }) => ({ url, form, extract }));
    return steps.length === 0 ? undefined : steps;
}

/** The steps in the format of packages: one step as an object, several steps as a list. */
export function writtenSteps(steps: NonNullable<Endpoint['prepare']>): PackageStep | PackageStep[] {
    const written = steps.map(({ url, form, extract }) => ({
        url,
        ...(form === undefined ? {} : { form }),
        ...(Object.keys(extract).length === 0 ? {} : { extract }),
    }));
    const [only] = written;
    return written.length === 1 && only !== undefined ? only : written;
}

/** The pages that an endpoint fetches first, in order; empty if it has no `prepare`. */
export function stepsOf(prepare: PackageEndpoint['prepare']): PackageStep[] {
    if (prepare == null) return [];
    return Array.isArray(prepare) ? prepare : [prepare];
}

function readParam(param: PackageParam): Param {
    return {
        name: param.name,
        source: param.source,
        required: param.required,
        description: param.description ?? '',
        schema: param.schema,
        default: param.default,
        example: param.example,
        style: param.style ?? 'repeat',
        segments: param.segments ?? false,
    };
}

/** The number of the first page if the package does not declare it. */
export function defaultStart(style: PaginationStyle): number {
    return style === 'offset' ? 0 : 1;
}

function readPagination(document: NonNullable<PackageEndpoint['pagination']>): Pagination {
    const style = document.style ?? 'page';
    return {
        style,
        param: document.param,
        start: document.start ?? defaultStart(style),
        step: document.step ?? (style === 'offset' ? undefined : 1),
        next: document.next ?? undefined,
        unique: document.unique,
        end: { total: document.end?.total, hasMore: document.end?.has_more, isShort: document.end?.short_page ?? false },
        maxPages: document.max_pages ?? 5,
    };
}
