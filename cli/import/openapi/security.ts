import { isObject, listOf, objectOf } from '../../../shared/domain/json/schema/structure.ts';
import { headerNameFault } from '../../../shared/domain/package/rules/headers.ts';
import { isOnDomain } from '../../../shared/domain/site/site-name.ts';
import type { AuthNeed, Json, JsonObject, OAuthFlow, PackageAuth, PackageOAuth } from '../../../shared/domain/types.ts';
import { nameEndpoint } from '../../inspect/drafts/naming.ts';
import type { NotRead } from '../operation.ts';
import { cleanText, printableName } from '../texts.ts';
import type { Resolver } from './refs.ts';

export interface Access {
    need: AuthNeed;
    /** Entries of `auth` that a call may use. */
    entries: readonly PackageAuth[];
    scopes: readonly string[];
    /** Why a package supports none of the credentials. The operation is then imported with `hosted: false`. */
    fault?: string;
}

/** A header whose name shows that it carries a credential, or a cookie that is required: a connection holds either. */
export interface CredentialParam {
    type: 'header' | 'cookie';
    name: string;
    required: boolean;
    description?: string;
}

const NONE: Access = { need: 'none', entries: [], scopes: [] };
const MAX_SCOPES = 100;
const MAX_NEEDED = 50;
const SCOPE = /^[!#-[\]-~]{1,200}$/;
const VISIBLE = /^[!-z|~]{1,100}$/;

type Read = { ok: true; entry: PackageAuth; why?: string } | NotRead;

/** The authentication methods of a document, from its `components.securitySchemes`. */
export class Schemes {
    /** Parts that were changed or left out. */
    readonly notes: { where: string; why: string }[] = [];
    readonly #resolver: Resolver;
    readonly #registrable: string | undefined;
    readonly #written: JsonObject;
    readonly #read = new Map<string, Read>();
    readonly #ids = new Set<string>();
    /** Entries by what they send: two schemes that send the same are one entry. */
    readonly #bySending = new Map<string, PackageAuth>();

    /** @param registrable the site's registrable domain; OAuth addresses have to be on it */
    constructor(document: JsonObject, resolver: Resolver, registrable: string | undefined) {
        this.#resolver = resolver;
        this.#registrable = registrable;
        this.#written = objectOf(objectOf(document['components'])['securitySchemes']);
    }

    /** @param security that of the operation; that of the document if the operation has none */
    accessOf(security: Json | undefined): Access {
        if (!Array.isArray(security) || security.length === 0) return NONE;
        const alternatives = security.slice(0, 50).filter(isObject);
        const isOptional = alternatives.some((alternative) => Object.keys(alternative).length === 0);
        const read = alternatives.filter((alternative) => Object.keys(alternative).length > 0).map((way) => this.#wayOf(way));
        const carried = read.filter((way) => typeof way !== 'string');
        const fault = read.find((way) => typeof way === 'string');
        if (carried.length === 0) return isOptional || fault === undefined ? NONE : { ...NONE, fault };
        return {
            need: isOptional ? 'optional' : 'required',
            entries: [...new Set(carried.map(({ entry }) => entry))],
            scopes: carried[0]?.scopes ?? [],
        };
    }

    /** The access of an operation that describes its credentials only as parameters. */
    accessByParams(params: readonly CredentialParam[]): Access {
        const needed = params.filter(({ required }) => required);
        if (needed.length > 1) return { ...NONE, fault: `It needs ${namesOf(needed)}, but a call sends one credential.` };
        const [only] = needed.length === 1 ? needed : params;
        if (only === undefined) return NONE;
        const { type, name, description } = only;
        const entry = type === 'cookie' ? namedEntry(type, name, name, description) : headerEntry(name, name, description);
        return { need: only.required ? 'required' : 'optional', entries: [this.#shared(entry)], scopes: [] };
    }

    /** The entry for one alternative, or why a package supports none of it. */
    #wayOf(way: JsonObject): { entry: PackageAuth; scopes: string[] } | string {
        const found = Object.keys(way).map((name) => ({ name, read: this.#find(name) }));
        const entries = new Set<PackageAuth>();
        for (const { name, read } of found) {
            if (!read.ok) return `It needs ${printableName(name)}. ${read.why}`;
            entries.add(read.entry);
        }
        const all = [...entries];
        // An OAuth token is sent as a bearer token, so the two schemes need only one credential.
        const tokens = all.filter(({ type }) => type === 'oauth2' || type === 'bearer');
        const entry = all.length === tokens.length ? (tokens.find(({ type }) => type === 'oauth2') ?? tokens[0]) : all[0];
        if (entry === undefined || (all.length > 1 && all.length !== tokens.length))
            return `It needs ${namesOf(found)} at once, but a call sends one credential.`;
        const scopes = Object.values(way).flatMap(listOf);
        return { entry, scopes: entry.oauth2 === undefined ? [] : declareScopes(entry.oauth2, scopes) };
    }

    #find(name: string): Read {
        const known = this.#read.get(name);
        if (known !== undefined) return known;
        const written = Object.hasOwn(this.#written, name) ? this.#written[name] : undefined;
        const made = readScheme(name, this.#resolver.resolve(written), this.#registrable);
        const read: Read = made.ok ? { ...made, entry: this.#shared(made.entry) } : made;
        if (read.why !== undefined) this.notes.push({ where: `security ${printableName(name)}`, why: read.why });
        this.#read.set(name, read);
        return read;
    }

    #shared(entry: PackageAuth): PackageAuth {
        const key = JSON.stringify([entry.type, entry.name?.toLowerCase(), entry.prefix, entry.oauth2?.token_url]);
        const same = this.#bySending.get(key);
        if (same === undefined) {
            const own = { ...entry, id: nameEndpoint(entry.id, this.#ids) };
            this.#bySending.set(key, own);
            return own;
        }
        if (same.oauth2 !== undefined) same.oauth2 = mergeFlows(same.oauth2, entry.oauth2);
        return same;
    }
}

function namesOf(named: readonly { name: string }[]): string {
    return named.map(({ name }) => printableName(name)).join(' and ');
}

function readScheme(name: string, scheme: JsonObject | undefined, registrable: string | undefined): Read {
    if (scheme === undefined) return { ok: false, why: 'The document does not describe this scheme.' };
    const description = cleanText(scheme['description'], 600);
    const base = { id: name, ...(description === undefined ? {} : { description }) };
    const type = String(scheme['type'] ?? '').toLowerCase();
    if (type === 'apikey') return readKey(name, scheme, description);
    if (type === 'http') {
        const way = String(scheme['scheme'] ?? '').toLowerCase();
        if (way === 'basic' || way === 'bearer') return { ok: true, entry: { ...base, type: way } };
        return { ok: false, why: `The HTTP scheme ${printableName(way)} does not send a value of the caller.` };
    }
    if (type === 'oauth2') return readOAuth(base, scheme, registrable);
    if (type === 'openidconnect')
        return {
            ok: true,
            entry: { ...base, type: 'bearer' },
            why: 'Its OAuth endpoints are described in another document, so it is imported as a bearer token of the caller.',
        };
    return { ok: false, why: `A package does not support the authentication type ${printableName(String(scheme['type'] ?? ''))}.` };
}

function readKey(id: string, scheme: JsonObject, description: string | undefined): Read {
    const { name, in: place } = scheme;
    if (typeof name !== 'string' || !VISIBLE.test(name)) return { ok: false, why: 'The name of its key is missing or invalid.' };
    if (scheme['x-amazon-apigateway-authtype'] === 'awsSigv4') return { ok: false, why: 'It signs requests, which a package cannot do.' };
    if (place === 'query' || (place === 'cookie' && isCookieName(name)))
        return { ok: true, entry: namedEntry(place, id, name, description) };
    if (place !== 'header') return { ok: false, why: `A package cannot send a key in ${printableName(String(place))}.` };
    const fault = headerNameFault(name.toLowerCase(), { isCredential: true });
    return fault === undefined ? { ok: true, entry: headerEntry(id, name, description) } : { ok: false, why: fault.message };
}

export function isCookieName(name: string): boolean {
    return VISIBLE.test(name) && /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name);
}

function namedEntry(type: 'query' | 'cookie', id: string, name: string, description: string | undefined): PackageAuth {
    return { id, type, name, ...(description === undefined ? {} : { description }) };
}

/** Builds the entry of a header. Often only the description names the prefix of its value. */
function headerEntry(id: string, name: string, description: string | undefined): PackageAuth {
    const base = { id, ...(description === undefined ? {} : { description }) };
    if (name.toLowerCase() !== 'authorization') return { ...base, type: 'header', name };
    const scheme = /authorization["'`]?\s*[:=]\s*["'`]?([A-Za-z][A-Za-z-]{1,24}) +["'`<{[($A-Za-z0-9]/i.exec(description ?? '')?.[1];
    const isBearer = scheme?.toLowerCase() === 'bearer' || /\bbearer\b/i.test(`${id} ${description ?? ''}`);
    if (isBearer) return { ...base, type: 'bearer' };
    if (scheme?.toLowerCase() === 'basic') return { ...base, type: 'basic' };
    return { ...base, type: 'header', name, ...(scheme === undefined ? {} : { prefix: `${scheme} ` }) };
}

function readOAuth(base: { id: string; description?: string }, scheme: JsonObject, registrable: string | undefined): Read {
    const flows = objectOf(scheme['flows']);
    const found = (['authorizationCode', 'clientCredentials'] as const).flatMap((name) => {
        const flow = flows[name];
        return isObject(flow) ? [{ name, flow }] : [];
    });
    const token = (why: string): Read => ({
        ok: true,
        entry: { ...base, type: 'bearer' },
        why: `${why} It is imported as a bearer token of the caller.`,
    });
    const [first] = found;
    if (first === undefined) return token('A package supports only the OAuth flows authorization code and client credentials.');
    const tokenUrl = addressOf(first.flow['tokenUrl']);
    const pageUrl = first.name === 'authorizationCode' ? addressOf(first.flow['authorizationUrl']) : undefined;
    if (tokenUrl === undefined || (first.name === 'authorizationCode' && pageUrl === undefined))
        return token('Its token URL is missing or not https.');
    const outside = [tokenUrl, pageUrl].find((url) => url !== undefined && !isOnDomain(new URL(url).hostname, registrable ?? ''));
    if (outside !== undefined)
        return token(
            `Its tokens are granted at ${printableName(new URL(outside).hostname)}, which is not on ${registrable ?? 'the domain of the site'}.`,
        );
    const usable = found.filter(({ flow }) => addressOf(flow['tokenUrl']) === tokenUrl);
    const oauth2: PackageOAuth = {
        ...(pageUrl === undefined ? {} : { authorization_url: pageUrl }),
        token_url: tokenUrl,
        flows: usable.map(({ name }): OAuthFlow => (name === 'authorizationCode' ? 'authorization_code' : 'client_credentials')),
    };
    const scopes = usable.flatMap(({ flow }) => Object.entries(objectOf(flow['scopes'])));
    for (const [name, text] of scopes) addScope(oauth2, name, cleanText(text, 400));
    return { ok: true, entry: { ...base, type: 'oauth2', oauth2 } };
}

function addScope(oauth2: PackageOAuth, name: string, description?: string): boolean {
    if (!SCOPE.test(name)) return false;
    if (oauth2.scopes?.some((scope) => scope.name === name) === true) return true;
    if ((oauth2.scopes?.length ?? 0) >= MAX_SCOPES) return false;
    oauth2.scopes = [...(oauth2.scopes ?? []), { name, ...(description === undefined ? {} : { description }) }];
    return true;
}

/** Adds the scopes of an operation to the entry, and returns those that the entry lists. */
function declareScopes(oauth2: PackageOAuth, scopes: readonly Json[]): string[] {
    const own = new Set(scopes.filter((scope): scope is string => typeof scope === 'string'));
    return [...own].filter((scope) => addScope(oauth2, scope)).slice(0, MAX_NEEDED);
}

function mergeFlows(one: PackageOAuth, other: PackageOAuth | undefined): PackageOAuth {
    const page = one.authorization_url ?? other?.authorization_url;
    const made: PackageOAuth = {
        ...one,
        ...(page === undefined ? {} : { authorization_url: page }),
        flows: [...new Set([...(one.flows ?? []), ...(other?.flows ?? [])])],
    };
    for (const { name, description } of other?.scopes ?? []) addScope(made, name, description);
    return made;
}

/** A URL in canonical form; undefined if a package does not accept it. */
function addressOf(written: Json | undefined): string | undefined {
    const url = typeof written === 'string' ? URL.parse(written) : null;
    const isFine = url !== null && url.protocol === 'https:' && url.port === '' && url.username === '' && url.hash === '';
    return isFine && !/[{}]|%7b/i.test(url.href) && url.href.length <= 2048 ? url.href : undefined;
}
