import { expect } from 'chai';
import { endpointWords, fieldsWith } from '../../shared/domain/find/endpoint-words.ts';
import { entryOf } from '../../shared/domain/find/entry.ts';
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

    it('weigh like those of fields in later sentences of a description, which name examples, and are not joined by meaning there', () => {
        const description =
            'Weather of the U.S. coast by day. Use it for a trip. Good for dentists and lamps, e.g. whether they need a quote.';
        const words = indexedOf({ description });
        const weights = ['weather', 'coast', 'trip', 'dentist', 'lamp', 'quot'].map((stem) => words.get(stem)?.weight).join('');
        expect(weights).to.equal('BBBCBB');
        expect(words.has('~doctor')).to.equal(false);
        const search = [...words].map(([word, { fields, weight }]) => `'${word}':${fields}${weight}`).join(' ');
        expect(fieldsWith(['dentist'], search)).to.deep.equal(['description']);
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
