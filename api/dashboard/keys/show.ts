import { AGENT_SCOPES, FIRST_SCOPES } from '../../../shared/domain/accounts/scopes.ts';
import { describeScopes } from '../../../shared/domain/accounts/scopes-text.ts';
import { type ListedKey, listedKeys, MAX_KEYS } from '../../../shared/store/accounts/api-keys.ts';
import { keyCap } from '../../../shared/store/credits/spending.ts';
import { AGENT_CAP } from '../billing/caps.ts';
import { keepTyped, type Problems } from '../fields.ts';
import { pageNotFound, type Shown, type WorkspaceVisit } from '../page.ts';
import { seesAll } from '../usage/scope.ts';
import { shownScopes } from './scope-fields.ts';

const DAY = 86_400;

/** When a new key expires, in seconds. */
export const EXPIRIES = {
    never: { label: 'never', seconds: undefined },
    month: { label: 'in 30 days', seconds: 30 * DAY },
    quarter: { label: 'in 90 days', seconds: 90 * DAY },
    year: { label: 'in a year', seconds: 365 * DAY },
} as const;

/** How long the old key works after a rotation, in seconds. */
export const OVERLAPS = {
    now: { label: 'at once', works: 'no longer', seconds: 0 },
    hour: { label: 'in an hour', works: 'for another hour', seconds: 3600 },
    day: { label: 'in a day', works: 'for another day', seconds: DAY },
    week: { label: 'in a week', works: 'for another week', seconds: 7 * DAY },
} as const;

function choices(of: Readonly<Record<string, { label: string }>>): { value: string; label: string }[] {
    return Object.entries(of).map(([value, { label }]) => ({ value, label }));
}

export const TOO_MANY = `A workspace can have at most ${MAX_KEYS} active keys. Revoke one first`;

/** Default values of the form for a new key. */
export const PRESETS = {
    program: { scopes: FIRST_SCOPES, cap: '', nameExample: 'laptop' },
    agent: { scopes: AGENT_SCOPES, cap: String(AGENT_CAP), nameExample: 'my agent' },
} as const;

export function presetOf(name: string | undefined): keyof typeof PRESETS {
    return name === 'agent' ? 'agent' : 'program';
}

/** The number of keys that have ended on the page of all keys. */
const SHOWN_ENDED = 50;

export async function listKeys(visit: WorkspaceVisit, problems: Problems = {}): Promise<Shown> {
    const keys = await visibleKeys(visit, { ended: SHOWN_ENDED + 1 });
    const ended = keys.filter(({ state }) => state !== 'active');
    const { fields: typed } = visit;
    const preset = presetOf(typed.get('preset') ?? visit.query('for'));
    return {
        view: 'keys/list',
        title: 'Keys',
        model: {
            problems,
            typed: keepTyped(typed),
            seesAll: seesAll(visit),
            active: keys.filter(({ state, isGrant }) => state === 'active' && !isGrant),
            apps: keys.filter(({ state, isGrant }) => state === 'active' && isGrant),
            over: ended.slice(0, SHOWN_ENDED),
            isCut: ended.length > SHOWN_ENDED,
            expiries: choices(EXPIRIES),
            preset,
            ...PRESETS[preset],
            scopes: shownScopes(typed, PRESETS[preset].scopes),
        },
    };
}

export async function showKey(visit: WorkspaceVisit, key: ListedKey, problems: Problems = {}): Promise<Shown> {
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
export async function ownKey(visit: WorkspaceVisit): Promise<ListedKey> {
    const key = (await visibleKeys(visit, { keyId: visit.params['key_id'] ?? '' }))[0];
    if (key === undefined) throw pageNotFound();
    return key;
}

function visibleKeys(visit: WorkspaceVisit, only: { keyId?: string; ended?: number }): Promise<ListedKey[]> {
    return listedKeys(visit.app.db, visit.workspace.workspaceId, { ...only, userId: seesAll(visit) ? undefined : visit.me.userId });
}
