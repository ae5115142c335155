import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PAGES = fileURLToPath(new URL('../../../api/dashboard', import.meta.url));

/** How the sources of the pages name what they read of an address or a form, and what their forms and links send. */
const MENTIONS = [
    /query\('(\w+)'\)/g,
    /filterOf\(visit, '(\w+)'\)/g,
    /fields\.get\('(\w+)'\)/g,
    /name="(\w+)"/g,
    /name: '([a-z]\w*)'/g,
    /[?&](?:amp;)?(\w+)=/g,
];

/** The names of queries and fields that pages know. */
export function namesOfPages(): string[] {
    const sources = readdirSync(PAGES, { recursive: true, encoding: 'utf8' }).filter((file) => /\.(ts|eta)$/.test(file));
    const texts = sources.map((file) => readFileSync(join(PAGES, file), 'utf8'));
    return [...new Set(texts.flatMap((text) => MENTIONS.flatMap((mention) => [...text.matchAll(mention)].map(([, name = '']) => name))))];
}

/** What only its owners know, and pages are asked for by name. */
export interface Private {
    key_id: string;
    token: string;
    workspace: string;
    notice: string;
    operation: string;
    request: string;
    checkout: string;
    cursor: string;
}

/** What a name stands for; `undefined` where it is nobody's: words, numbers, days, what is published, and whatever acts for one visitor alone. */
export const MEANINGS: Readonly<Record<string, keyof Private | undefined>> = {
    key: 'key_id',
    workspace_id: 'workspace',
    token: 'token',
    invite: 'token',
    once: 'token',
    ticket: 'token',
    workspace: 'workspace',
    maintainer: 'workspace',
    notice: 'notice',
    call: 'operation',
    request: 'request',
    checkout: 'checkout',
    cursor: 'cursor',
    ...none('domain', 'site', 'endpoint', 'version', 'package', 'category', 'source_url', 'q', 'sort', 'verified'),
    ...none('from', 'to', 'before', 'after', 'page', 'range', 'by', 'outcome', 'max_results', 'cap', 'plan', 'role', 'expires', 'overlap'),
    ...none(
        'email',
        'name',
        'password',
        'new_password',
        'revoke_keys',
        'code',
        'state',
        'secret',
        'username',
        'auth_id',
        'shared',
        'lend',
        'redirects',
        'error',
        'credential',
        'demands_factor',
        'next',
        'step',
        'sure',
        'checked',
        'follows',
        'reason',
    ),
    ...none('limit', 'blocked', 'writes', 'requests_per_minute', 'timezone'),
    ...none('scopes', 'sites', 'endpoints', 'connections', 'ip_allow', 'action', 'since'),
    ...none('task', 'read_or_write', 'auth_shape', 'output_shape', 'failure_mode', 'intent_category', 'frequency', 'requester_contact'),
    ...none('window', 'terms'),
    ...none('url', 'events'),
    ...none('status', 'max_credits', 'stop', 'csv', 'head'),
    ...none('every', 'cron', 'watch', 'identity', 'when', 'expression', 'per_day'),
    // What apps ask for, and how they are answered: nothing of it says whose it is, and a code goes to its app alone.
    ...none(
        'client_id',
        'redirect_uri',
        'response_type',
        'code_challenge',
        'code_challenge_method',
        'resource',
        'scope',
        'state',
        'decision',
        'effect_write',
        'confirm_above',
        'cap',
    ),
    // What a form for a new key begins with.
    ...none('for', 'preset'),
    // Of links into the API, and of the head of a page.
    ...none('dry_run', 'format', 'intent', 'viewport', 'description'),
    // The forms' own: the tests of forms send each of them.
    ...none('_form', '_workspace'),
};

function none(...names: string[]): Record<string, undefined> {
    return Object.fromEntries(names.map((name) => [name, undefined]));
}

/** What pages are asked for by name, as far as it is somebody's. */
export function privateNames(): [name: string, kind: keyof Private][] {
    return Object.entries(MEANINGS).filter((entry): entry is [string, keyof Private] => entry[1] !== undefined);
}
