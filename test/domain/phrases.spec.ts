import { expect } from 'chai';
import { readPhrases, unitsOf } from '../../shared/domain/find/phrases.ts';
import { CATEGORIES } from '../../shared/domain/package/taxonomy.ts';
import { stemsOf } from '../../shared/domain/search/tokens.ts';
import { shippedPhrases } from '../../shared/platform/phrases.ts';

const DICTIONARY = `
# a comment
[words]
nothing: the, of, a
little: find, show
change: book
[finance]
currency: currency, exchange rate | money | dollar, yen
rate: rate
[places]
country: country | nation | Brazil
`;

function read(text: string) {
    const found = readPhrases(text);
    if (!found.ok) throw new Error(found.problem);
    return found.phrases;
}

describe('a phrase dictionary', () => {
    const dictionary = read(DICTIONARY);
    const ideasIn = (text: string, side: 'task' | 'description') =>
        unitsOf(stemsOf(text), dictionary, side).map(({ ideas }) => ideas.join(' '));

    it('maps words and phrases to meanings, with any endings', () => {
        expect(ideasIn('Currencies', 'description')).to.deep.equal(['~currency']);
        expect(ideasIn('exchange rates', 'description')).to.deep.equal(['~currency']);
    });

    it('ignores the words inside a longer phrase, even across stop words', () => {
        expect(ideasIn('the exchange of the rate', 'task')).to.deep.equal(['~currency']);
        expect(ideasIn('rate of exchange', 'task')).to.deep.equal(['~rate', '']);
    });

    it('maps some words only in a task, and names of things to values', () => {
        expect(ideasIn('money', 'description')).to.deep.equal(['']);
        expect(ideasIn('money', 'task')).to.deep.equal(['~currency']);
        expect(unitsOf(stemsOf('dollar money'), dictionary, 'task').map(({ isName }) => isName)).to.deep.equal([true, false]);
    });

    it('separates what is wanted from where it is', () => {
        expect([...dictionary.kinds]).to.deep.equal([
            ['~currency', 'what'],
            ['~rate', 'what'],
            ['~country', 'where'],
        ]);
    });

    it('is refused with the wrong line', () => {
        for (const [text, line, problem] of [
            ['currency money', 1, 'must begin with the name of an idea and a colon'],
            ['# fine\nMoney: a', 2, 'must begin with the name of an idea and a colon'],
            ['a: b\n\na: c', 3, 'repeats the idea a'],
            ['a: b | c | d | e', 1, 'has more than two |'],
            ['a: b, --', 1, 'has a phrase without a word'],
            ['a: b | c, b', 1, 'has b twice'],
            ['[words]\nmany: b', 2, 'is not a list of words; the lists are nothing, little, change and work'],
        ] as const) {
            expect(readPhrases(text), text).to.deep.equal({ ok: false, line, problem });
        }
    });
});

describe('the shipped phrase dictionary', () => {
    const dictionary = shippedPhrases();
    const meansIn = (text: string, side: 'task' | 'description') =>
        new Set(unitsOf(stemsOf(text), dictionary, side).flatMap(({ ideas }) => ideas));

    it('has meanings for every category, and synonyms for many of them', () => {
        expect(dictionary.kinds.size).to.be.greaterThan(250);
        const text = [...dictionary.phrases.values()].flat().map(({ stems }) => stems.join(' '));
        expect(text.length).to.be.greaterThan(1000);
        for (const { slug, children } of CATEGORIES) {
            const known = [slug, ...children.map((child) => child.slug)].filter((word) => meansIn(word.replace('-', ' '), 'task').size > 0);
            expect(known, slug).to.have.length.of.at.least(2);
        }
    });

    for (const [one, other] of [
        ['exchange rate', 'forex'],
        ['exchange rate', 'currency'],
        ['journal article', 'preprint'],
        ['vacancy', 'job opening'],
        ['bank holiday', 'public holiday'],
        ['formula one', 'grand prix'],
        ['vulnerability', 'security advisory'],
        ['postcode', 'zip code'],
        ['weather warning', 'storm warning'],
        ['side effect', 'adverse reaction'],
        ['soccer', 'football'],
        ['plane', 'aircraft'],
    ] as const) {
        it(`treats ${one} and ${other} as synonyms`, () => {
            const shared = [...meansIn(one, 'task')].filter((idea) => meansIn(other, 'task').has(idea));
            expect(shared).to.not.deep.equal([]);
        });
    }

    const sides = ['task', 'description'] as const;
    for (const [text, idea] of [
        ['episodes in season 3 of friends', '~in-season'],
        ['director of a film', '~board'],
        ['activities for kids', '~kin'],
        ['books for children', '~kin'],
        ['talks for parents', '~kin'],
        ['gift for a married couple', '~kin'],
        ['free cancellation hotels', '~delay'],
        ['cancel my subscription', '~delay'],
        ['streams available in germany', '~stock-level'],
        ['what do they have for lunch', '~stock-level'],
        ['who plays batman', '~match'],
        ['last name of the user', '~name-meaning'],
        ['songs by nick cave', '~profile'],
        ['nobel prize for a chemist', '~pharmacy'],
        ['security clearance', '~deal'],
        ['sailing lessons', '~ferry'],
        ['level crossing', '~ferry'],
        ['swimming lessons', '~sea-temperature'],
        ['busy parents', '~occupancy'],
        ['conflict resolver', '~dns'],
        ['registrar of the university', '~domain-name'],
        ['police precinct', '~election'],
        ['chess opening', '~opening-hours'],
        ['tour de france', '~guided-tour'],
        ['who wrote the code of conduct', '~contributor'],
        ['valuation of shares', '~resale-value'],
        ['county seat and committee chair', '~furniture'],
        ['hospital bed', '~furniture'],
        ['help desk', '~furniture'],
        ['continental shelf', '~furniture'],
        ['a difficult undertaking', '~company'],
        ['library for parsing json', '~public-library'],
        ['a new lamp', '~news'],
    ] as const) {
        it(`does not treat "${text}" as ${idea.slice(1)}`, () => {
            for (const side of sides) expect([...meansIn(text, side)], side).to.not.include(idea);
        });
    }

    for (const [text, idea] of [
        ['fruit in season', '~in-season'],
        ['vegetables that are in season in April', '~in-season'],
        ['directors of the company', '~board'],
        ['parents of my grandfather', '~kin'],
        ['children of a person', '~kin'],
        ['train cancellations', '~delay'],
        ['my flight was cancelled', '~delay'],
        ['who plays whom', '~match'],
        ['meaning of my last name', '~name-meaning'],
        ['which chemist is open on sunday', '~pharmacy'],
        ['clearance sale', '~deal'],
        ['channel crossing', '~ferry'],
        ['is it warm enough to swim', '~sea-temperature'],
        ['how busy is the gym', '~occupancy'],
        ['walking tour', '~guided-tour'],
        ['two dollars worth of sweets', '~price'],
        ['office chair', '~furniture'],
        ['what is a poltergeist', '~who-is'],
        ['listen to my playlist', '~playback'],
        ['which bird is in this photo', '~image-recognition'],
        ['does the library have Moby Dick', '~public-library'],
    ] as const) {
        it(`treats "${text}" as ${idea.slice(1)} in a task`, () => {
            expect([...meansIn(text, 'task')]).to.include(idea);
        });
    }

    it('does not treat a word of a description as its meaning in a task', () => {
        expect(meansIn('watch', 'task')).to.include('~video');
        expect(meansIn('watch', 'description')).to.not.include('~video');
    });
});
