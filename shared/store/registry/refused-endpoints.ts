import type { EndpointEntry } from '../../domain/find/entry.ts';
import { getOrMake } from '../../domain/get-or-make.ts';
import { refusesCalls, type SitePolicy, strictest } from '../../domain/site/site-policy.ts';
import type { Effect } from '../../domain/types.ts';
import type { Db } from '../../platform/db.ts';
import { isPublishedForSite } from './ownership.ts';

export interface CheckedEndpoint {
    registrable: string;
    versionId: number;
    effect: Effect;
    policy: SitePolicy | null;
    operatorPolicy: SitePolicy | null;
    entry: EndpointEntry;
}

/** Removes endpoints that a policy of owner or operator excludes. @param policiesOf null if no policy applies to it */
export async function withoutRefused<Row>(db: Db, rows: readonly Row[], policiesOf: (row: Row) => CheckedEndpoint | null): Promise<Row[]> {
    const published = new Map<number, Promise<boolean>>();
    const isPublished = ({ registrable, versionId }: CheckedEndpoint) =>
        getOrMake(published, versionId, () => isPublishedForSite(db, { registrable, versionId }));
    const allowed: Row[] = [];
    for (const row of rows) {
        const checked = policiesOf(row);
        if (checked === null || !(await isRefused(checked, isPublished))) allowed.push(row);
    }
    return allowed;
}

async function isRefused(endpoint: CheckedEndpoint, isPublished: (endpoint: CheckedEndpoint) => Promise<boolean>): Promise<boolean> {
    const { entry, effect } = endpoint;
    const policy = strictest([endpoint.policy, endpoint.operatorPolicy]);
    if (policy === null) return false;
    const called = { effect, method: entry.method };
    if (!refusesCalls(policy, called, entry.urls, false)) return false;
    // A POST that declares `effect: read` is trusted if an owner of the domain published the version.
    return policy.writes || effect === 'write' || refusesCalls(policy, called, entry.urls, await isPublished(endpoint));
}
