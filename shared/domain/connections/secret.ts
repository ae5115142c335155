import type { Detail } from '../../refusals.ts';
import { flowsOf } from '../package/auth.ts';
import type { OAuthFlow, PackageAuth } from '../types.ts';

/** A credential in the form that its owner entered. */
export type Secret = { value: string } | { username: string; password: string };

/** An OAuth grant: the data for the next token, and the current token. */
export interface Grant {
    flow: OAuthFlow;
    clientId: string;
    /** The caller's own client, for client_credentials. */
    clientSecret?: string;
    scopes?: string[];
    accessToken?: string;
    refreshToken?: string;
    /** When the access token expires, in milliseconds since the epoch. */
    expiresAt?: number;
}

/** The encrypted part of a connection. */
export type StoredSecret = Secret | { grant: Grant };

/** Maximum size of a value, or of user name and password together, in bytes. */
export const SECRET_BYTES = 8 * 1024;

/** Why a secret does not match an entry of the package's auth. Messages never repeat the value. */
export function secretProblems(entry: PackageAuth, given: SecretFields): Detail[] {
    const { type, prefix = '' } = entry;
    const { scopes, ...secret } = given;
    const wanted = WANTED[type] ?? ['value'];
    if (type === 'oauth2' && !flowsOf(entry).includes('client_credentials')) {
        const message = 'People consent to this at the site: begin with POST /v1/connections/authorize.';
        return [{ path: '/secret', code: 'INVALID_VALUE', message }];
    }
    if (scopes !== undefined && type !== 'oauth2')
        return [{ path: '/secret/scopes', code: 'UNKNOWN_FIELD', message: `A credential of type ${type} has no scopes.` }];
    const unknown = unknownScopes(entry, scopes ?? []);
    if (unknown.length > 0) return unknown.map((detail) => ({ ...detail, path: `/secret${detail.path}` }));
    const problems: Detail[] = [];
    const add = (field: string, code: Detail['code'], message: string) => problems.push({ path: `/secret/${field}`, code, message });
    for (const field of Object.keys(secret)) {
        if (!(wanted as string[]).includes(field))
            add(field, 'UNKNOWN_FIELD', `A credential of type ${type} has only ${wanted.join(' and ')}.`);
    }
    for (const field of wanted as (keyof typeof secret)[]) {
        if (secret[field] === undefined) add(field, 'REQUIRED', `A credential of type ${type} needs ${wanted.join(' and ')}.`);
    }
    const texts = (wanted as (keyof typeof secret)[]).flatMap((field) =>
        secret[field] === undefined ? [] : [[field, secret[field]] as const],
    );
    const bytes = texts.reduce((sum, [, text]) => sum + Buffer.byteLength(text), 0);
    if (bytes > SECRET_BYTES)
        problems.push({ path: '/secret', code: 'INVALID_VALUE', message: `A secret may have at most ${SECRET_BYTES} bytes.` });
    for (const [field, text] of texts) {
        if (!FITS[type].test(text)) add(field, 'INVALID_VALUE', UNFIT[type]);
    }
    const { value, username } = secret;
    if (type === 'basic' && username?.includes(':')) add('username', 'INVALID_VALUE', 'A user name may not contain a colon.');
    if (prefix !== '' && value?.startsWith(prefix))
        add('value', 'INVALID_VALUE', `Leave out "${prefix}": it is put before the value by itself.`);
    return problems;
}

/** The fields of a secret as sent: its texts and, for a client, the requested scopes. */
export interface SecretFields {
    value?: string;
    username?: string;
    password?: string;
    client_id?: string;
    client_secret?: string;
    scopes?: string[];
}

const WANTED: Partial<Record<PackageAuth['type'], (keyof Omit<SecretFields, 'scopes'>)[]>> = {
    basic: ['username', 'password'],
    oauth2: ['client_id', 'client_secret'],
};

/** Problems for scopes that an entry does not list. */
export function unknownScopes({ oauth2 }: PackageAuth, scopes: readonly string[]): Detail[] {
    const known = new Set(oauth2?.scopes?.map(({ name }) => name));
    return scopes.flatMap((scope, index): Detail[] =>
        known.has(scope)
            ? []
            : [
                  {
                      path: `/scopes/${index}`,
                      code: 'INVALID_VALUE',
                      message: `The schema has the scopes ${[...known].join(', ') || 'none'}.`,
                  },
              ],
    );
}

export function toStoredSecret(
    { type }: PackageAuth,
    { client_id: clientId = '', client_secret: clientSecret = '', scopes, ...plain }: SecretFields,
): StoredSecret {
    if (type !== 'oauth2') return plain as Secret;
    return { grant: { flow: 'client_credentials', clientId, clientSecret, ...(scopes === undefined ? {} : { scopes }) } };
}

const HEADER_VALUE = /^[!-~](?:[ -~]*[!-~])?$/;
const TEXT = /^[^\p{Cc}\p{Cs}]+$/u;
const FITS: Readonly<Record<PackageAuth['type'], RegExp>> = {
    header: HEADER_VALUE,
    bearer: HEADER_VALUE,
    cookie: /^[!-:<-~]+$/,
    query: TEXT,
    basic: TEXT,
    oauth2: HEADER_VALUE,
};
const IN_HEADER = 'A value for a header has visible ASCII characters, without blanks at its ends.';
const UNFIT: Readonly<Record<PackageAuth['type'], string>> = {
    header: IN_HEADER,
    bearer: IN_HEADER,
    cookie: 'The value of a cookie has visible ASCII characters, without blanks and semicolons.',
    query: 'A value has no control characters.',
    basic: 'User name and password have no control characters.',
    oauth2: 'Client id and secret have visible ASCII characters, without blanks at their ends.',
};

/** The end of a secret, by which people recognise it, unless that reveals too much of the whole. */
export function hintOf(secret: StoredSecret): string {
    const text = 'value' in secret ? secret.value : 'password' in secret ? secret.password : (secret.grant.clientSecret ?? '');
    return text.length < 12 ? '…' : `…${text.slice(-4)}`;
}
