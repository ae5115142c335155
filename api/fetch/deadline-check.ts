import type { App } from '../../shared/app.ts';
import { LEAST_IN_LINE } from '../../shared/domain/fetch/queue-delay.ts';
import type { FetchOrder } from '../../shared/fetch/order.ts';
import { overloaded } from '../admission/overloaded.ts';

/**
 * Rejects a fetch that would time out in the queue. Calls that need no worker pass: dry runs, and those that a kept result may answer.
 * @throws Refusal OVERLOADED, with the time after which the queue is short again
 */
export function checkQueueDelay(app: App, { body, times: { deadlineAt } }: FetchOrder): void {
    const needsWorker = body.dry_run !== true && (body.max_age ?? 0) === 0;
    if (!needsWorker || app.queue.waiting() < LEAST_IN_LINE) return;
    const { waitMs } = app.queue.estimateDelay(0);
    if (Date.now() + waitMs >= deadlineAt) throw overloaded(waitMs);
}
