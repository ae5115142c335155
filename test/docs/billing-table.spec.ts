import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { withTables } from '../hostile/billing-table.ts';

describe('docs/billing.md', () => {
    it('says of every behaviour of a site what the tests expect; otherwise run `node scripts/billing-table.ts`', () => {
        const page = readFileSync(new URL('../../docs/billing.md', import.meta.url), 'utf8');
        expect(page).to.equal(withTables(page));
    });
});
