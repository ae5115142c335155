import { LRUCache } from 'lru-cache';
import { readSearch, searchEntry } from '../../domain/search/search-text.ts';
import { didYouMean } from '../../domain/text/suggestions.ts';
import type { Db } from '../../platform/db.ts';
import type { Read } from '../../platform/replica.ts';
import type { Lists } from './search.ts';

export type NearSites = ReturnType<typeof createNearSites>;

/** Number of the best search results that are compared. */
const COMPARED = 50;
/** Minimum length of a label. A shorter name resembles too many others. */
const MIN_LABEL = 3;
const KEPT_MS = 60_000;
/** Maximum number of searches at a time: callers can ask for any number of unknown sites. Further ones get no suggestions. */
const MAX_AT_ONCE = 4;

/** Finds published sites whose names resemble an unknown one. @param read must limit the time of queries */
export function createNearSites(read: Read, lists: Lists) {
    const known = new LRUCache<string, string[]>({ max: 1000, ttl: KEPT_MS });
    let running = 0;

    async function search(site: string): Promise<string[]> {
        const { label } = searchEntry(site, '');
        if ([...label].length < MIN_LABEL) return [];
        const query = { search: readSearch(label), category: undefined, isVerifiedOnly: false, sort: undefined };
        const { rows: sites } = await lists.page(query, { limit: COMPARED });
        const near = didYouMean(
            site,
            sites.filter((other) => other !== site),
        );
        return read((db) => withoutBlocked(db, near));
    }

    return {
        /** At most three sites, nearest first. Empty if they cannot be read. @param site normalised */
        async find(site: string): Promise<string[]> {
            const kept = known.get(site);
            if (kept !== undefined) return kept;
            if (running >= MAX_AT_ONCE) return [];
            running++;
            try {
                const near = await search(site);
                known.set(site, near);
                return near;
            } catch {
                return [];
            } finally {
                running--;
            }
        },
    };
}

async function withoutBlocked(db: Db, sites: readonly string[]): Promise<string[]> {
    if (sites.length === 0) return [];
    const blocked: string[] = await db('sites as s')
        .join('domains as d', 'd.registrable', 's.registrable')
        .where({ 'd.is_blocked': true })
        .whereIn('s.site', sites)
        .pluck('s.site');
    return sites.filter((site) => !blocked.includes(site));
}
