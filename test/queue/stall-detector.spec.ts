import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createStallDetector } from '../../shared/platform/stall-detector.ts';

describe('a call to a server that may stall', () => {
    const never = () => new Promise<never>(() => undefined);
    const msOf = async (asked: Promise<unknown>) => {
        const begun = performance.now();
        const error = await asked.catch((reason: unknown) => reason);
        expect(error).to.be.instanceOf(Error);
        return performance.now() - begun;
    };

    it('gives up after a second, later calls after 200 ms, and waits longer again once the server responds', async () => {
        const { guard } = createStallDetector('server');
        expect(await msOf(guard(never()))).to.be.within(950, 1250);
        expect(await msOf(guard(never()))).to.be.within(150, 400);
        expect(await guard(Promise.resolve('here'))).to.equal('here');
        expect(await msOf(guard(never()))).to.be.within(950, 1250);
    });

    it('keeps waiting while other calls are answered, however long it takes', async () => {
        const { guard } = createStallDetector('server');
        const last = guard(sleep(1500, 'last'));
        for (let time = 0; time < 3; time++) await guard(sleep(450));
        expect(await last).to.equal('last');
    });

    it('does not mistake its own delay or a pause of the machine for a stall of the server', async () => {
        const { guard } = createStallDetector('server');
        const answer = Promise.withResolvers<string>();
        const asked = guard(answer.promise);
        await sleep(100);
        const over = performance.now() + 1200;
        while (performance.now() < over);
        // The server was paused as well, and responds a moment later.
        await sleep(100);
        answer.resolve('here');
        expect(await asked).to.equal('here');
    });

    it('passes on the errors of the server', async () => {
        const { guard } = createStallDetector('server');
        const error = await guard(Promise.reject(new Error('READONLY'))).catch((reason: unknown) => reason);
        expect(error).to.have.property('message', 'READONLY');
    });
});
