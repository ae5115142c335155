import type { App } from '../../../shared/app.ts';
import type { Caller } from '../../../shared/store/accounts/callers.ts';
import { createClientTurns, fetchShareOf } from '../../admission/event-loop-turns.ts';
import { perApp } from '../../admission/per-app.ts';

const turnsOf = perApp((app) => createClientTurns(fetchShareOf(app).pauseAfter));

/**
 * Waits for a turn of the event loop for work on batches; accounts take turns. Otherwise slices of fifty bodies could run in one long turn.
 */
export function batchTurn(app: App, { accountId }: Caller): Promise<void> {
    return turnsOf(app).wait(accountId);
}
