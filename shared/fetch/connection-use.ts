import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../app.ts';
import type { FetchJob, FetchOutcome } from '../domain/fetch/fetch-job.ts';
import type { Caller } from '../store/accounts/callers.ts';
import { recordRefusal } from '../store/connections/connection-status.ts';
import type { Times } from './deadlines.ts';

/** How long an answer waits for its 401 to be counted. */
const PATIENCE_MS = 500;

/** The caller that used a connection, and when the call was admitted. */
interface ConnectionCall {
    caller: Pick<Caller, 'workspaceId' | 'keyId' | 'userId'>;
    times: Pick<Times, 'admittedAt'>;
}

/** Records a call that may have sent a credential, for the audit log. Three answers with 401 reject the connection. Never throws. */
export async function recordUse(
    app: App,
    { caller: { workspaceId, keyId, userId }, times }: ConnectionCall,
    { connection: connectionId, site, endpoint, versionId }: FetchJob,
    outcome: FetchOutcome,
): Promise<void> {
    if (connectionId === undefined || (!outcome.ok && outcome.attempts === 0)) return;
    const passedAt = outcome.ok ? times.admittedAt : undefined;
    app.connectionUses.record({ workspaceId, connectionId, keyId, userId, site, endpoint, versionId, passedAt });
    if (outcome.ok || outcome.code !== 'UPSTREAM_UNAUTHORIZED') return;
    const refused = { connectionId, versionId, beganAt: times.admittedAt, endedAt: Date.now() };
    const counted = countRefusal(app, { workspaceId, site }, refused).catch((error: unknown) => {
        app.log.warn({ part: 'connections', connection: connectionId, err: error }, 'a 401 could not be counted');
    });
    await Promise.race([counted, sleep(PATIENCE_MS, undefined, { ref: false })]);
}

async function countRefusal(
    app: App,
    { workspaceId, site }: { workspaceId: string; site: string },
    refused: Parameters<typeof recordRefusal>[1],
): Promise<void> {
    // A success that is not stored yet may have happened between two 401s.
    await app.connectionUses.flush();
    if (await recordRefusal(app, refused, app.publicUrl())) app.vault.forget(workspaceId, site);
}
