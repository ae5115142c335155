import type { App } from '../../shared/app.ts';
import { normaliseSite } from '../../shared/domain/site/site-name.ts';
import { didYouMean } from '../../shared/domain/text/suggestions.ts';
import type { Endpoint } from '../../shared/domain/types.ts';
import type { Problems } from './fields.ts';

export interface NamedEndpoint {
    site: string;
    endpoint: Endpoint;
}

/** Finds the hosted endpoint that a form names in its fields `site` and `endpoint`, or says which field is wrong. */
export async function findEndpoint(app: App, domain: string, name: string): Promise<NamedEndpoint | { problems: Problems }> {
    const site = normaliseSite(domain.trim());
    if (!site.ok) return { problems: { site: 'This is not the domain name of a site.' } };
    const { version } = await app.latest.find(site);
    const loaded = version === undefined ? undefined : await app.versions.load(version.versionId);
    if (loaded === undefined) return { problems: { site: await noSchemaOf(app, site.site) } };
    const endpoint = loaded.endpoints.get(name.trim());
    if (endpoint === undefined) {
        const near = didYouMean(name.trim(), [...loaded.endpoints.keys()]);
        return { problems: { endpoint: `${site.site} has no endpoint of this name.${meant(near)}` } };
    }
    if (!endpoint.hosted) return { problems: { endpoint: 'This endpoint is not hosted, so Routebook cannot call it.' } };
    return { site: site.site, endpoint };
}

/** What a form says beside the name of a site that the registry lacks. */
export async function noSchemaOf({ nearSites }: App, site: string): Promise<string> {
    return `The registry has no schema of this site.${meant(await nearSites.find(site))}`;
}

function meant(near: readonly string[]): string {
    return near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`;
}
