import canonicalize from 'canonicalize';
import type { Endpoint, PackageDocument } from '../types.ts';
import { needOf, sentBy } from './auth.ts';
import { readEndpoint } from './endpoint.ts';
import { hostsOf } from './hosts.ts';
import { isRequiredParam } from './param-schema.ts';
import { greatestUnits } from './pricing.ts';

export type Change = 'major' | 'minor' | 'patch';

export interface PackageChange {
    change: Change;
    changes: PackageChanges;
}

export interface PackageChanges {
    /** Names of endpoints, in the order of the package that contains them. A renamed endpoint appears as one removed and one added. */
    added: string[];
    removed: string[];
    changed: string[];
    /** Hosts that the previous version did not call, sorted. */
    hosts_added: string[];
}

/**
 * Classifies a new version for callers (docs/api.md, "The registry"). `major`: a call that worked may fail, do something else, cost more or go
 * to another host. `minor`: there is more to call. `patch`: all other changes. The first version of a site (`before` is absent) is `major`
 * with all its endpoints added, because nobody could rely on anything before it. An endpoint that only makes a default explicit has not
 * changed.
 */
export function comparePackages(before: PackageDocument | undefined, after: PackageDocument): PackageChange {
    const old = byName(before);
    const now = byName(after);
    const added = [...now.keys()].filter((name) => !old.has(name));
    const removed = [...old.keys()].filter((name) => !now.has(name));
    const changed: string[] = [];
    const known = new Set(before === undefined ? [] : hostsOf(before));
    const hostsAdded = hostsOf(after).filter((host) => !known.has(host));
    let isBreaking = before === undefined || removed.length > 0 || hostsAdded.length > 0 || endsConnections(before, after);
    for (const [name, endpoint] of now) {
        const earlier = old.get(name);
        if (earlier === undefined) continue;
        const needs = [needOf(earlier, before?.auth ?? []), needOf(endpoint, after.auth ?? [])];
        if (needs[0] === needs[1] && canonicalize(earlier) === canonicalize(endpoint)) continue;
        changed.push(name);
        isBreaking ||=
            earlier.effect !== endpoint.effect ||
            isDearer(earlier, endpoint) ||
            needsMore(earlier, endpoint) ||
            (needs[0] !== 'required' && needs[1] === 'required');
    }
    const change = isBreaking ? 'major' : added.length > 0 ? 'minor' : 'patch';
    return { change, changes: { added, removed, changed, hosts_added: hostsAdded } };
}

/** Whether owners must agree again to connections that they made for the previous version. */
function endsConnections({ auth = [] }: PackageDocument, after: PackageDocument): boolean {
    const kept = new Set((after.auth ?? []).map((entry) => canonicalize(sentBy(entry))));
    return auth.some((entry) => !kept.has(canonicalize(sentBy(entry))));
}

function byName(document: PackageDocument | undefined): Map<string, Endpoint> {
    return new Map((document?.endpoints ?? []).map((endpoint) => [endpoint.name, readEndpoint(endpoint)]));
}

/**
 * A change of the unit counts as more expensive, because it is for some call: a request may have returned more than one result, and an
 * empty result is free while a request always costs one unit. The only exception is a maximum of one result, which never costs more than a
 * request.
 */
function isDearer(before: Endpoint, after: Endpoint): boolean {
    const units = greatestUnits(after);
    const isSameUnit = before.billing.unit === after.billing.unit;
    return units > greatestUnits(before) || (!isSameUnit && (units > 1 || after.billing.unit === 'request'));
}

function needsMore(before: Endpoint, after: Endpoint): boolean {
    const given = new Set(before.params.filter(isRequiredParam).map((param) => param.name));
    return after.params.some((param) => isRequiredParam(param) && !given.has(param.name));
}
