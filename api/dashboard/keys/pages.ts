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
import { nextOf } from '../account/next.ts';
import { AGENT_CAP, dayCap } from '../billing/caps.ts';
import { keepTyped, line, oneOf, type Problems, readFields } from '../fields.ts';
import { curlLine } from '../first-call.ts';
import { type Answer, pageNotFound, type Shown, USERS, type WorkspaceVisit, workspacePage } from '../page.ts';
import { filterByWords, pageOfArray, pagerOf, searchText } from '../read-api.ts';
import { changeRecorded, recordVisit } from '../record-act.ts';
import { confirmFirst } from '../typed-before.ts';
import { seesAll } from '../usage/scope.ts';
import { readScopeFields, scopeDetails, shownScopes } from './scope-fields.ts';

const ONE = '/dashboard/keys/{key_id}';
const PAGE = { method: 'GET', audience: USERS } as const;
const FORM = { method: 'POST', audience: USERS } as const;

/** Pages of API keys. Members see their own keys. Owners and admins see and revoke all keys of the workspace. */
export const keyPages = [
    workspacePage({ ...PAGE, path: '/dashboard/keys', respond: (visit) => listKeys(visit) }),
    workspacePage({ ...FORM, path: '/dashboard/keys', respond: createKey }),
    workspacePage({ ...PAGE, path: ONE, respond: async (visit) => showKey(visit, await ownKey(visit)) }),
    workspacePage({ ...FORM, path: `${ONE}/rename`, respond: nameKey }),
    workspacePage({ ...FORM, path: `${ONE}/cap`, respond: changeCap }),
    workspacePage({ ...FORM, path: `${ONE}/confirmation`, respond: changeConfirmation }),
    workspacePage({ ...FORM, path: `${ONE}/scopes`, respond: changeKeyScopes }),
    workspacePage({ ...FORM, path: `${ONE}/rotate`, respond: rotate }),
    workspacePage({ ...FORM, path: `${ONE}/revoke`, respond: revoke }),
];

const DAY = 86_400;

/** When a new key expires, in seconds. */
const EXPIRIES = {
    never: { label: 'never', seconds: undefined },
    month: { label: 'in 30 days', seconds: 30 * DAY },
    quarter: { label: 'in 90 days', seconds: 90 * DAY },
    year: { label: 'in a year', seconds: 365 * DAY },
} as const;

/** How long the old key works after a rotation, in seconds. */
const OVERLAPS = {
    now: { label: 'at once', works: 'no longer', seconds: 0 },
    hour: { label: 'in an hour', works: 'for another hour', seconds: 3600 },
    day: { label: 'in a day', works: 'for another day', seconds: DAY },
    week: { label: 'in a week', works: 'for another week', seconds: 7 * DAY },
} as const;

function choices(of: Readonly<Record<string, { label: string }>>): { value: string; label: string }[] {
    return Object.entries(of).map(([value, { label }]) => ({ value, label }));
}

const TOO_MANY = `A workspace can have at most ${MAX_KEYS} active keys. Revoke one first`;

/** Default values of the form for a new key. */
const PRESETS = {
    program: { scopes: FIRST_SCOPES, cap: '', nameExample: 'laptop' },
    agent: { scopes: AGENT_SCOPES, cap: String(AGENT_CAP), nameExample: 'my agent' },
} as const;

function presetOf(name: string | undefined): keyof typeof PRESETS {
    return name === 'agent' ? 'agent' : 'program';
}

/** Maximum number of ended keys on the page of all keys. */
const SHOWN_ENDED = 50;

/** The number of active keys on one page. */
const ROWS = 8;

async function listKeys(visit: WorkspaceVisit, problems: Problems = {}): Promise<Shown> {
    const keys = await visibleKeys(visit, { ended: SHOWN_ENDED + 1 });
    const ended = keys.filter(({ state }) => state !== 'active');
    const { fields: typed } = visit;
    const preset = presetOf(typed.get('preset') ?? visit.query('for'));
    const cursor = visit.query('cursor');
    const active = keys.filter(({ state, isGrant }) => state === 'active' && !isGrant);
    const q = searchText(visit.query('q'));
    const found = filterByWords(active, q, ({ name, prefix, madeBy }) => [name, `${prefix}…`, madeBy]);
    const { items, next } = pageOfArray(found, cursor, ROWS);
    return {
        view: 'keys/list',
        title: 'Keys',
        model: {
            problems,
            typed: keepTyped(typed),
            seesAll: seesAll(visit),
            active: items,
            q,
            isSearched: active.length > ROWS,
            ...pagerOf('/dashboard/keys', { q }, { cursor, next }),
            apps: keys.filter(({ state, isGrant }) => state === 'active' && isGrant),
            over: ended.slice(0, SHOWN_ENDED),
            isCut: ended.length > SHOWN_ENDED,
            expiries: choices(EXPIRIES),
            next: nextOf(visit, ''),
            preset,
            ...PRESETS[preset],
            scopes: shownScopes(typed, PRESETS[preset].scopes),
        },
    };
}

async function showKey(visit: WorkspaceVisit, key: ListedKey, problems: Problems = {}): Promise<Shown> {
    const { fields: typed } = visit;
    return {
        view: 'keys/one',
        title: key.name,
        model: {
            key,
            cap: await keyCap(visit.app.db, key.keyId),
            scopes: shownScopes(typed, key.scopes),
            summary: describeScopes(key.scopes),
            problems,
            typed: keepTyped(typed),
            overlaps: choices(OVERLAPS),
            isMine: key.userId === visit.me.userId && !key.isGrant,
        },
    };
}

/** The key of the path, if this member may see it. @throws Refusal NOT_FOUND */
async function ownKey(visit: WorkspaceVisit): Promise<ListedKey> {
    const key = (await visibleKeys(visit, { keyId: visit.params['key_id'] ?? '' }))[0];
    if (key === undefined) throw pageNotFound();
    return key;
}

function visibleKeys(visit: WorkspaceVisit, only: { keyId?: string; ended?: number }): Promise<ListedKey[]> {
    return listedKeys(visit.app.db, visit.workspace.workspaceId, { ...only, userId: seesAll(visit) ? undefined : visit.me.userId });
}

async function createKey(visit: WorkspaceVisit): Promise<Answer> {
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
async function rotate(visit: WorkspaceVisit): Promise<Answer> {
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
async function showMade(visit: WorkspaceVisit, made: { apiKey: string; name: string; overlap?: string }): Promise<Answer> {
    const model = { ...made, next: nextOf(visit, ''), call: await curlLine(visit.app, made.apiKey) };
    return { view: 'keys/made', title: 'Your new key', model };
}

const keyName = line({ maxLength: 60 });

async function nameKey(visit: WorkspaceVisit): Promise<Answer> {
    const key = await ownKey(visit);
    const read = readFields(visit.fields, { name: keyName });
    if (!read.ok) return showKey(visit, key, read.problems);
    const { name } = read.values;
    const act = { action: 'key.renamed', target: key.keyId, details: { from: key.name, to: name } } as const;
    await changeRecorded(visit, act, (trx) => renameKey(trx, key.keyId, name));
    return { to: pathOf(key), notice: 'key-renamed' };
}

async function changeCap(visit: WorkspaceVisit): Promise<Answer> {
    const key = await ownKey(visit);
    const read = readFields(visit.fields, { cap: dayCap });
    if (!read.ok) return showKey(visit, key, read.problems);
    const { cap } = read.values;
    const act = { action: 'cap.changed', target: key.keyId, details: { cap } } as const;
    await changeRecorded(visit, act, (trx) => setKeyCap(trx, key.keyId, cap));
    return { to: pathOf(key), notice: cap === null ? 'cap-gone' : 'cap-set' };
}

/** Changes the price above which a write needs a confirmation. A higher price requires a recent sign-in; a lower one does not. */
async function changeConfirmation(visit: WorkspaceVisit): Promise<Answer> {
    const key = await ownKey(visit);
    const read = readFields(visit.fields, { confirm_above: dayCap });
    if (!read.ok) return showKey(visit, key, read.problems);
    const { confirm_above: credits } = read.values;
    const isLooser = key.confirmAbove !== null && (credits === null || credits > key.confirmAbove);
    if (isLooser && !visit.me.isRecent) return confirmFirst(pathOf(key), visit, visit.me);
    const act = { action: 'key.confirmation_changed', target: key.keyId, details: { from: key.confirmAbove, to: credits } } as const;
    await changeRecorded(visit, act, (trx) => setConfirmAbove(trx, key.keyId, credits));
    return { to: pathOf(key), notice: credits === null ? 'confirmation-gone' : 'confirmation-set' };
}

/** Changes the scopes of a key. Wider scopes require a recent sign-in; narrower ones do not. */
async function changeKeyScopes(visit: WorkspaceVisit): Promise<Answer> {
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

async function revoke(visit: WorkspaceVisit): Promise<Answer> {
    const key = await ownKey(visit);
    const act = { action: 'key.revoked', target: key.keyId, details: { name: key.name } } as const;
    await changeRecorded(visit, act, (trx) => revokeKey(trx, key.keyId));
    return { to: '/dashboard/keys', notice: 'key-revoked' };
}

function recordChange(db: Db, visit: WorkspaceVisit, action: Act, { keyId }: ListedKey, details: JsonObject): Promise<void> {
    return recordVisit(db, visit, { workspaceId: visit.workspace.workspaceId, action, target: keyId, details });
}

function pathOf({ keyId }: ListedKey): string {
    return `/dashboard/keys/${keyId}`;
}
