import type { Db } from '../../platform/db.ts';
import { recordAct } from '../accounts/workspace-audit.ts';
import { reclaimContribution } from '../credits/credits.ts';

/**
 * Takes back what the schema of a domain that an operator blocked earned; the workspace that published it first finds that in its audit.
 * Credits taken. Call it last in the transaction that blocks the domain.
 */
export async function reclaimBonus(db: Db, registrable: string): Promise<number> {
    const credits = await reclaimContribution(db, registrable);
    if (credits === 0) return 0;
    const { rows } = await db.raw<{ rows: { workspace: string }[] }>(
        `select v.published_by_workspace as workspace from sites s join versions v on v.site = s.site
         where s.registrable = ? and v.published_by_account is not null order by v.id limit 1`,
        [registrable],
    );
    for (const { workspace } of rows)
        await recordAct(db, {
            workspaceId: workspace,
            actor: 'operator',
            action: 'bonus.reclaimed',
            target: registrable,
            details: { credits },
        });
    return credits;
}
