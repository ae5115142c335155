import type { App } from '../app.ts';
import type { HealthAnswer } from '../contracts/discovery.ts';
import { isStuck } from '../coordination/limits/fleet.ts';
import { VERSION } from '../platform/version.ts';
import { isDatabaseUp, isUp } from './is-up.ts';

/**
 * Checks that the database answers and accepts writes, that the store of the queue answers, and that workers take jobs. The status is
 * degraded even if only some workers take none.
 */
export async function checkHealth(app: App): Promise<HealthAnswer & { canFetch: boolean }> {
    let stuck = 0;
    const [isReached, queue, workers] = await Promise.all([
        isDatabaseUp(app.db),
        isUp(() => app.queue.ping()),
        isUp(async () => {
            const reporting = await app.fleet.live();
            stuck = reporting.filter(isStuck).length;
            if (stuck === reporting.length) throw new Error('no worker makes progress');
        }),
    ]);
    const database = isReached && !app.refusesWrites();
    const canFetch = database && queue && workers;
    const word = (up: boolean) => (up ? 'ok' : 'down');
    return {
        canFetch,
        status: canFetch && stuck === 0 ? 'ok' : 'degraded',
        version: VERSION,
        checks: { database: word(database), queue: word(queue), workers: word(workers) },
    };
}
