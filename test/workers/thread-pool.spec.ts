import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { openThreadPool, type ThreadPool } from '../../workers/select/pool.ts';

/** A thread that does as it is told, for so many milliseconds, and answers with what it did. */
const THREAD = `
    import { parentPort } from 'node:worker_threads';
    parentPort.on('message', ({ does, ms }) => {
        const until = performance.now() + ms;
        if (does === 'wait') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
        while (does === 'work' && performance.now() < until);
        parentPort.postMessage(does);
    });
    parentPort.postMessage('ready');
`;

describe('a pool of threads', () => {
    const taskMs = 100;
    let pool: ThreadPool<{ does: 'work' | 'wait'; ms: number }, string>;

    before(() => {
        pool = openThreadPool(new URL(`data:text/javascript,${encodeURIComponent(THREAD)}`), { threads: 1, taskMs, heapMb: 32 });
    });
    after(() => pool.close());

    it('ends what works for too long, and does the next task at once', async () => {
        expect(await pool.run({ does: 'work', ms: 60_000 })).to.equal('overrun');
        expect(await pool.run({ does: 'work', ms: 1 })).to.equal('work');
    });

    it('does not take the time for which a thread waits, as for a core on a busy machine, for work', async function () {
        if (!('cpuUsage' in Worker.prototype)) this.skip();
        expect(await pool.run({ does: 'wait', ms: 3 * taskMs })).to.equal('wait');
    });

    it('gives up what never comes to an end, though it does no work', async () => {
        expect(await pool.run({ does: 'wait', ms: 60_000 })).to.equal('overrun');
        expect(await pool.run({ does: 'work', ms: 1 })).to.equal('work');
    });
});
