import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { join, type Person } from '../support/people.ts';
import { codeOf, INTENT } from '../support/routes.ts';
import { useWorld } from '../support/world.ts';

const MANY = 350;

describe('an account that is refused again and again', () => {
    const world = useWorld({ workers: 0 });
    const lookUp = (person: Person) => person.call('GET', `/v1/catalog/nobody.test?intent=${encodeURIComponent(INTENT)}`);

    it('is answered later than others', async () => {
        const [crowd, good] = [await join(world, { overrides: { perMinute: 1 } }), await join(world)];
        const codes: (string | undefined)[] = [];
        const all = Array.from({ length: MANY }, () => lookUp(crowd).then((answer) => codes.push(codeOf(answer))));
        await eventually(
            async () => codes.length,
            (count) => count >= 0.8 * MANY,
        );
        const order: string[] = [];
        await Promise.all([lookUp(crowd).then(() => order.push('crowd')), lookUp(good).then(() => order.push('good'))]);
        expect(order).to.deep.equal(['good', 'crowd']);
        await Promise.all(all);
        expect(codes.filter((code) => code === 'RATE_LIMITED')).to.have.lengthOf(MANY - 1);
    });
});
