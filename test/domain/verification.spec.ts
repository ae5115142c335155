import { expect } from 'chai';
import type { FetchOutcome } from '../../shared/domain/fetch/call.ts';
import { type FindingVerdict, outcomeOf, verdictOf } from '../../shared/domain/package/verification.ts';
import { REFUSALS } from '../../shared/refusals.ts';

const run = (calls: number, ...verdicts: FindingVerdict[]) =>
    outcomeOf(
        verdicts.map((verdict) => ({ verdict })),
        calls,
    );

describe('a verification run', () => {
    it('passes where all calls were made and passed', () => {
        expect(run(2, 'passed', 'passed')).to.equal('passed');
        expect(run(2, 'passed')).to.equal('undecided');
        expect(run(0)).to.equal('nothing');
    });

    it('fails with one failure, whatever else was in the way', () => {
        expect(run(3, 'passed', 'failed', 'passed')).to.equal('failed');
        expect(run(3, 'failed', 'unknown')).to.equal('failed');
        expect(run(3, 'passed', 'unknown')).to.equal('undecided');
    });

    it('holds against a schema what its site answered, and nothing that is ours', () => {
        const failed = [...REFUSALS.keys()].filter((code) => verdictOf({ ok: false, code } satisfies FetchOutcome) === 'failed');
        expect(failed).to.include.members(['UPSTREAM_STATUS', 'UPSTREAM_INVALID_RESPONSE', 'UPSTREAM_UNREACHABLE', 'UPSTREAM_TIMEOUT']);
        expect(failed).to.include.members(['UPSTREAM_BLOCKED', 'UPSTREAM_REDIRECT', 'EGRESS_DENIED', 'INVALID_PARAMS']);
        for (const ours of ['SERVICE_UNAVAILABLE', 'SITE_BUSY', 'SITE_UNAVAILABLE', 'SITE_BLOCKED', 'DEADLINE_EXCEEDED', 'INTERNAL'])
            expect(failed).not.to.include(ours);
        expect(failed).not.to.include('UPSTREAM_RATE_LIMITED');
    });
});
