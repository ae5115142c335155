import { expect } from 'chai';
import { fitting, fuse } from '../../shared/domain/find/fuse.ts';
import { bestFirst, type Found, pageOf, spread } from '../../shared/domain/find/order.ts';

describe('endpoints with a similar meaning', () => {
    const near = (similarities: readonly number[], byWords = 0) =>
        similarities.map((similarity, id) => ({ id, similarity, score: byWords }));
    const namesOf = (found: readonly { id: number }[]) => found.map(({ id }) => id);

    it('match if they are much nearer than the farthest, however similar a model finds all texts', () => {
        const crowd = (floor: number, nearness: number) => [floor + (1 - floor) * nearness, ...Array.from({ length: 30 }, () => floor)];
        for (const floor of [0, 0.2, 0.8]) {
            const found = fitting(near(crowd(floor, 0.8)));
            expect(namesOf(found), String(floor)).to.deep.equal([0]);
            expect(found[0]?.score).to.be.closeTo(0.8, 1e-9);
            expect(fitting(near(crowd(floor, 0.6))), String(floor)).to.deep.equal([]);
        }
        expect(fitting(near(Array.from({ length: 30 }, () => 1)))).to.deep.equal([]);
        expect(namesOf(fitting(near([0.9, 0.2])))).to.deep.equal([0]);
    });

    it('match with less nearness if they have words of the task, too', () => {
        const found = fitting(near([0.5, 0.45, 0.1], 0.22));
        expect(namesOf(found)).to.deep.equal([0]);
        expect(found[0]?.score).to.equal(0.5);
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
    const isBefore = (one: Partial<Found>, other: Partial<Found>) => {
        const first = found(one);
        return bestFirst([found(other), first])[0] === first;
    };

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

    it('are of equal score wherever the difference is small, counted from the best', () => {
        expect(isBefore({ score: 0.519, isVerified: true }, { score: 0.521 })).to.equal(true);
        const rows = [0.5, 0.51, 0.521].map((score, id) => found({ id, score, isVerified: score < 0.52 }));
        expect(bestFirst(rows).map(({ score }) => score)).to.deep.equal([0.51, 0.521, 0.5]);
    });

    it('that equal in all keep the order of their package', () => {
        const rows = [3, 1, 2].map((id) => found({ id, score: 0.7 }));
        expect(bestFirst(rows).map(({ id }) => id)).to.deep.equal([1, 2, 3]);
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
