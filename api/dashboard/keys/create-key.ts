import { FIRST_SCOPES, isWider, type Scopes } from '../../../shared/domain/accounts/scopes.ts';
import { addKey, rotateKey } from '../../../shared/store/accounts/api-keys.ts';
import { whileSignedIn } from '../../../shared/store/accounts/user-sessions.ts';
import { setKeyCap } from '../../../shared/store/credits/spending.ts';
import { dayCap } from '../billing/caps.ts';
import { oneOf, readFields } from '../fields.ts';
import { curlLine } from '../first-call.ts';
import { type Answer, pageNotFound, type WorkspaceVisit } from '../page.ts';
import { recordVisit } from '../record-act.ts';
import { confirmFirst } from '../typed-before.ts';
import { keyName, recordChange } from './change-key.ts';
import { readScopeFields, scopeDetails } from './scope-fields.ts';
import { EXPIRIES, listKeys, OVERLAPS, ownKey, PRESETS, presetOf, showKey, TOO_MANY } from './show.ts';

export async function createKey(visit: WorkspaceVisit): Promise<Answer> {
    const { app, fields, me, workspace } = visit;
    const preset = presetOf(fields.get('preset'));
    const read = readFields(fields, { name: keyName, expires: oneOf(['never', 'month', 'quarter', 'year']), cap: dayCap });
    const scopes = readScopeFields(fields, PRESETS[preset].scopes);
    if (!read.ok || !scopes.ok) return listKeys(visit, { ...(!read.ok && read.problems), ...(!scopes.ok && scopes.problems) });
    const { name, expires, cap } = read.values;
    if (preset === 'agent' && cap === null) return listKeys(visit, { cap: 'Enter how many credits a day the agent may spend.' });
    if (mustConfirm(visit, scopes.values)) return confirmFirst('/dashboard/keys', visit, me);
    const { workspaceId } = workspace;
    const order = { workspaceId, userId: me.userId, name, expiresIn: EXPIRIES[expires].seconds, scopes: scopes.values };
    const made = await whileSignedIn(app.db, me, async (trx) => {
        const key = await addKey(trx, order);
        if (key === undefined) return undefined;
        if (cap !== null) await setKeyCap(trx, key.keyId, cap);
        const details = { name, expires, cap, scopes: scopeDetails(scopes.values) };
        await recordVisit(trx, visit, { workspaceId, action: 'key.created', target: key.keyId, details });
        return key;
    });
    if (made === undefined) return listKeys(visit, { '': `${TOO_MANY}.` });
    return showMade(visit, { apiKey: made.apiKey, name });
}

/** Replaces a key of the visitor by a new one with the same rights. The old one works for the chosen time. */
export async function rotate(visit: WorkspaceVisit): Promise<Answer> {
    const key = await ownKey(visit);
    // The new key would act, and on Free also pay, as another person. Apps rotate their tokens themselves.
    if (key.userId !== visit.me.userId || key.isGrant) throw pageNotFound();
    if (mustConfirm(visit, key.scopes)) return confirmFirst(`/dashboard/keys/${key.keyId}`, visit, visit.me);
    const read = readFields(visit.fields, { overlap: oneOf(['now', 'hour', 'day', 'week']) });
    if (!read.ok) return showKey(visit, key, read.problems);
    const { overlap } = read.values;
    const rotated = await whileSignedIn(visit.app.db, visit.me, async (trx) => {
        const done = await rotateKey(trx, key.keyId, OVERLAPS[overlap].seconds);
        if (done.ok) await recordChange(trx, visit, 'key.rotated', key, { new_key: done.made.keyId, overlap });
        return done;
    });
    if (!rotated.ok && rotated.why === 'too many') return showKey(visit, key, { overlap: `${TOO_MANY}, or expire this one immediately.` });
    if (!rotated.ok) return { to: `/dashboard/keys/${key.keyId}` };
    return showMade(visit, { apiKey: rotated.made.apiKey, name: key.name, overlap: OVERLAPS[overlap].works });
}

/** Whether the visitor must confirm a recent sign-in before they get a key with more rights than a first key. */
function mustConfirm({ me }: WorkspaceVisit, scopes: Scopes): boolean {
    return !me.isRecent && isWider(scopes, FIRST_SCOPES);
}

/** Shows the new key. This answer is not a redirect, since it is the only one that contains the key. */
async function showMade({ app }: WorkspaceVisit, made: { apiKey: string; name: string; overlap?: string }): Promise<Answer> {
    return { view: 'keys/made', title: 'Your new key', model: { ...made, call: await curlLine(app, made.apiKey) } };
}
