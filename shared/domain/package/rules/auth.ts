import { defaultEffect } from '../endpoint.ts';
import { headerNameFault } from './headers.ts';
import { type Path, quoted, type Report } from './report.ts';
import type { AuthDraft, EndpointDraft, PackageDraft } from './structure.ts';
import { checkUrlTemplate } from './urls.ts';

/** The rules of `auth` (docs/api.md, "Schema packages"), beyond the types of its fields. */
export function checkAuth(draft: PackageDraft, report: Report, isPortAllowed: (port: number) => boolean): void {
    const { auth, endpoints = [] } = draft;
    const entries = (auth ?? []).flatMap((entry, index) => (entry === undefined ? [] : [{ entry, at: ['auth', index] as Path }]));
    const hosts = hostsOfDraft(endpoints);
    const ids = new Set<string>();
    for (const { entry, at } of entries) {
        if (entry.id !== undefined && ids.has(entry.id))
            report.add([...at, 'id'], 'DUPLICATE_NAME', `Another entry of auth is called ${quoted(entry.id)} too.`);
        if (entry.id !== undefined) ids.add(entry.id);
        checkName(entry, at, report);
        checkObtainUrl(entry, at, report);
        checkTest(entry, at, report, endpoints);
        checkOAuth(entry, at, report, isPortAllowed);
        for (const [index, host] of (entry.hosts ?? []).entries()) {
            if (host !== undefined && !hosts.has(host))
                report.refuse([...at, 'hosts', index], `No endpoint of this package calls ${quoted(host)}.`);
        }
    }
    const drafts = entries.map(({ entry }) => entry);
    const scopes = new Set(drafts.flatMap(({ oauth2 }) => oauth2?.scopes?.flatMap((scope) => scope?.name ?? []) ?? []));
    for (const [index, endpoint] of endpoints.entries()) {
        if (endpoint === undefined) continue;
        const at: Path = ['endpoints', index];
        for (const [place, scope] of (endpoint.scopes ?? []).entries()) {
            if (scope !== undefined && !scopes.has(scope))
                report.refuse([...at, 'scopes', place], `No entry of auth lists the scope ${quoted(scope)} in oauth2.`);
        }
        checkNeed(endpoint, at, report, drafts);
    }
}

const NAMED: ReadonlySet<string> = new Set(['header', 'query', 'cookie']);

function checkName({ type, name, prefix }: AuthDraft, at: Path, report: Report): void {
    if (type === undefined) return;
    if (NAMED.has(type) && name === undefined) report.add([...at, 'name'], 'REQUIRED', `An entry of type ${type} must name its ${type}.`);
    if (!NAMED.has(type) && name !== undefined)
        report.refuse([...at, 'name'], `An entry of type ${type} is always sent as Authorization: leave the name out.`);
    if (prefix !== undefined && type !== 'header') report.refuse([...at, 'prefix'], 'Only an entry of type header may have a prefix.');
    if (type === 'header' && name !== undefined) {
        const fault = headerNameFault(name.toLowerCase(), { isCredential: true });
        if (fault !== undefined) report.add([...at, 'name'], fault.code, fault.message);
    }
    if (type === 'cookie' && name !== undefined && !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
        report.refuse([...at, 'name'], 'The name of a cookie is a token of letters, digits and signs such as the hyphen.');
}

function checkObtainUrl({ obtain_url: url }: AuthDraft, at: Path, report: Report): void {
    if (url === undefined) return;
    const parsed = URL.parse(url);
    if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.username !== '' || parsed.password !== '')
        report.refuse([...at, 'obtain_url'], 'This must be a page: a URL with https and without user name.');
}

/** The hosts of these URLs are checked later, when the domain is known (`offDomainAuthHosts`). */
function checkOAuth({ type, oauth2 }: AuthDraft, at: Path, report: Report, isPortAllowed: (port: number) => boolean): void {
    if (type === undefined) return;
    if (type !== 'oauth2') {
        if (oauth2 !== undefined) report.refuse([...at, 'oauth2'], 'Only an entry of type oauth2 has this.');
        return;
    }
    if (oauth2 === undefined) {
        report.add([...at, 'oauth2'], 'REQUIRED', 'An entry of type oauth2 must say where tokens are granted.');
        return;
    }
    const flows = oauth2.flows ?? ['authorization_code'];
    if (flows.includes('authorization_code') && oauth2.authorization_url === undefined)
        report.add([...at, 'oauth2', 'authorization_url'], 'REQUIRED', 'The flow authorization_code needs the page where people consent.');
    for (const field of ['authorization_url', 'token_url', 'revocation_url'] as const) {
        const url = oauth2[field];
        // Without a domain, `checkUrlTemplate` accepts any host.
        if (url !== undefined)
            checkUrlTemplate(url, [...at, 'oauth2', field], report, { registrable: undefined, isPortAllowed }, { placeholders: false });
    }
}

/** The endpoint that tests a credential must be a read without required params. */
function checkTest({ test }: AuthDraft, at: Path, report: Report, endpoints: NonNullable<PackageDraft['endpoints']>): void {
    if (test === undefined) return;
    const tested = endpoints.find((endpoint) => endpoint?.name === test);
    const add = (message: string) => report.refuse([...at, 'test'], message);
    if (tested === undefined) {
        add(`No endpoint of this package is called ${quoted(test)}.`);
        return;
    }
    const effect = tested.effect ?? (tested.method === undefined ? 'read' : defaultEffect(tested.kind ?? 'api_call', tested.method));
    if (effect !== 'read') add(`The endpoint ${quoted(test)} writes; a credential is tested by a read.`);
    if (tested.hosted === false) add(`The endpoint ${quoted(test)} is not hosted, so it cannot test a credential.`);
    if (tested.auth === 'none') add(`The endpoint ${quoted(test)} takes no credential, so it cannot test one.`);
    if ((tested.params ?? []).some((param) => param?.required === true && !Object.hasOwn(param, 'default')))
        add(`The endpoint ${quoted(test)} has required params, and a test has no values for them.`);
}

/** An endpoint that requires a credential must be able to send one. */
function checkNeed({ auth: need, url }: EndpointDraft, at: Path, report: Report, entries: readonly AuthDraft[]): void {
    if (entries.length === 0) {
        if (need === 'required' || need === 'optional')
            report.refuse([...at, 'auth'], 'The package has no auth that says how to send a credential.');
        return;
    }
    if (need === 'none' || url === undefined) return;
    const host = URL.parse(url)?.hostname;
    const isReached = host === undefined || entries.some(({ hosts }) => hosts === undefined || hosts.includes(host));
    if (!isReached)
        report.refuse([...at, 'url'], `No entry of auth sends its credential to ${quoted(host)}: add it to hosts, or say auth none.`);
}

function hostsOfDraft(endpoints: NonNullable<PackageDraft['endpoints']>): Set<string> {
    const urls = endpoints.flatMap((endpoint) => [endpoint?.url, ...(endpoint?.prepare?.steps ?? []).map((step) => step?.url)]);
    return new Set(urls.flatMap((url) => URL.parse(url ?? '')?.hostname ?? []));
}
