import { headerNameFault } from '../../../shared/domain/package/rules/headers.ts';
import { findSecrets } from '../../../shared/domain/package/secrets-scan.ts';
import type { OAuthFlow, PackageAuth } from '../../../shared/domain/types.ts';
import { holdsCredential, namesCredential, wordsOf } from '../words/harmless.ts';
import type { Exchange } from './exchange.ts';
import { parseJson } from './redact.ts';

/** How a request sends a credential: names only, no value. */
export type AuthMethod = Pick<PackageAuth, 'type' | 'name' | 'prefix'>;

/** Authentication methods with the same key are the same method. */
export function keyOfMethod({ type, name = '', prefix = '' }: AuthMethod): string {
    return `${type} ${name} ${prefix}`;
}

/** How a site grants tokens, according to a recording. */
export interface Granting {
    tokenUrl: string | undefined;
    authorizationUrl: string | undefined;
    flows: Set<OAuthFlow>;
    scopes: Set<string>;
}

export function createGranting(): Granting {
    return { tokenUrl: undefined, authorizationUrl: undefined, flows: new Set(), scopes: new Set() };
}

/** Names of one-time values. A package cannot send them, since a page issues a new one for each request. */
const ONE_TIME: ReadonlySet<string> = new Set(
    'csrf csrftoken xsrf xsrftoken csrfmiddlewaretoken authenticitytoken requestverificationtoken nonce wpnonce captcha recaptcha sig signature otp pin'.split(
        ' ',
    ),
);
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,60}$/;
/** Schemes and params whose values are computed for each request. */
const COMPUTED = /^(?:aws4-.*|digest|hawk|oauth|negotiate|ntlm|signature|mac)$/i;
const SESSION = /sess|^sid$|\.sid$|[-_]sid$|auth|token|jwt/i;
const MAX_COOKIES = 50;

/** The credentials that an exchange sends, by their place. The values are read but not stored. */
export function authMethodsOf({ url, requestHeaders }: Exchange): AuthMethod[] {
    const methods: AuthMethod[] = [];
    const authorization = requestHeaders.get('authorization');
    if (authorization !== undefined) methods.push(...byAuthorization(authorization));
    for (const name of requestHeaders.keys()) {
        if (name === 'authorization' || name === 'cookie' || !isKeyName(name)) continue;
        if (headerNameFault(name, { isCredential: true }) === undefined) methods.push({ type: 'header', name });
    }
    for (const name of new Set(url.searchParams.keys()))
        if (holdsCredential(name, url.searchParams) && isReusableName(name)) methods.push({ type: 'query', name });
    for (const pair of (requestHeaders.get('cookie') ?? '').split(/;\s*/, MAX_COOKIES)) {
        const [name = ''] = pair.split('=', 1);
        if (SESSION.test(name) && /^[A-Za-z._-]+\d{0,2}$/.test(name) && isReusableName(name)) methods.push({ type: 'cookie', name });
    }
    return methods;
}

/** Names of values that a package cannot send: one-time tokens of a page, signatures of a request, and any credential in a body. */
export function oneTimeNames({ url, requestHeaders, body }: Exchange): string[] {
    const found: string[] = [];
    for (const name of requestHeaders.keys()) if (isOneTimeName(name)) found.push(`the header ${name}`);
    for (const name of new Set(url.searchParams.keys())) if (isOneTimeName(name)) found.push(`the query param ${name}`);
    const fields = body === undefined || body.text.length > MAX_READ_LENGTH ? [] : fieldsOf(body).keys();
    for (const name of fields) if (isCredentialName(name)) found.push(`the field ${name} of the body`);
    const [scheme = ''] = (requestHeaders.get('authorization') ?? '').split(' ', 1);
    if (COMPUTED.test(scheme)) found.push('the header authorization');
    return found.slice(0, MAX_ONE_TIME);
}

/** Whether a user signs in with this exchange, judging by its fields and its status. */
export function signsIn({ method, body, status }: Exchange): boolean {
    if (method !== 'POST' || body === undefined || body.text.length > MAX_READ_LENGTH || status >= 400) return false;
    return [...fieldsOf(body).keys()].some((name) => /^(?:pass(?:word|wd|code|phrase)?|pwd)$/.test(wordsOf(name).at(-1) ?? ''));
}

const MAX_READ_LENGTH = 20_000;
const MAX_ONE_TIME = 3;

function isOneTimeName(name: string): boolean {
    return isCredentialName(name) && !isReusableName(name);
}

function isCredentialName(name: string): boolean {
    return NAME.test(name) && !/\d{3}/.test(name) && findSecrets(name) === undefined && namesCredential(name);
}

function byAuthorization(value: string): AuthMethod[] {
    const scheme = /^([A-Za-z][A-Za-z0-9-]{1,24}) +\S/.exec(value)?.[1];
    if (scheme === undefined) return /^\S+$/.test(value) ? [{ type: 'header', name: 'Authorization' }] : [];
    const name = scheme.toLowerCase();
    if (name === 'bearer' || name === 'basic') return [{ type: name }];
    if (COMPUTED.test(name) || /\d{2}/.test(scheme) || findSecrets(scheme) !== undefined) return [];
    return [{ type: 'header', name: 'Authorization', prefix: `${scheme} ` }];
}

function isKeyName(name: string): boolean {
    return namesCredential(name) && isReusableName(name);
}

function isReusableName(name: string): boolean {
    const words = wordsOf(name);
    if (!NAME.test(name) || /\d{3}/.test(name) || findSecrets(name) !== undefined) return false;
    return !ONE_TIME.has(words.join('')) && !words.some((word) => ONE_TIME.has(word));
}

/** Adds the facts of an exchange with an authorization server (RFC 6749). */
export function addGranting(granting: Granting, { method, url, body, status }: Exchange): void {
    const { searchParams } = url;
    if (method === 'GET' && searchParams.get('response_type') === 'code' && searchParams.has('client_id')) {
        granting.authorizationUrl ??= bare(url);
        addScopes(granting, searchParams.get('scope') ?? '');
    }
    if (method !== 'POST' || body === undefined || body.text.length > MAX_READ_LENGTH || status >= 400) return;
    const sent = fieldsOf(body);
    const grant = sent.get('grant_type');
    if (grant === undefined) return;
    if (grant !== 'authorization_code' && grant !== 'refresh_token' && grant !== 'client_credentials') return;
    granting.tokenUrl ??= bare(url);
    granting.flows.add(grant === 'client_credentials' ? grant : 'authorization_code');
    addScopes(granting, sent.get('scope') ?? '');
}

function fieldsOf({ type, text }: { type: string; text: string }): Map<string, string> {
    if (!/json/.test(type)) return new Map(new URLSearchParams(text));
    const value = parseJson(text);
    const pairs = typeof value === 'object' && value !== null ? Object.entries(value) : [];
    return new Map(pairs.flatMap(([name, field]) => (typeof field === 'string' ? [[name, field] as const] : [])));
}

function addScopes({ scopes }: Granting, text: string): void {
    for (const scope of text.slice(0, 2000).split(' ')) {
        if (/^[A-Za-z][!#-[\]-~]{0,99}$/.test(scope) && scopes.size < 100 && findSecrets(scope) === undefined) scopes.add(scope);
    }
}

function bare(url: URL): string {
    return url.origin + url.pathname;
}
