import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { CONTRACTS } from '../../shared/contracts/index.ts';
import { DETAIL_CODES, REFUSALS } from '../../shared/refusals.ts';

const page = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8');
const rows = page.split('\n').filter((line) => line.startsWith('| '));

describe('docs/api.md', () => {
    it('lists every route with the scope of its key, and marks those that are counted', () => {
        for (const { method, path, auth, scope, ofWholeWorkspace, counted } of CONTRACTS) {
            const matching = rows.filter((row) => row.includes(method) && rowPaths(row).includes(path));
            expect(matching, `${method} ${path}`).to.have.length(1);
            const [, key, needs, does] = matching[0]?.split(' | ').map((cell) => cell.replaceAll(/^\| |[`]/g, '')) ?? [];
            expect({ key, needs, counted: does?.includes('**Counted.**') }, path).to.deep.equal({
                key: auth,
                needs: scope === 'none' ? '–' : ofWholeWorkspace ? `${scope}, jobs` : scope,
                counted,
            });
        }
    });

    it('lists every code with its status, whether a retry helps, and what to do', () => {
        for (const [code, { status, retryable }] of REFUSALS) {
            const row = rows.find((line) => line.startsWith(`| ${status} | \`${code}\` |`)) ?? '';
            const [, , retry = '', advice = ''] = row.split(' | ');
            expect(retry.split(',')[0], code).to.equal(retryable === 'reads' ? 'reads' : retryable ? 'yes' : 'no');
            expect(advice, code).to.have.length.greaterThan(10);
        }
        for (const code of DETAIL_CODES) expect(page, code).to.include(`\`${code}\``);
    });
});

/** The paths in the first cell of a row. */
function rowPaths(row: string): string[] {
    return [...(row.split(' | ')[0]?.matchAll(/\/[^\s`]+/g) ?? [])].map(([path]) => path);
}
