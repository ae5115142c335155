import { LEAST_IN_LINE } from '../../shared/domain/waiting-line.ts';
import { overloaded } from '../plugins/overloaded.ts';
import type { FetchCall } from './fetch-call.ts';

/**
 * A fetch that would wait for a worker until its own time is over is better refused at once: its caller would learn less, and later, and
 * the worker would take it for nothing. Those that a kept result may answer, or that are not run, need no worker.
 * @param deadlineAt milliseconds of the clock
 * @throws Refusal OVERLOADED, with the time after which the line is short again
 */
export function refuseInVain({ app, body }: FetchCall, deadlineAt: number): void {
    const needsWorker = body.dry_run !== true && (body.max_age ?? 0) === 0;
    if (!needsWorker || app.queue.waiting() < LEAST_IN_LINE) return;
    const { waitMs } = app.queue.outlook(0);
    if (Date.now() + waitMs >= deadlineAt) throw overloaded(waitMs);
}
