import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../../shared/app.ts';
import { getOrMake } from '../../shared/domain/get-or-make.ts';
import { WAITING_READS } from '../../shared/domain/jobs/bounds.ts';
import { createCounts } from '../../shared/platform/counts.ts';
import { endedBatchesOf } from '../../shared/store/jobs/batches.ts';
import { endedOf } from '../../shared/store/jobs/jobs.ts';
import { perApp } from '../admission/per-app.ts';

/** How often a process checks for ended jobs. */
const LOOK_MS = 200;

/** `ofId`: callbacks by job or batch. */
const waitsOf = perApp(() => ({ ofAccount: createCounts(), ofId: new Map<string, Set<() => void>>(), isLooking: false }));

/**
 * Waits until the job or batch ends or this process stops, but at most `seconds`. Returns at once if too many reads of the account wait.
 * @param gone aborted when the caller disconnects
 */
export async function waitForEnd(
    app: App,
    { id, accountId, seconds, gone }: { id: string; accountId: string; seconds: number; gone: AbortSignal },
): Promise<void> {
    const { ofAccount, ofId } = waitsOf(app);
    if (ofAccount.of(accountId) >= WAITING_READS) return;
    ofAccount.add(accountId, 1);
    const ends = getOrMake(ofId, id, () => new Set());
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    ends.add(end);
    const timer = new AbortController();
    const late = sleep(seconds * 1000, undefined, { signal: AbortSignal.any([timer.signal, gone]) }).catch(() => undefined);
    void look(app);
    await Promise.race([ended, late]);
    timer.abort();
    ends.delete(end);
    if (ends.size === 0) ofId.delete(id);
    ofAccount.add(accountId, -1);
}

/** Polls with one query for all waiting reads, until there are none. A failed query is repeated. */
async function look(app: App): Promise<void> {
    const waits = waitsOf(app);
    if (waits.isLooking) return;
    waits.isLooking = true;
    while (waits.ofId.size > 0) {
        const ended = await endedAmong(app, [...waits.ofId.keys()]).catch(() => new Set<string>());
        const over = app.isDraining() ? [...waits.ofId.keys()] : ended;
        for (const id of over) for (const end of waits.ofId.get(id) ?? []) end();
        await sleep(LOOK_MS);
    }
    waits.isLooking = false;
}

async function endedAmong({ db }: App, ids: readonly string[]): Promise<Set<string>> {
    const batches = ids.filter(isOfBatch);
    const jobs = ids.filter((id) => !isOfBatch(id));
    const ended = await Promise.all([
        batches.length === 0 ? new Set<string>() : endedBatchesOf(db, batches),
        jobs.length === 0 ? new Set<string>() : endedOf(db, jobs),
    ]);
    return new Set(ended.flatMap((some) => [...some]));
}

function isOfBatch(id: string): boolean {
    return id.startsWith('bat_');
}
