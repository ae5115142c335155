import { factorsOf } from '../../../shared/store/accounts/factors.ts';
import { listPasskeys, MAX_PASSKEYS } from '../../../shared/store/accounts/passkeys.ts';
import { isFactorMissing, isLocked } from '../authorize.ts';
import type { Answer, PersonalVisit } from '../page.ts';
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
