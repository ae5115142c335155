import { expect } from 'chai';
import type { FetchOutcome } from '../../shared/domain/fetch/fetch-job.ts';
import { callsOf, type FindingVerdict, outcomeOf, pacedMs, verdictOf } from '../../shared/domain/package/verification.ts';
import { REFUSALS } from '../../shared/refusals.ts';
import { anEndpoint } from './an-endpoint.ts';

const run = (calls: number, ...verdicts: FindingVerdict[]) =>
    outcomeOf(
        verdicts.map((verdict) => ({ verdict })),
        calls,
    );

describe('the calls of a verification run', () => {
    const endpoints = Array.from({ length: 10 }, (_, at) => anEndpoint({ name: `e${at}`, examples: [{ params: {} }] }));
    const names = (run: number, missed: string[], maxCalls?: number) =>
        callsOf({ inOrder: endpoints, auth: [] }, { run, missed }, maxCalls).map(({ endpoint }) => endpoint.name);

    it('are as many as it has time for, so that later runs reach the others', () => {
        expect(names(1, [])).to.have.length(10);
        expect(names(1, [], 4)).to.deep.equal(['e0', 'e1', 'e2', 'e3']);
        expect(names(2, [], 4)).to.deep.equal(['e2', 'e3', 'e4', 'e5']);
        expect(names(2, ['e0', 'e1', 'e9'], 4)).to.deep.equal(['e0', 'e1', 'e2', 'e3']);
        expect(new Set([1, 2, 3, 4, 5, 6, 7, 8, 9, 10].flatMap((run) => names(run, [], 1)))).to.have.property('size', 10);
    });

    it('are hosted reads with an example, also by POST if they are declared as reads', () => {
        const called = (...changes: Parameters<typeof anEndpoint>[0][]) =>
            callsOf(
                { inOrder: changes.map((change) => anEndpoint({ examples: [{ params: {} }], ...change })), auth: [] },
                { run: 1, missed: [] },
            ).length;
        expect(called({ method: 'POST', effect: 'read' })).to.equal(1);
        expect(called({ method: 'POST' }, { effect: 'write' }, { examples: [] }, { hosted: false })).to.equal(0);
    });

    it('wait for the turns of their hosts, including that of prepare', () => {
        const paces = { 'shop.example': 20, 'www.shop.example': 60 };
        expect(pacedMs(anEndpoint(), paces)).to.equal(3000);
        expect(pacedMs(anEndpoint({ prepare: { url: 'https://www.shop.example/' } }), paces)).to.equal(6000);
        expect(pacedMs(anEndpoint({ url: 'https://api.shop.example/' }), paces)).to.equal(0);
    });
});

describe('a verification run', () => {
    it('passes if all calls were made and passed', () => {
        expect(run(2, 'passed', 'passed')).to.equal('passed');
        expect(run(2, 'passed')).to.equal('undecided');
        expect(run(0)).to.equal('nothing');
    });

    it('fails with one failure, whatever else happened', () => {
        expect(run(3, 'passed', 'failed', 'passed')).to.equal('failed');
        expect(run(3, 'failed', 'unknown')).to.equal('failed');
        expect(run(3, 'passed', 'unknown')).to.equal('undecided');
    });

    it('blames the schema for the site’s responses, but not for our own errors', () => {
        const failed = [...REFUSALS.keys()].filter((code) => verdictOf({ ok: false, code } satisfies FetchOutcome) === 'failed');
        expect(failed).to.include.members(['UPSTREAM_STATUS', 'UPSTREAM_INVALID_RESPONSE', 'UPSTREAM_UNREACHABLE', 'UPSTREAM_TIMEOUT']);
        expect(failed).to.include.members(['UPSTREAM_BLOCKED', 'UPSTREAM_REDIRECT', 'EGRESS_DENIED', 'INVALID_PARAMS']);
        for (const ours of ['SERVICE_UNAVAILABLE', 'SITE_BUSY', 'SITE_UNAVAILABLE', 'SITE_BLOCKED', 'DEADLINE_EXCEEDED', 'INTERNAL'])
            expect(failed).not.to.include(ours);
        expect(failed).not.to.include('UPSTREAM_RATE_LIMITED');
    });
});
