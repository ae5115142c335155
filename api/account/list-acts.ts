import type { AuditEntry, AuditQuery } from '../../shared/contracts/audit.ts';
import type { RowPlace } from '../../shared/platform/row-page.ts';
import { pageOfActs } from '../../shared/store/accounts/workspace-audit.ts';
import { readPage } from '../answers/paging.ts';
import type { Call, Reply } from '../call.ts';

/** GET /v1/audit: the entries of the workspace's audit log, newest first. */
export async function listActs(call: Call<object, AuditQuery, undefined>): Promise<Reply<AuditEntry[]>> {
    const { app, query } = call;
    const { workspaceId } = call.caller;
    const { actor, action } = query;
    const since = query.since === undefined ? undefined : new Date(query.since);
    const page = await readPage<RowPlace>(call, 'getAudit', [workspaceId, actor ?? null, action ?? null, since?.toISOString() ?? null]);
    const filter = { workspaceId, actor, action, since };
    const { rows, next, total } = await pageOfActs(app.db, filter, { limit: page.limit, after: page.from });
    return {
        answer: rows.map(({ at, ...act }) => ({ at: at.toISOString(), ...act })),
        pagination: await page.end(next, total),
    };
}
