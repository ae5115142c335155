import { getAccount } from '../../shared/contracts/account.ts';
import { type AuditEntry, type AuditQuery, getAudit } from '../../shared/contracts/audit.ts';
import { windowsOf } from '../../shared/domain/accounts/plans.ts';
import type { RowPage } from '../../shared/platform/row-page.ts';
import { Refusal } from '../../shared/refusals.ts';
import { pageOfActs } from '../../shared/store/accounts/workspace-audit.ts';
import { listInTurn } from '../admission/long-lists.ts';
import { answerPage } from '../answers/paging.ts';
import type { Call, Reply } from '../call.ts';
import { serve } from '../serve.ts';

export const accountRoutes = [
    serve(getAccount, async ({ app, caller }) => {
        if (caller === undefined) throw new Refusal('API_KEY_REQUIRED');
        const [balance, peeked] = await Promise.all([
            app.credits.balance(caller.accountId),
            app.limits.peek(`account:${caller.accountId}`, windowsOf(caller.figures), caller.accountId),
        ]);
        if (balance === undefined) throw new Error('every caller has an account that pays');
        return {
            answer: {
                user_id: caller.userId,
                workspace_id: caller.workspaceId,
                plan: caller.plan,
                credits: {
                    balance: balance.available,
                    allowance: { limit: balance.allowance.limit, remaining: balance.allowance.remaining },
                    bonus: balance.bonus,
                    held: balance.held,
                    resets_at: balance.resetsAt.toISOString(),
                },
                limits: peeked.windows.map(({ name, limit, remaining, resetsIn }) => ({
                    window: name,
                    limit,
                    remaining,
                    resets_in: resetsIn,
                })),
                concurrency: { limit: caller.figures.concurrency, in_flight: peeked.inFlight },
                key: {
                    id: caller.keyId,
                    name: caller.keyName,
                    prefix: caller.keyPrefix,
                    expires_at: caller.keyExpiresAt?.toISOString() ?? null,
                    scopes: caller.scopes.listed,
                },
            },
        };
    }),
    serve(getAudit, listActs),
];

/** GET /v1/audit: the entries of the workspace's audit log, newest first. */
async function listActs(call: Call<object, AuditQuery, undefined>): Promise<Reply<AuditEntry[]>> {
    const { app, query } = call;
    const { workspaceId } = call.caller;
    const { actor, action } = query;
    const since = query.since === undefined ? undefined : new Date(query.since);
    const about = [workspaceId, actor ?? null, action ?? null, since?.toISOString() ?? null];
    const list = (page: RowPage) => listInTurn(call, () => pageOfActs(app.db, { workspaceId, actor, action, since }, page));
    return answerPage(call, about, list, (rows) => rows.map(({ at, ...act }) => ({ at: at.toISOString(), ...act })));
}
