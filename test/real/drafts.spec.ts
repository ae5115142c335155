import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { type Inspected, inspect } from '../../cli/inspect/inspect.ts';
import { checkPackage } from '../../shared/domain/package/rules.ts';
import type { PackageDocument } from '../../shared/domain/types.ts';
import { openRecording } from '../cli/inspect/kept-recordings.ts';
import { listFault, listsOfRecordings } from '../cli/inspect/list-truth.ts';
import { check, truthOf } from '../cli/inspect/truth.ts';

const RECORDED = readdirSync(new URL('../fixtures/inspect/recordings', import.meta.url)).map((name) => name.replace(/\..*$/, ''));
/** Models of sites that cannot run here count for themselves: the goals are about applications. */
const isModel = (name: string) => name.startsWith('model-');

/** Drafts of `routebook inspect` from recordings of third-party applications. */
describe('drafts of recorded applications', () => {
    const drafts = new Map<string, Inspected>();

    before(async () => {
        for (const name of RECORDED)
            drafts.set(name, await inspect({ har: openRecording(name) }, { isPortAllowed: () => true, confirmExample: () => true }));
    });

    it('hold nine of ten routes, and at most 15 of 100 endpoints are none (A1)', () => {
        expect(judge(RECORDED.filter((name) => !isModel(name)))).to.be.at.least(10);
    });

    it('hold nine of ten routes of modelled sites, and at most 15 of 100 endpoints are none', () => {
        expect(judge(RECORDED.filter(isModel))).to.be.at.least(6);
    });

    /** Judges the drafts of some recordings, and returns how many there are. */
    function judge(names: readonly string[]): number {
        const checked = names.map((name) => ({ name, ...check(drafts.get(name)?.package as PackageDocument, truthOf(name)) }));
        const [routes, right, tooMany] = (['routes', 'right', 'tooMany'] as const).map((what) =>
            checked.reduce((sum, one) => sum + (what === 'tooMany' ? one.tooMany.length : one[what]), 0),
        ) as [number, number, number];
        const faults = checked.flatMap((one) => [...one.missing, ...one.tooMany].map((fault) => `${one.name} ${fault}`)).join('\n');
        console.log(`routes: ${right} of ${routes} right, ${tooMany} too many`);
        expect(right / routes, faults).to.be.at.least(0.9);
        expect(right / (right + tooMany), faults).to.be.at.least(0.85);
        return checked.length;
    }

    it('describe four of five endpoints and params by pages or answers of the site, and those of pages by pages alone (A2)', () => {
        const ofApplications = [...drafts].flatMap(([name, draft]) => (isModel(name) ? [] : [draft]));
        const all = ofApplications.flatMap(({ package: { endpoints }, report: { found } }) =>
            endpoints.map(({ name, params = [], response, kind }) => {
                const { byPages = 0, byAnswers = 0 } = found.find((one) => one.name === name) ?? {};
                return { things: 1 + params.length, byPages, byAnswers, isPage: response?.type === 'html' || kind === 'submit_form' };
            }),
        );
        const sum = (some: typeof all, of: (one: (typeof all)[number]) => number) => some.reduce((total, one) => total + of(one), 0);
        const pages = all.filter(({ isPage }) => isPage);
        const [things, thingsOfPages] = [sum(all, (one) => one.things), sum(pages, (one) => one.things)];
        const [byPages, byAnswers] = [sum(all, (one) => one.byPages), sum(all, (one) => one.byAnswers)];
        const onPages = sum(pages, (one) => one.byPages);
        console.log(`descriptions: ${byPages} of ${things} by pages, ${byAnswers} by answers; on pages ${onPages} of ${thingsOfPages}`);
        expect((byPages + byAnswers) / things).to.be.at.least(0.8);
        expect(onPages / thingsOfPages).to.be.at.least(0.8);
    });

    it('select the items of seven of ten lists on pages, no more and no fewer (A2)', () => {
        const faults = listsOfRecordings().map((list) => {
            const draft = drafts.get(list.application);
            const fault = draft === undefined ? 'is not recorded' : listFault(draft.package, list);
            return fault === undefined ? undefined : `${list.application}, ${list.list}: ${fault}`;
        });
        const wrong = faults.filter((fault) => fault !== undefined);
        console.log(`lists: ${faults.length - wrong.length} of ${faults.length} selected`);
        expect(1 - wrong.length / faults.length, wrong.join('\n')).to.be.at.least(0.7);
    });

    it('pass the rules of publishing, which refuse placeholders', () => {
        for (const [name, draft] of drafts) {
            const verdict = checkPackage(draft.package, { isPortAllowed: () => true });
            expect(verdict.ok, `${name} ${JSON.stringify(verdict)}`).to.equal(true);
        }
    });
});
