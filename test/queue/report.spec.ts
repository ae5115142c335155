import { expect } from 'chai';
import { readReport, writeReport } from '../../shared/coordination/queue/report.ts';
import type { FetchOutcome } from '../../shared/domain/fetch/fetch-job.ts';
import { success } from './jobs.ts';

describe('the report of a worker', () => {
    it('has the site’s response unchanged, after the worker’s own fields', () => {
        const report = { ...success({ 'line\nbreak': 'a\r\n\u2028b' }), ranMs: 12 };
        expect(readReport(writeReport(report))).to.deep.equal(report);
    });

    it('has a text that is passed on without being parsed', () => {
        const report = { ...success(), text: '{"id":12345678901234567890}' } as FetchOutcome;
        expect(readReport(writeReport(report))).to.deep.equal(report);
    });

    it('says why a call failed', () => {
        const failure = { ok: false, code: 'UPSTREAM_STATUS', upstream: { status: 404, snippet: 'no\nsuch page' }, attempts: 1 } as const;
        expect(readReport(writeReport(failure))).to.deep.equal(failure);
    });
});
