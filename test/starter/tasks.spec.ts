import { expect } from 'chai';
import { checkPackage } from '../../shared/domain/package/rules.ts';
import { normaliseSite } from '../../shared/domain/site/site-name.ts';
import { STARTERS } from './packages.ts';
import {
    ADDED,
    CONTRIBUTED,
    EVERYDAY,
    FRESH,
    FRESH_CONTRIBUTED,
    LATER_CONTRIBUTED,
    lotOf,
    MORE,
    NEWCOMERS,
    type PlainTask,
    SERVED,
    type ServedTask,
    UNSEEN,
    UNSEEN_CONTRIBUTED,
    UNSEEN_EVERYDAY,
    UNSERVED,
} from './tasks.ts';

const DESCRIPTIONS: ReadonlyMap<string, string> = new Map(
    STARTERS.flatMap(({ document }) => document.endpoints.map(({ name, description = '' }) => [`${document.site}/${name}`, description])),
);

/** In everyday words: those of the first sites, and those that came with sites that were added later. */
const EVERYDAY_TASKS = [...EVERYDAY.served, ...UNSEEN_EVERYDAY.served, ...NEWCOMERS.served, ...ADDED];

/** A longer copy of a description would be found by any search. */
const MAX_COPY = 4;

describe('the labelled tasks of the starter registry', () => {
    it('are 200 that a package serves and 50 that none serves, without duplicates', () => {
        expect(SERVED).to.have.length(200);
        expect(UNSERVED).to.have.length(50);
        const texts = [...SERVED, ...UNSERVED].map(({ task }) => wordsOf(task).join(' '));
        expect(texts.filter((task, place) => texts.indexOf(task) !== place)).to.deep.equal([]);
    });

    it('name one to six endpoints of the starter registry, without duplicates', () => {
        for (const { task, right } of [...SERVED, ...MORE.served, ...UNSEEN.served, ...EVERYDAY_TASKS, ...FRESH.served]) {
            expect(right.length, task).to.be.within(1, 6);
            expect(new Set(right), task).to.have.property('size', right.length);
            for (const endpoint of right) expect(DESCRIPTIONS.has(endpoint), `${task}: ${endpoint}`).to.equal(true);
        }
    });

    it('need each of their sites at least twice, and at least 65 sites, but for sites that were added later', () => {
        const later = new Set(ADDED.flatMap((task) => [...sitesOf(task)]));
        const asked = new Map<string, number>();
        for (const task of SERVED) for (const site of sitesOf(task)) asked.set(site, (asked.get(site) ?? 0) + 1);
        expect(asked.size).to.be.at.least(65);
        expect([...asked].filter(([site, times]) => times < 2 && !later.has(site))).to.deep.equal([]);
    });

    it('have from 3 to 25 words, in each length and style', () => {
        const lengths = SERVED.map(({ task }) => task.split(/\s+/).length);
        expect(Math.min(...lengths)).to.equal(3);
        expect(Math.max(...lengths)).to.be.within(20, 25);
        expect(lengths.filter((words) => words <= 5)).to.have.length.of.at.least(30);
        expect(lengths.filter((words) => words > 10)).to.have.length.of.at.least(30);
        for (const { task } of UNSERVED) expect(task.split(/\s+/).length, task).to.be.within(3, 25);
        for (const style of ['question', 'keywords', 'imperative', 'agent']) {
            expect(
                SERVED.filter((task) => task.style === style),
                style,
            ).to.have.length.of.at.least(15);
        }
    });

    it('have ten with a typing mistake, and some in British and in American spelling', () => {
        const count = (spelling: ServedTask['spelling']) => SERVED.filter((task) => task.spelling === spelling).length;
        expect(count('typo')).to.equal(10);
        expect(count('british')).to.be.at.least(3);
        expect(count('american')).to.be.at.least(3);
    });

    it('name no domain, and not the site that serves them', () => {
        for (const { document } of STARTERS) {
            const name = normaliseSite(document.site);
            if (!name.ok) throw new Error(document.site);
            const [label = ''] = name.registrable.split('.');
            for (const { task } of [...SERVED, ...UNSERVED]) expect(task.toLowerCase()).to.not.include(document.site);
            for (const task of [...SERVED, ...EVERYDAY_TASKS].filter((served) => sitesOf(served).has(document.site)))
                expect(wordsOf(task.task)).to.not.include(label);
        }
    });

    it('copy no more than four consecutive words from the description of their endpoint', () => {
        for (const { task, right } of [...SERVED, ...EVERYDAY_TASKS, ...FRESH.served]) {
            const words = wordsOf(task);
            const runs = words.slice(MAX_COPY).map((_, place) => words.slice(place, place + MAX_COPY + 1).join(' '));
            for (const endpoint of right) {
                const description = ` ${wordsOf(DESCRIPTIONS.get(endpoint) ?? '').join(' ')} `;
                for (const run of runs) expect(description, `${task}: ${endpoint}`).to.not.include(` ${run} `);
            }
        }
    });

    it('include a fifth that shares no words with what their endpoints are said to be and to be for', () => {
        const foreign = SERVED.filter(({ task, right }) => {
            const described = new Set(right.flatMap((endpoint) => stemsOf(purposeOf(DESCRIPTIONS.get(endpoint) ?? ''))));
            return stemsOf(task).every((stem) => !described.has(stem));
        });
        expect(foreign).to.have.length.of.at.least(40);
    });

    it('hold out 20 by the rule of their README', () => {
        const drawn = SERVED.map(({ task }) => task).sort((one, other) =>
            lotOf('held out', one).localeCompare(lotOf('held out', other), 'en'),
        );
        const heldOut = SERVED.filter((task) => task.held_out).map(({ task }) => task);
        expect(heldOut).to.have.members(drawn.slice(0, 20));
    });

    it('have 120 fresh ones and 60 that none serves; with those of added sites, at least one for each site', () => {
        expect([FRESH.served.length, FRESH.unserved.length]).to.deep.equal([120, 60]);
        const texts = [...FRESH.served, ...FRESH.unserved].map(({ task }) => task);
        expect(new Set(texts)).to.have.property('size', 180);
        const asked = new Set([...FRESH.served, ...ADDED].flatMap((task) => [...sitesOf(task)]));
        expect(STARTERS.filter(({ document }) => !asked.has(document.site))).to.deep.equal([]);
    });

    it('have 156 in everyday words and 40 that none serves, in two drawn halves; with those of newcomers and of added sites, at least two for each site', () => {
        for (const { served, unserved } of [EVERYDAY, UNSEEN_EVERYDAY]) {
            expect(served).to.have.length(78);
            expect(unserved).to.have.length(20);
        }
        for (const { document } of STARTERS)
            expect(
                EVERYDAY_TASKS.filter((task) => sitesOf(task).has(document.site)),
                document.site,
            ).to.have.length.of.at.least(2);
        const texts = [EVERYDAY, UNSEEN_EVERYDAY].flatMap(({ served, unserved }) => [...served, ...unserved]).map(({ task }) => task);
        expect(new Set(texts)).to.have.property('size', 196);
    });
});

describe('the packages of contributors, and the tasks for them', () => {
    const lists = [CONTRIBUTED, LATER_CONTRIBUTED, FRESH_CONTRIBUTED];
    const packages = lists.flatMap((list) => list.packages);
    const endpoints = packages.flatMap(({ site, endpoints: described }) => described.map(({ name }) => `${site}/${name}`));

    it('are packages that anybody could publish, of sites that the starter registry lacks', () => {
        for (const document of packages)
            expect(checkPackage(document, { isPortAllowed: () => false }), document.site).to.include({ ok: true });
        const starters = STARTERS.map(({ document }) => document.site);
        expect(packages.filter(({ site }) => starters.includes(site))).to.deep.equal([]);
    });

    it('are 100, 40, 50 and 40 that a package serves, and 40, 15, 20 and 10 that none serves, at least two for each site', () => {
        const asked = [...lists, UNSEEN_CONTRIBUTED];
        expect(asked.map(({ served }) => served.length)).to.deep.equal([100, 40, 50, 40]);
        expect(asked.map(({ unserved }) => unserved.length)).to.deep.equal([40, 15, 20, 10]);
        const served = asked.flatMap((list) => list.served);
        expect(new Set([...served, ...asked.flatMap((list) => list.unserved)].map(({ task }) => task))).to.have.property('size', 315);
        const right = served.flatMap((task) => task.right);
        for (const endpoint of right) expect(endpoints.includes(endpoint) || DESCRIPTIONS.has(endpoint), endpoint).to.equal(true);
        for (const { site } of packages) {
            expect(
                right.filter((endpoint) => endpoint.startsWith(`${site}/`)),
                site,
            ).to.have.length.of.at.least(2);
        }
    });
});

function sitesOf({ right }: PlainTask): Set<string> {
    return new Set(right.map((endpoint) => endpoint.slice(0, endpoint.indexOf('/'))));
}

/** The first two sentences. Those behind them came later, in everyday words. */
function purposeOf(description: string): string {
    return description
        .split(/(?<=[.?!]) /)
        .slice(0, 2)
        .join(' ');
}

function wordsOf(text: string): string[] {
    return text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];
}

/** Significant words, roughly: those of three letters and more, by their first five. */
function stemsOf(text: string): string[] {
    return wordsOf(text)
        .filter((word) => word.length >= 3 && !SAY_NOTHING.has(word))
        .map((word) => word.slice(0, 5));
}

const SAY_NOTHING = new Set(
    `all and any are but can did does each for from get give had has have her his how into its many may more most much not one our out so than
    that the their them then there these they this those was were what when where which who will with would you`.split(/\s+/),
);
