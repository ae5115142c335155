import type { AnyContract } from '../../shared/contracts/contract.ts';
import { canRoleHave, isManager } from '../../shared/domain/accounts/roles.ts';
import { EFFECTS, missingScope, type Scopes } from '../../shared/domain/accounts/scopes.ts';
import { normaliseSite } from '../../shared/domain/site/site-name.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';

export function checkAddress({ scopes }: Caller, address: string): Refusal | undefined {
    return scopes.allowsAddress(address) ? undefined : missingScope({ part: 'ip_allow', needs: address });
}

/** Refuses a key that may not use a route. Checks everything that does not depend on the body. */
export function checkRoute(
    { scope, ofWholeWorkspace, ofAllSites, managersOnly }: AnyContract,
    { scopes, role, workspaceName }: Caller,
): Refusal | undefined {
    if (scope === 'none') return undefined;
    if (!scopes.listed.routes.includes(scope)) return missingScope({ part: 'routes', needs: scope });
    if (!canRoleHave(role, scope))
        return new Refusal('FORBIDDEN', `This needs the scope ${scope}, which the role ${role} in ${workspaceName} does not have.`);
    if (managersOnly === true && !isManager(role))
        return new Refusal('FORBIDDEN', `This is for owners and admins of ${workspaceName}; your role there is ${role}.`);
    if (ofWholeWorkspace === true) return checkWhole(scopes.listed);
    return ofAllSites === true ? checkAllSites(scopes.listed, 'This names all sites of the workspace.') : undefined;
}

/** Events of the whole workspace are only for unrestricted keys, since they reveal what a restricted key may not see. */
function checkWhole(listed: Scopes): Refusal | undefined {
    const { routes, effects, connections } = listed;
    if (!routes.includes('jobs')) return missingScope({ part: 'routes', needs: 'jobs' });
    const limited = checkAllSites(listed, WHOLE);
    if (limited !== undefined) return limited;
    if (connections !== null) return missingScope({ part: 'connections', needs: 'all' }, WHOLE);
    const missing = EFFECTS.find((effect) => !effects.includes(effect));
    return missing && missingScope({ part: 'effects', needs: missing }, WHOLE);
}

function checkAllSites({ sites, endpoints }: Scopes, why: string): Refusal | undefined {
    if (sites !== null) return missingScope({ part: 'sites', needs: 'all' }, why);
    return endpoints === null ? undefined : missingScope({ part: 'endpoints', needs: 'all' }, why);
}

const WHOLE = 'This concerns the whole workspace: it needs a key without limits on sites, endpoints, effects and connections.';

/** Where requests name their site: the site itself, or the domain that it belongs to. */
interface Named {
    params: unknown;
    body: unknown;
}

/** Checks the site and the endpoint that a call names. The route itself checks invalid names. @throws Refusal FORBIDDEN */
export function checkTarget({ scope, actsOnDomain }: AnyContract, { scopes: { listed } }: Caller, named: Named): void {
    if (scope === 'none' || (listed.sites === null && listed.endpoints === null)) return;
    const { site: written, domain, endpoint } = { ...fieldsOf(named.body), ...fieldsOf(named.params) };
    const name = typeof (written ?? domain) === 'string' ? normaliseSite(String(written ?? domain)) : undefined;
    // Actions on a whole domain need the domain itself in the scope.
    if (name?.ok === true) checkSite(listed.sites, actsOnDomain === true ? name.registrable : name.site);
    if ((scope === 'fetch' || scope === 'jobs') && typeof endpoint === 'string') checkEndpoint(listed.endpoints, endpoint);
}

/** Checks a normalised site. @throws Refusal FORBIDDEN */
export function checkSite(sites: readonly string[] | null, site: string): void {
    if (sites !== null && !sites.includes(site)) throw missingScope({ part: 'sites', needs: site });
}

export function checkEndpoint(endpoints: readonly string[] | null, name: string): void {
    if (endpoints !== null && !endpoints.includes(name)) throw missingScope({ part: 'endpoints', needs: name });
}

function fieldsOf(value: unknown): { site?: unknown; domain?: unknown; endpoint?: unknown } {
    return typeof value === 'object' && value !== null ? value : {};
}
