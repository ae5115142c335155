import type { WaitingFor } from '../../shared/domain/jobs/states.ts';

/** Why a job waits and for how long. `waitingFor` is null if a store is unavailable. */
export interface Waiting {
    waitingFor: WaitingFor | null;
    afterMs: number;
    /** The job waits for a slot of the account or the site. Another job may free one earlier. */
    isForSlot?: boolean;
}

/** The job cannot start yet and waits again. Without `waiting`, it was cancelled or given to another worker. */
export class NotYet extends Error {
    readonly waiting: Waiting | undefined;

    constructor(waiting: Waiting | undefined) {
        super('the job must wait');
        this.waiting = waiting;
    }
}

/** Milliseconds until the next attempt, by what the job waits for. */
export const WAIT_MS = { credits: 5000, limits: 1000, storage: 60_000, changed: 100 };
