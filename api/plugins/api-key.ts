import type { Request, Server } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import type { AnyContract } from '../../shared/contracts/contract.ts';
import { isWellFormedKey, keyHash } from '../../shared/domain/api-key.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/keys.ts';
import { bearerKey } from './bearer-key.ts';
import { headerCopies } from './header-copies.ts';
import { judgeRoute } from './key-scopes.ts';
import type { Guesses } from './refuse-guesses.ts';

/**
 * Finds the caller before the body is read, so that a stranger's body costs nothing. A route that takes no key still
 * judges an Authorization header: a wrong key is never silently anonymous.
 */
export function apiKey(server: Server, app: App, guesses: Guesses): void {
    server.ext('onPreAuth', async (request, h) => {
        const contract = request.route.settings.app?.contract;
        if (contract !== undefined && contract.auth !== 'ignored') {
            // Only a request that one of our pages makes brings its caller along (api/dashboard/ask.ts).
            if (request.app.caller === undefined) await takeKey(app, request, guesses);
            if (request.app.caller === undefined && contract.auth === 'required') throw new Refusal('API_KEY_REQUIRED');
            const { caller } = request.app;
            if (caller !== undefined) judgeRoute(contract, caller, request.app.clientAddress);
            requireVerified(app, contract, caller);
        }
        return h.continue;
    });
}

/** Where mails go out, what an unconfirmed account may not do is what its contract says it is refused. */
function requireVerified(app: App, contract: AnyContract, caller: Caller | undefined): void {
    const isNeeded = app.config.mail.smtpUrl !== undefined && contract.refusals.includes('EMAIL_NOT_VERIFIED');
    if (isNeeded && caller?.emailVerified === false) throw new Refusal('EMAIL_NOT_VERIFIED');
}

/** Whose key it is stands in the log, the metrics and the credit fields of a refusal too. */
async function takeKey(app: App, request: Request, guesses: Guesses): Promise<void> {
    request.app.caller = await findCaller(app, request, guesses);
    if (request.app.caller?.suspended === true) {
        throw new Refusal('FORBIDDEN', 'This account is suspended; write to the operator of this service.');
    }
}

async function findCaller(app: App, { raw: { req } }: Request, guesses: Guesses): Promise<Caller | undefined> {
    const { authorization } = req.headers;
    if (authorization === undefined) return undefined;
    // Node keeps the first of two and drops the other; proxies may have judged the other one.
    if (headerCopies(req, 'authorization') > 1) throw new Refusal('INVALID_API_KEY', 'The Authorization header may stand only once.');
    const key = bearerKey(authorization);
    // The checksum refuses a mistyped key without a look at the database.
    const caller = key === undefined || !isWellFormedKey(key) ? undefined : await app.keys.find(keyHash(key));
    if (caller === undefined) {
        guesses.made();
        throw new Refusal('INVALID_API_KEY');
    }
    return caller;
}
