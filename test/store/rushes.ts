import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { openDb } from '../../shared/platform/db.ts';
import { earnContribution } from '../../shared/store/credits/bonuses.ts';
import { type Credits, openCredits } from '../../shared/store/credits/credits.ts';
import { eventually } from '../support/eventually.ts';
import { type Books, orderFor } from './books.ts';
import type { Link } from './link.ts';

/** Concurrent movements of credits. Each function fails if an amount is not exact. */

const MONTH = 31 * 86_400;

/** R11: holds and charges of one credit each. Every fifth loses the database's reply right after its commit. */
export async function loseAnswers(
    { books, credits, link }: { books: Books; credits: Credits; link: Link },
    { callers, calls }: { callers: number; calls: number },
): Promise<void> {
    const account = await books.user({ allowance: 5 * callers * calls });
    let lost = 0;
    const charged = await Promise.all(
        Array.from({ length: callers }, async () => {
            let sum = 0;
            for (let call = 0; call < calls; call++) {
                const order = orderFor(account, { userId: 'usr_nobody' });
                if (call % 5 === 0) lost += link.loseNextAnswer();
                await credits.hold(order);
                if (call % 5 === 1) lost += link.loseNextAnswer();
                const bill = await credits.charge({ operation: order.operation, amount: 1 });
                if (bill.ok) sum += bill.charged;
            }
            return sum;
        }),
    );
    const all = callers * calls;
    expect(lost, 'answers lost').to.be.at.least(calls / 5);
    expect(charged.reduce((sum, credits) => sum + credits, 0)).to.equal(all);
    expect(await books.credits.balance(account)).to.include({ available: 4 * all, held: 0 });
}

/**
 * R12: processes that each send one movement at a time, to one account. Every third call is cancelled, and every second charge is half of
 * the hold. They end when nothing is left.
 */
export async function spendOneByOne(
    books: Books,
    { processes, allowance, bonus }: { processes: number; allowance: number; bonus: number },
): Promise<void> {
    const account = await books.user({ allowance, bonus });
    const pools = Array.from({ length: processes }, () => openDb({ url: books.url, poolSize: 1, acquireTimeoutMs: 10_000 }));
    const open = new Set<string>();
    let spent = 0;
    const spend = async (credits: Credits) => {
        for (let turn = 0; ; turn++) {
            const order = orderFor(account, { userId: 'usr_nobody', maxUnits: 2 });
            open.add(order.operation);
            const held = await credits.hold(order);
            if (held.ok && turn % 3 === 2) await credits.release(order);
            else if (held.ok) {
                const bill = await credits.charge({ ...order, amount: Math.ceil(held.amount / (1 + (turn % 2))) });
                if (bill.ok) spent += bill.charged;
            }
            open.delete(order.operation);
            if (!held.ok) return;
        }
    };
    try {
        // Opening a connection may take more than the second that calls wait, so it happens before the test.
        for (const db of pools) await eventually(() => db.raw('select').then(Boolean, () => false), Boolean, 20_000);
        const ends = await Promise.allSettled(
            pools.map(async (db) => {
                const credits = openCredits(db);
                await spend(credits).finally(() => credits.close());
            }),
        );
        for (const end of ends) if (end.status === 'rejected') throw end.reason;
    } finally {
        for (const operation of open) await books.credits.release({ operation });
        await Promise.all(pools.map((db) => db.destroy()));
    }
    const left = await books.credits.balance(account);
    // A refused call may have failed while others still held credits that they returned.
    expect(spent + (left?.available ?? 0)).to.equal(allowance + bonus);
    expect(left).to.include({ held: 0 });
    const { rows } = await books.db.raw<{ rows: { from_bonus: number }[] }>('select from_bonus from holds where account_id = ?', [account]);
    expect(rows.some(({ from_bonus: credits }) => credits > 0)).to.equal(true);
}

/** R15: the first calls of a new month come at once. It begins once, whichever is first. */
export async function beginMonth(books: Books, { calls }: { calls: number }): Promise<void> {
    const allowance = calls / 2;
    const account = await books.user({ allowance });
    const spent = orderFor(account, { userId: 'usr_nobody', maxUnits: 0.6 * allowance });
    await books.credits.hold(spent);
    await books.credits.charge({ operation: spent.operation, amount: 0.6 * allowance });
    await books.advance(MONTH);
    const verdicts = await Promise.all(
        Array.from({ length: calls }, async (_, place) => {
            const credits = place % 2 ? books.credits : books.others;
            const { operation, ...order } = orderFor(account, { userId: 'usr_nobody' });
            return (await credits.hold({ operation, ...order })).ok && credits.charge({ operation, amount: 1 });
        }),
    );
    expect(verdicts.filter((verdict) => verdict !== false)).to.have.length(allowance);
    const turns = (await books.story(account)).filter((entry) => /^(expire|grant)/.test(entry));
    expect(turns).to.deep.equal([`grant +${allowance}`, `expire -${0.4 * allowance}`, `grant +${allowance}`]);
}

/** R15: months that end while calls run. Every credit that was granted is charged, expired or returned. */
export async function passMonths(books: Books, { months, callers }: { months: number; callers: number }): Promise<void> {
    const allowance = 100;
    const account = await books.user({ allowance });
    let isOver = false;
    let told = 0;
    const calling = Array.from({ length: callers }, async (_, place) => {
        const credits = place % 2 ? books.credits : books.others;
        for (let turn = place; !isOver; turn++) {
            const order = orderFor(account, { userId: 'usr_nobody', maxUnits: 1 + (turn % 4) });
            const held = await credits.hold(order);
            if (!held.ok) await pause(1);
            else if (turn % 9 === 0) await credits.release(order);
            else {
                const bill = await credits.charge({ operation: order.operation, amount: Math.ceil(held.amount / 2) });
                if (bill.ok) told += bill.charged;
            }
        }
    });
    for (let month = 0; month < months; month++) {
        await pause(20);
        await books.advance(MONTH);
        if (month % 2 === 0) await books.credits.sweep();
    }
    isOver = true;
    await Promise.all(calling);
    const balance = await books.credits.balance(account);
    expect(balance).to.include({ held: 0 });
    const used = await usedByMonth(books, account);
    expect(used).to.have.length.above(months / 2);
    // The rest of the current month is still available.
    for (const { sum, isOver: hasEnded } of used) expect(hasEnded ? sum : sum + (balance?.available ?? 0)).to.equal(allowance);
    const { rows } = await books.db.raw<{ rows: { charged: number }[] }>(
        "select sum(charged)::bigint as charged from holds where account_id = ? and state = 'charged'",
        [account],
    );
    expect(rows).to.deep.equal([{ charged: told }]);
}

/** The sum of charged, expired and returned credits of each month with any. */
async function usedByMonth({ db }: Books, account: string): Promise<{ sum: number; isOver: boolean }[]> {
    const { rows } = await db.raw<{ rows: { sum: number; isOver: boolean }[] }>(
        `select sum(credits)::bigint as sum, month < (select period_number from credit_accounts where id = :account) as "isOver" from (
            select period_number as month, charged as credits from holds where account_id = :account and state = 'charged'
            union all
            select h.period_number, -l.available_delta from ledger_entries l join holds h using (operation)
                where l.account_id = :account and l.kind = 'lapse'
            union all
            select substring(note from 'period (\\d+)')::integer, -available_delta from ledger_entries
                where account_id = :account and kind = 'expire'
        ) used group by month order by month`,
        { account },
    );
    return rows;
}

/** R16: the bonus of a first fetch is paid once. */
export async function fetchFirst(books: Books, { atOnce }: { atOnce: number }): Promise<void> {
    const user = await books.user({ allowance: atOnce });
    const bonuses = await Promise.all(Array.from({ length: atOnce }, (_, place) => fetchOnce(books, user, place)));
    expect(bonuses.filter((bonus) => bonus === 50)).to.have.length(1);
    expect(await books.credits.balance(user)).to.include({ available: 50, bonus: 50 });
}

/** R16: so is the bonus for an invitation, on the second day. */
export async function fetchInvited(books: Books, { atOnce }: { atOnce: number }): Promise<void> {
    const inviter = await books.user({});
    const invited = await books.user({ allowance: atOnce + 1, invitedBy: inviter });
    await fetchOnce(books, invited, 0);
    await books.advance(86_400);
    await Promise.all(Array.from({ length: atOnce }, (_, place) => fetchOnce(books, invited, place)));
    expect(await books.credits.balance(inviter)).to.include({ bonus: 100 });
}

/** R16: so is the bonus for a domain, to one of its first publishers. */
export async function contribute(books: Books, { atOnce, domain }: { atOnce: number; domain: string }): Promise<void> {
    const accounts = await Promise.all(Array.from({ length: 5 }, () => books.user({})));
    const earned = await Promise.all(
        Array.from({ length: atOnce }, (_, place) => earnContribution(books.db, accounts[place % 5] ?? '', domain)),
    );
    expect(earned.filter((credits) => credits === 50)).to.have.length(1);
    expect(earned.filter((credits) => credits === 0)).to.have.length(atOnce - 1);
}

/** A fetch of one credit, in one of two processes. Resolves with the bonus that it earned. */
async function fetchOnce(books: Books, user: string, place: number): Promise<number> {
    const credits = place % 2 ? books.credits : books.others;
    const order = orderFor(user);
    const held = await credits.hold(order);
    const bill = await credits.charge({ operation: order.operation, amount: 1 });
    if (!held.ok || !bill.ok) throw new Error('no charge');
    return bill.firstFetchBonus;
}
