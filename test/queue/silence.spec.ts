import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createSilenceGuard } from '../../shared/silence.ts';

describe('whoever asks a server that may fall silent', () => {
    const never = () => new Promise<never>(() => undefined);
    const msOf = async (asked: Promise<unknown>) => {
        const begun = performance.now();
        const error = await asked.catch((reason: unknown) => reason);
        expect(error).to.be.instanceOf(Error);
        return performance.now() - begun;
    };

    it('gives up after a second, from then on after 200 ms, and is patient again once it is heard', async () => {
        const { ask } = createSilenceGuard('server');
        expect(await msOf(ask(never()))).to.be.within(950, 1250);
        expect(await msOf(ask(never()))).to.be.within(150, 400);
        expect(await ask(Promise.resolve('here'))).to.equal('here');
        expect(await msOf(ask(never()))).to.be.within(950, 1250);
    });

    it('waits on while others are answered, however long it takes', async () => {
        const { ask } = createSilenceGuard('server');
        const last = ask(sleep(1500, 'last'));
        for (let time = 0; time < 3; time++) await ask(sleep(450));
        expect(await last).to.equal('last');
    });

    it('takes no turn of its own, and no pause of the machine, for a silence of the server', async () => {
        const { ask } = createSilenceGuard('server');
        const answer = Promise.withResolvers<string>();
        const asked = ask(answer.promise);
        await sleep(100);
        const over = performance.now() + 1200;
        while (performance.now() < over);
        // The server was paused as well, and answers a moment later.
        await sleep(100);
        answer.resolve('here');
        expect(await asked).to.equal('here');
    });

    it('is told the errors of the server as they are', async () => {
        const { ask } = createSilenceGuard('server');
        const error = await ask(Promise.reject(new Error('READONLY'))).catch((reason: unknown) => reason);
        expect(error).to.have.property('message', 'READONLY');
    });
});
