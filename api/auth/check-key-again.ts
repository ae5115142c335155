import { Refusal } from '../../shared/refusals.ts';
import { type Caller, findCallerById } from '../../shared/store/accounts/callers.ts';
import type { Call } from '../call.ts';
import { refusalOf } from './api-key.ts';

/** The caller of a call that has waited, as it is now. @throws Refusal as for a new call */
export async function checkKeyAgain({
    app,
    caller,
    request,
}: Pick<Call<unknown, unknown, unknown>, 'app' | 'caller' | 'request'>): Promise<Caller> {
    // Pages call without a key.
    if (caller.keyId === '') return caller;
    const now = await findCallerById(app.db, caller.keyId);
    if (now === undefined) throw new Refusal('INVALID_API_KEY');
    const refusal = refusalOf(app, request, now);
    if (refusal !== undefined) throw refusal;
    return now;
}
