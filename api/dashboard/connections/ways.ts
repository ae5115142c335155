import { hostOf } from '../../../shared/domain/connections/redirect-urls.ts';
import { flowsOf } from '../../../shared/domain/package/auth.ts';
import type { PackageAuth } from '../../../shared/domain/types.ts';

export interface Way {
    id: string;
    /** A short description of the credential, for the page. */
    words: string;
    description: string;
    /** Page where people get a credential, and its host. */
    obtain: { url: string; host: string } | undefined;
    /** Whether the user consents at the site or types values. */
    asks: 'consent' | 'value' | 'password' | 'client';
    label: string;
}

/** All ways to authenticate of a package. An entry with two OAuth flows becomes two ways. */
export function waysOf(auth: readonly PackageAuth[]): Way[] {
    return auth.flatMap((entry) => (entry.type === 'oauth2' ? flowsOf(entry) : [undefined]).map((flow) => wayOf(entry, flow)));
}

function wayOf(entry: PackageAuth, flow: string | undefined): Way {
    const { id, description = '', obtain_url: url } = entry;
    const obtain = url === undefined ? undefined : { url, host: hostOf(url) };
    return { id, description, obtain, ...formOf(entry, flow) };
}

function formOf({ type, name = '', oauth2 }: PackageAuth, flow: string | undefined): Pick<Way, 'words' | 'asks' | 'label'> {
    switch (type) {
        case 'oauth2': {
            const host = hostOf(oauth2?.authorization_url ?? oauth2?.token_url ?? 'https://-');
            if (flow === 'client_credentials') return { words: 'A client of your own, by OAuth', asks: 'client', label: 'Client secret' };
            return { words: `Your consent at ${host}`, asks: 'consent', label: '' };
        }
        case 'basic':
            return { words: 'User name and password', asks: 'password', label: 'Password' };
        case 'cookie':
            return { words: `The cookie ${name} of a session of yours`, asks: 'value', label: 'Value of the cookie' };
        case 'bearer':
            return { words: 'A token', asks: 'value', label: 'Token' };
        case 'query':
            return { words: `A key, sent as ${name} in the query`, asks: 'value', label: 'Key' };
        case 'header':
            return { words: `A key, sent in the header ${name}`, asks: 'value', label: 'Key or token' };
    }
}
