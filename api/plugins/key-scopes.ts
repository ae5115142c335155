import type { AnyContract } from '../../shared/contracts/contract.ts';
import type { Lack, RouteScope } from '../../shared/domain/scopes.ts';
import { normaliseSite } from '../../shared/domain/site-name.ts';
import type { Endpoint } from '../../shared/domain/types.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/keys.ts';
import type { Role } from '../../shared/store/workspaces.ts';

/** What each role may do at the most, whatever the scopes of its keys say. */
const SCOPES_OF_ROLES: Readonly<Record<Role, readonly RouteScope[]>> = {
    owner: ['fetch', 'catalog', 'jobs', 'publish', 'maintain', 'account'],
    admin: ['fetch', 'catalog', 'jobs', 'publish', 'maintain', 'account'],
    member: ['fetch', 'catalog', 'jobs', 'publish'],
    billing: [],
};

/** Whether a role may do at all what a scope allows. */
export function mayRole(role: Role, scope: RouteScope): boolean {
    return SCOPES_OF_ROLES[role].includes(scope);
}

/**
 * Judges what needs no look at the body: from where the key is used, and whether it may use the route.
 * @throws Refusal FORBIDDEN
 */
export function judgeRoute(contract: AnyContract, { scopes, role, workspaceName }: Caller, address: string): void {
    if (!scopes.allowsAddress(address)) throw lacks({ part: 'ip_allow', needs: address });
    const { scope } = contract;
    if (scope === 'none') return;
    if (!scopes.listed.routes.includes(scope)) throw lacks({ part: 'routes', needs: scope });
    if (!mayRole(role, scope)) {
        throw new Refusal('FORBIDDEN', `This needs the scope ${scope}, which the role ${role} in ${workspaceName} does not have.`);
    }
}

/** Where requests name their site: the site itself, or the domain that it belongs to. */
interface Named {
    params: unknown;
    body: unknown;
}

/**
 * Judges the site and the endpoint that a call names. Whatever is no site's name is left to the route.
 * @throws Refusal FORBIDDEN
 */
export function judgeTarget({ scope, actsOnDomain }: AnyContract, { scopes: { listed } }: Caller, named: Named): void {
    if (scope === 'none' || (listed.sites === null && listed.endpoints === null)) return;
    const { site: written, domain, endpoint } = { ...fieldsOf(named.body), ...fieldsOf(named.params) };
    const name = typeof (written ?? domain) === 'string' ? normaliseSite(String(written ?? domain)) : undefined;
    // What holds for a whole domain needs the domain itself.
    if (name?.ok === true) judgeSite(listed.sites, actsOnDomain === true ? name.registrable : name.site);
    if (scope === 'fetch' && typeof endpoint === 'string') judgeEndpoint(listed.endpoints, endpoint);
}

/** Judges a site whose name is normalised. @throws Refusal FORBIDDEN */
export function judgeSite(sites: readonly string[] | null, site: string): void {
    if (sites !== null && !sites.includes(site)) throw lacks({ part: 'sites', needs: site });
}

function judgeEndpoint(endpoints: readonly string[] | null, name: string): void {
    if (endpoints !== null && !endpoints.includes(name)) throw lacks({ part: 'endpoints', needs: name });
}

function fieldsOf(value: unknown): { site?: unknown; domain?: unknown; endpoint?: unknown } {
    return typeof value === 'object' && value !== null ? value : {};
}

/**
 * Judges what an endpoint does. Its author says what it does: without the scope `write`, a method that usually writes is believed to
 * read only where the version was verified, or its author speaks for the site.
 * @throws Refusal FORBIDDEN
 */
export function judgeEffect({ scopes: { listed } }: Caller, { effect, method }: Endpoint, isTrusted: boolean): void {
    const believed = isDoubtful({ effect, method }) && !isTrusted ? 'write' : effect;
    if (listed.effects.includes(believed)) return;
    if (effect === believed) throw lacks({ part: 'effects', needs: believed });
    throw lacks({ part: 'effects', needs: 'write' }, `Nobody verified the version or proved the site, and a ${method} may write.`);
}

/** Whether an endpoint says that it reads with a method that usually writes. */
export function isDoubtful({ effect, method }: Pick<Endpoint, 'effect' | 'method'>): boolean {
    return effect === 'read' && method !== 'GET' && method !== 'HEAD';
}

/** Whether any effect is outside of what the key may do. */
export function isEffectBound({ scopes: { listed } }: Caller): boolean {
    return listed.effects.length < 2;
}

/** 403 that names the scope that is missing. */
export function lacks({ part, needs }: Lack, why = ''): Refusal {
    const message =
        part === 'ip_allow'
            ? `This key may not be used from ${needs} (scope ip_allow).`
            : `This key lacks the scope ${needs} (${part}).${why === '' ? '' : ` ${why}`}`;
    return new Refusal('FORBIDDEN', message, { details: [{ path: '', code: 'SCOPE_MISSING', message: `${part}: ${needs}` }] });
}
