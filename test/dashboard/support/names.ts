import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PAGES = fileURLToPath(new URL('../../../api/dashboard', import.meta.url));

/** How the sources of the pages name the query params and fields that they read and send. */
const MENTIONS = [
    /query\('(\w+)'\)/g,
    /filterOf\(visit, '(\w+)'\)/g,
    /fields\.get\('(\w+)'\)/g,
    /name="(\w+)"/g,
    /name: '([a-z]\w*)'/g,
    /[?&](?:amp;)?(\w+)=/g,
];

/** The names of all query params and fields of pages. */
export function namesOfPages(): string[] {
    const sources = readdirSync(PAGES, { recursive: true, encoding: 'utf8' }).filter((file) => /\.(ts|eta)$/.test(file));
    const texts = sources.map((file) => readFileSync(join(PAGES, file), 'utf8'));
    return [...new Set(texts.flatMap((text) => MENTIONS.flatMap((mention) => [...text.matchAll(mention)].map(([, name = '']) => name))))];
}

/** Values that only their owners know, and that pages take by name. */
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

/**
 * The kind of value behind a name; `undefined` if it belongs to nobody: words, numbers, days, published data, and what acts for one visitor
 * only.
 */
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
    typed: 'cursor',
    ...none('domain site endpoint search_products version package category source_url q sort verified'),
    ...none('from to before after page range by outcome max_results cap plan role expires overlap'),
    ...none('email name password new_password revoke_keys code state secret username auth_id shared lend redirects error'),
    ...none('credential demands_factor next step sure checked follows reason'),
    ...none('limit blocked writes requests_per_minute timezone'),
    ...none('scopes sites endpoints connections ip_allow action since'),
    ...none('task read_or_write auth_shape output_shape failure_mode intent_category frequency requester_contact'),
    ...none('window terms'),
    ...none('url events'),
    ...none('status max_credits stop csv head'),
    ...none('every cron watch identity when expression per_day'),
    // The params of an app's request and the response: none identifies its owner, and only the app gets the code.
    ...none('client_id redirect_uri response_type code_challenge code_challenge_method resource scope state decision'),
    ...none('effect_write confirm_above cap'),
    // The initial values of a form for a new key.
    ...none('for preset'),
    // Query params of links into the API, and meta names of pages.
    ...none('dry_run format intent viewport description'),
    // Fields of every form. The tests of forms send each of them.
    ...none('_form _workspace'),
};

function none(names: string): Record<string, undefined> {
    return Object.fromEntries(names.split(' ').map((name) => [name, undefined]));
}

/** The names that pages take and that identify somebody's data. */
export function privateNames(): [name: string, kind: keyof Private][] {
    return Object.entries(MEANINGS).filter((entry): entry is [string, keyof Private] => entry[1] !== undefined);
}
