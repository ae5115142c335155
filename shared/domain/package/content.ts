import { clip } from '../text/clip.ts';
import type { Endpoint, PackageDocument } from '../types.ts';
import { comparePackages, type PackageChange } from './diff.ts';
import { readEndpoint } from './endpoint.ts';
import { hostsOf } from './hosts.ts';
import { isVerifiablePackage } from './verification.ts';

/** The facts of a package about its site, without its endpoints. */
export type PackageHead = Omit<PackageDocument, 'endpoints'>;

/** The facts of an endpoint on cards. */
export type EndpointSummary = Pick<Endpoint, 'name' | 'kind' | 'method' | 'description' | 'hosted'>;

/** A checked package as it is stored. Its texts may be built in a thread. */
export interface PackageContent {
    /** The package as JSON. */
    text: string;
    /** The endpoints of cards, as JSON, so that a list of cards reads no whole packages. */
    summary: string;
    /** Names of all hosts that it calls, sorted. */
    hosts: readonly string[];
    /** Whether a verification run can call one of its endpoints. */
    isVerifiable: boolean;
    /**
     * Compares it with the previous version, given as JSON.
     * @param isLocked others wait for it, with connections of the database
     */
    compare(before: string | undefined, isLocked: boolean): PackageChange | Promise<PackageChange>;
}

/** Builds the content here, in time proportional to the package. */
export function contentOf(document: PackageDocument): PackageContent {
    return {
        text: JSON.stringify(document),
        summary: JSON.stringify(summarise(document)),
        hosts: hostsOf(document),
        isVerifiable: isVerifiablePackage(document),
        compare: (before) => comparePackages(before === undefined ? undefined : (JSON.parse(before) as PackageDocument), document),
    };
}

/** Characters of all descriptions on a card, as long as each has so many. A list has a hundred cards, and anybody may ask for it. */
const DESCRIPTIONS = 32 * 1024;
const LEAST_DESCRIPTION = 60;

/** Endpoints for cards; if there are many long descriptions, each is cut. */
function summarise(document: PackageDocument): EndpointSummary[] {
    const most = Math.max(LEAST_DESCRIPTION, Math.floor(DESCRIPTIONS / Math.max(1, document.endpoints.length)));
    return document.endpoints.map((published) => {
        const { name, kind, method, description, hosted } = readEndpoint(published);
        return { name, kind, method, description: clip(description, most), hosted };
    });
}
