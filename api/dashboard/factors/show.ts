import { demandFactor, factorsOf } from '../../../shared/store/accounts/factors.ts';
import { listPasskeys, MAX_PASSKEYS } from '../../../shared/store/accounts/passkeys.ts';
import { isFactorMissing, isLocked } from '../authorize.ts';
import { readFields, tick } from '../fields.ts';
import type { Answer, PersonalVisit, WorkspaceVisit } from '../page.ts';
import { recordVisit } from '../record-act.ts';
import { showWorkspace } from '../workspace/show.ts';
import { takesPasskeys } from './webauthn.ts';

/** Shows the second factors of a person, and those still to set up. */
export async function showFactors(visit: PersonalVisit): Promise<Answer> {
    const { app, me } = visit;
    const passkeys = await listPasskeys(app.db, me.userId);
    return {
        view: 'factors/factors',
        title: 'Second factor',
        model: {
            factors: await factorsOf(app.db, me.userId),
            passkeys,
            mayAddPasskey: takesPasskeys(app) && passkeys.length < MAX_PASSKEYS,
            takesPasskeys: takesPasskeys(app),
            isMissing: isFactorMissing(visit),
            demandedBy: demandedBy(visit),
        },
    };
}

/** Names who requires the factor that this person lacks: the service or the person's workspaces. */
function demandedBy({ me, isOperator }: PersonalVisit): string | undefined {
    if (isOperator) return me.hasFactor ? undefined : 'Operators of this service';
    const names = me.workspaces.filter((membership) => isLocked(me, membership)).map(({ name }) => name);
    return names.length === 0 ? undefined : `Members of ${names.join(', ')}`;
}

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
