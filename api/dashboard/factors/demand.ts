import { demandFactor } from '../../../shared/store/accounts/factors.ts';
import { readFields, tick } from '../fields.ts';
import type { Answer, WorkspaceVisit } from '../page.ts';
import { recordVisit } from '../record-act.ts';
import { showWorkspace } from '../workspace/show.ts';

/** Sets whether all members of the workspace need a second factor. */
export async function demandFactorByForm(visit: WorkspaceVisit): Promise<Answer> {
    const { app, me, workspace, fields } = visit;
    const read = readFields(fields, { demands_factor: tick });
    const isDemanded = read.ok && read.values.demands_factor;
    // Otherwise a user without a factor who requires one would be locked out of this page.
    if (isDemanded && !me.hasFactor) return showWorkspace(visit, { factor: { '': 'Set up a second factor of your own first.' } });
    const { workspaceId } = workspace;
    await app.db.transaction(async (trx) => {
        await demandFactor(trx, workspaceId, isDemanded);
        const details = { demanded: isDemanded };
        await recordVisit(trx, visit, { workspaceId, action: 'workspace.factor_changed', target: workspaceId, details });
    });
    return { to: '/dashboard/workspace', notice: isDemanded ? 'factor-demanded' : 'factor-not-demanded' };
}
