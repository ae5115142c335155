import type { App } from '../../shared/app.ts';
import type { HealthAnswer } from '../../shared/contracts/discovery.ts';
import { isUp } from '../../shared/is-up.ts';
import { VERSION } from '../../shared/version.ts';

/** A process may report and take no jobs: the loop of a healthy worker goes round every 3 s at the latest. */
const STUCK_MS = 10_000;

/**
 * Looks at each part for real: a query, a ping of the queue's store, and workers that reported lately and get on. Where only some of
 * them get on, fetches are served by those, and the whole is degraded.
 */
export async function checkHealth(app: App): Promise<HealthAnswer & { canFetch: boolean }> {
    let stuck = 0;
    const [database, queue, workers] = await Promise.all([
        isUp(() => app.db.raw('select 1')),
        isUp(() => app.queue.ping()),
        isUp(async () => {
            const reporting = await app.fleet.live();
            stuck = reporting.filter(({ progressAt }) => Date.now() - progressAt >= STUCK_MS).length;
            if (stuck === reporting.length) throw new Error('no worker gets on');
        }),
    ]);
    const canFetch = database && queue && workers;
    const word = (up: boolean) => (up ? 'ok' : 'down');
    return {
        canFetch,
        status: canFetch && stuck === 0 ? 'ok' : 'degraded',
        version: VERSION,
        checks: { database: word(database), queue: word(queue), workers: word(workers) },
    };
}
