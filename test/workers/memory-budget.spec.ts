import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { circuitVerdict } from '../../shared/domain/fetch/circuit-verdict.ts';
import type { Effect } from '../../shared/domain/types.ts';
import { UpstreamFault } from '../../workers/upstream/failures.ts';
import { createMemoryBudget, type MemoryBudget, type Reservation } from '../../workers/upstream/memory-budget.ts';
import { createUpstream, type Upstream } from '../../workers/upstream.ts';
import { eventually } from '../support/eventually.ts';
import { openJobRunner } from '../support/jobs.ts';
import { loopbackRules, openSite, requestTo, type Site } from '../support/sites.ts';

const MIB = 1024 * 1024;

describe('the memory budget for large responses', () => {
    let budget: MemoryBudget;

    beforeEach(() => {
        budget = createMemoryBudget({ maxBytes: 100, small: 5 });
    });

    /** A reservation of this many bytes. */
    function holding(bytes: number, site = 'one.example'): Reservation {
        const reservation = budget.createReservation(site);
        expect(reservation.reserve(bytes)).to.equal(undefined);
        return reservation;
    }

    async function isWaiting(asked: Promise<void> | undefined): Promise<boolean> {
        const waits = Symbol('waits');
        return asked !== undefined && (await Promise.race([asked, Promise.resolve(waits)])) === waits;
    }

    it('is available to everybody while less is reserved than permitted', () => {
        for (const site of ['one.example', 'two.example']) holding(50, site);
        expect(budget.held()).to.equal(100);
    });

    it('is given to the first waiting call when others end', async () => {
        const [first, second] = [holding(50, 'one.example'), holding(40, 'two.example')];
        const [third, fourth] = ['three.example', 'four.example'].map((site) => budget.createReservation(site));
        const asked = [third?.reserve(50), fourth?.reserve(50)];
        expect(await Promise.all(asked.map(isWaiting))).to.deep.equal([true, true]);
        first.release();
        expect(await Promise.all(asked.map(isWaiting))).to.deep.equal([false, true]);
        second.settle(0);
        await asked[1];
        expect(budget.held()).to.equal(100);
    });

    it('is reserved for running reads, and only for the bytes that came', async () => {
        const large = holding(50, 'one.example');
        holding(40, 'two.example');
        const late = budget.createReservation('three.example').reserve(50);
        expect(await isWaiting(late)).to.equal(true);
        large.settle(10);
        await late;
        expect(budget.held()).to.equal(100);
    });

    it('is not freed by ending pages of other sites if a site waits for itself, unless all of it is reserved', async () => {
        const looked = createMemoryBudget({ maxBytes: 100, small: 5, checkMs: 1 });
        const ended: string[] = [];
        const begin = (site: string, bytes: number) => looked.createReservation(site).reserve(bytes, () => ended.push(site));
        begin('slow.example', 20);
        begin('full.example', 50);
        expect(await isWaiting(begin('full.example', 20))).to.equal(true);
        await eventually(
            async () => ended,
            (all) => all.includes('full.example'),
        );
        expect(ended).to.not.include('slow.example');
        expect(await isWaiting(begin('other.example', 50))).to.equal(true);
        await eventually(
            async () => ended,
            (all) => all.includes('slow.example'),
        );
    });

    it('is not given to small reads while a large one waits, unless that waits for its own site', async () => {
        const first = holding(50, 'one.example');
        const sameSite = budget.createReservation('one.example').reserve(30);
        holding(40, 'two.example');
        const large = budget.createReservation('three.example').reserve(50);
        const small = budget.createReservation('four.example').reserve(5);
        expect(await Promise.all([sameSite, large, small].map(isWaiting))).to.deep.equal([true, true, true]);
        // Ten are free by then: for the small one, and not for the large one before it.
        first.release();
        await sameSite;
        expect(await Promise.all([large, small].map(isWaiting))).to.deep.equal([true, true]);
    });

    it('is not blocked by calls that wait for their own site', async () => {
        holding(50, 'greedy.example');
        expect(await isWaiting(budget.createReservation('greedy.example').reserve(50))).to.equal(true);
        holding(50, 'other.example');
        expect(await isWaiting(budget.createReservation('greedy.example').reserve(50))).to.equal(true);
    });

    it('goes to the next when the first gives up', async () => {
        holding(50, 'one.example');
        holding(40, 'two.example');
        const [first, next] = [budget.createReservation('three.example'), budget.createReservation('four.example')];
        const asked = [first.reserve(50), next.reserve(10)];
        asked[0]?.catch(() => undefined);
        first.giveUp();
        await asked[1];
        expect(budget.held()).to.equal(100);
    });

    it('is limited to half for one site if others want the rest', async () => {
        holding(30, 'greedy.example');
        expect(await isWaiting(budget.createReservation('greedy.example').reserve(30))).to.equal(true);
        holding(30, 'other.example');
    });

    /** A call that keeps this many bytes of earlier pages, and reads none now. */
    function keeping(bytes: number, site: string): Reservation {
        const reservation = holding(bytes, site);
        reservation.keep(bytes);
        reservation.settle(0);
        return reservation;
    }

    it('is available beyond any limit to the call that has kept a large part the longest, so that it can end', async () => {
        const [first, second] = [keeping(20, 'one.example'), keeping(20, 'two.example')];
        holding(50, 'three.example');
        expect(first.reserve(50)).to.equal(undefined);
        expect(budget.held()).to.equal(140);
        const asked = second.reserve(50);
        expect(await isWaiting(asked)).to.equal(true);
        first.release();
        await asked;
        expect(budget.held()).to.equal(120);
    });

    it('goes to calls that keep a large part before those that keep nothing', async () => {
        const first = holding(50, 'one.example');
        const kept = keeping(20, 'two.example');
        holding(20, 'three.example');
        const walking = keeping(6, 'four.example');
        const asked = [budget.createReservation('five.example').reserve(50), walking.reserve(10)];
        expect(await Promise.all(asked.map(isWaiting))).to.deep.equal([true, true]);
        first.release();
        expect(await Promise.all(asked.map(isWaiting))).to.deep.equal([true, false]);
        kept.release();
        await asked[0];
    });

    it('is available beyond any limit to a call that reads a page and needs more, one after the other', async () => {
        const [first, second, third] = ['one.example', 'two.example', 'three.example'].map((site) => holding(33, site));
        expect(first?.reserve(40)).to.equal(undefined);
        const asked = [second?.reserve(40), third?.reserve(40)];
        expect(await Promise.all(asked.map(isWaiting))).to.deep.equal([true, true]);
        first?.keep(30);
        expect(await Promise.all(asked.map(isWaiting))).to.deep.equal([true, true]);
        expect(budget.held()).to.equal(96);
        first?.release();
        expect(await Promise.all(asked.map(isWaiting))).to.deep.equal([false, false]);
        expect(budget.held()).to.equal(80);
    });

    it('is limited to half for one site whatever its calls keep, except for the first of them', async () => {
        holding(10, 'other.example');
        const [first, second] = [keeping(20, 'greedy.example'), keeping(20, 'greedy.example')];
        expect(first.reserve(15)).to.equal(undefined);
        expect(await isWaiting(second.reserve(15))).to.equal(true);
        holding(30, 'another.example');
    });

    it('is reserved for small pages separately, and not together with what is kept from earlier ones', () => {
        const walking = budget.createReservation('one.example');
        expect(walking.mustReserve(5)).to.equal(false);
        walking.keep(3);
        expect([2, 3].map((bytes) => walking.mustReserve(bytes))).to.deep.equal([false, true]);
        expect(budget.held()).to.equal(0);
        walking.keep(3);
        expect(budget.held()).to.equal(6);
        walking.release();
        expect(budget.held()).to.equal(0);
    });

    it('gives calls that keep a little no priority over others', async () => {
        const reservations = Array.from({ length: 20 }, () => budget.createReservation('greedy.example'));
        const asked = reservations.map((reservation) => {
            reservation.keep(1);
            return reservation.reserve(20);
        });
        expect((await Promise.all(asked.map(isWaiting))).filter((waits) => !waits)).to.have.length(2);
        holding(50, 'other.example');
    });

    it('is available to one response that is larger than all of it', () => {
        holding(500);
    });

    it('is waited for no longer than the call’s deadline', async () => {
        holding(50);
        const late = budget.createReservation('one.example');
        const asked = late.reserve(20);
        late.giveUp();
        for (const refused of [asked, late.reserve(20)]) {
            const error = await refused?.then(
                () => undefined,
                (thrown: unknown) => thrown,
            );
            expect(error).to.be.instanceOf(UpstreamFault);
            expect((error as UpstreamFault).fault).to.deep.include({ code: 'OVERLOADED', retryAfter: 1, isTransient: false });
        }
        expect(budget.held()).to.equal(50);
    });

    it('lets every call end, and is empty afterwards', async () => {
        let peak = 0;
        const callers = Array.from({ length: 200 }, async (_, caller) => {
            const reservation = budget.createReservation(`site-${caller % 3}.example`);
            for (let page = 0; page < 1 + (caller % 3); page++) {
                reservation.settle(0);
                await reservation.reserve(1 + ((caller * 37) % 50));
                peak = Math.max(peak, budget.held());
                await new Promise((resolve) => setImmediate(resolve));
            }
            reservation.release();
        });
        await Promise.all(callers);
        expect(peak).to.be.within(50, 100);
        expect(budget.held()).to.equal(0);
    });
});

describe('large responses of concurrent calls', () => {
    const body = randomBytes(2 * MIB);
    let site: Site;
    let upstream: Upstream;
    let answer: (response: ServerResponse) => void;

    before(async () => {
        site = await openSite((_request, response) => answer(response));
        upstream = createUpstream({ rules: loopbackRules(`127.0.0.1:${site.port}`) });
    });

    after(async () => {
        upstream.close();
        await site.close();
    });

    const send = (reservation: Reservation, { ms = 20_000, effect = 'read' }: { ms?: number; effect?: Effect } = {}) =>
        upstream.send(requestTo(`http://shop.test:${site.port}/`), {
            site: 'shop.test',
            registrable: 'shop.test',
            effect,
            deadlineAt: Date.now() + ms,
            reservation,
        });

    it('are read one after the other if they do not fit at once', async () => {
        answer = (response) => response.end(body);
        let waiting = 0;
        const budget = createMemoryBudget({ maxBytes: 8 * MIB, onFull: () => waiting++ });
        const other = budget.createReservation('other.test');
        other.reserve(8 * MIB);
        let peak = 0;
        const calls = Array.from({ length: 16 }, async () => {
            const reservation = budget.createReservation('shop.test');
            const result = await send(reservation);
            peak = Math.max(peak, budget.held());
            expect(result.ok && body.equals(result.page.body)).to.equal(true);
            reservation.release();
        });
        await eventually(
            async () => waiting,
            (count) => count === 16,
            15_000,
        );
        other.release();
        await Promise.all(calls);
        // Half of the budget, in parts of 2 MiB.
        expect(peak).to.be.within(2 * MIB, 4 * MIB);
        expect(budget.held()).to.equal(0);
    });

    it('reserve their maximum if their size is unknown', async () => {
        answer = (response) => {
            response.write(body.subarray(0, MIB));
            answers.push(response);
        };
        const answers: ServerResponse[] = [];
        const budget = createMemoryBudget();
        const reservation = budget.createReservation('shop.test');
        const result = send(reservation);
        await eventually(
            async () => budget.held(),
            (held) => held === 5 * MIB,
        );
        for (const response of answers) response.end(body.subarray(MIB));
        expect((await result).ok).to.equal(true);
        expect(budget.held()).to.equal(body.length);
    });

    it('reserve nothing if they are small', async () => {
        answer = (response) => response.end(body.subarray(0, 256 * 1024));
        const budget = createMemoryBudget({ maxBytes: 1 });
        budget.createReservation('other.test').reserve(1);
        expect((await send(budget.createReservation('shop.test'))).ok).to.equal(true);
        expect(budget.held()).to.equal(1);
    });

    it('release their reservation when they end too early', async () => {
        answer = (response) => {
            response.writeHead(200, { 'content-length': 2 * MIB }).write(body.subarray(0, MIB), () => response.destroy());
        };
        const budget = createMemoryBudget();
        const result = await send(budget.createReservation('shop.test'), { effect: 'write' });
        expect(result).to.deep.include({ ok: false, code: 'UPSTREAM_UNREACHABLE' });
        expect(budget.held()).to.equal(0);
    });

    for (const [effect, code] of [
        ['read', 'OVERLOADED'],
        ['write', 'UPSTREAM_UNREACHABLE'],
    ] as const) {
        it(`end with ${code} if the site of a ${effect} would not wait until memory is free`, async () => {
            let waiting = 0;
            const budget = createMemoryBudget({ maxBytes: MIB, onFull: () => waiting++ });
            const other = budget.createReservation('other.test');
            other.reserve(MIB);
            answer = (response) => {
                response.writeHead(200, { 'content-length': 2 * MIB }).write(body.subarray(0, MIB));
                answered.push(response);
            };
            const answered: ServerResponse[] = [];
            const result = send(budget.createReservation('shop.test'), { effect, ms: 2000 });
            await eventually(
                async () => waiting,
                (count) => count === 1,
            );
            const began = performance.now();
            for (const response of answered) response.destroy();
            await eventually(
                async () => performance.now() - began,
                (waited) => waited > 1100,
            );
            other.release();
            expect(await result).to.deep.include({ ok: false, code });
            expect(budget.held()).to.equal(0);
        });
    }

    for (const [effect, code] of [
        ['read', 'OVERLOADED'],
        ['write', 'UPSTREAM_TIMEOUT'],
    ] as const) {
        it(`end with ${code} if there is no memory for a ${effect} by its deadline`, async () => {
            answer = (response) => response.end(body);
            const budget = createMemoryBudget({ maxBytes: MIB });
            budget.createReservation('other.test').reserve(MIB);
            const result = await send(budget.createReservation('shop.test'), { ms: 300, effect });
            expect(result).to.deep.include({ ok: false, code });
            expect(budget.held()).to.equal(MIB);
        });
    }

    it('are given up if they make hardly any progress while others wait, and not before', async () => {
        const stalled: ServerResponse[] = [];
        answer = (response) => {
            response.writeHead(200, { 'content-length': 2 * MIB }).write(body.subarray(0, MIB));
            stalled.push(response);
        };
        const budget = createMemoryBudget({ maxBytes: 4 * MIB, checkMs: 5 });
        const slow = send(budget.createReservation('shop.test'));
        await eventually(
            async () => budget.held(),
            (held) => held === 2 * MIB,
        );
        const second = budget.createReservation('shop.test').reserve(2 * MIB);
        expect(await slow).to.deep.include({ ok: false, code: 'UPSTREAM_TIMEOUT', attempts: 1 });
        await second;
        expect(stalled).to.have.length(1);
        expect(budget.held()).to.equal(2 * MIB);
    });

    it('are not given up while nobody waits, or while they make progress', async () => {
        const budget = createMemoryBudget({ maxBytes: 100, checkMs: 1 });
        const cut: string[] = [];
        const [lively, last] = ['lively.test', 'last.test'].map((site) => budget.createReservation(site));
        const stalled = budget.createReservation('stalled.test');
        stalled.reserve(20, () => {
            cut.push('stalled');
            stalled.release();
        });
        lively?.reserve(50, () => cut.push('lively'));
        expect(cut).to.deep.equal([]);
        const asked = last?.reserve(50);
        const news = setInterval(() => lively?.received(MIB), 1);
        await asked;
        clearInterval(news);
        expect(cut).to.deep.equal(['stalled']);
    });

    it('are given up if others wait for the memory of earlier pages, and the next page does not come', async () => {
        answer = () => {};
        const budget = createMemoryBudget({ maxBytes: 4 * MIB, checkMs: 5 });
        const walking = budget.createReservation('shop.test');
        walking.keep(3 * MIB);
        const result = send(walking);
        const other = budget.createReservation('other.test').reserve(2 * MIB);
        const message = 'Others wait for what this call keeps of its pages so far, and nothing came of the next one.';
        expect(await result).to.deep.include({ ok: false, code: 'OVERLOADED', message, retryAfter: 1, attempts: 1 });
        walking.release();
        await other;
        expect(budget.held()).to.equal(2 * MIB);
    });

    for (const [what, code, next] of [
        ['is to be asked for again later', 'UPSTREAM_STATUS', (response) => response.writeHead(503, { 'retry-after': '4' }).end()],
        [
            'is one place further each time',
            'OVERLOADED',
            (response) => setTimeout(() => response.writeHead(302, { location: `/${Math.random()}` }).end(), 40),
        ],
    ] satisfies [string, string, (response: ServerResponse) => unknown][]) {
        it(`are given up as well if the next page ${what}`, async () => {
            answer = next;
            const budget = createMemoryBudget({ maxBytes: 4 * MIB, checkMs: 5 });
            const walking = budget.createReservation('shop.test');
            walking.keep(3 * MIB);
            const result = send(walking);
            const other = budget.createReservation('other.test').reserve(2 * MIB);
            const ended = await result;
            expect(ended).to.deep.include({ ok: false, code });
            // Not three attempts, nor the maximum of redirects.
            if (!ended.ok) expect(ended.attempts).to.be.below(code === 'OVERLOADED' ? 6 : 2);
            walking.release();
            await other;
        });
    }

    it('have no effect on their site’s circuit if memory was missing', () => {
        const outcome = { ok: false, code: 'OVERLOADED', startedAt: 0 } as const;
        expect(circuitVerdict(outcome, { admittedAt: 0, deadlineAt: 60_000 })).to.equal('none');
    });
});

/** For this selection, on a machine that is many times slower. */
const PATIENCE_MS = 120_000;

/**
 * A small page, and a selection of nearly 7 MiB from it. Its items are few and long: the process that reads them uses little more than
 * their text, however late it collects its garbage, and stays far below its own limit.
 */
const ROWS = Array.from({ length: 20 }, (_, id) => ({ id, name: 'x'.repeat(1300) }));
const SIXTEEN = `[${Array.from({ length: 16 }, () => '@').join(',')}][]`;
const SELECT = { items: `rows | ${SIXTEEN} | ${SIXTEEN}` };

describe('paginated calls that select a large part of each small page', () => {
    it('read no page before there is memory for the selection, and block nobody if the next page does not come', async () => {
        const stalled = new Set<ServerResponse>();
        let peak = 0;
        let asked = 0;
        const site = await openSite(({ url }, response) => {
            if (url === '/?page=1') return response.setHeader('content-type', 'application/json').end(JSON.stringify({ rows: ROWS }));
            if (++asked === 6) return response.end('{"rows":[]}');
            stalled.add(response.once('close', () => stalled.delete(response)));
            peak = Math.max(peak, stalled.size);
            return undefined;
        });
        const runner = openJobRunner(
            'shop.test',
            loopbackRules(`127.0.0.1:${site.port}`),
            [
                {
                    name: 'rows',
                    kind: 'paginate',
                    method: 'GET',
                    url: `http://shop.test:${site.port}/`,
                    response: { select: SELECT },
                    pagination: { param: 'page' },
                },
            ],
            { memoryBudget: createMemoryBudget({ maxBytes: 32 * MIB, checkMs: 10 }), taskMs: PATIENCE_MS },
        );
        try {
            const call = { maxPages: 3, maxResults: 1e9, deadlineAt: Date.now() + PATIENCE_MS };
            const outcomes = await Promise.all(Array.from({ length: 6 }, () => runner.run('rows', {}, call)));
            const ends = outcomes.map((outcome) => (outcome.ok ? 'success' : outcome.code)).toSorted();
            expect(ends).to.deep.equal([...Array(5).fill('OVERLOADED'), 'success'].toSorted());
            // The site may use half of the budget, and each part takes nearly 7 MiB, so that a second one does not fit.
            expect(peak).to.equal(1);
            expect(runner.held()).to.equal(0);
        } finally {
            await runner.close();
            await site.close();
        }
    });
});

describe('a large selection from one small page', () => {
    it('uses memory until its outcome was delivered', async () => {
        const site = await openSite((_request, response) => {
            response.setHeader('content-type', 'application/json').end(JSON.stringify({ rows: ROWS }));
        });
        const url = `http://shop.test:${site.port}/`;
        const acts: (() => void)[] = [];
        const runner = openJobRunner(
            'shop.test',
            loopbackRules(`127.0.0.1:${site.port}`),
            [
                { name: 'rows', method: 'GET', url, response: { select: SELECT } },
                { name: 'few', method: 'GET', url, response: { select: { items: 'rows' } } },
            ],
            { afterwards: (act) => acts.push(act), taskMs: PATIENCE_MS },
        );
        try {
            const outcome = await runner.run('rows', {}, { maxResults: 1e9, deadlineAt: Date.now() + PATIENCE_MS });
            if (!outcome.ok) throw new Error(outcome.code);
            expect(outcome.text.length).to.be.above(6 * MIB);
            expect(runner.held()).to.equal(Buffer.byteLength(outcome.text));
            expect((await runner.run('few')).ok).to.equal(true);
            expect(runner.held(), 'small ones take none').to.equal(Buffer.byteLength(outcome.text));
            for (const act of acts) act();
            expect(runner.held()).to.equal(0);
        } finally {
            await runner.close();
            await site.close();
        }
    });
});
