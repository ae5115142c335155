/**
 * The table of error codes, and the error class that represents a refusal up to the API's answer. Status, fault and retryability follow
 * docs/api.md, "Errors". `GET /v1/errors` and the OpenAPI document are generated from this table.
 */

export type Fault = 'caller' | 'service' | 'upstream' | 'schema';

/** `reads`: retryable only if the effect of the endpoint is `read`. */
type Retryable = boolean | 'reads';

export interface RefusalEntry {
    status: number;
    fault: Fault;
    retryable: Retryable;
    /** An explanation for people. It is the default of the public message. */
    meaning: string;
}

function refusal(status: number, fault: Fault, retryable: Retryable, meaning: string): RefusalEntry {
    return { status, fault, retryable, meaning };
}

/** An error that stays until the caller sends something else. */
function callerFault(status: number, meaning: string): RefusalEntry {
    return refusal(status, 'caller', false, meaning);
}

const TABLE = {
    INVALID_JSON: callerFault(400, 'The body is not well-formed JSON.'),
    VALIDATION_ERROR: callerFault(400, 'The request does not match the schema of this route; details name each problem.'),
    INVALID_CURSOR: callerFault(400, 'The cursor was not issued for this query; start again without one.'),
    INTENT_REQUIRED: callerFault(400, 'A catalog look-up needs an intent: the query parameter intent or the header X-Service-Intent.'),
    INTENT_TOO_SHORT: callerFault(400, 'The intent has fewer than 20 characters; say what you want to do on the site.'),
    INTENT_TOO_FEW_WORDS: callerFault(400, 'The intent has fewer than 5 distinct words; say what you want to do on the site.'),
    INVALID_DOMAIN: callerFault(400, 'This is not a domain name of a site; give a bare host such as shop.example.com.'),
    INVALID_PARAMS: callerFault(400, 'A parameter is missing, unknown or of the wrong type for this endpoint; details name each.'),
    INVALID_IDEMPOTENCY_KEY: callerFault(400, 'Send one Idempotency-Key, of 1 to 255 visible ASCII characters.'),
    API_KEY_REQUIRED: callerFault(401, 'This route needs an API key. Send Authorization: Bearer <API_KEY>.'),
    INVALID_API_KEY: callerFault(401, 'The API key is unknown, revoked or expired.'),
    INSUFFICIENT_CREDITS: callerFault(402, 'The account has too few credits for this call.'),
    NOT_MAINTAINER: callerFault(
        403,
        'Only a workspace that maintains this domain may do this: GET /v1/schemas/{site}/maintainers names those, and each can add yours; POST /v1/sites/{domain}/claims proves that the domain is yours.',
    ),
    CLAIM_REQUIRED: callerFault(
        403,
        'This name needs proof: show that the domain is yours with POST /v1/sites/{domain}/claims, or ask the operator of this service.',
    ),
    EMAIL_NOT_VERIFIED: callerFault(403, 'The email address of this account is not verified yet; open the link in our email.'),
    SITE_BLOCKED: refusal(403, 'service', false, 'This site is blocked, by its owner or by an operator.'),
    FORBIDDEN: callerFault(403, 'This key may not do this.'),
    SPENDING_LIMIT: callerFault(403, 'A spending cap that this account set is reached.'),
    PLAN_LIMIT: callerFault(403, 'The limit of the plan of this workspace is reached.'),
    NOT_FOUND: callerFault(404, 'There is nothing at this path.'),
    SITE_NOT_FOUND: callerFault(404, 'No schema is published for this site; ask for one with POST /v1/schema-requests.'),
    ENDPOINT_NOT_FOUND: callerFault(404, 'The site has no endpoint of this name in this version.'),
    VERSION_NOT_FOUND: callerFault(404, 'The site has no such version, or it can no longer run.'),
    REQUEST_NOT_FOUND: callerFault(404, 'There is no schema request with this id.'),
    JOB_NOT_FOUND: callerFault(404, 'Your workspace has no job with this id that this key may see; jobs are kept for 90 days.'),
    BATCH_NOT_FOUND: callerFault(404, 'Your workspace has no batch with this id that this key may see; batches are kept for 90 days.'),
    MONITOR_NOT_FOUND: callerFault(404, 'Your workspace has no monitor with this id that this key may see.'),
    CLAIM_NOT_FOUND: callerFault(404, 'Your workspace has no claim with this id on this domain; it may have expired.'),
    CONNECTION_NOT_FOUND: callerFault(404, 'There is no connection with this id that you may use for this site.'),
    WEBHOOK_NOT_FOUND: callerFault(404, 'Your workspace has no webhook with this id.'),
    METHOD_NOT_ALLOWED: callerFault(405, 'The path exists, but not with this method; see the Allow header.'),
    REQUEST_TIMEOUT: refusal(408, 'caller', true, 'The request did not arrive completely within 15 seconds.'),
    IDEMPOTENCY_CONFLICT: callerFault(409, 'This Idempotency-Key was used with another body, or with another query of a batch.'),
    IDEMPOTENCY_IN_PROGRESS: refusal(409, 'caller', true, 'A call with this Idempotency-Key is still running.'),
    VERSION_CONFLICT: callerFault(409, 'The latest version is not the one that If-Match names.'),
    JOB_NOT_CANCELLABLE: callerFault(409, 'This job has ended, or it is a write that was sent.'),
    BATCH_NOT_OPEN: callerFault(409, 'This batch has ended, or is being cancelled.'),
    LAST_MAINTAINER: callerFault(409, 'The last maintainer of a domain cannot be removed.'),
    PAYLOAD_TOO_LARGE: callerFault(413, 'The body is larger than this route accepts.'),
    UNSUPPORTED_MEDIA_TYPE: callerFault(415, 'This route accepts JSON in UTF-8: send Content-Type: application/json.'),
    SCHEMA_INVALID: callerFault(422, 'The schema package breaks the rules of the registry; details name every problem.'),
    ENDPOINT_NOT_HOSTED: callerFault(422, 'This endpoint cannot be called through hosted fetch; call it yourself from the catalog.'),
    CONNECTION_REQUIRED: callerFault(
        422,
        'This call needs a connection: your own credential for the site, saved with POST /v1/connections.',
    ),
    CONNECTION_REJECTED: callerFault(422, 'The site rejects this credential; change the secret of the connection, or test it again.'),
    RATE_LIMITED: refusal(429, 'caller', true, 'A rate limit of this account is used up.'),
    CONCURRENCY_LIMITED: refusal(429, 'caller', true, 'Too many fetches of this account are in flight.'),
    SITE_BUSY: refusal(429, 'service', true, 'This site is using all of its share of the workers.'),
    INTERNAL: refusal(500, 'service', false, 'Something went wrong on our side; it is a bug and it was logged.'),
    UPSTREAM_STATUS: refusal(502, 'upstream', 'reads', 'The site answered with a status that is not 2xx.'),
    UPSTREAM_UNAUTHORIZED: callerFault(502, 'The site answered 401: it rejects the credential of this connection.'),
    UPSTREAM_UNREACHABLE: refusal(502, 'upstream', 'reads', 'The site could not be reached, or the connection broke off.'),
    UPSTREAM_BLOCKED: refusal(502, 'upstream', false, 'The site showed a bot challenge or a captcha instead of its answer.'),
    UPSTREAM_INVALID_RESPONSE: refusal(502, 'schema', false, 'The answer arrived, but does not match the schema.'),
    UPSTREAM_TOO_LARGE: refusal(502, 'upstream', false, 'The answer is larger than a hosted fetch accepts.'),
    UPSTREAM_REDIRECT: refusal(502, 'upstream', false, 'The site redirected where a hosted fetch does not follow.'),
    EGRESS_DENIED: refusal(502, 'schema', false, 'Routebook may not call the address of this site.'),
    OUTCOME_UNKNOWN: refusal(
        502,
        'service',
        false,
        'The request may have reached the site, but its outcome is not known; it was not billed.',
    ),
    OVERLOADED: refusal(503, 'service', true, 'The queue cannot serve this call in time.'),
    SITE_UNAVAILABLE: refusal(503, 'upstream', true, 'Calls to this site are paused for a moment, since too many failed.'),
    UPSTREAM_RATE_LIMITED: refusal(503, 'upstream', 'reads', 'The site answered 429: it limits our calls.'),
    SERVICE_UNAVAILABLE: refusal(503, 'service', true, 'A component that this call needs is down; try again in a moment.'),
    UPSTREAM_TIMEOUT: refusal(504, 'upstream', 'reads', 'The request was sent, but no complete answer came in time.'),
    DEADLINE_EXCEEDED: refusal(504, 'service', true, 'The timeout of this call passed before the site could answer.'),
} satisfies Record<string, RefusalEntry>;

export type RefusalCode = keyof typeof TABLE;

/** All codes with their entries, in the order of the contract's table. */
export const REFUSALS: ReadonlyMap<RefusalCode, RefusalEntry> = new Map(Object.entries(TABLE) as [RefusalCode, RefusalEntry][]);

export function refusalEntry(code: RefusalCode): RefusalEntry {
    return TABLE[code];
}

export const DETAIL_CODES = [
    'REQUIRED',
    'UNKNOWN_FIELD',
    'INVALID_TYPE',
    'INVALID_VALUE',
    'REPEATED',
    'INVALID_DOMAIN',
    'UNKNOWN_CATEGORY',
    'FORBIDDEN_FIELD',
    'SECRET_DETECTED',
    'HOST_NOT_IN_SITE',
    'TEMPLATE_MISMATCH',
    'DUPLICATE_NAME',
    'TOO_COMPLEX',
    'SCOPE_MISSING',
    'CONFIRMATION_REQUIRED',
] as const;
export type DetailCode = (typeof DETAIL_CODES)[number];

/** One problem at one place. `path` is a JSON pointer into the body, the query or the params. */
export interface Detail<Code extends string = DetailCode> {
    path: string;
    code: Code;
    message: string;
}

/** One problem of a batch item. Its code may also be the one that the item would get in a call of its own. */
export type ItemDetail = Detail<DetailCode | RefusalCode>;

/** The optional fields of the error envelope. Everything here is public. */
export interface RefusalExtras {
    details?: readonly ItemDetail[] | undefined;
    /** For batches: the total number of problems. `details` contains the first ones. */
    problems?: number | undefined;
    /** In whole seconds. */
    retryAfter?: number | undefined;
    upgradeTo?: string | undefined;
    upgradeUrl?: string | undefined;
    /** Where to connect the site, and where people get its credential. */
    connectUrl?: string | undefined;
    obtainUrl?: string | undefined;
    upstream?: { status: number; snippet: string } | undefined;
    didYouMean?: string[] | undefined;
    /** The site that was not found. Similar sites become `didYouMean` in the answer. */
    soughtSite?: string | undefined;
    /** Overrides `reads` of the table, and the table for a write that may have been sent. */
    retryable?: boolean | undefined;
    /** A field next to `error`, used only by the health route. */
    data?: object | undefined;
    /** Headers of the answer, lower case. */
    headers?: Record<string, string> | undefined;
}

/** The `error` of an answer (docs/api.md, "Errors"). */
export interface ErrorBody {
    code: string;
    message: string;
    status: number;
    fault: Fault;
    retryable: boolean;
    retry_after?: number;
    request_id: string;
    doc_url: string;
    details?: readonly ItemDetail[];
    problems?: number;
    upgrade_to?: string;
    upgrade_url?: string;
    connect_url?: string;
    obtain_url?: string;
    upstream?: { status: number; snippet: string };
    did_you_mean?: readonly string[];
}

/** Thrown if the caller can do something about the problem. Any other thrown error is a bug. The message is public. */
export class Refusal extends Error {
    readonly code: RefusalCode;
    readonly extras: RefusalExtras;

    /** @param message public, one sentence; absent: the meaning in the table. `cause` is only logged. */
    constructor(code: RefusalCode, message?: string, extras: RefusalExtras = {}, options?: { cause?: unknown }) {
        super(message ?? TABLE[code].meaning, options);
        this.name = 'Refusal';
        this.code = code;
        this.extras = extras;
    }

    /** Whether the same call may succeed later. */
    get isRetryable(): boolean {
        return this.extras.retryable ?? TABLE[this.code].retryable === true;
    }
}

/** A VALIDATION_ERROR. @param problems the total number, if `details` are only the first of them */
export function invalidFields(details: readonly ItemDetail[], problems?: number): Refusal {
    return new Refusal('VALIDATION_ERROR', undefined, { details, problems });
}

/** A VALIDATION_ERROR because of one field. @param path its JSON pointer; empty for the whole body */
export function invalidField(path: string, message: string, code: DetailCode = 'INVALID_VALUE'): Refusal {
    return invalidFields([{ path, code, message }]);
}
