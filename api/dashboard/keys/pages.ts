import type { Act } from '../../../shared/domain/accounts/acts.ts';
import { AGENT_SCOPES, FIRST_SCOPES, isWider, type Scopes } from '../../../shared/domain/accounts/scopes.ts';
import { describeScopes } from '../../../shared/domain/accounts/scopes-text.ts';
import type { JsonObject } from '../../../shared/domain/types.ts';
import type { Db } from '../../../shared/platform/db.ts';
import {
    addKey,
    changeScopes,
    type ListedKey,
    listedKeys,
    MAX_KEYS,
    renameKey,
    revokeKey,
    rotateKey,
    setConfirmAbove,
} from '../../../shared/store/accounts/api-keys.ts';
import { whileSignedIn } from '../../../shared/store/accounts/user-sessions.ts';
import { keyCap, setKeyCap } from '../../../shared/store/credits/spending.ts';
import { AGENT_CAP, dayCap } from '../billing/caps.ts';
import { keepTyped, line, oneOf, type Problems, readFields } from '../fields.ts';
import { curlLine } from '../first-call.ts';
import { type Answer, pageNotFound, type Sent, type Shown, USERS, type WorkspaceVisit, workspacePage } from '../page.ts';
import { recordVisit } from '../record-act.ts';
import { seesAll } from '../usage/scope.ts';
import { readScopeFields, scopeDetails, shownScopes } from './scope-fields.ts';

const DAY = 86_400;
const EXPIRIES = { never: undefined, month: 30 * DAY, quarter: 90 * DAY, year: 365 * DAY } as const;
const OVERLAPS = { now: 0, hour: 3600, day: DAY, week: 7 * DAY } as const;

const EXPIRY_CHOICES = [
    { value: 'never', label: 'never' },
    { value: 'month', label: 'in 30 days' },
    { value: 'quarter', label: 'in 90 days' },
    { value: 'year', label: 'in a year' },
];
const OVERLAP_CHOICES = [
    { value: 'now', label: 'at once' },
    { value: 'hour', label: 'in an hour' },
    { value: 'day', label: 'in a day' },
    { value: 'week', label: 'in a week' },
];

const TOO_MANY = `A workspace can have at most ${MAX_KEYS} active keys. Revoke one first`;

const keyName = line({ most: 60 });

/** Default values of the form for a new key. */
const PRESETS = {
    program: { scopes: FIRST_SCOPES, cap: '', placeholder: 'laptop' },
    agent: { scopes: AGENT_SCOPES, cap: String(AGENT_CAP), placeholder: 'my agent' },
} as const;
type Preset = keyof typeof PRESETS;

function presetOf(name: string | undefined): Preset {
    return name === 'agent' ? 'agent' : 'program';
}

/** Pages of API keys. Members see their own keys. Owners and admins see and revoke all keys of the workspace. */
export const keyPages = [
    workspacePage({ method: 'GET', path: '/dashboard/keys', audience: USERS, respond: (visit) => list(visit, {}) }),
    workspacePage({
        method: 'POST',
        path: '/dashboard/keys',
        audience: USERS,
        respond: async (visit) => {
            const { app, fields, me, workspace } = visit;
            const preset = presetOf(fields.get('preset'));
            const read = readFields(fields, { name: keyName, expires: oneOf(['never', 'month', 'quarter', 'year']), cap: dayCap });
            if (!read.ok) return list(visit, read.problems);
            const { name, expires, cap } = read.values;
            if (preset === 'agent' && cap === null) return list(visit, { cap: 'Enter how many credits a day the agent may spend.' });
            const scopes = readScopeFields(fields, PRESETS[preset].scopes);
            if (!scopes.ok) return list(visit, scopes.problems);
            if (mayNotHold(visit, scopes.values)) return confirmFirst('/dashboard/keys');
            const { workspaceId } = workspace;
            const order = { workspaceId, userId: me.userId, name, expiresIn: EXPIRIES[expires], scopes: scopes.values };
            const made = await whileSignedIn(app.db, me, async (trx) => {
                const key = await addKey(trx, order);
                if (key === undefined) return undefined;
                if (cap !== null) await setKeyCap(trx, key.keyId, cap);
                const details = { name, expires, cap, scopes: scopeDetails(scopes.values) };
                await recordVisit(trx, visit, { workspaceId, action: 'key.created', target: key.keyId, details });
                return key;
            });
            if (made === undefined) return list(visit, { '': `${TOO_MANY}.` });
            return showMade(visit, { apiKey: made.apiKey, name });
        },
    }),
    workspacePage({
        method: 'GET',
        path: '/dashboard/keys/{key_id}',
        audience: USERS,
        respond: async (visit) => one(visit, await ownKey(visit), {}),
    }),
    workspacePage({
        method: 'POST',
        path: '/dashboard/keys/{key_id}/rename',
        audience: USERS,
        respond: async (visit) => {
            const key = await ownKey(visit);
            const read = readFields(visit.fields, { name: keyName });
            if (!read.ok) return one(visit, key, read.problems);
            const { name } = read.values;
            await visit.app.db.transaction(async (trx) => {
                await renameKey(trx, key.keyId, name);
                await record(trx, visit, 'key.renamed', key, { from: key.name, to: name });
            });
            return { to: `/dashboard/keys/${key.keyId}`, notice: 'key-renamed' };
        },
    }),
    workspacePage({
        method: 'POST',
        path: '/dashboard/keys/{key_id}/cap',
        audience: USERS,
        respond: async (visit) => {
            const key = await ownKey(visit);
            const read = readFields(visit.fields, { cap: dayCap });
            if (!read.ok) return one(visit, key, read.problems);
            const { cap } = read.values;
            await visit.app.db.transaction(async (trx) => {
                await setKeyCap(trx, key.keyId, cap);
                await record(trx, visit, 'cap.changed', key, { cap });
            });
            return { to: `/dashboard/keys/${key.keyId}`, notice: cap === null ? 'cap-gone' : 'cap-set' };
        },
    }),
    workspacePage({
        method: 'POST',
        path: '/dashboard/keys/{key_id}/confirmation',
        audience: USERS,
        respond: async (visit) => {
            const key = await ownKey(visit);
            const read = readFields(visit.fields, { confirm_above: dayCap });
            if (!read.ok) return one(visit, key, read.problems);
            const { confirm_above: credits } = read.values;
            const isLooser = key.confirmAbove !== null && (credits === null || credits > key.confirmAbove);
            if (isLooser && !visit.me.isRecent) return confirmFirst(`/dashboard/keys/${key.keyId}`);
            await visit.app.db.transaction(async (trx) => {
                await setConfirmAbove(trx, key.keyId, credits);
                await record(trx, visit, 'key.confirmation_changed', key, { from: key.confirmAbove, to: credits });
            });
            return { to: `/dashboard/keys/${key.keyId}`, notice: credits === null ? 'confirmation-gone' : 'confirmation-set' };
        },
    }),
    workspacePage({ method: 'POST', path: '/dashboard/keys/{key_id}/scopes', audience: USERS, respond: changeByForm }),
    workspacePage({
        method: 'POST',
        path: '/dashboard/keys/{key_id}/rotate',
        audience: USERS,
        respond: async (visit) => {
            const key = await ownKey(visit);
            // The new key would act, and on Free also pay, as another person. Apps rotate their tokens themselves.
            if (key.userId !== visit.me.userId || key.isGrant) throw pageNotFound();
            if (mayNotHold(visit, key.scopes)) return confirmFirst(`/dashboard/keys/${key.keyId}`);
            const read = readFields(visit.fields, { overlap: oneOf(['now', 'hour', 'day', 'week']) });
            if (!read.ok) return one(visit, key, read.problems);
            const { overlap } = read.values;
            const rotated = await whileSignedIn(visit.app.db, visit.me, async (trx) => {
                const done = await rotateKey(trx, key.keyId, OVERLAPS[overlap]);
                if (done.ok) await record(trx, visit, 'key.rotated', key, { new_key: done.made.keyId, overlap });
                return done;
            });
            if (!rotated.ok && rotated.why === 'too many')
                return one(visit, key, { overlap: `${TOO_MANY}, or expire this one immediately.` });
            if (!rotated.ok) return { to: `/dashboard/keys/${key.keyId}` };
            const words = { now: 'no longer', hour: 'for another hour', day: 'for another day', week: 'for another week' }[overlap];
            return showMade(visit, { apiKey: rotated.made.apiKey, name: key.name, overlap: words });
        },
    }),
    workspacePage({
        method: 'POST',
        path: '/dashboard/keys/{key_id}/revoke',
        audience: USERS,
        respond: async (visit) => {
            const key = await ownKey(visit);
            await visit.app.db.transaction(async (trx) => {
                if (await revokeKey(trx, key.keyId)) await record(trx, visit, 'key.revoked', key, { name: key.name });
            });
            return { to: '/dashboard/keys', notice: 'key-revoked' };
        },
    }),
];

/** Whether the visitor must confirm a recent sign-in before they get a key with more rights than a first key. */
function mayNotHold({ me }: WorkspaceVisit, scopes: Scopes): boolean {
    return !me.isRecent && isWider(scopes, FIRST_SCOPES);
}

function confirmFirst(path: string): Sent {
    return { to: `/dashboard/confirm?next=${encodeURIComponent(path)}` };
}

/** Changes the scopes of a key. Wider scopes require a recent sign-in; narrower ones do not. */
async function changeByForm(visit: WorkspaceVisit): Promise<Answer> {
    const key = await ownKey(visit);
    const read = readScopeFields(visit.fields, key.scopes);
    if (!read.ok) return one(visit, key, read.problems);
    const path = `/dashboard/keys/${key.keyId}`;
    const order = { scopes: read.values, mayWiden: visit.me.isRecent };
    const done = await whileSignedIn(visit.app.db, visit.me, async (trx) => {
        const changed = await changeScopes(trx, key.keyId, order);
        const details = { from: scopeDetails(key.scopes), to: scopeDetails(read.values) };
        if (changed === 'changed') await record(trx, visit, 'key.scopes_changed', key, details);
        return changed;
    });
    if (done === 'wider') return confirmFirst(path);
    return done === 'ended' ? { to: path } : { to: path, notice: 'scopes-changed' };
}

function record(db: Db, visit: WorkspaceVisit, action: Act, { keyId }: ListedKey, details: JsonObject): Promise<void> {
    return recordVisit(db, visit, { workspaceId: visit.workspace.workspaceId, action, target: keyId, details });
}

function visibleKeys(visit: WorkspaceVisit): Promise<ListedKey[]> {
    return listedKeys(visit.app.db, visit.workspace.workspaceId, seesAll(visit) ? undefined : visit.me.userId);
}

/** The key of the path, if this member may see it. @throws Refusal NOT_FOUND */
async function ownKey(visit: WorkspaceVisit): Promise<ListedKey> {
    const key = (await visibleKeys(visit)).find(({ keyId }) => keyId === visit.params['key_id']);
    if (key === undefined) throw pageNotFound();
    return key;
}

async function list(visit: WorkspaceVisit, problems: Problems): Promise<Shown> {
    const keys = await visibleKeys(visit);
    const preset = presetOf(visit.fields.get('preset') ?? visit.query('for'));
    return {
        view: 'keys/list',
        title: 'Keys',
        status: Object.keys(problems).length === 0 ? 200 : 422,
        model: {
            problems,
            typed: keepTyped(visit.fields),
            seesAll: seesAll(visit),
            active: keys.filter(({ state, isGrant }) => state === 'active' && !isGrant),
            apps: keys.filter(({ state, isGrant }) => state === 'active' && isGrant),
            over: keys.filter(({ state }) => state !== 'active').slice(0, 50),
            expiries: EXPIRY_CHOICES,
            preset,
            ...PRESETS[preset],
            scopes: shownScopes(visit.fields, PRESETS[preset].scopes),
        },
    };
}

async function one(visit: WorkspaceVisit, key: ListedKey, problems: Problems): Promise<Shown> {
    return {
        view: 'keys/one',
        title: key.name,
        status: Object.keys(problems).length === 0 ? 200 : 422,
        model: {
            key,
            cap: await keyCap(visit.app.db, key.keyId),
            scopes: shownScopes(visit.fields, key.scopes),
            summary: describeScopes(key.scopes),
            problems,
            typed: keepTyped(visit.fields),
            overlaps: OVERLAP_CHOICES,
            isMine: key.userId === visit.me.userId && !key.isGrant,
        },
    };
}

/** Shows the new key. This answer is not a redirect, since it is the only one that contains the key. */
async function showMade({ app }: WorkspaceVisit, made: { apiKey: string; name: string; overlap?: string }): Promise<Answer> {
    return { view: 'keys/made', title: 'Your new key', model: { ...made, call: await curlLine(app, made.apiKey) } };
}
