import { isObject } from '../json/schema/structure.ts';
import { reorderingProblem, textProblem } from '../text/text-rule.ts';
import { isRedirectUri } from './redirect-uri.ts';

/** Data that the app states about itself. The name is unverified. */
export interface AppFacts {
    name: string;
    redirectUris: string[];
}

const MAX_URIS = 10;
const MAX_NAME = 80;
/** An RFC 7591 error code and a message that says what to change. */
interface AppProblem {
    code: 'invalid_redirect_uri' | 'invalid_client_metadata';
    message: string;
}

/** Validates client metadata (RFC 7591) from a registration or a document. All apps are public clients: they have no secret. */
export function describeApp(metadata: unknown): AppFacts | AppProblem {
    if (!isObject(metadata)) return wrong('The metadata must be an object.');
    const uris = metadata['redirect_uris'];
    if (!Array.isArray(uris) || uris.length === 0 || uris.length > MAX_URIS) {
        return { code: 'invalid_redirect_uri', message: `redirect_uris must have 1 to ${MAX_URIS} addresses.` };
    }
    if (!uris.every((uri): uri is string => typeof uri === 'string' && isRedirectUri(uri))) {
        const message =
            'redirect_uris accepts https, http on loopback, and schemes of apps such as com.example.app: or myapp://, without a fragment.';
        return { code: 'invalid_redirect_uri', message };
    }
    const method = metadata['token_endpoint_auth_method'] ?? 'none';
    if (method !== 'none') return wrong('token_endpoint_auth_method must be none: apps authenticate with PKCE.');
    if (!includes(metadata['grant_types'], 'authorization_code')) return wrong('grant_types must include authorization_code.');
    if (!includes(metadata['response_types'], 'code')) return wrong('response_types must include code.');
    const name = metadata['client_name'] ?? '';
    if (typeof name !== 'string' || textProblem(name) !== undefined) return wrong('client_name must be one line of text.');
    const problem = reorderingProblem(name);
    if (problem !== undefined) return wrong(`client_name would reorder the words around it. ${problem}`);
    return { name: name.trim().slice(0, MAX_NAME).toWellFormed(), redirectUris: [...new Set(uris)] };
}

/** Whether a client id is the URL of a Client ID Metadata Document. Workers read such documents over https only. */
export function isDocumentId(id: string): boolean {
    if (id.length > 500 || !URL.canParse(id)) return false;
    const url = new URL(id);
    const isPlain = url.username === '' && url.password === '' && url.hash === '' && url.search === '';
    return /^https?:$/.test(url.protocol) && isPlain && url.pathname !== '/' && url.href === id;
}

function wrong(message: string): AppProblem {
    return { code: 'invalid_client_metadata', message };
}

/** Whether a list contains the value. The default of a missing list does. */
function includes(list: unknown, value: string): boolean {
    return list === undefined || (Array.isArray(list) && list.includes(value));
}
