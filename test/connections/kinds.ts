import { randomBytes } from 'node:crypto';
import type { SecretFields } from '../../shared/domain/connections/secret.ts';
import type { PackageAuth } from '../../shared/domain/types.ts';

/** A credential of one kind, which only its site may see. */
export interface Planted {
    kind: string;
    /** Id of an entry of `entriesFor`. */
    auth: string;
    secret: SecretFields;
    /** The text to search for. */
    text: string;
    /** What the site gets in a header, a path or a cookie. */
    sent: string;
}

/** The site's authentication methods. @param oauth2 of its authorization server */
export function entriesFor(host: string, oauth2: PackageAuth['oauth2']): PackageAuth[] {
    const hosts = [host];
    return [
        { id: 'header', type: 'header', name: 'X-Api-Key', hosts, test: 'mine' },
        { id: 'token', type: 'header', name: 'Authorization', prefix: 'token ', hosts },
        { id: 'bearer', type: 'bearer', hosts },
        { id: 'basic', type: 'basic', hosts },
        { id: 'query', type: 'query', name: 'api_key', hosts },
        { id: 'cookie', type: 'cookie', name: 'sid', hosts },
        { id: 'oauth', type: 'oauth2', hosts, ...(oauth2 === undefined ? {} : { oauth2 }) },
    ];
}

const some = (bytes = 12) => `planted${randomBytes(bytes).toString('hex')}`;
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Credentials that a person enters. Those of OAuth come from an authorization server. */
export function plant(): Planted[] {
    const value = (kind: string, auth: string, text: string, sent = text): Planted => ({ kind, auth, secret: { value: text }, text, sent });
    const password = (kind: string, text: string): Planted => {
        const username = 'ada.lovelace';
        const sent = Buffer.from(`${username}:${text}`).toString('base64');
        return { kind, auth: 'basic', secret: { username, password: text }, text, sent };
    };
    const inQuery = (kind: string, text: string) => value(kind, 'query', text, encodeURIComponent(text));
    return [
        value('a key in a header', 'header', some()),
        value('a key with quotes, slashes and backslashes', 'header', `${some()}"\\/'<>&"`),
        value('a key with blanks and percent signs', 'header', `${some(6)} %41%zz ${some(6)}`),
        value('a key in base64', 'header', `+/${randomBytes(24).toString('base64')}==`),
        value('a key of digits', 'header', `7${[...randomBytes(18)].map((byte) => byte % 10).join('')}`),
        value('a key of eight characters', 'header', randomBytes(6).toString('base64url')),
        value('a key of eight kilobytes', 'header', randomBytes(4000).toString('hex')),
        value('a key that looks like Markdown and HTML', 'header', `[${some(6)}](x)<b>_${some(6)}_</b>`),
        value('a token behind a prefix', 'token', some()),
        value('a bearer token', 'bearer', some()),
        value('a signed token', 'bearer', `${part({ alg: 'HS256' })}.${part({ sub: some() })}.${randomBytes(32).toString('base64url')}`),
        password('a password', some()),
        password('a password in another script', `пароль-${some(6)}-密码 €`),
        inQuery('a key in the query', some()),
        inQuery('a key in the query with signs of URLs', `${some(6)}&x=1#?/+ %~${some(6)}`),
        inQuery('a key in the query in another script', `schlüssel-${some(6)}-🔑`),
        value('a cookie of a session', 'cookie', `${some()}.${randomBytes(9).toString('base64url')}`),
    ];
}
