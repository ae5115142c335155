import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { openDb } from '../../shared/platform/db.ts';
import { changePlan } from '../../shared/store/credits/accounts.ts';
import { openCredits } from '../../shared/store/credits/credits.ts';
import { checkLedger } from '../../shared/store/credits/ledger.ts';
import { type Books, openBooks, orderFor } from '../store/books.ts';
import { LIFE, live } from '../store/credit-model.ts';
import { openLink } from '../store/link.ts';
import { beginMonth, contribute, fetchFirst, fetchInvited, loseAnswers, passMonths } from '../store/rushes.ts';

describe('credits', () => {
    let books: Books;
    beforeEach(async () => {
        books = await openBooks();
    });
    afterEach(async () => {
        await books.expectRightBooks();
        await books.close();
    });

    it('match a model of the billing rules in 1,000 random histories (R17)', async () => {
        await fc.assert(
            fc.asyncProperty(LIFE, async (steps) => {
                await books.setTime('2027-01-31T12:00:00Z');
                await live(books, steps);
            }),
            { numRuns: 1000 },
        );
    });

    it('pay for exactly 5,000 of 10,000 simultaneous debits over four connection pools, ten times (R12)', async () => {
        const pools = [1, 2, 3, 4].map(() => openDb({ url: books.url }));
        const credits = pools.map((db) => openCredits(db));
        for (let round = 0; round < 10; round++) {
            const account = await books.user({ allowance: 2500, bonus: 2500 });
            const begun = performance.now();
            const held = await Promise.all(
                Array.from({ length: 10_000 }, async (_, place) => {
                    const one = credits[place % 4] ?? books.credits;
                    const verdict = await one.hold(orderFor(account, { userId: 'usr_nobody' }));
                    return verdict.ok && (await one.charge({ operation: verdict.operation, amount: 1 })).ok;
                }),
            );
            expect(held.filter((isCharged) => isCharged)).to.have.length(5000);
            expect(performance.now() - begun).to.be.below(10_000);
            expect(await books.credits.balance(account)).to.include({ available: 0, held: 0 });
        }
        await Promise.all(credits.map((one) => one.close()));
        await Promise.all(pools.map((db) => db.destroy()));
    });

    it('are moved once in 10,000 calls of which each fifth loses the answer of a commit (R11)', async () => {
        const link = await openLink(books.url);
        const db = openDb({ url: link.url });
        const credits = openCredits(db, { patienceMs: 10_000, settlePatienceMs: 10_000 });
        await loseAnswers({ books, credits, link }, { callers: 16, calls: 625 });
        await credits.close();
        await db.destroy();
        await link.close();
    });

    it('are renewed once a month, whichever of 2,000 calls is first, and no call is charged to two of 60 months under load (R15)', async () => {
        await books.setTime('2027-05-01T00:00:00Z');
        for (let time = 0; time < 20; time++) await beginMonth(books, { calls: 2000 });
        await passMonths(books, { months: 60, callers: 32 });
    });

    it('include each bonus once when it is claimed 100 times at once, 50 times (R16)', async () => {
        await books.setTime('2027-05-10T00:00:00Z');
        for (let time = 0; time < 50; time++) {
            await fetchFirst(books, { atOnce: 100 });
            await fetchInvited(books, { atOnce: 100 });
            await contribute(books, { atOnce: 100, domain: `contested-${time}.example` });
        }
    });

    it('are exact while connections are killed, months pass, plans change and sweepers run (R11, R15, R17)', async () => {
        const people = await Promise.all(Array.from({ length: 40 }, () => books.user({ allowance: 200, bonus: 20 })));
        const workspaces = await Promise.all(people.slice(0, 10).map((owner) => books.workspace(owner)));
        const answered = new Map<string, number>();
        let isOver = false;
        const disturbances = Promise.all([
            repeat(250, killConnections),
            repeat(100, () => Promise.all([books.credits.sweep(), books.others.sweep()])),
            repeat(700, () => books.advance(5 * 86_400)),
            repeat(300, changeSomePlan),
            repeat(500, async () => expect(await checkLedger(books.db)).to.deep.equal([])),
        ]);
        await Promise.all(Array.from({ length: 64 }, (_, caller) => call(caller)));
        isOver = true;
        await disturbances;
        // Calls whose hold or release was lost with a connection expire here.
        await books.advance(86_400);
        while ((await books.credits.sweep()).released > 0);

        const { rows } = await books.db.raw<{ rows: { operation: string; charged: number }[] }>(
            "select operation, charged from holds where state = 'charged'",
        );
        const charged = new Map(rows.map((row) => [row.operation, row.charged]));
        for (const [operation, amount] of answered) expect(charged.get(operation), operation).to.equal(amount);
        expect(answered.size, 'answered charges').to.be.above(5000);
        expect(charged.size, 'charges in the ledger are answered charges').to.equal(answered.size);

        async function call(caller: number): Promise<void> {
            const end = performance.now() + 20_000;
            for (let turn = 0; performance.now() < end; turn++) {
                const place = (caller + turn) % people.length;
                const userId = people[place] ?? '';
                const accountId = turn % 3 === 0 ? (workspaces[place] ?? userId) : userId;
                const credits = caller % 2 ? books.credits : books.others;
                const order = orderFor(accountId, { userId, unit: 1 + (turn % 3), maxUnits: 1 + (turn % 5), expiresInMs: 86_000_000 });
                const held = await credits.hold(order).catch(() => undefined);
                if (held === undefined || !held.ok) {
                    await pause(1);
                    continue;
                }
                if (turn % 7 === 0) {
                    await credits.release(order).catch(() => undefined);
                    continue;
                }
                const bill = await credits.charge({ operation: held.operation, amount: Math.ceil(held.amount / 2) });
                if (bill.ok) answered.set(held.operation, bill.charged);
            }
        }

        async function repeat(everyMs: number, work: () => Promise<unknown>): Promise<void> {
            while (!isOver) {
                await pause(everyMs);
                // A connection may be killed during any of these. Only the ledger is checked.
                await work().catch((error: unknown) => {
                    if (error instanceof Error && error.name === 'AssertionError') throw error;
                });
            }
        }

        async function killConnections(): Promise<void> {
            await books.db.raw(
                `select pg_terminate_backend(pid) from pg_stat_activity
                 where datname = current_database() and pid <> pg_backend_pid() and random() < 0.3`,
            );
        }

        async function changeSomePlan(): Promise<void> {
            const workspace = workspaces[Math.floor(Math.random() * workspaces.length)] ?? '';
            const plan = (['free', 'starter', 'pro'] as const)[Math.floor(Math.random() * 3)] ?? 'free';
            await changePlan(books.db, workspace, { plan, planAllowance: plan === 'free' ? 200 : 900 });
        }
    });
});
