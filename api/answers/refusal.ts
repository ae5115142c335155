import type { Request } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import { errorObject } from '../../shared/fetch/error-object.ts';
import { isNotMigrated } from '../../shared/health/is-up.ts';
import { isOutage, isUnknownName } from '../../shared/platform/pg-errors.ts';
import { Refusal, refusalEntry } from '../../shared/refusals.ts';
import { DataKeyUnreadable } from '../../shared/store/connections/sealing.ts';
import { callerOf } from '../auth/caller.ts';
import type { AnswerNotes, Rendered } from '../call.ts';

/** A refusal as it is sent, without the headers that every answer has. */
export async function renderRefusal(app: App, request: Request, error: Error): Promise<Rendered> {
    const refusal = await toRefusal(app, error);
    recordRefusal(app, request, refusal);
    const { soughtSite } = refusal.extras;
    if (soughtSite !== undefined) refusal.extras.didYouMean = await app.nearSites.find(soughtSite);
    // Do not wait again for a database that caused the refusal.
    if (!isOutage(refusal.cause)) await addCredits(app, request);
    return {
        text: JSON.stringify(envelope(refusal, request, app.publicUrl())),
        status: refusalEntry(refusal.code).status,
        headers: Object.fromEntries(refusalHeaders(refusal)),
        isKept: false,
    };
}

/** Stores the code for the request log, and logs with its cause what only the operator or we can repair. */
export function recordRefusal(app: App, request: Request, refusal: Refusal): void {
    request.app.refused = refusal.code;
    const { cause } = refusal;
    if (cause instanceof DataKeyUnreadable) app.log.error({ request_id: request.app.requestId, part: 'connections' }, cause.message);
    if (isUnknownName(cause) && refusal.code === 'SERVICE_UNAVAILABLE')
        app.log.error({ request_id: request.app.requestId, err: cause }, 'the database is not up to date: run npm run migrate');
    if (refusal.code !== 'INTERNAL') return;
    app.log.error({ request_id: request.app.requestId, err: refusal.cause ?? refusal }, 'a bug: unexpected error while answering');
}

/** The error body, also of protocol errors without a hapi request. @param request the known facts; unknown ones are omitted */
export function envelope(
    refusal: Refusal,
    request: { app: { requestId: string; notes?: Pick<AnswerNotes, 'creditsRemaining'> } },
    publicUrl: string,
): object {
    const { requestId, notes: { creditsRemaining } = {} } = request.app;
    const { data } = refusal.extras;
    return {
        success: false,
        data,
        error: errorObject(refusal, requestId, publicUrl),
        meta: {
            request_id: requestId,
            ...(creditsRemaining === undefined ? {} : { credits_used: 0, credits_remaining: creditsRemaining }),
        },
    };
}

const NO_DATA_KEY = 'Credentials of this workspace cannot be stored at the moment. The operator must repair the encryption keys.';
const BROKEN_PATH = 'The path is malformed. Each % must be followed by two hexadecimal digits, and the decoded bytes must be UTF-8.';

/** hapi itself raises 404 for unknown paths and 400 for broken ones, since it does not read our bodies. Any other hapi error is a bug. */
export async function toRefusal({ db }: App, error: Error & { output?: { statusCode: number } }): Promise<Refusal> {
    if (error instanceof Refusal) return error;
    if (isOutage(error) || (await isNotMigrated(db, error)))
        return new Refusal('SERVICE_UNAVAILABLE', undefined, { retryAfter: 1 }, { cause: error });
    if (error instanceof DataKeyUnreadable) return new Refusal('SERVICE_UNAVAILABLE', NO_DATA_KEY, { retryAfter: 60 }, { cause: error });
    const status = error.output?.statusCode;
    if (status === 404) return new Refusal('NOT_FOUND', undefined, {}, { cause: error });
    if (status === 400) return new Refusal('VALIDATION_ERROR', BROKEN_PATH, {}, { cause: error });
    return new Refusal('INTERNAL', undefined, {}, { cause: error });
}

/** Every answer of a fetch shows the account's credits, unless the database is down. */
async function addCredits(app: App, request: Request): Promise<void> {
    const { creditsRemaining } = request.app.notes;
    const caller = callerOf(request);
    if (request.route.settings.app?.contract?.name !== 'postFetch' || caller === undefined || creditsRemaining !== undefined) return;
    const balance = await app.credits.balance(caller.accountId).catch(() => undefined);
    request.app.notes.creditsRemaining = balance?.available;
}

/** The headers that pages of other origins may read. */
const EXPOSED = [
    'ETag, Idempotent-Replayed, Location, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate',
    'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id',
].join(', ');

/** The headers of every answer of a route. @param isOpen whether pages of every origin may read it */
export function routeHeaders({ requestId, isOpen }: { requestId: string; isOpen: boolean }): [string, string][] {
    return [
        ['x-request-id', requestId],
        ['x-content-type-options', 'nosniff'],
        ...(isOpen
            ? ([
                  ['access-control-allow-origin', '*'],
                  ['access-control-expose-headers', EXPOSED],
              ] as [string, string][])
            : []),
    ];
}

export function refusalHeaders({ code, extras }: Refusal): [string, string][] {
    const headers: [string, string][] = Object.entries(extras.headers ?? {});
    if (extras.retryAfter !== undefined) headers.push(['retry-after', String(extras.retryAfter)]);
    if (refusalEntry(code).status === 401) headers.push(['www-authenticate', 'Bearer']);
    return headers;
}
