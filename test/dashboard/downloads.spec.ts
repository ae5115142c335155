import { expect } from 'chai';
import papaparse from 'papaparse';
import { csvLine, csvLineInParts } from '../../api/dashboard/csv.ts';
import { eachInTurn, inTurns } from '../../shared/platform/turns.ts';

const LONG = 40_000;
const parse = (line: string) => papaparse.parse<string[]>(line, { delimiter: ',' });

/** Counts the turns of the event loop during the work. */
async function turnsDuring<Result>(work: () => Promise<Result>): Promise<{ turns: number; result: Result }> {
    let turns = 0;
    let timer = setImmediate(function count() {
        turns++;
        timer = setImmediate(count);
    });
    try {
        return { result: await work(), turns };
    } finally {
        clearImmediate(timer);
    }
}

describe('a download with large responses', () => {
    for (const cell of ['"', '=1+1', 'a\r\n"b",', '"quoted" ', '']) {
        it(`writes the same cell in parts as in one piece: ${JSON.stringify(cell)}`, () => {
            for (const last of [cell, cell.repeat(LONG)]) {
                const [whole, parts] = [csvLine(['a', 1, null, last]), [...csvLineInParts(['a', 1, null], last)].join('')];
                expect(parse(parts).data).to.deep.equal(parse(whole).data);
            }
        });
    }

    for (const separator of [',', ';']) {
        it(`begins no cell with a formula where spreadsheets separate cells by ${separator}`, () => {
            const tricks = [
                '=1+1',
                'x;=1+1;',
                'x; "-1+1',
                'x";"=1+1',
                ';@a',
                '\t=1',
                '; \n+1',
                '\uff1d1+1',
                'x;\uff0b1',
                '\uff0d1',
                '\uff20a',
            ];
            const lines = tricks.flatMap((trick) => [
                csvLine(['a', trick, 'b']),
                ...[trick, trick + ' '.repeat(LONG)].map((text) => [...csvLineInParts(['a', trick], JSON.stringify([text]))].join('')),
            ]);
            const cells = lines.flatMap((line) => papaparse.parse<string[]>(line, { delimiter: separator }).data.flat());
            expect(cells.filter((cell) => /^["\s]*[=+\-@\uff1d\uff0b\uff0d\uff20]/.test(cell))).to.deep.equal([]);
        });
    }

    it('keeps the JSON of a response with semicolons', () => {
        for (const response of [{ text: 'a;=1+1;"' }, { text: ';='.repeat(LONG) }]) {
            const [line] = parse([...csvLineInParts(['a'], JSON.stringify(response))].join('')).data;
            expect(JSON.parse(line?.[1] ?? '')).to.deep.equal(response);
        }
    });

    it('writes its cells in short parts, however much must be escaped', () => {
        const parts = [...csvLineInParts(['a'], '"'.repeat(10 * LONG))];
        expect(Math.max(...parts.map(({ length }) => length))).to.be.at.most(2 * LONG);
    });

    it('yields to others between the parts of a long cell', async () => {
        async function* parts() {
            for (let part = 0; part < 20; part++) yield 'x'.repeat(2 * LONG);
        }
        const { turns, result } = await turnsDuring(async () => {
            let length = 0;
            for await (const part of inTurns(parts())) length += part.length;
            return length;
        });
        expect(result).to.equal(40 * LONG);
        expect(turns).to.be.at.least(20);
        const made = await turnsDuring(() => eachInTurn([...Array(20).keys()], async () => 'x'.repeat(2 * LONG)));
        expect([made.result.length, made.turns >= 20]).to.deep.equal([20, true]);
    });
});
