import { addPasskey, removePasskey } from '../../../shared/store/accounts/passkeys.ts';
import { whileSignedIn } from '../../../shared/store/accounts/user-sessions.ts';
import { keepTyped, line, type Problems, readFields } from '../fields.ts';
import { type Answer, type PersonalVisit, pageNotFound } from '../page.ts';
import { addedFactor, removedFactor } from './changed.ts';
import { creationOptions, readNewPasskey, takesPasskeys } from './webauthn.ts';

export async function addPasskeyByForm(visit: PersonalVisit): Promise<Answer> {
    const { app, me, fields } = visit;
    const read = readFields(fields, { name: line({ maxLength: 60 }) });
    if (!read.ok) return showNewPasskey(visit, read.problems);
    const made = takesPasskeys(app) ? await readNewPasskey(app, me.userId, fields.get('credential') ?? '') : undefined;
    const { name } = read.values;
    // Alone, since passkeys that are added at once would exceed the limit together.
    const isKept =
        made !== undefined &&
        (await whileSignedIn(app.db, me, (trx) => addPasskey(trx, { ...made, userId: me.userId, name }), { alone: true }));
    if (!isKept) return showNewPasskey(visit, { '': 'Your browser could not create a passkey. Try again.' });
    return addedFactor(visit, `the passkey ${name}`);
}

export async function removePasskeyByForm(visit: PersonalVisit): Promise<Answer> {
    const { app, me, params } = visit;
    const name = await whileSignedIn(app.db, me, (trx) => removePasskey(trx, me.userId, params['passkey_id'] ?? ''));
    if (name === undefined) throw pageNotFound();
    return removedFactor(visit, `the passkey ${name}`);
}

export async function showNewPasskey(visit: PersonalVisit, problems: Problems = {}): Promise<Answer> {
    const { app, me, fields } = visit;
    const passkey = takesPasskeys(app) ? JSON.stringify(await creationOptions(app, me)) : undefined;
    return { view: 'factors/passkey', title: 'New passkey', model: { problems, typed: keepTyped(fields), passkey } };
}
