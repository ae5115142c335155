import { LEAST_IN_LINE } from '../../shared/domain/fetch/queue-delay.ts';
import { overloaded } from '../admission/overloaded.ts';
import type { FetchCall } from './fetch-call.ts';

/**
 * Rejects a fetch that would time out in the queue. Calls that need no worker pass: dry runs, and those that a kept result may answer.
 * @param deadlineAt in ms since the epoch
 * @throws Refusal OVERLOADED, with the time after which the queue is short again
 */
export function checkQueueDelay({ app, body }: FetchCall, deadlineAt: number): void {
    const needsWorker = body.dry_run !== true && (body.max_age ?? 0) === 0;
    if (!needsWorker || app.queue.waiting() < LEAST_IN_LINE) return;
    const { waitMs } = app.queue.estimateDelay(0);
    if (Date.now() + waitMs >= deadlineAt) throw overloaded(waitMs);
}
