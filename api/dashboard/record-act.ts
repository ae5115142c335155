import type { Act } from '../../shared/domain/accounts/acts.ts';
import type { Db } from '../../shared/platform/db.ts';
import { Refusal } from '../../shared/refusals.ts';
import { takeAttempts } from '../../shared/store/accounts/attempts.ts';
import { whileSignedIn } from '../../shared/store/accounts/user-sessions.ts';
import { actorOfUser, type NewAct, recordAct } from '../../shared/store/accounts/workspace-audit.ts';
import { waitText } from './fields.ts';
import type { PersonalVisit, WorkspaceVisit } from './page.ts';

/** Acts without a limit, which remove what limited acts created: a stolen session must not block them by using up the limit. */
const ENDS: readonly Act[] = ['key.revoked', 'member.removed', 'member.left', 'invitation.withdrawn'];

/**
 * Records in the audit log what a visitor did in a workspace. Call it in the transaction of the change.
 * @throws Refusal RATE_LIMITED, which also rolls the change back: otherwise repeated forms could fill the audit log
 */
export async function recordVisit(db: Db, { me, address }: PersonalVisit, act: Omit<NewAct, 'actor' | 'ip'>): Promise<void> {
    const wait = ENDS.includes(act.action) ? 0 : await takeAttempts(db, [['change by user', me.userId]]);
    if (wait > 0) throw new Refusal('RATE_LIMITED', `Too many changes; try again in ${waitText(wait)}.`, { retryAfter: wait });
    await recordAct(db, { ...act, actor: actorOfUser(me.userId), ip: address });
}

/**
 * Makes a change in the workspace of the page and records it, in one transaction.
 * @param change false: nothing was changed, and nothing is recorded
 * @throws SessionEnded; Refusal RATE_LIMITED as `recordVisit` does
 */
export function changeRecorded(
    visit: WorkspaceVisit,
    act: Omit<NewAct, 'actor' | 'ip' | 'workspaceId'>,
    change: (trx: Db) => Promise<unknown>,
): Promise<boolean> {
    return whileSignedIn(visit.app.db, visit.me, async (trx) => {
        if ((await change(trx)) === false) return false;
        await recordVisit(trx, visit, { workspaceId: visit.workspace.workspaceId, ...act });
        return true;
    });
}
