/** A call of the API on behalf of an agent, with the key of the person who runs it. */
export interface ApiCall {
    method: 'GET' | 'POST';
    path: string;
    query?: Record<string, string | number | boolean | undefined>;
    body?: unknown;
    headers?: Record<string, string>;
    /** The credits that a person confirmed for this call. */
    confirmed?: number | undefined;
    /** Whether the call may be sent again if its answer was lost. */
    isRepeatable: boolean;
}

/** Resolves with the body of a successful answer. @throws AskFailure with the error of the API */
export type Ask = (call: ApiCall) => Promise<Record<string, unknown>>;

/** The fields of the error envelope that an agent needs. */
export interface ApiError {
    code: string;
    message: string;
    /** Who caused the error: caller, upstream, schema or service. */
    fault: string;
    retryable: boolean;
    retry_after?: number | undefined;
    details?: readonly { path: string; code: string; message: string }[] | undefined;
    upgrade_url?: string | undefined;
    connect_url?: string | undefined;
    obtain_url?: string | undefined;
    upstream?: { status: number; snippet: string } | undefined;
    did_you_mean?: readonly string[] | undefined;
    request_id?: string | undefined;
    doc_url?: string | undefined;
}

/** The API returned an error or could not be reached. */
export class AskFailure extends Error {
    readonly apiError: ApiError;

    constructor(apiError: ApiError) {
        super(apiError.message);
        this.name = 'AskFailure';
        this.apiError = apiError;
    }
}
