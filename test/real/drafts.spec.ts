import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { type Inspected, inspect } from '../../cli/inspect/inspect.ts';
import { checkPackage } from '../../shared/domain/package/rules.ts';
import { openRecording } from '../cli/inspect/kept-recordings.ts';
import { check, truthOf } from '../cli/inspect/truth.ts';

const APPLICATIONS = readdirSync(new URL('../fixtures/inspect/recordings', import.meta.url)).map((name) => name.replace(/\..*$/, ''));

/** What `routebook inspect` makes of recordings of applications that nobody here wrote. */
describe('drafts of recorded applications', function () {
    this.timeout(240_000);
    const drafts = new Map<string, Inspected>();

    before(async () => {
        for (const name of APPLICATIONS)
            drafts.set(name, await inspect({ har: openRecording(name) }, { isPortAllowed: () => true, confirmExample: () => true }));
    });

    it('hold nine of ten routes, and at most 15 of 100 endpoints are none (A1)', () => {
        const checked = [...drafts].map(([name, draft]) => ({ name, ...check(draft.package, truthOf(name)) }));
        const [routes, right, tooMany] = (['routes', 'right', 'tooMany'] as const).map((what) =>
            checked.reduce((sum, one) => sum + (what === 'tooMany' ? one.tooMany.length : one[what]), 0),
        ) as [number, number, number];
        const faults = checked.flatMap((one) => [...one.missing, ...one.tooMany].map((fault) => `${one.name} ${fault}`)).join('\n');
        console.log(`routes: ${right} of ${routes} right, ${tooMany} too many`);
        expect(checked.length).to.be.at.least(10);
        expect(right / routes, faults).to.be.at.least(0.9);
        expect(right / (right + tooMany), faults).to.be.at.least(0.85);
    });

    it('pass the rules of publishing, which refuse placeholders', () => {
        for (const [name, draft] of drafts) {
            const verdict = checkPackage(draft.package, { isPortAllowed: () => true });
            expect(verdict.ok, `${name} ${JSON.stringify(verdict)}`).to.equal(true);
        }
    });
});
