import { listPasskeys, MOST_PASSKEYS } from '../../../shared/store/factors/passkeys.ts';
import { factorsOf } from '../../../shared/store/factors.ts';
import { isFactorMissing } from '../let-in.ts';
import type { Answer, PersonalVisit } from '../page.ts';
import { takesPasskeys } from './webauthn.ts';

/** The second factors of a person, and what is still to be set up. */
export async function showFactors(visit: PersonalVisit): Promise<Answer> {
    const { app, me } = visit;
    const passkeys = await listPasskeys(app.db, me.userId);
    return {
        view: 'factors/factors',
        title: 'Second factor',
        model: {
            factors: await factorsOf(app.db, me.userId),
            passkeys,
            mayAddPasskey: takesPasskeys(app) && passkeys.length < MOST_PASSKEYS,
            takesPasskeys: takesPasskeys(app),
            isMissing: isFactorMissing(visit),
            demandedBy: visit.isOperator
                ? 'Operators of this service'
                : me.current?.demandsFactor
                  ? `Members of ${me.current.name}`
                  : undefined,
        },
    };
}
