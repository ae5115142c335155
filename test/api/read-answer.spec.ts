import { expect } from 'chai';
import { readAnswer } from '../../api/answers/own-api.ts';
import { fitToBudget } from '../../shared/agents/fit-to-budget.ts';
import { writeJson } from '../../shared/domain/json/bounded-json.ts';
import { asResult, splitAroundBalance } from '../../shared/fetch/answer-text.ts';

const SHOWN = 100_000;

/** The body of a fetch with this many small values. */
function answerOf(items: number): string {
    const meta = { credits_used: 1, request_id: 'req_1', site: 'large.test', endpoint: 'all' };
    const { head, tail } = splitAroundBalance(`{"items":[${'1,'.repeat(items - 1)}1]}`, meta as never);
    return `${head}999${tail}`;
}

describe('a large response on a page', () => {
    for (const items of [1_250_000, 2_500_000, 5_000_000]) {
        it(`of ${items} values is read and written in part`, () => {
            const { body, isCut } = readAnswer(answerOf(items));
            expect((body['data'] as { items: unknown[] }).items.length, 'values read').to.be.within(100_000, 200_000);
            const { text, isWhole } = writeJson(body['data'], SHOWN, { indent: 2 });
            expect([isCut, isWhole, text.length <= SHOWN]).to.deep.equal([true, false, true]);
            expect(text.startsWith('{\n  "items": [\n    1,\n    1')).to.equal(true);
            expect(body['meta']).to.include({ credits_used: 1, credits_remaining: 999, site: 'large.test' });
        });
    }

    it('of a job is cut inside its result, whose meta is not that of the job', () => {
        const meta = { credits_used: 1, request_id: 'req_1', site: 'large.test', endpoint: 'all', upstream: { status: 200 } };
        const { head, tail } = asResult(splitAroundBalance(`{"items":[${'1,'.repeat(200_000)}1]}`, meta as never));
        const job = `{"job_id":"job_1","params":{},"result":${head}999${tail}}`;
        for (const payload of [`{"success":true,"data":${job}}`, `{"success":true,"data":[${job},${job}],"meta":{"pagination":{}}}`]) {
            const { body, isCut } = readAnswer(payload);
            const [{ job_id: id, result }] = [body['data']].flat() as [{ job_id: string; result: { data: { items: unknown[] } } }];
            expect([isCut, id, result.data.items.at(-1)]).to.deep.equal([true, 'job_1', '… more']);
        }
    });

    it('is shown like JSON.stringify if it is small, and read completely', () => {
        const data = { a: [1, 'two', null, [], {}], b: { c: [{ d: true }] } };
        expect(writeJson(data, SHOWN, { indent: 2 })).to.deep.equal({ text: JSON.stringify(data, undefined, 2), isWhole: true });
        expect(readAnswer(JSON.stringify({ success: true, data }))).to.deep.equal({ body: { success: true, data }, isCut: false });
    });

    it('keeps the digits of numbers that JavaScript rounds', () => {
        const payload = '{"success":true,"data":{"id":9007199254740993,"ids":[0.12345678901234567891]}}';
        const { data } = readAnswer(payload).body;
        expect(writeJson(data, SHOWN).text).to.equal('{"id":9007199254740993,"ids":[0.12345678901234567891]}');
        expect(fitToBudget({ data, text: 'x'.repeat(3000) }, 1000).text).to.include(
            '{"id":9007199254740993,"ids":[0.12345678901234567891]}',
        );
    });

    it('of another route is cut inside its list', () => {
        const { body, isCut } = readAnswer(
            JSON.stringify({ success: true, domain: 'a.test', endpoints: Array.from({ length: 200_000 }, () => 1) }),
        );
        expect(isCut).to.equal(true);
        expect(body).to.include({ success: true, domain: 'a.test' });
        expect((body['endpoints'] as unknown[]).at(-1)).to.equal('… more');
    });
});
