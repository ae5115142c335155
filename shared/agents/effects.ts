import { readEndpoint } from '../domain/package/endpoint.ts';
import type { Effect, PackageEndpoint } from '../domain/types.ts';
import type { Ask } from './ask.ts';

/** What an agent names: an endpoint of a site, in a version or the latest. */
export interface EndpointNamed {
    site: string;
    endpoint: string;
    version?: number | undefined;
}

/** Whether calls of the endpoint may change something at the site, in the version that was looked at; undefined where there is none. */
export type FindEffect = (named: EndpointNamed) => Promise<{ version: number; effect: Effect } | undefined>;

/** Versions of sites whose effects are remembered; they never change. */
const REMEMBERED = 50;

/**
 * Learns effects over the API, where the registry is elsewhere: a package is downloaded once for each version, and the site's card,
 * which is small, tells whether another version is the latest by now.
 */
export function effectsByPackage(ask: Ask): FindEffect {
    const known = new Map<string, ReadonlyMap<string, Effect>>();
    const download = async (site: string, version?: number) => {
        const { data } = (await ask({ ...reading(`${pathOf(site)}/package`), query: { version } })) as { data: PublishedPackage };
        const effects = new Map(data.endpoints.map(readEndpoint).map(({ name, effect }) => [name, effect]));
        known.set(keyOf(site, data.version), effects);
        for (const oldest of [...known.keys()].slice(0, -REMEMBERED)) known.delete(oldest);
        return { version: data.version, effects };
    };
    const latest = async (site: string) => {
        const isKnown = [...known.keys()].some((key) => key.startsWith(keyOf(site, '')));
        if (!isKnown) return download(site);
        const { data } = (await ask(reading(pathOf(site)))) as { data: { version: number } };
        return find(site, data.version);
    };
    const find = async (site: string, version: number) => {
        const effects = known.get(keyOf(site, version));
        return effects === undefined ? download(site, version) : { version, effects };
    };
    return async ({ site, endpoint, version: named }) => {
        const { version, effects } = named === undefined ? await latest(site) : await find(site, named);
        const effect = effects.get(endpoint);
        return effect === undefined ? undefined : { version, effect };
    };
}

interface PublishedPackage {
    version: number;
    endpoints: PackageEndpoint[];
}

function reading(path: string) {
    return { method: 'GET', path, isRepeatable: true } as const;
}

function pathOf(site: string): string {
    return `/v1/schemas/${encodeURIComponent(site)}`;
}

function keyOf(site: string, version: number | ''): string {
    return `${site} ${version}`;
}
