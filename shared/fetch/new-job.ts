import type { App } from '../app.ts';
import type { FetchRequest } from '../contracts/fetch.ts';
import { greatestUnits } from '../domain/package/pricing.ts';
import { newTimedId } from '../domain/text/ids.ts';
import type { Effect } from '../domain/types.ts';
import type { Caller } from '../store/accounts/callers.ts';
import type { NewJob, OrderedCall } from '../store/jobs/orders.ts';
import { sealRequest } from '../store/jobs/sealed.ts';
import type { Admitted } from './admit.ts';
import { trustedEffect } from './check-rights.ts';

/** Creates the job of an admitted call. The job keeps the current version, price and connection. */
export async function newJobOf(
    app: App,
    { caller, asked, metadata }: { caller: Caller; asked: FetchRequest; metadata: string },
    admitted: Admitted,
): Promise<NewJob> {
    return {
        ...(await orderedCall(app, asked, admitted, await trustedEffect(app, admitted.found))),
        workspaceId: caller.workspaceId,
        keyId: caller.keyId,
        accountId: caller.accountId,
        metadata,
        sessionId: null,
    };
}

/** Creates the stored call of a job or of a batch item. @param needs the effect that a key must allow to see the job */
export async function orderedCall(
    app: App,
    asked: FetchRequest,
    { found, price, connection }: Pick<Admitted, 'found' | 'price' | 'connection'>,
    needs: Effect,
): Promise<OrderedCall> {
    const request: FetchRequest = {
        ...asked,
        site: found.site,
        version: found.version,
        // A job keeps the connection with which it was ordered.
        ...(connection === undefined ? {} : { connection: connection.connectionId }),
    };
    return {
        jobId: newTimedId('job', Date.now()),
        site: found.site,
        registrable: found.registrable,
        endpoint: found.endpoint.name,
        versionId: found.versionId,
        version: found.version,
        effect: found.endpoint.effect,
        needs,
        connectionId: connection?.connectionId ?? null,
        ownerId: connection?.shared === false ? connection.ownerId : null,
        request: await sealRequest(app.secrets, request),
        unit: price.unit,
        unitsCap: found.unitsCap ?? null,
        units: greatestUnits(found.endpoint, asked.max_results, asked.max_pages),
        maxCredits: asked.max_credits ?? null,
    };
}
