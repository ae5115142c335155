import type { Act } from '../../../shared/domain/accounts/acts.ts';
import type { JsonObject } from '../../../shared/domain/types.ts';
import type { Db } from '../../../shared/platform/db.ts';
import { changeScopes, type ListedKey, renameKey, revokeKey, setConfirmAbove } from '../../../shared/store/accounts/api-keys.ts';
import { whileSignedIn } from '../../../shared/store/accounts/user-sessions.ts';
import { setKeyCap } from '../../../shared/store/credits/spending.ts';
import { dayCap } from '../billing/caps.ts';
import { line, readFields } from '../fields.ts';
import type { Answer, WorkspaceVisit } from '../page.ts';
import { recordVisit } from '../record-act.ts';
import { confirmFirst } from '../typed-before.ts';
import { readScopeFields, scopeDetails } from './scope-fields.ts';
import { ownKey, showKey } from './show.ts';

export const keyName = line({ maxLength: 60 });

export async function nameKey(visit: WorkspaceVisit): Promise<Answer> {
    const key = await ownKey(visit);
    const read = readFields(visit.fields, { name: keyName });
    if (!read.ok) return showKey(visit, key, read.problems);
    const { name } = read.values;
    await visit.app.db.transaction(async (trx) => {
        await renameKey(trx, key.keyId, name);
        await recordChange(trx, visit, 'key.renamed', key, { from: key.name, to: name });
    });
    return { to: pathOf(key), notice: 'key-renamed' };
}

export async function changeCap(visit: WorkspaceVisit): Promise<Answer> {
    const key = await ownKey(visit);
    const read = readFields(visit.fields, { cap: dayCap });
    if (!read.ok) return showKey(visit, key, read.problems);
    const { cap } = read.values;
    await visit.app.db.transaction(async (trx) => {
        await setKeyCap(trx, key.keyId, cap);
        await recordChange(trx, visit, 'cap.changed', key, { cap });
    });
    return { to: pathOf(key), notice: cap === null ? 'cap-gone' : 'cap-set' };
}

/** Changes from how many credits on a call needs a confirmation. A higher number requires a recent sign-in; a lower one does not. */
export async function changeConfirmation(visit: WorkspaceVisit): Promise<Answer> {
    const key = await ownKey(visit);
    const read = readFields(visit.fields, { confirm_above: dayCap });
    if (!read.ok) return showKey(visit, key, read.problems);
    const { confirm_above: credits } = read.values;
    const isLooser = key.confirmAbove !== null && (credits === null || credits > key.confirmAbove);
    if (isLooser && !visit.me.isRecent) return confirmFirst(pathOf(key), visit, visit.me);
    await visit.app.db.transaction(async (trx) => {
        await setConfirmAbove(trx, key.keyId, credits);
        await recordChange(trx, visit, 'key.confirmation_changed', key, { from: key.confirmAbove, to: credits });
    });
    return { to: pathOf(key), notice: credits === null ? 'confirmation-gone' : 'confirmation-set' };
}

/** Changes the scopes of a key. Wider scopes require a recent sign-in; narrower ones do not. */
export async function changeKeyScopes(visit: WorkspaceVisit): Promise<Answer> {
    const key = await ownKey(visit);
    const read = readScopeFields(visit.fields, key.scopes);
    if (!read.ok) return showKey(visit, key, read.problems);
    const order = { scopes: read.values, mayWiden: visit.me.isRecent };
    const done = await whileSignedIn(visit.app.db, visit.me, async (trx) => {
        const changed = await changeScopes(trx, key.keyId, order);
        const details = { from: scopeDetails(key.scopes), to: scopeDetails(read.values) };
        if (changed === 'changed') await recordChange(trx, visit, 'key.scopes_changed', key, details);
        return changed;
    });
    if (done === 'wider') return confirmFirst(pathOf(key), visit, visit.me);
    return done === 'ended' ? { to: pathOf(key) } : { to: pathOf(key), notice: 'scopes-changed' };
}

export async function revoke(visit: WorkspaceVisit): Promise<Answer> {
    const key = await ownKey(visit);
    await visit.app.db.transaction(async (trx) => {
        if (await revokeKey(trx, key.keyId)) await recordChange(trx, visit, 'key.revoked', key, { name: key.name });
    });
    return { to: '/dashboard/keys', notice: 'key-revoked' };
}

export function recordChange(db: Db, visit: WorkspaceVisit, action: Act, { keyId }: ListedKey, details: JsonObject): Promise<void> {
    return recordVisit(db, visit, { workspaceId: visit.workspace.workspaceId, action, target: keyId, details });
}

function pathOf({ keyId }: ListedKey): string {
    return `/dashboard/keys/${keyId}`;
}
