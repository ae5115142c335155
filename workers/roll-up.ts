import type { App } from '../shared/app.ts';
import { addTallies, indexOldSites } from '../shared/store/search-index.ts';
import { rollUpTrending } from '../shared/store/trending.ts';

const EVERY_MS = 60_000;

/**
 * Keeps what lists are made from: at once and then every minute it adds up the tallies of sites, rolls the request log up where the
 * hour is new, and indexes sites that were indexed by earlier rules. Apart from the sweeper, since a long log takes its time. Every
 * process may run it; the store lets each roll-up be made once.
 */
export function startRollUps({ db, log }: App): { stop(): Promise<void> } {
    const work = async () => {
        try {
            const indexed = await indexOldSites(db);
            if (indexed > 0) log.info({ sites: indexed }, 'indexed sites for the search');
            await addTallies(db);
            const began = performance.now();
            if (await rollUpTrending(db)) log.info({ duration_ms: Math.round(performance.now() - began) }, 'rolled the request log up');
        } catch (error) {
            log.warn({ part: 'roll-up', err: error }, 'the roll-up failed; it runs again in a minute');
        }
    };
    let running = work();
    const timer = setInterval(() => {
        running = running.then(work);
    }, EVERY_MS);
    return {
        async stop() {
            clearInterval(timer);
            await running;
        },
    };
}
