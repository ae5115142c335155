import { expect } from 'chai';
import type { FetchFailure, FetchJob } from '../../shared/domain/fetch/fetch-job.ts';
import { failureOfCall } from '../../shared/fetch/failure.ts';

describe('a write that was marked as sent and not billed', () => {
    function failureFor(outcome: Omit<FetchFailure, 'ok'>) {
        const { refusal, isFinal } = failureOfCall({ effect: 'write' } as FetchJob, { ok: false, ...outcome }, true);
        return [refusal.code, refusal.extras.retryable ?? 'as its code says', isFinal];
    }

    it('may be repeated if the worker that marked it had no time to send it', () => {
        expect(failureFor({ code: 'DEADLINE_EXCEEDED', isUnsent: true })).to.deep.equal(['DEADLINE_EXCEEDED', 'as its code says', false]);
    });

    it('may not be repeated if a worker found it already marked, or came too late', () => {
        expect(failureFor({ code: 'DEADLINE_EXCEEDED' })).to.deep.equal(['DEADLINE_EXCEEDED', false, true]);
    });

    it('has an unknown outcome if no worker reported', () => {
        expect(failureFor({ code: 'DEADLINE_EXCEEDED', lost: 'worker' })).to.deep.equal(['OUTCOME_UNKNOWN', 'as its code says', true]);
    });
});
