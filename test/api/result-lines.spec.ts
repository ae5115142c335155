import { expect } from 'chai';
import { resultLines } from '../../api/jobs/batches/read-batches.ts';

const LINE = 'x'.repeat(40_000);
const read = async (after: number, limit: number) =>
    Array.from({ length: Math.min(limit, 6 - after) }, (_, at) => ({ endNumber: after + at + 1 }));

describe('the results of a batch as lines', () => {
    const all = (gone: AbortSignal, present: (row: { endNumber: number }) => Promise<string>) =>
        resultLines(read, present, { from: 0, maxItems: 1000, gone });

    it('contain every line before an item that cannot be presented', async () => {
        const lines: string[] = [];
        const ended = (async () => {
            const pieces = all(new AbortController().signal, async ({ endNumber }) => {
                if (endNumber === 4) throw new Error('unreadable');
                return `${endNumber}${LINE}`;
            });
            for await (const piece of pieces) lines.push(...piece.trimEnd().split('\n'));
        })();
        expect(await ended.catch((error: Error) => error.message)).to.equal('unreadable');
        expect(lines.map((line) => line[0])).to.deep.equal(['1', '2', '3']);
    });

    it('are not read for a caller that is gone', async () => {
        let reads = 0;
        const counted = async () => {
            reads += 1;
            return [];
        };
        const options = { from: 0, maxItems: 1000, gone: AbortSignal.abort() };
        for await (const _ of resultLines(counted, async () => LINE, options));
        expect(reads).to.equal(0);
    });

    it('end with the piece at which the caller is gone', async () => {
        const gone = new AbortController();
        const presented: number[] = [];
        for await (const _ of all(gone.signal, async ({ endNumber }) => {
            presented.push(endNumber);
            return LINE;
        }))
            gone.abort();
        expect(presented).to.deep.equal([1, 2]);
    });
});
