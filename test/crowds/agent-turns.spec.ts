import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { createClientTurns } from '../../api/admission/event-loop-turns.ts';

describe('concurrent requests of agents', () => {
    it('start one in a turn of the event loop, client by client', async () => {
        const turns = createClientTurns(() => 0);
        const begun: string[] = [];
        const of = (client: string) => turns.wait(client).then(() => void begun.push(client));
        const all = Promise.all([of('crowd'), of('crowd'), of('crowd'), of('good')]);
        await turn();
        expect(begun).to.deep.equal(['crowd']);
        await all;
        expect(begun).to.deep.equal(['crowd', 'good', 'crowd', 'crowd']);
        await of('good');
        expect(begun.at(-1)).to.equal('good');
    });
});
