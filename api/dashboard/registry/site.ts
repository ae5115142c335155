import { needOf } from '../../../shared/domain/package/auth.ts';
import type { EndpointsByName } from '../../../shared/domain/package/large-package.ts';
import { refusesEndpoint } from '../../../shared/domain/site/site-policy.ts';
import type { Endpoint } from '../../../shared/domain/types.ts';
import { cardOf } from '../../../shared/store/registry/cards.ts';
import { findHistory } from '../../../shared/store/registry/history.ts';
import { isPublishedForSite } from '../../../shared/store/registry/ownership.ts';
import { siteWarnings } from '../../../shared/store/registry/site-warnings.ts';
import { endpointHealth, siteTraffic } from '../../../shared/store/usage/traffic.ts';
import { waysOf } from '../connections/ways.ts';
import { type Answer, USERS, type Visit } from '../page.ts';
import { filterByWords, searchText } from '../read-api.ts';
import { copyAs } from './copy-as.ts';
import { describeEndpoint, exampleOf } from './describe-endpoint.ts';
import { findSite, siteAbsent } from './find-site.ts';
import { ownCall } from './own-call.ts';
import { responseShape } from './response-shape.ts';

const ENDPOINTS = 20;
const VERSIONS = 5;
/** Maximum number of characters of code on a page. For the other endpoints, the page to try them shows the code. */
const CODE = 8000;
const MAX_WORDS = 160;
/** How many endpoints are searched for an example call, since reading all of a large package would take too long. */
const LOOKED_THROUGH = 100;

/** GET /registry/{site}: the endpoints of the latest version, their prices, how reliable they are, and how to call them. */
export async function showSite(visit: Visit): Promise<Answer> {
    const found = await findSite(visit);
    if ('instead' in found) return found.instead;
    const { app, me } = visit;
    const { site, registrable, siteState } = found;
    if (siteState.version === undefined) return siteAbsent(site, { wasKnown: true, near: [] });
    const { versionId } = siteState.version;
    const { policy, siteCredits } = siteState;
    const isOfSite = policy?.writes === false && (await isPublishedForSite(app.browse, { registrable, versionId }));
    const isRefused = (endpoint: Endpoint) => policy !== null && refusesEndpoint(policy, endpoint, isOfSite);
    const [card, loaded, health, [traffic], history, warnings] = await Promise.all([
        cardOf(app.browse, site),
        app.versions.load(versionId),
        endpointHealth(app.browse, site),
        siteTraffic(app.browse, [site]),
        findHistory(app.browse, site, { limit: VERSIONS }),
        siteWarnings(app.browse, { site, registrable }),
    ]);
    if (card === undefined || loaded === undefined) return siteAbsent(site, { wasKnown: true, near: [] });
    // Read only the endpoints of this page, since a package may be large.
    const all = [...loaded.endpoints.keys()];
    const q = searchText(visit.query('q'));
    const names = filterByWords(all, q, (name) => [name]);
    const pages = Math.max(1, Math.ceil(names.length / ENDPOINTS));
    const number = Math.min(pages, Math.max(1, Number(/^\d{1,3}$/.exec(visit.query('page') ?? '')?.[0] ?? 1)));
    const shown = names.slice((number - 1) * ENDPOINTS, number * ENDPOINTS).flatMap((name) => loaded.endpoints.get(name) ?? []);
    let codeLeft = CODE;
    const codeWithin = (endpoint: Endpoint) => {
        const code = codeOf(app.publicUrl(), site, endpoint);
        if (code !== undefined) codeLeft -= code.curl.length + code.javascript.length + code.python.length + code.mcp.text.length;
        return codeLeft < 0 ? undefined : code;
    };
    const isExample = (endpoint: Endpoint) => endpoint.hosted && !isRefused(endpoint);
    const example = shown.find(isExample) ?? firstOf(loaded.endpoints, isExample) ?? shown[0];
    return {
        view: 'registry/site',
        title: `${card.title} (${site}): endpoints`,
        description: firstWords(card.description === '' ? `The endpoints of ${site}, ready to call.` : card.description),
        model: {
            canonical: `/registry/${site}${number > 1 ? `?page=${number}` : ''}`,
            card,
            warnings,
            traffic,
            ways: waysOf(loaded.auth).map(({ words }) => words),
            endpoints: shown.map((endpoint) => ({
                ...describeEndpoint(endpoint, { siteCredits, health: health.get(endpoint.name) }),
                isRefused: isRefused(endpoint),
                need: needOf(endpoint, loaded.auth),
                shape: responseShape(endpoint.response.schema),
                code: codeWithin(endpoint),
                own: needOf(endpoint, loaded.auth) === 'required' || isRefused(endpoint) ? undefined : ownCall(endpoint),
            })),
            total: all.length,
            q,
            found: names.length,
            isSearched: all.length > ENDPOINTS,
            number,
            pages,
            versions: history.rows,
            versionCount: history.total,
            mayTry: me === undefined || (me.current !== undefined && USERS.includes(me.current.role)),
            calls: example === undefined ? undefined : callsOf(app.publicUrl(), site, example),
        },
    };
}

function firstOf(endpoints: EndpointsByName, isWanted: (endpoint: Endpoint) => boolean): Endpoint | undefined {
    let left = LOOKED_THROUGH;
    for (const endpoint of endpoints.values()) {
        if (isWanted(endpoint)) return endpoint;
        if (--left === 0) break;
    }
    return undefined;
}

/** Code of an example call. Undefined if the endpoint is not hosted. */
function codeOf(base: string, site: string, endpoint: Endpoint) {
    const { name, effect, hosted } = endpoint;
    return hosted ? copyAs({ base, site, endpoint: name, effect, params: exampleOf(endpoint) }) : undefined;
}

/** Commands that work in a terminal if `ROUTEBOOK_API_KEY` is set. */
function callsOf(base: string, site: string, example: Endpoint) {
    return {
        catalog: `curl -s -G ${base}/v1/catalog/${site} --data-urlencode 'intent=what I want to do there, in a few words'`,
        fetch: { name: example.name, code: codeOf(base, site, example) },
        tools: `curl -s '${base}/v1/schemas/${site}/package?format=tools'`,
    };
}

function firstWords(text: string): string {
    const line = text.replaceAll(/\s+/g, ' ').trim();
    return line.length <= MAX_WORDS ? line : `${line.slice(0, MAX_WORDS - 1).replace(/\s\S*$/, '')}…`;
}
