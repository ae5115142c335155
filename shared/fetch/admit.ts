import type { App } from '../app.ts';
import type { FetchRequest } from '../contracts/fetch.ts';
import { buildUrl } from '../domain/fetch/build-request.ts';
import { withPlaceholderValues } from '../domain/fetch/prepared-values.ts';
import * as pricing from '../domain/package/pricing.ts';
import type { Values } from '../domain/types.ts';
import { invalidFields, Refusal, refusalEntry } from '../refusals.ts';
import type { UsableConnection } from '../store/connections/vault.ts';
import { bindValues } from './bind-values.ts';
import { checkEffect, checkPrice, checkUrl } from './check-rights.ts';
import { chooseConnection } from './choose-connection.ts';
import { checkCursor, type OpenedCursor, openFetchCursor } from './fetch-cursor.ts';
import { type Found, findEndpoint, type RefusedCall, recallEndpoint } from './find-endpoint.ts';
import { type FetchOrder, mayEndUnsent } from './order.ts';

/** A call that passed all checks: its endpoint, params and price. */
export interface Admitted {
    ok: true;
    found: Found;
    values: Values;
    price: pricing.Price;
    connection: UsableConnection | undefined;
    /** The position from which a paginated call continues. */
    cursor: OpenedCursor | undefined;
}

/** The parts of an order that decide whether it is admitted. */
type AdmissionRequest = Pick<FetchOrder, 'caller' | 'body'> & {
    /** Whether the call begins later, so that it may wait for the hours of the site. */
    isLater?: boolean;
};

/** An order whose cursor has been decrypted. The call runs the version of that cursor. */
type OpenedRequest = AdmissionRequest & {
    cursor?: OpenedCursor | undefined;
    /** Whether problems suggest similar param names; true by default. */
    suggests?: boolean;
};

/**
 * Resolves a call to its endpoint and price, or to the reason for its refusal. The cached state of the site is enough for a call that passes
 * and that needs a hold, which checks the state again. For all other calls, it reads the database.
 * @throws Refusal INVALID_DOMAIN, SITE_BLOCKED, FORBIDDEN, INVALID_PARAMS, VALIDATION_ERROR, INVALID_CURSOR. These refusals do not count
 * against the rate limit.
 */
export async function admit(app: App, request: AdmissionRequest): Promise<Admitted | RefusedCall> {
    const opened = await openRequest(app, request);
    const admitted = mayEndUnsent(opened.body) ? undefined : await admitFromCache(app, opened);
    return admitted ?? admitFromDatabase(app, opened);
}

/** Like `admit`, but always with the current state from the database. */
export async function admitFresh(app: App, request: AdmissionRequest): Promise<Admitted | RefusedCall> {
    return admitFromDatabase(app, await openRequest(app, request));
}

async function openRequest(app: App, { body, ...request }: AdmissionRequest): Promise<OpenedRequest> {
    const cursor = await openFetchCursor(app, request.caller, body);
    return { ...request, body: cursor === undefined ? body : { ...body, version: cursor.version }, cursor };
}

async function admitFromDatabase(app: App, opened: OpenedRequest): Promise<Admitted | RefusedCall> {
    const { body, cursor, isLater } = opened;
    const found = await findEndpoint(app, body, { cursor, isLater });
    if (!found.ok) return found;
    return checkFound(app, opened, found).catch((error: unknown) => {
        // A problem with the connection counts against the rate limit like an unknown endpoint.
        if (!(error instanceof Refusal) || !COUNTED_STATUSES.has(refusalEntry(error.code).status)) throw error;
        return { ok: false, isKnown: true, refusal: error };
    });
}

const COUNTED_STATUSES: ReadonlySet<number> = new Set([404, 422]);

async function admitFromCache(app: App, opened: OpenedRequest): Promise<Admitted | undefined> {
    try {
        const found = await recallEndpoint(app, opened.body, opened);
        return found?.ok ? await checkFound(app, opened, found) : undefined;
    } catch (error) {
        if (error instanceof Refusal) return undefined;
        throw error;
    }
}

/** Checks a call whose endpoint is known. @throws the same Refusals as `admit` */
export async function checkFound(app: App, { caller, body, cursor, suggests }: OpenedRequest, found: Found): Promise<Admitted> {
    await checkEffect(app, caller, found);
    rejectPageFields(found, body);
    const values = await bindValues(found, body, suggests);
    checkUrl(found.policy, () => buildUrl(found.endpoint, withPlaceholderValues(found.endpoint, values)));
    const connection = await chooseConnection(app, caller, found, body);
    if (cursor !== undefined) checkCursor(cursor, values, connection);
    const limits = { maxCredits: body.max_credits, maxResults: body.max_results, maxPages: body.max_pages };
    const price = pricing.priceOrder({ ...found, ...limits });
    if (!price.ok) throw invalidFields([price.problem]);
    // A dry run sends nothing. It reports the price that the caller has to confirm.
    if (body.dry_run !== true) await checkPrice(app, caller, found, price.unit * price.maxUnits);
    return { ok: true, found, values, price, connection, cursor };
}

/** @throws Refusal VALIDATION_ERROR if the call has fields that only endpoints with pages accept */
function rejectPageFields({ endpoint }: Found, body: FetchRequest): void {
    const given = endpoint.pagination === undefined ? (['cursor', 'max_pages', 'partial'] as const).filter((field) => field in body) : [];
    if (given.length === 0) return;
    const message = `The endpoint ${endpoint.name} has no pages: leave this field out.`;
    const details = given.map((field) => ({ path: `/${field}`, code: 'INVALID_VALUE' as const, message }));
    throw invalidFields(details);
}
