import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { ANSWER_READER_NICENESS } from '../../shared/platform/low-priority.ts';
import { openProcessPool, type ProcessPool } from '../../workers/select/process-pool.ts';
import { eventually } from '../support/eventually.ts';

/** A process that obeys commands and returns what it did. */
const PROCESS = `
    import { answerTasks } from ${JSON.stringify(new URL('../../workers/select/child-loop.ts', import.meta.url).href)};
    const kept = [];
    answerTasks(({ does, ms, body }) => {
        const until = performance.now() + ms;
        if (does === 'wait') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
        while (does === 'work' && performance.now() < until);
        while (does === 'grow') kept.push(Buffer.alloc(1024 * 1024, 1));
        if (does === 'heap') kept.push('x'.repeat(4_000_000).split('').concat(new Array(100_000_000).fill(1.5)));
        if (does === 'break') throw new Error('a bug');
        return { did: does, length: body.length };
    });
`;

const MIB = 1024 * 1024;
const AUTOGROUP = '/proc/self/autogroup';

/** The niceness of each child process that runs `program`, and of its session, on Linux. */
function nicenessOf(program: string): { nice: number; session: number }[] {
    return readdirSync('/proc').flatMap((pid) => {
        try {
            const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
            const [, parent, , , , , , , , , , , , , , , nice] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
            const isMeant = Number(parent) === process.pid && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(program);
            if (!isMeant) return [];
            const group = existsSync(AUTOGROUP) ? readFileSync(`/proc/${pid}/autogroup`, 'utf8') : `nice ${ANSWER_READER_NICENESS}`;
            return [{ nice: Number(nice), session: Number(/nice (-?\d+)/.exec(group)?.[1]) }];
        } catch {
            return [];
        }
    });
}

describe('a pool of processes', () => {
    const folder = mkdtempSync(join(tmpdir(), 'routebook-pool-'));
    let pool: ProcessPool;

    before(() => {
        const file = join(folder, 'process.mjs');
        writeFileSync(file, PROCESS);
        pool = openProcessPool(pathToFileURL(file), new Map([['one', []]]), { max: 1 });
    });
    after(async () => {
        await pool.close();
        rmSync(folder, { recursive: true });
    });

    interface Options {
        owner?: string;
        caller?: string;
        isHeavy?: boolean;
        bytes?: number;
    }
    const run = (does: string, ms = 0, { owner = 'a', caller = owner, isHeavy = false, bytes = 0 }: Options = {}) =>
        pool.run({
            kind: 'one',
            owner,
            caller,
            isHeavy,
            task: { does, ms, body: new Uint8Array(bytes) },
            // The remaining CPU time of a call is rarely an integer.
            cpuMs: 100.5,
            growthBytes: 64 * MIB,
        });

    async function expectDone(does: string): Promise<void> {
        const ran = await run(does, 1);
        expect(ran).to.deep.include({ answer: { did: does, length: 0 } });
    }

    it('kills a task that computes for too long, and runs the next one at once', async () => {
        expect(await run('work', 60_000)).to.equal('overrun');
        await expectDone('work');
    });

    it('kills a task that uses too much memory, within V8 and beside it', async () => {
        for (const does of ['grow', 'heap']) {
            expect(await run(does), does).to.equal('overrun');
            await expectDone('work');
        }
    });

    it('does not count waiting as work, such as for a core of a busy machine', async function () {
        if (process.platform !== 'linux') this.skip();
        expect(await run('wait', 300)).to.deep.include({ answer: { did: 'wait', length: 0 } });
    });

    it('gives up a task that never ends, even without CPU time', async () => {
        expect(await run('wait', 60_000)).to.equal('overrun');
        await expectDone('work');
    });

    it('runs with the lowest priority of the machine', async function () {
        if (process.platform !== 'linux') this.skip();
        await expectDone('work');
        await eventually(
            async () => nicenessOf('process.mjs'),
            (seen) => isDeepStrictEqual(seen, [{ nice: ANSWER_READER_NICENESS, session: ANSWER_READER_NICENESS }]),
        );
    });

    it('starts with the priority of the machine, so that the first answer does not wait; a killed one is replaced with a low one', async function () {
        if (process.platform !== 'linux') this.skip();
        const file = join(folder, 'slow-start.mjs');
        writeFileSync(file, `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);${PROCESS}`);
        const slow = openProcessPool(pathToFileURL(file), new Map([['one', []]]), { max: 1 });
        const work = (ms: number) => {
            const task = { does: 'work', ms, body: new Uint8Array() };
            return slow.run({ kind: 'one', owner: 'a', caller: 'a', isHeavy: false, task, cpuMs: 100, growthBytes: 64 * MIB });
        };
        const starting = async (nice: number): Promise<void> => {
            const done = work(1);
            await eventually(
                async () => nicenessOf('slow-start.mjs'),
                ([child]) => child?.nice === nice,
            );
            expect(await done).to.be.an('object');
        };
        try {
            await starting(getPriority());
            expect(await work(60_000)).to.equal('overrun');
            await starting(ANSWER_READER_NICENESS);
        } finally {
            await slow.close();
        }
    });

    it('transfers bodies of some MiB', async () => {
        expect(await run('work', 0, { bytes: 5 * MIB })).to.deep.include({ answer: { did: 'work', length: 5 * MIB } });
    });

    it('reports a bug, and runs the next task', async () => {
        const failure = await run('break').catch((error: unknown) => error);
        expect(String(failure)).to.contain('a bug');
        await expectDone('work');
    });

    it('alternates between callers, however many owners one of them has', async () => {
        const order: string[] = [];
        const one = (owner: string, caller: string) => run('work', 5, { owner, caller, isHeavy: true }).then(() => order.push(caller));
        const greedy = ['a', 'b', 'c', 'd', 'e'].map((owner) => one(owner, 'greedy'));
        await Promise.all([...greedy, one('modest', 'modest')]);
        expect(order.indexOf('modest')).to.be.at.most(2);
    });

    it('leaves a process to others beside the heavy tasks of one caller', async () => {
        const two = openProcessPool(pathToFileURL(join(folder, 'process.mjs')), new Map([['one', []]]), { max: 2 });
        const order: string[] = [];
        const one = async (owner: string, caller: string, ms: number) => {
            const task = { does: 'work', ms, body: new Uint8Array() };
            await two.run({ kind: 'one', owner, caller, isHeavy: true, task, cpuMs: 5000, growthBytes: 64 * MIB });
            order.push(caller);
        };
        // Both processes run before.
        await Promise.all([one('a', 'one', 800), one('b', 'other', 800)]);
        const greedy = ['a', 'b'].map((owner) => one(owner, 'greedy', 1000));
        await Promise.all([...greedy, one('modest', 'modest', 1)]);
        await two.close();
        expect(order.slice(2)).to.deep.equal(['modest', 'greedy', 'greedy']);
    });

    it('gives all processes to a caller who is alone', async () => {
        const two = openProcessPool(pathToFileURL(join(folder, 'process.mjs')), new Map([['one', []]]), { max: 2 });
        const order: string[] = [];
        const one = async (owner: string, ms: number) => {
            const task = { does: 'work', ms, body: new Uint8Array() };
            await two.run({ kind: 'one', owner, caller: 'only', isHeavy: true, task, cpuMs: 5000, growthBytes: 64 * MIB });
            order.push(owner);
        };
        // Both processes run before.
        await Promise.all([one('a', 800), one('b', 800)]);
        await Promise.all([one('slow', 1500), one('fast', 1)]);
        await two.close();
        expect(order.slice(2)).to.deep.equal(['fast', 'slow']);
    });

    it('alternates between owners, each with one heavy task at a time', async () => {
        const order: string[] = [];
        const one = (owner: string) => run('work', 5, { owner, isHeavy: true }).then(() => order.push(owner));
        await Promise.all([one('greedy'), one('greedy'), one('greedy'), one('greedy'), one('modest')]);
        // One of the other tasks was running, and one waited before it came.
        expect(order.indexOf('modest')).to.be.at.most(2);
    });
});
