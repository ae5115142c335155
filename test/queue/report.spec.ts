import { expect } from 'chai';
import { readReport, writeReport } from '../../shared/coordination/queue/report.ts';
import type { FetchOutcome } from '../../shared/domain/fetch/call.ts';
import { success } from './jobs.ts';

describe('the report of a worker', () => {
    it('brings the answer of the site as it is, behind what is told of it', () => {
        const report = { ...success({ 'line\nbreak': 'a\r\n\u2028b' }), ranMs: 12 };
        expect(readReport(writeReport(report))).to.deep.equal(report);
    });

    it('brings a text that nobody on the way reads', () => {
        const report = { ...success(), text: '{"id":12345678901234567890}' } as FetchOutcome;
        expect(readReport(writeReport(report))).to.deep.equal(report);
    });

    it('tells why a call failed', () => {
        const failure = { ok: false, code: 'UPSTREAM_STATUS', upstream: { status: 404, snippet: 'no\nsuch page' }, attempts: 1 } as const;
        expect(readReport(writeReport(failure))).to.deep.equal(failure);
    });
});
