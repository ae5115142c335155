import { factorsOf, hasFactor } from '../../../shared/store/accounts/factors.ts';
import type { Answer, Visit } from '../page.ts';
import { begin, type Entrance } from './begin.ts';
import { askForFactor } from './second-step.ts';

/** Runs after the first proof was right: signs the user in, or asks for the second factor if there is one. */
export async function enter(visit: Visit, entrance: Entrance, how: 'password' | 'mailed link' = 'password'): Promise<Answer> {
    const factors = await factorsOf(visit.app.db, entrance.userId);
    return hasFactor(factors) ? askForFactor(visit, entrance) : begin(visit, entrance, how);
}
