import { expect } from 'chai';
import { circuitVerdict, hostVerdicts } from '../../shared/domain/fetch/circuit-verdict.ts';
import type { FetchFailure, FetchOutcome } from '../../shared/domain/fetch/fetch-job.ts';
import { REFUSALS, type RefusalCode } from '../../shared/refusals.ts';
import { success } from '../queue/jobs.ts';

const PATIENT = { admittedAt: 0, deadlineAt: 10_000 };
const failure = (code: RefusalCode, more: Partial<FetchFailure> = {}): FetchOutcome => ({ ok: false, code, startedAt: 5, ...more });
const status = (number: number) => failure('UPSTREAM_STATUS', { upstream: { status: number, snippet: '' } });

describe('the verdict of a fetch on its site', () => {
    it('is good for a success, and for any response that is no server error', () => {
        expect(circuitVerdict(success(), PATIENT)).to.equal('passed');
        for (const number of [302, 400, 401, 403, 404, 410, 451, 999])
            expect(circuitVerdict(status(number), PATIENT), String(number)).to.equal('passed');
    });

    it('is bad for 5xx, and if no connection could be made', () => {
        for (const number of [500, 502, 503, 504, 522]) expect(circuitVerdict(status(number), PATIENT), String(number)).to.equal('failed');
        expect(circuitVerdict(failure('UPSTREAM_UNREACHABLE'), PATIENT)).to.equal('failed');
    });

    it('is bad for a timeout of a call that had at least 10 s, and none for a shorter deadline', () => {
        expect(circuitVerdict(failure('UPSTREAM_TIMEOUT'), PATIENT)).to.equal('failed');
        expect(circuitVerdict(failure('UPSTREAM_TIMEOUT'), { ...PATIENT, deadlineAt: 9999 })).to.equal('none');
    });

    it('is none for a timeout of a call that waited for a worker most of its time', () => {
        expect(circuitVerdict(failure('UPSTREAM_TIMEOUT', { startedAt: 6000 }), PATIENT)).to.equal('none');
        expect(circuitVerdict(failure('UPSTREAM_TIMEOUT', { startedAt: 4000 }), PATIENT)).to.equal('failed');
    });

    it('is good for a response that we cannot use, since the site is up', () => {
        const answered = [
            'UPSTREAM_BLOCKED',
            'UPSTREAM_INVALID_RESPONSE',
            'UPSTREAM_TOO_LARGE',
            'UPSTREAM_REDIRECT',
            'UPSTREAM_RATE_LIMITED',
        ];
        for (const code of answered) expect(circuitVerdict(failure(code as RefusalCode), PATIENT), code).to.equal('passed');
    });

    it('is none if the site was never reached', () => {
        const silent = [...REFUSALS.keys()].filter((code) => !code.startsWith('UPSTREAM_'));
        for (const code of silent) expect(circuitVerdict(failure(code), PATIENT), code).to.equal('none');
    });
});

describe('the verdict of a fetch on its hosts', () => {
    const verdictsOf = (outcome: FetchOutcome, ...hosts: string[]) => Object.fromEntries(hostVerdicts({ ...outcome, hosts }, PATIENT));

    it('is good for those before the one where it ended, whatever the outcome', () => {
        expect(verdictsOf(status(500), 'a.example', 'b.example')).to.deep.equal({ 'a.example': 'passed', 'b.example': 'failed' });
        expect(verdictsOf(success(), 'a.example', 'b.example')).to.deep.equal({ 'a.example': 'passed', 'b.example': 'passed' });
        expect(verdictsOf(failure('DEADLINE_EXCEEDED'), 'a.example')).to.deep.equal({ 'a.example': 'none' });
    });

    it('is none if it reached no host', () => {
        expect(hostVerdicts(failure('UPSTREAM_UNREACHABLE'), PATIENT).size).to.equal(0);
    });
});
