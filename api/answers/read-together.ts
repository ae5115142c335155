import type { App } from '../../shared/app.ts';
import { openBatchByKey } from '../../shared/platform/batch.ts';
import { perApp } from '../admission/per-app.ts';

interface Read {
    key: string;
    run(): Promise<unknown>;
}

const readsOf = perApp(() =>
    openBatchByKey<Read, unknown>({
        keyOfBatch: ({ key }) => key,
        maxInFlight: 1,
        async run(reads) {
            const found = await reads[0]?.run();
            return reads.map(() => found);
        },
    }),
);

/**
 * Runs a read that is the same for everybody. Those that arrive while one with the same key runs share the next one, so a crowd costs the
 * database little, and nobody gets what was read before they asked. If one fails, so do those that wait for it, so that nobody waits for
 * two connections to the database (goal R9). Nobody may change what is found.
 */
export async function readTogether<Found>(app: App, key: string, run: () => Promise<Found>): Promise<Found> {
    return (await readsOf(app).add({ key, run })) as Found;
}
