import { expect } from 'chai';
import { candidatesOf } from '../../shared/domain/find/candidates.ts';
import { readTask } from '../../shared/domain/find/task.ts';
import { correctTypo, unknownWords, weigh } from '../../shared/domain/find/weigh.ts';
import { shippedPhrases } from '../../shared/platform/phrases.ts';

const dictionary = shippedPhrases();

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
