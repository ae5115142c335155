import type { App } from '../../shared/app.ts';
import { Refusal } from '../../shared/refusals.ts';
import { type Caller, findCallerById } from '../../shared/store/accounts/callers.ts';

/** Checks the key of a call that has waited. @throws Refusal INVALID_API_KEY if it was revoked or its user left meanwhile */
export async function checkKeyAgain({ app, caller }: { app: App; caller: Caller | undefined }): Promise<void> {
    // Pages call without a key.
    if (caller === undefined || caller.keyId === '') return;
    if ((await findCallerById(app.db, caller.keyId)) === undefined) throw new Refusal('INVALID_API_KEY');
}
