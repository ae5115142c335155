import type { AuditEntry } from '../../../shared/contracts/audit.ts';
import { ACT_NAMES, ACTS, type Act } from '../../../shared/domain/accounts/acts.ts';
import type { Scopes } from '../../../shared/domain/accounts/scopes.ts';
import { scopeText } from '../../../shared/domain/accounts/scopes-text.ts';
import { isObject } from '../../../shared/domain/json/schema/structure.ts';
import type { Json, JsonObject } from '../../../shared/domain/types.ts';
import { listedKeys } from '../../../shared/store/accounts/api-keys.ts';
import { listMembers } from '../../../shared/store/accounts/workspaces.ts';
import { MANAGERS, type Shown, type WorkspaceVisit, workspacePage } from '../page.ts';
import { type ListPage, pagerOf, readList } from '../read-api.ts';

const PATH = '/dashboard/audit';
const ROWS = 12;

export const auditPages = [workspacePage({ method: 'GET', path: PATH, audience: MANAGERS, respond: showAudit })];

async function showAudit(visit: WorkspaceVisit): Promise<Shown> {
    const { query } = visit;
    const action = ACT_NAMES.find((name) => name === query('action'));
    const [{ items: acts, next }, names] = await Promise.all([readPage(visit, action), namesOfActors(visit)]);
    return {
        view: 'audit/audit',
        title: 'Audit log',
        model: {
            acts: acts.map((act) => ({
                ...act,
                at: new Date(act.at),
                who: names.get(act.actor) ?? act.actor,
                words: ACTS[act.action as Act],
                what: names.get(act.target) ?? act.target,
                facts: factsOf(act),
            })),
            typed: { action },
            actions: [{ value: '', label: 'everything' }, ...ACT_NAMES.map((name) => ({ value: name, label: name }))],
            ...pagerOf(PATH, { action }, { cursor: query('cursor'), next }),
        },
    };
}

/** Reads a page of the audit log. If the cursor is invalid, starts at the newest entry. */
function readPage(visit: WorkspaceVisit, action: string | undefined): Promise<ListPage<AuditEntry>> {
    const read = (cursor?: string) => readList<AuditEntry>(visit, '/v1/audit', { action, cursor, limit: String(ROWS) });
    return read(visit.query('cursor')).catch(() => read());
}

/** Display names by id: the addresses of members and the names of keys. */
async function namesOfActors({ app, workspace: { workspaceId } }: WorkspaceVisit): Promise<ReadonlyMap<string, string>> {
    const [members, keys] = await Promise.all([listMembers(app.db, workspaceId), listedKeys(app.db, workspaceId)]);
    return new Map([
        ...members.map(({ userId, email }) => [userId, email] as const),
        ...keys.map(({ keyId, name }) => [keyId, `the key ${name}`] as const),
        ['operator', 'an operator of this service'],
        ['system', 'Routebook'],
    ]);
}

function factsOf({ action, details }: Pick<AuditEntry, 'action' | 'details'>): string {
    return (WORDS[action] ?? plainFacts)(details);
}

const WORDS: Readonly<Record<string, (details: JsonObject) => string>> = {
    'claim.created': () => '',
    'claim.proved': ({ method }) => (method === 'dns' ? 'in the DNS' : 'in the file'),
    'claim.recheck_failed': ({ failures, reason }) => `failure ${failures} of 3 in a row; ${reason}`,
    'claim.lost': ({ reason }) => `third failure in a row; ${reason}`,
    'claim.deleted': ({ was_proven: wasProven }) => (wasProven === true ? 'it was verified' : 'it was not verified'),
    'policy.changed': policyFacts,
};

export function policyFacts(changes: JsonObject): string {
    const factOf = (name: string, words: (value: Json) => string) => {
        const value = changes[name];
        return value === undefined ? [] : [words(value)];
    };
    const list = (value: Json) => (Array.isArray(value) ? value.join(', ') : String(value));
    return [
        ...factOf('policy_of', () => "the operator's own policy"),
        ...factOf('blocked', (value) => (value === true ? 'all calls are blocked' : 'calls are no longer blocked')),
        ...factOf('writes', (value) => (value === true ? 'calls may change the site' : 'no calls that may change the site')),
        ...factOf('blocked_paths_added', (value) => `blocks ${list(value)}`),
        ...factOf('blocked_paths_removed', (value) => `no longer blocks ${list(value)}`),
        ...factOf('requests_per_minute', (value) => (value === null ? 'no pace' : `${value} requests a minute`)),
        ...factOf('hours', (value) => (value === null ? 'at all hours' : `only from ${value}`)),
    ].join('; ');
}

function plainFacts(details: JsonObject): string {
    return Object.entries(details)
        .filter(([, value]) => value !== null)
        .map(([name, value]) => `${name}: ${wordsOf(value)}`)
        .join(', ');
}

function wordsOf(value: Json): string {
    if (typeof value === 'string') return shortened(value);
    if (isObject(value) && 'ip_allow' in value) return scopeText(value as unknown as Scopes);
    return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value.join(', ') : JSON.stringify(value);
}

/** Shortens a hash, since people compare only its first characters. `GET /v1/audit` returns the complete hash. */
function shortened(text: string): string {
    return /^[0-9a-f]{64}$/.test(text) ? `${text.slice(0, 12)}…` : text;
}
