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
 * Runs a read that is the same for all callers. Calls that arrive while a read with the same key runs share the next one, so a crowd costs
 * the database little, and no call gets data that was read before it arrived. If a read fails, so do all calls that share it, so that none
 * waits for two connections to the database (goal R9). The result is shared: do not change it.
 */
export async function readTogether<Found>(app: App, key: string, run: () => Promise<Found>): Promise<Found> {
    return (await readsOf(app).add({ key, run })) as Found;
}
