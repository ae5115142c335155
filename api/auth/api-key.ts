import type { Request } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import type { AnyContract } from '../../shared/contracts/contract.ts';
import { isWellFormedKey, keyHash } from '../../shared/domain/accounts/api-key.ts';
import { EVERY_TOOL } from '../../shared/domain/apps/resource.ts';
import { Refusal } from '../../shared/refusals.ts';
import { type Caller, findCallerById } from '../../shared/store/accounts/callers.ts';
import { countRefused } from '../admission/count-call.ts';
import { invalidKeysOf } from '../admission/invalid-keys.ts';
import { bearerKey, headerCopies } from '../admission/request-headers.ts';
import type { Call } from '../call.ts';
import type { AppPlugin } from '../plugins/plugin.ts';
import { callerOf } from './caller.ts';
import { checkAddress, checkRoute, checkTarget } from './key-scopes.ts';

/**
 * The strategy `api-key`: finds the caller before the body is read, so that anonymous bodies cost nothing. A route whose key is optional
 * still checks an Authorization header: a wrong key is never treated as anonymous.
 */
export const apiKey: AppPlugin = {
    name: 'api-key',
    register(server, { app }) {
        server.auth.scheme('api-key', () => ({
            async authenticate(request, h) {
                if (request.raw.req.headers.authorization === undefined) {
                    // Without credentials hapi would make an error, which takes 50 µs of the 0.9 ms of a look-up.
                    if (request.auth.mode !== 'required') return h.authenticated({ credentials: {} });
                    return h.unauthenticated(keyRequired(app, 'This route needs an API key'));
                }
                const caller = await findCaller(app, request);
                if (caller === undefined) {
                    invalidKeysOf(app).count();
                    return h.unauthenticated(new Refusal('INVALID_API_KEY'));
                }
                const credentials = { app: caller };
                const refusal = refusalOf(app, request, caller);
                return refusal === undefined ? h.authenticated({ credentials }) : h.unauthenticated(refusal, { credentials });
            },
        }));
        server.auth.strategy('api-key', 'api-key');

        // Calls of our own pages already have a caller (api/dashboard/internal-api.ts), so hapi does not call authenticate().
        server.ext('onCredentials', (request, h) => {
            const caller = request.auth.isInjected ? callerOf(request) : undefined;
            const refusal = caller === undefined ? undefined : refusalOf(app, request, caller);
            if (refusal !== undefined) throw refusal;
            return h.continue;
        });

        server.ext(
            'onPreHandler',
            async (request, h) => {
                const { contract } = request.route.settings.app ?? {};
                if (contract !== undefined && callerOf(request) !== undefined) {
                    const caller = await callerAfterBody(app, request);
                    try {
                        checkTarget(contract, caller, { params: request.params, body: request.payload });
                    } catch (refusal) {
                        await countRefused(app, request);
                        throw refusal;
                    }
                }
                return h.continue;
            },
            { after: 'input' },
        );
    },
};

/** If the body took longer than this, the key is checked again, since a revocation must take effect within a second. */
const FRESH_MS = 1000;

/** Looks the caller up again after a body that took long to arrive. @throws Refusal as for a new request */
async function callerAfterBody(app: App, request: Request): Promise<Caller> {
    const isFresh = performance.now() - request.app.startedAt < FRESH_MS;
    if (isFresh || request.auth.isInjected) return callerOf(request) as Caller;
    const caller = await findCaller(app, request);
    if (caller === undefined) throw new Refusal('INVALID_API_KEY');
    request.auth.credentials = { app: caller };
    const refusal = refusalOf(app, request, caller);
    if (refusal !== undefined) throw refusal;
    return caller;
}

/** @param needs what needs a key, for example `This route needs an API key` */
export function keyRequired(app: App, needs: string): Refusal {
    return new Refusal(
        'API_KEY_REQUIRED',
        `${needs}. Send Authorization: Bearer <API_KEY>. Sign up for a key at ${app.publicUrl()}/signup.`,
    );
}

/** Undefined if the key is unknown. @throws Refusal INVALID_API_KEY if the header appears twice */
async function findCaller(app: App, request: Request): Promise<Caller | undefined> {
    const { req } = request.raw;
    // Node keeps the first of two Authorization headers. A proxy may have checked the other one.
    if (headerCopies(req, 'authorization') > 1) throw new Refusal('INVALID_API_KEY', 'Send the Authorization header once.');
    const key = bearerKey(req.headers.authorization ?? '');
    // A mistyped key fails its checksum and costs no database query.
    const caller = key === undefined || !isWellFormedKey(key) ? undefined : await app.keys.find(keyHash(key));
    return caller === undefined ? undefined : afterConfirmation(caller, request.app.confirmed);
}

/** Allows writes up to the price that a person has confirmed for this call. */
function afterConfirmation(caller: Caller, credits: number | undefined): Caller {
    const { confirmAbove } = caller;
    return confirmAbove === null || credits === undefined ? caller : { ...caller, confirmAbove: Math.max(confirmAbove, credits) };
}

/** Why this caller may not use the route. */
function refusalOf(app: App, request: Request, caller: Caller): Refusal | undefined {
    const { contract } = request.route.settings.app ?? {};
    if (caller.suspended && !request.auth.isInjected) {
        return new Refusal('FORBIDDEN', 'This account is suspended; write to the operator of this service.');
    }
    return (
        checkResource(app, request, caller) ??
        checkAddress(caller, request.app.clientAddress) ??
        (contract === undefined ? undefined : (checkRoute(contract, caller) ?? refuseUnverified(app, contract, caller)))
    );
}

/** An app's access token is valid only for its own path. Calls that tools make within this process were authorized on that path. */
function checkResource(app: App, request: Request, { resource }: Caller): Refusal | undefined {
    if (resource === null || request.isInjected) return undefined;
    const asked = request.route.settings.app?.resource?.(request);
    if (asked !== undefined && (resource === asked || resource === EVERY_TOOL)) return undefined;
    return new Refusal(
        'INVALID_API_KEY',
        `This access token is valid only for ${app.publicUrl()}${resource}. Use an API key for other routes.`,
    );
}

/** If mail is configured, refuses routes that an account with an unconfirmed address may not use. */
function refuseUnverified({ config }: App, contract: AnyContract, caller: Caller): Refusal | undefined {
    const isNeeded = config.mail.smtpUrl !== undefined && contract.refusals.includes('EMAIL_NOT_VERIFIED');
    return isNeeded && !caller.emailVerified ? new Refusal('EMAIL_NOT_VERIFIED') : undefined;
}

/** Looks the caller up again after the call has waited. @throws Refusal as for a new call */
export async function checkKeyAgain({
    app,
    caller,
    request,
}: Pick<Call<unknown, unknown, unknown>, 'app' | 'caller' | 'request'>): Promise<Caller> {
    // Pages call without a key.
    const isPage = caller.keyId === '';
    const now = isPage ? await request.app.visitorAgain?.() : await findCallerById(app.db, caller.keyId);
    if (now === undefined) throw isPage ? new Refusal('FORBIDDEN', LEFT) : new Refusal('INVALID_API_KEY');
    const refusal = refusalOf(app, request, now);
    if (refusal !== undefined) throw refusal;
    const { contract } = request.route.settings.app ?? {};
    if (contract !== undefined) checkTarget(contract, now, { params: request.params, body: request.payload });
    return afterConfirmation(now, request.app.confirmed);
}

const LEFT = 'Nothing was changed: before it was your turn, you were signed out, suspended, or no longer in this workspace.';
