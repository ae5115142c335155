import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { ROUNDS } from '../bench/scenarios/all.ts';
import GOALS from './goals.json' with { type: 'json' };

/** Every row of the goals, part by part: performance, faults, egress, input, limits. */
const ROWS = [
    ...ids('P', '1-12'),
    ...ids('R', '1-17 19 20'),
    ...ids('E', '1 2 4-10'),
    ...ids('I', '1-3 5 7 8 10 12-14'),
    ...ids('L', '1-3 6-11 13-15'),
    // The second round.
    ...ids('S', '1-3'),
    ...ids('X', '1'),
    ...ids('J', '1-4'),
    ...ids('W', '1'),
    ...ids('F', '1 2'),
    ...ids('A', '1-4'),
    ...ids('C', '1'),
    ...ids('M', '1'),
];

describe('the goals', () => {
    const shownBy: ReadonlyMap<string, string> = new Map(Object.entries(GOALS));

    it('are complete', () => {
        expect([...shownBy.keys()]).to.deep.equal(ROWS);
    });

    for (const row of ROWS) {
        it(`${row} names an existing test or scenario`, () => {
            const shown = shownBy.get(row) ?? '';
            if (shown === 'planned') return;
            if (shown === 'quoted') return expect(row, 'only the comparison with n8n is quoted').to.equal('P6');
            const [, home = '', title = ''] = /^(bench|test\/\S+\.spec\.ts): (.+)$/.exec(shown) ?? [];
            if (home === 'bench') {
                // `npm run soak` is a run of its own.
                const runs = [...ROUNDS.flatMap(({ name, scenarios }) => [name, ...scenarios.map((scenario) => scenario.name)]), 'soak'];
                return expect(runs, row).to.include(title);
            }
            expect(home !== '' && existsSync(new URL(`../${home}`, import.meta.url)), `${row}: ${shown}`).to.equal(true);
            const text = readFileSync(new URL(`../${home}`, import.meta.url), 'utf8').replaceAll(/\(\s+/g, '(');
            const starts = ['it', 'describe'].flatMap((call) => ["'", '"', '`'].map((quote) => `${call}(${quote}${title}`));
            expect(
                starts.some((start) => text.includes(start)),
                `${home} has no test named "${title}"`,
            ).to.equal(true);
        });
    }
});

describe('docs/goals.md', () => {
    const page = readFileSync(new URL('../docs/goals.md', import.meta.url), 'utf8');

    for (const [row, shown] of Object.entries(GOALS)) {
        it(`says what ${row} promises, and where it is shown`, () => {
            const cells = (page.match(new RegExp(`^\\| ${row} \\|.*$`, 'm'))?.[0] ?? '').split(' | ');
            const [home = '', scenario = ''] = shown.split(': ');
            const place = { bench: scenario, planned: 'planned', quoted: 'quoted' }[home] ?? home;
            expect(cells).to.have.length(4);
            expect(cells[3]).to.include(place);
        });
    }
});

describe('the full counts', () => {
    const folder = new URL('long/', import.meta.url);
    const titles = readdirSync(folder).flatMap(
        (name) => readFileSync(new URL(name, folder), 'utf8').match(/\(([A-Z]\d+, )*[A-Z]\d+\)(?=['"`])/g) ?? [],
    );

    for (const row of [...ids('R', '1-17 19 20'), ...ids('E', '4 5 8'), ...ids('I', '3'), ...ids('X', '1')]) {
        it(`of ${row} are a long run`, () => expect(titles.some((rows) => new RegExp(`\\b${row}\\b`).test(rows))).to.equal(true));
    }
});

/** `('R', '1-3 5')` → R1, R2, R3, R5. */
function ids(part: string, numbers: string): string[] {
    return numbers.split(' ').flatMap((span) => {
        const [first = 0, last = first] = span.split('-').map(Number);
        return Array.from({ length: last - first + 1 }, (_, index) => `${part}${first + index}`);
    });
}
