import { expect } from 'chai';
import { candidatesOf } from '../../shared/domain/find/candidates.ts';
import { endpointWords, fieldsWith } from '../../shared/domain/find/endpoint-words.ts';
import { entryOf } from '../../shared/domain/find/entry.ts';
import { fitting, fuse } from '../../shared/domain/find/fuse.ts';
import { byFit, type Found, pageOf, spread } from '../../shared/domain/find/order.ts';
import { readTask } from '../../shared/domain/find/task.ts';
import { correctTypo, unknownWords, weigh } from '../../shared/domain/find/weigh.ts';
import { readEndpoint } from '../../shared/domain/package/endpoint.ts';
import { stemsOf } from '../../shared/domain/search/tokens.ts';
import type { PackageEndpoint } from '../../shared/domain/types.ts';
import { shippedPhrases } from '../../shared/platform/phrases.ts';
import { endpoint } from './one-package.ts';

const dictionary = shippedPhrases();
const SITE = {
    site: 'shop.example.com',
    title: 'Lamps',
    intent_category: 'commerce/pricing',
    description: 'Sells lamps. It asks for patience.',
};
const indexedOf = (more: Partial<PackageEndpoint>, name = 'get_quote') =>
    endpointWords(SITE, readEndpoint(endpoint(name, '/x', more)), dictionary).words;
const wordsOf = (more: Partial<PackageEndpoint>, name?: string) =>
    new Map([...indexedOf(more, name)].map(([word, { weight }]) => [word, weight]));

describe('the words of an endpoint', () => {
    it('weigh more the nearer they are to its action', () => {
        const words = wordsOf({
            description: 'The quote of a broker.',
            params: [{ name: 'broker_id', source: 'query', required: false, description: 'Number of the office.' }],
            response: {
                schema: {
                    type: 'object',
                    properties: { lamps: { type: 'array', items: { type: 'object', properties: { wattage: {} } } } },
                },
            },
        });
        expect(words.get('quot')).to.equal('A');
        expect(words.get('broker')).to.equal('B');
        expect(words.get('offic')).to.equal('C');
        expect(words.get('wattag')).to.equal('C');
        // The site's texts also have this word.
        expect(words.get('lamp')).to.equal('B');
        expect(words.get('sell')).to.equal('D');
        expect(words.has('patienc')).to.equal(false);
    });

    it('weigh no more where the description says nothing', () => {
        const params = [{ name: 'season', source: 'query' as const, required: true, example: 'winter' }];
        const response = { schema: { type: 'object', properties: { wattage: {} } } };
        const weights = (description: string) => {
            const words = wordsOf({ description, params, response }, 'table');
            return ['tabl', 'season', 'winter', 'wattag', 'sell'].map((word) => words.get(word)).join('');
        };
        expect(weights('Table.')).to.equal('ACCCD');
        expect(weights('Table of wattage by season.')).to.equal('ABCBD');
        expect(weights('Table of all quotes by broker, office and month.')).to.equal('ACCCD');
    });

    it('are the same in the plural', () => {
        for (const [one, many] of [
            ['movie', 'movies'],
            ['cookie', 'cookies'],
            ['city', 'cities'],
            ['lamp', 'lamps'],
        ] as const) {
            expect(stemsOf(many), many).to.deep.equal(stemsOf(one));
        }
    });

    it('include their place', () => {
        const words = indexedOf({
            description: 'The quote of a broker.',
            params: [{ name: 'broker_id', source: 'query', required: false, description: 'Number of the office.' }],
        });
        const search = [...words].map(([word, { fields, weight }]) => `'${word}':${fields}${weight}`).join(' ');
        expect(fieldsWith(['quot'], search)).to.deep.equal(['endpoint', 'description']);
        expect(fieldsWith(['broker', 'none'], search)).to.deep.equal(['description', 'params']);
        expect(fieldsWith(['offic', 'lamp'], search)).to.deep.equal(['params', 'site']);
        expect(fieldsWith(['roker'], search)).to.deep.equal([]);
    });

    it('are joined by meaning, apart from those of examples', () => {
        const params = [{ name: 'q', source: 'query' as const, required: true, example: 'dentist' }];
        const words = wordsOf({ description: 'Exchange rates of today.', params });
        expect(words.get('~exchange-rate')).to.equal('B');
        expect(words.get('dentist')).to.equal('C');
        expect(words.has('~doctor')).to.equal(false);
    });

    it('say whether it writes, takes a value, and needs an id', () => {
        const marks = (more: Partial<PackageEndpoint>) => [...wordsOf(more).keys()].filter((word) => /^![a-z]/.test(word));
        expect(marks({})).to.deep.equal([]);
        expect(marks({ method: 'POST' })).to.deep.equal(['!write']);
        expect(marks({ params: [{ name: 'city', source: 'query', required: true }] })).to.deep.equal(['!takes']);
        expect(marks({ params: [{ name: 'book_id', source: 'query', required: true }] })).to.deep.equal(['!id']);
        expect(marks({ params: [{ name: 'id_list', source: 'query', required: true }] })).to.deep.equal(['!id']);
        const told = { name: 'talk', source: 'query' as const, required: true, description: 'Code of the talk; search_talks tells it.' };
        expect(marks({ params: [told] })).to.deep.equal(['!id']);
        expect(marks({ params: [{ name: 'page', source: 'query', required: true, schema: { type: 'integer' } }] })).to.deep.equal([
            '!takes',
        ]);
    });

    it('say of what ideas its params are', () => {
        const params: PackageEndpoint['params'] = [
            { name: 'q', source: 'query', required: true, description: 'A postcode.' },
            { name: 'base', source: 'query', required: false, description: 'The currency.' },
        ];
        const words = wordsOf({ params, description: 'The weather.' });
        expect(words.get('!~postal-code')).to.equal('A');
        expect(words.get('!~currency')).to.equal('A');
        expect(words.has('!~weather')).to.equal(false);
    });

    it('have abbreviations of countries, which are no pronouns', () => {
        const names = (description: string) => [...wordsOf({ description }).keys()].filter((word) => word === '~usa');
        for (const text of ['Bills of the US Congress.', 'The U.S. Senate.', 'Lakes of the USA.'])
            expect(names(text), text).to.have.length(1);
        for (const text of ['Ask us anything.', 'ASK US', 'USB and BUS']) expect(names(text), text).to.have.length(0);
    });

    it('are limited, however long its texts are', () => {
        const many = Array.from({ length: 5000 }, (_, index) => `word${String.fromCharCode(97 + (index % 26))}${index}`).join(' ');
        expect(wordsOf({ description: many }).size).to.be.at.most(170);
        expect([...wordsOf({ description: 'x'.repeat(9000) }).keys()].every((word) => word.length <= 40)).to.equal(true);
    });
});

describe('the entry of an endpoint', () => {
    it('names required params with their types, and paths of its response fields', () => {
        const entry = entryOf(
            { title: 'Lamps' },
            readEndpoint(
                endpoint('lamps', '/lamps/{id}', {
                    params: [
                        { name: 'id', source: 'path', required: true, schema: { type: ['string', 'integer'] }, example: 7 },
                        { name: 'page', source: 'query', required: true, default: 1, schema: { type: 'integer' } },
                        { name: 'any', source: 'query', required: true },
                    ],
                    response: {
                        schema: {
                            type: 'object',
                            properties: {
                                items: {
                                    type: 'array',
                                    items: {
                                        type: 'object',
                                        properties: { title: {}, tags: { type: 'array', items: { type: 'string' } } },
                                    },
                                },
                                total: { type: 'integer' },
                            },
                        },
                    },
                }),
            ),
        );
        expect(entry.required).to.deep.equal([
            { name: 'id', type: 'string or integer', description: '', example: 7 },
            { name: 'any', type: 'any', description: '', example: null },
        ]);
        expect(entry.optional).to.deep.equal(['page']);
        expect(entry.fields).to.deep.equal(['total', 'items[].title', 'items[].tags[]']);
        expect(entry.urls).to.deep.equal(['https://shop.example.com/lamps/']);
    });
});

describe('a task', () => {
    const partsOf = (task: string) =>
        readTask(task, dictionary).parts.map(
            ({ stem, ideas, kind }) => `${kind} ${[...(stem === undefined ? [] : [stem]), ...ideas].join(' ')}`,
        );

    it('consists of what is wanted, words of little weight, names, and the place', () => {
        expect(partsOf('find the exchange rate of Ruritania')).to.deep.equal([
            'little find',
            'what ~exchange-rate ~currency',
            'name ruritania',
        ]);
        // What a thing costs now is not the last one of a list.
        expect(partsOf('current price of lamps')[0]).to.equal('little current');
        expect(partsOf('latest lamps')[0]).to.equal('how latest ~latest');
        expect(partsOf('weather in Hamburg')).to.deep.equal(['what weather ~weather', 'where hamburg ~place ~germany']);
    });

    it('may ask for an action', () => {
        expect(partsOf('book two seats')[0]).to.equal('act !write');
        for (const task of [
            'I want to book two seats',
            'how do I book a hotel',
            'how can I order flowers',
            'where can I buy stamps',
            'how do I cancel my subscription',
            'do I need to reserve a seat',
            'should we order flowers',
            'apply for a visa',
            'register for a course',
            'how do I register with a doctor',
            'register my car',
            'where do I register a birth',
            'apply to a university',
        ]) {
            expect(partsOf(task), task).to.include('act !write');
        }
        for (const task of [
            'register of listed buildings',
            'how do I make pancakes',
            'how to order sushi',
            'is the order here',
            'need book about whales',
        ])
            expect(partsOf(task).join(), task).to.not.include('!write');
        expect(partsOf('books about tables')[0]).to.equal('what book ~book');
        // Here it is a noun, or says how something is.
        expect(partsOf('is the book there')[0]).to.equal('what book ~book');
        expect(partsOf('open pull requests').join()).to.not.include('!write');
        expect(partsOf('translate this')[0]).to.match(/^act translat/);
    });

    it('gives what stands before "to", where something else stands behind it', () => {
        const given = (task: string) => readTask(task, dictionary).given;
        expect(given('postcode to town')).to.deep.equal(['~postal-code']);
        expect(given('turn the address into coordinates')).to.deep.equal(['~address']);
        for (const task of ['how to bake bread', 'drive from Berlin to Hamburg', 'postcode of a town']) {
            expect(given(task), task).to.deep.equal([]);
        }
    });

    it('gives the things that it names, but not the places', () => {
        const given = (task: string) => readTask(task, dictionary).given;
        expect(given('how much is the yen worth in Berlin')).to.deep.equal(['~currency']);
        expect(given('how much is a currency worth')).to.deep.equal([]);
    });

    it('asks for personal data of the caller where "my" begins it', () => {
        const isOwn = (task: string) => readTask(task, dictionary).isOwn;
        for (const task of [
            'my orders',
            'my calendar for next monday',
            'what is on my shopping list',
            'show me my unpaid invoices',
            'my bank account balance',
        ]) {
            expect(isOwn(task), task).to.equal(true);
        }
        for (const task of [
            'my ip address',
            'what is my timezone',
            'my postcode to coordinates',
            "my car's recalls",
            'my MP',
            "my MP's bills",
            'find my polling station',
            'my city on a calendar',
            'crimes on my street',
            'find my nearest station',
            'how did my member of parliament vote',
            'tell my phone',
            'orders',
        ]) {
            expect(isOwn(task), task).to.equal(false);
        }
    });

    it('contains values that are not search words', () => {
        expect(partsOf('doi of "the strength of weak ties"')).to.deep.equal(['what doi ~doi']);
        expect(partsOf('10.1038/nature14539')).to.deep.equal(['what ~doi']);
        expect(partsOf('9780140328721')).to.deep.equal(['what ~isbn']);
        expect(readTask('recall 12345', dictionary)).to.include({ hasId: true, hasNumber: true });
        expect(readTask('recalls of 2016', dictionary)).to.include({ hasId: false, hasNumber: true });
        expect(readTask('the details of an article from its DOI', dictionary)).to.include({ hasId: false, hasNumber: true });
        expect(readTask('the details of an article', dictionary)).to.include({ hasNumber: false });
    });

    it('is limited, however long it is', () => {
        const long = Array.from(
            { length: 300 },
            (_, index) => `thing${'abcdefghij'[index % 10]}${'klmnopqrst'[Math.floor(index / 10) % 10]}`,
        ).join(' ');
        expect(readTask(long, dictionary).parts).to.have.length(16);
    });

    it('is corrected if no endpoint has a word', () => {
        const read = readTask('currancy and wheather', dictionary);
        const words = { total: 100, counts: new Map([['weather', 3]]) };
        expect(unknownWords(read, words)).to.deep.equal(['currancy', 'wheather']);
        expect(correctTypo('currancy', [], dictionary)).to.equal('currency');
        expect(correctTypo('wheather', ['weather', 'whether'], dictionary)).to.equal('weather');
        expect(correctTypo('zzzzzzzz', ['weather'], dictionary)).to.equal(undefined);
    });

    it('is not corrected if its words are English, whether or not endpoints have them', () => {
        const words = { total: 100, counts: new Map([['plot', 3]]) };
        expect(unknownWords(readTask('pilots bought umbrellas', dictionary), words)).to.deep.equal([]);
    });

    it('names the author after "by"', () => {
        expect(partsOf('verses by Emily Bronte')).to.include('little ~author');
        expect(partsOf('verses by the sea')).to.not.include('little ~author');
    });

    it('weighs rare and significant words more, with a sum of 1', () => {
        const counts = new Map([
            ['~exchange-rate', 2],
            ['~currency', 2],
            ['list', 80],
            ['~list', 80],
        ]);
        const { terms } = weigh(readTask('list of exchange rates', dictionary), { total: 100, counts });
        const [list, rates] = terms.map(({ weight }) => weight);
        expect(rates).to.be.greaterThan(2 * (list ?? 1));
        expect(terms.reduce((sum, { weight }) => sum + weight, 0)).to.be.closeTo(1, 1e-9);
    });

    it('reads only endpoints that can be listed', () => {
        const counts = new Map([
            ['weather', 900],
            ['~weather', 900],
            ['bicycl', 20],
            ['~bike', 20],
        ]);
        const words = { total: 1000, counts };
        const candidates = candidatesOf(weigh(readTask('bicycle weather', dictionary), words), words);
        expect(candidates?.strict).to.equal("('bicycl' | '~bike') & '~weather'");
        // A common word whose meaning nearly all endpoints share is searched by that meaning only. Those with a bicycle are read for both.
        expect(candidates?.cost).to.deep.equal({ strict: 40, loose: 40 });
        expect(candidatesOf(weigh(readTask('dentist', dictionary), words), words)).to.equal(undefined);
    });

    it('is searched by its ideas where endpoints have no other word of it, unless it asks for a change', () => {
        const words = { total: 100, counts: new Map(Object.entries({ '~dictionary': 3, '~latest': 9, '!write': 1, lamp: 0 })) };
        const strictOf = (task: string) => candidatesOf(weigh(readTask(task, dictionary), words), words)?.strict;
        expect(strictOf('what does obsessed mean')).to.include("'~dictionary'");
        expect(strictOf('delete the latest lamp')).to.equal(undefined);
    });
});

describe('endpoints with a similar meaning', () => {
    const near = (similarities: readonly number[]) => similarities.map((similarity, id) => ({ id, similarity }));

    it('score by how much nearer they are than the farthest, however similar a model finds all texts', () => {
        const crowd = (floor: number) => [floor + (1 - floor) / 2, ...Array.from({ length: 30 }, () => floor)];
        for (const floor of [0, 0.2, 0.8]) {
            const found = fitting(near(crowd(floor)));
            expect(
                found.map(({ id }) => id),
                String(floor),
            ).to.deep.equal([0]);
            expect(found[0]?.score).to.be.closeTo(0.5, 1e-9);
        }
        expect(fitting(near(Array.from({ length: 30 }, () => 1)))).to.deep.equal([]);
        expect(fitting(near([0.9, 0.2])).map(({ id }) => id)).to.deep.equal([0]);
    });

    it('are merged with word matches: first those in both rankings, with the better score', () => {
        const row = (id: number, score: number) => ({ id, score });
        const fused = fuse([row(1, 0.9), row(2, 0.6)], [row(2, 0.8), row(3, 0.7)]);
        expect(fused).to.deep.equal([row(2, 0.8), row(1, 0.9), row(3, 0.7)]);
    });
});

describe('found endpoints', () => {
    const found = (more: Partial<Found>): Found => ({
        id: 1,
        registrable: 'a.test',
        score: 0.5,
        isVerified: false,
        successRate: null,
        p95Ms: null,
        credits: 1,
        choices: 0,
        ...more,
    });
    const isBefore = (one: Partial<Found>, other: Partial<Found>) => byFit(found(one), found(other)) < 0;

    it('are ordered by their score', () => {
        expect(isBefore({ score: 0.6 }, { score: 0.5, isVerified: true, choices: 100 })).to.equal(true);
    });

    it('of equal score are ordered by verification, health, speed, price and choices', () => {
        expect(isBefore({ score: 0.501, isVerified: true }, { score: 0.509, choices: 100 })).to.equal(true);
        expect(isBefore({ score: 0.501, choices: 8 }, { score: 0.509 })).to.equal(true);
        expect(isBefore({ credits: 1 }, { choices: 100, credits: 3 })).to.equal(true);
        expect(isBefore({ score: 0.501, isVerified: true }, { score: 0.509, successRate: 1 })).to.equal(true);
        expect(isBefore({ score: 0.501, successRate: 0.99 }, { score: 0.509, successRate: 0.4 })).to.equal(true);
        expect(isBefore({}, { successRate: 0.2 })).to.equal(true);
        expect(isBefore({ p95Ms: 100 }, { p95Ms: 900 })).to.equal(true);
        expect(isBefore({ credits: 1 }, { credits: 3 })).to.equal(true);
    });

    it('that equal in all keep the order of their package', () => {
        const rows = [3, 1, 2].map((id) => found({ id, score: 0.7 }));
        expect(rows.toSorted(byFit).map(({ id }) => id)).to.deep.equal([1, 2, 3]);
    });

    it('contain at most three of a domain in each ten, and each once', () => {
        const rows = [
            ...Array.from({ length: 12 }, () => found({})),
            ...Array.from({ length: 9 }, (_, index) => found({ registrable: `${index}.test` })),
        ];
        const slots = spread(rows);
        expect(new Set(slots.map(({ row }) => row)).size).to.equal(21);
        for (let from = 0; from < 50; from += 10) {
            const { rows: ten } = pageOf(slots, from, 10);
            expect(ten.filter(({ registrable }) => registrable === 'a.test').length).to.be.at.most(3);
        }
        expect(pageOf(slots, 0, 10).rows).to.have.length(10);
        expect(pageOf(slots, 30, 10).next).to.equal(undefined);
    });
});
