import type { App } from '../shared/app.ts';
import { noteCalls, reindexOldEndpoints } from '../shared/store/registry/endpoint-index.ts';
import { addTallies, indexOldSites } from '../shared/store/registry/search-index.ts';
import { rollUpTrending } from '../shared/store/registry/trending.ts';
import { type Repeated, repeat } from './repeat.ts';

const EVERY_MS = 60_000;

/**
 * Starts the roll-ups for lists and search. At the start and every minute it sums the counters of sites, rolls up the request log of a new
 * hour, and re-indexes sites with an old index version. It is separate from the sweeper, because a large request log takes long. Every
 * process may run it; the store makes each roll-up once.
 */
export function startRollUps({ db, log }: App): Repeated {
    const work = async () => {
        try {
            const indexed = await indexOldSites(db);
            if (indexed > 0) log.info({ sites: indexed }, 'indexed sites for the search');
            await addTallies(db);
            await reindexOldEndpoints(db);
            const began = performance.now();
            if (await rollUpTrending(db)) {
                await noteCalls(db);
                log.info({ duration_ms: Math.round(performance.now() - began) }, 'rolled up the request log');
            }
        } catch (error) {
            log.warn({ part: 'roll-up', err: error }, 'the roll-up failed; it runs again in a minute');
        }
    };
    const first = work();
    const later = repeat(EVERY_MS, work);
    return {
        async stop() {
            await later.stop();
            await first;
        },
    };
}
