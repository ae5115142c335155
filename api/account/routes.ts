import { getAccount } from '../../shared/contracts/account.ts';
import { getAudit } from '../../shared/contracts/audit.ts';
import { windowsOf } from '../../shared/domain/accounts/plans.ts';
import { Refusal } from '../../shared/refusals.ts';
import { serve } from '../serve.ts';
import { listActs } from './list-acts.ts';

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
