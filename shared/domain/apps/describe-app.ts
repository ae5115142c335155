import { textProblem } from '../text/text-rule.ts';
import { isRedirectUri } from './redirect-uri.ts';

/** What an app says of itself. Nobody checked the name. */
export interface AppFacts {
    name: string;
    redirectUris: string[];
}

const MOST_URIS = 10;
const MOST_NAME = 80;

/** An RFC 7591 error code, and what to change. */
export interface AppProblem {
    code: 'invalid_redirect_uri' | 'invalid_client_metadata';
    message: string;
}

/** Reads metadata of an app (RFC 7591), registered or from its document. Apps here are public: they have no secret. */
export function describeApp(metadata: unknown): AppFacts | AppProblem {
    if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) return wrong('The metadata is an object.');
    const fields = metadata as Record<string, unknown>;
    const uris = fields['redirect_uris'];
    if (!Array.isArray(uris) || uris.length === 0 || uris.length > MOST_URIS) {
        return { code: 'invalid_redirect_uri', message: `redirect_uris has 1 to ${MOST_URIS} addresses.` };
    }
    if (!uris.every((uri): uri is string => typeof uri === 'string' && isRedirectUri(uri))) {
        const message = 'redirect_uris takes https, http on loopback, and schemes of apps, without a fragment.';
        return { code: 'invalid_redirect_uri', message };
    }
    const method = fields['token_endpoint_auth_method'] ?? 'none';
    if (method !== 'none') return wrong('token_endpoint_auth_method is none: apps prove themselves by PKCE.');
    if (!includes(fields['grant_types'], 'authorization_code')) return wrong('grant_types has authorization_code.');
    if (!includes(fields['response_types'], 'code')) return wrong('response_types has code.');
    const name = fields['client_name'] ?? '';
    if (typeof name !== 'string' || textProblem(name) !== undefined) return wrong('client_name is a text of one line.');
    return { name: name.trim().slice(0, MOST_NAME), redirectUris: [...new Set(uris)] };
}

/** Whether the id of an app is the address of its document (Client ID Metadata Documents). Workers read it over https alone. */
export function isDocumentId(id: string): boolean {
    if (id.length > 500 || !URL.canParse(id)) return false;
    const url = new URL(id);
    const isPlain = url.username === '' && url.password === '' && url.hash === '' && url.search === '';
    return /^https?:$/.test(url.protocol) && isPlain && url.pathname !== '/' && url.href === id;
}

function wrong(message: string): AppProblem {
    return { code: 'invalid_client_metadata', message };
}

/** What is left out has its default, which fits. */
function includes(list: unknown, value: string): boolean {
    return list === undefined || (Array.isArray(list) && list.includes(value));
}
