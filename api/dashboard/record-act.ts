import type { Db } from '../../shared/platform/db.ts';
import { actorOfUser, type NewAct, recordAct } from '../../shared/store/accounts/workspace-audit.ts';
import type { PersonalVisit } from './page.ts';

/** Records what a visitor did in a workspace; call it in the transaction that does it. */
export async function recordVisit(db: Db, { me, address }: PersonalVisit, act: Omit<NewAct, 'actor' | 'ip'>): Promise<void> {
    await recordAct(db, { ...act, actor: actorOfUser(me.userId), ip: address });
}
