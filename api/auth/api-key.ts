import type { Request, Server } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import type { AnyContract } from '../../shared/contracts/contract.ts';
import { isWellFormedKey, keyHash } from '../../shared/domain/accounts/api-key.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import { headerCopies } from '../admission/header-copies.ts';
import type { InvalidKeys } from '../admission/invalid-key-throttling.ts';
import { bearerKey } from './bearer-key.ts';
import { judgeRoute } from './key-scopes.ts';

/**
 * Finds the caller before the body is read, so that anonymous bodies cost nothing. A route without a key still checks an Authorization
 * header: a wrong key is never treated as anonymous.
 */
export function apiKey(server: Server, app: App, invalidKeys: InvalidKeys): void {
    server.ext('onPreAuth', async (request, h) => {
        const contract = request.route.settings.app?.contract;
        if (contract !== undefined && contract.auth !== 'ignored') {
            // Only internal requests from our pages carry their caller (api/dashboard/internal-api.ts).
            if (request.app.caller === undefined) await takeKey(app, request, () => invalidKeys.count());
            if (request.app.caller === undefined && contract.auth === 'required') throw new Refusal('API_KEY_REQUIRED');
            judgeCaller(app, request, contract);
        }
        return h.continue;
    });
}

/** A body that took longer may have outlived its key: revocation holds within a second. */
const FRESH_MS = 1000;

/** Checks the key once more, after a body that took long to arrive. @throws Refusal as for a new request */
export async function judgeKeyAgain(app: App, request: Request, contract: AnyContract): Promise<void> {
    const isFresh = performance.now() - request.app.startedAt < FRESH_MS;
    if (isFresh || contract.auth === 'ignored' || request.raw.req.headers.authorization === undefined) return;
    await takeKey(app, request, () => {});
    judgeCaller(app, request, contract);
}

function judgeCaller(app: App, request: Request, contract: AnyContract): void {
    const { caller, clientAddress } = request.app;
    if (caller !== undefined) judgeRoute(contract, caller, clientAddress);
    requireVerified(app, contract, caller);
}

/** With mail configured, an account with an unconfirmed address is refused what the contract says. */
function requireVerified(app: App, contract: AnyContract, caller: Caller | undefined): void {
    const isNeeded = app.config.mail.smtpUrl !== undefined && contract.refusals.includes('EMAIL_NOT_VERIFIED');
    if (isNeeded && caller?.emailVerified === false) throw new Refusal('EMAIL_NOT_VERIFIED');
}

/** Log, metrics and the credit fields of a refusal name the account too. */
async function takeKey(app: App, request: Request, onInvalid: () => void): Promise<void> {
    request.app.caller = await findCaller(app, request, onInvalid);
    if (request.app.caller?.suspended === true) {
        throw new Refusal('FORBIDDEN', 'This account is suspended; write to the operator of this service.');
    }
}

async function findCaller(app: App, { raw: { req } }: Request, onInvalid: () => void): Promise<Caller | undefined> {
    const { authorization } = req.headers;
    if (authorization === undefined) return undefined;
    // Node keeps the first of two Authorization headers. A proxy may have checked the other one.
    if (headerCopies(req, 'authorization') > 1) throw new Refusal('INVALID_API_KEY', 'The Authorization header may stand only once.');
    const key = bearerKey(authorization);
    // A mistyped key fails its checksum and costs no database query.
    const caller = key === undefined || !isWellFormedKey(key) ? undefined : await app.keys.find(keyHash(key));
    if (caller === undefined) {
        onInvalid();
        throw new Refusal('INVALID_API_KEY');
    }
    return caller;
}
