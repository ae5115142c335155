import { readEndpoint } from './endpoint.ts';
import { comparePackages, type PackageChange } from './package-diff.ts';
import { hostsOf } from './package-hosts.ts';
import type { Endpoint, PackageDocument } from './types.ts';

/** What a package says of its site, without its endpoints. */
export type PackageHead = Omit<PackageDocument, 'endpoints'>;

/** What cards show of an endpoint. */
export type EndpointSummary = Pick<Endpoint, 'name' | 'kind' | 'method' | 'description' | 'hosted'>;

/** A checked package as it is stored: texts, which may be made elsewhere than on an event loop. */
export interface PackageContent {
    /** The package as JSON. */
    text: string;
    /** What cards show of the endpoints, as JSON; written down once, so that a list of cards need not read whole packages. */
    summary: string;
    /** Names of all hosts that it calls, sorted. */
    hosts: readonly string[];
    /** What it changes of the version before, which is given as JSON. */
    compare(before: string | undefined): PackageChange | Promise<PackageChange>;
}

/** Makes it here, which takes as long as the package is large. */
export function contentOf(document: PackageDocument): PackageContent {
    return {
        text: JSON.stringify(document),
        summary: JSON.stringify(summarise(document)),
        hosts: hostsOf(document),
        compare: (before) => comparePackages(before === undefined ? undefined : (JSON.parse(before) as PackageDocument), document),
    };
}

/** What cards show of the endpoints. */
export function summarise(document: PackageDocument): EndpointSummary[] {
    return document.endpoints.map((published) => {
        const { name, kind, method, description, hosted } = readEndpoint(published);
        return { name, kind, method, description, hosted };
    });
}
