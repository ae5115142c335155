import type { ErrorBody } from '../refusals.ts';

/** A call of the API on behalf of an agent, with the key of the person who runs it. */
export interface ApiCall {
    method: 'GET' | 'POST';
    path: string;
    query?: Record<string, string | number | boolean | undefined>;
    body?: object;
    headers?: Record<string, string>;
    /** The credits that a person confirmed for this call. */
    confirmed?: number | undefined;
    /** Whether the call may be sent again if its answer was lost. */
    isRepeatable: boolean;
    /** Gets the JSON text of an answer that is too large to be parsed completely. */
    onLong?(text: string): void;
}

/** Resolves with the body of a successful answer. @throws AskFailure with the error of the API */
export type Ask = (call: ApiCall) => Promise<Record<string, unknown>>;

/** The fields of an error that an agent gets, in this order. */
const FIELDS = [
    ...(['code', 'message', 'fault', 'retryable', 'retry_after', 'details'] as const),
    ...(['upgrade_url', 'connect_url', 'obtain_url', 'upstream', 'did_you_mean', 'request_id', 'doc_url'] as const),
];
type Field = (typeof FIELDS)[number];
type Required = 'code' | 'message' | 'fault' | 'retryable';

export type ApiError = Pick<ErrorBody, Required> & Partial<Pick<ErrorBody, Field>>;

/** The API returned an error or could not be reached. */
export class AskFailure extends Error {
    readonly apiError: ApiError;

    constructor(error: ApiError) {
        super(error.message);
        this.name = 'AskFailure';
        this.apiError = Object.fromEntries(FIELDS.map((name) => [name, error[name]])) as unknown as ApiError;
    }
}
