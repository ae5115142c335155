import type { Db } from '../db.ts';
import { queueMail } from './mails.ts';

/** Mails the owners of a workspace; call it in the transaction that is the reason for it. */
export async function mailOwners(db: Db, workspaceId: string, mail: { subject: string; text: string }): Promise<void> {
    const { rows } = await db.raw<{ rows: { email: string }[] }>(
        `select u.email from memberships m join users u on u.id = m.user_id
         where m.workspace_id = ? and m.role = 'owner' and u.deleted_at is null order by u.id`,
        [workspaceId],
    );
    for (const { email } of rows) await queueMail(db, { to: email, ...mail });
}
