import { clip } from '../text/clip.ts';
import type { Endpoint, PackageDocument } from '../types.ts';
import { comparePackages, type PackageChange } from './diff.ts';
import { readEndpoint } from './endpoint.ts';
import { hostsOf } from './hosts.ts';
import { isVerifiablePackage } from './verification.ts';

/** The fields of a package that describe its site, without its endpoints. */
export type PackageHead = Omit<PackageDocument, 'endpoints'>;

export type EndpointSummary = Pick<Endpoint, 'name' | 'kind' | 'method' | 'description' | 'hosted'>;

/** A checked package in the format in which it is stored. Its texts may be built in a thread. */
export interface PackageContent {
    text: string;
    /** The endpoints for cards, as JSON, so that a list of cards does not read whole packages. */
    summary: string;
    /** Names of all hosts that the package calls, sorted. */
    hosts: readonly string[];
    /** Whether a verification run can call one of its endpoints. */
    isVerifiable: boolean;
    /** @param before as JSON @param isLocked whether others wait for the result while they hold database connections */
    compare(before: string | undefined, isLocked: boolean): PackageChange | Promise<PackageChange>;
}

/** Builds the content in this thread. The time is proportional to the size of the package. */
export function contentOf(document: PackageDocument): PackageContent {
    return {
        text: JSON.stringify(document),
        summary: JSON.stringify(summarise(document)),
        hosts: hostsOf(document),
        isVerifiable: isVerifiablePackage(document),
        compare: (before) => comparePackages(before === undefined ? undefined : (JSON.parse(before) as PackageDocument), document),
    };
}

/** Maximum length of all descriptions on a card, in characters; each has an equal share. Anybody may request a list of a hundred cards. */
const DESCRIPTIONS = 32 * 1024;
const MIN_DESCRIPTION = 60;

/** Creates the endpoints for cards. Cuts each description if there are many long ones. */
function summarise(document: PackageDocument): EndpointSummary[] {
    const max = Math.max(MIN_DESCRIPTION, Math.floor(DESCRIPTIONS / Math.max(1, document.endpoints.length)));
    return document.endpoints.map((published) => {
        const { name, kind, method, description, hosted } = readEndpoint(published);
        return { name, kind, method, description: clip(description, max), hosted };
    });
}
