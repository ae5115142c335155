import { expect } from 'chai';
import fc from 'fast-check';
import { newId } from '../../shared/domain/text/ids.ts';
import { setLimits } from '../../shared/store/credits/accounts.ts';
import { grantBonus } from '../../shared/store/credits/bonuses.ts';
import { type Books, orderFor } from './books.ts';

const DAY_MS = 86_400_000;

/** The product's promises about one account, in the simplest form. */
interface Account {
    id: string;
    anchor: Date;
    period: number;
    limit: number;
    allowance: number;
    bonus: number;
    hasCharged: boolean;
    /** The time from which a charge pays the inviter. */
    referralFrom: number;
    inviter: Account | undefined;
}

interface Hold {
    operation: string;
    account: Account;
    allowance: number;
    bonus: number;
    period: number;
    isMarked: boolean;
    isOpen: boolean;
    expiresAt: number;
}

/** Whether a movement runs alone or together with others. The result must be the same. */
interface Travel {
    isAlone: boolean;
}

type Step =
    | ({ do: 'hold'; who: number; unit: number; units: number; days: number } & Travel)
    | ({ do: 'charge'; which: number; amount: number } & Travel)
    | ({ do: 'release'; which: number } & Travel)
    | { do: 'mark'; which: number }
    | { do: 'grant'; who: number; credits: number }
    | { do: 'limit'; who: number; credits: number }
    | { do: 'wait'; days: number }
    | { do: 'sweep' };

const who = fc.nat({ max: 2 });
const which = fc.nat({ max: 40 });
const isAlone = fc.boolean();

/** Steps of three accounts, each invited by the previous one. */
export const LIFE: fc.Arbitrary<Step[]> = fc.array(
    fc.oneof(
        {
            weight: 5,
            arbitrary: fc.record({
                do: fc.constant('hold' as const),
                who,
                unit: fc.integer({ min: 1, max: 6 }),
                units: fc.integer({ min: 1, max: 9 }),
                days: fc.integer({ min: 1, max: 50 }),
                isAlone,
            }),
        },
        { weight: 4, arbitrary: fc.record({ do: fc.constant('charge' as const), which, amount: fc.nat({ max: 40 }), isAlone }) },
        { weight: 1, arbitrary: fc.record({ do: fc.constant('release' as const), which, isAlone }) },
        { weight: 1, arbitrary: fc.record({ do: fc.constant('mark' as const), which }) },
        { weight: 1, arbitrary: fc.record({ do: fc.constant('grant' as const), who, credits: fc.integer({ min: 1, max: 20 }) }) },
        { weight: 1, arbitrary: fc.record({ do: fc.constant('limit' as const), who, credits: fc.nat({ max: 40 }) }) },
        { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), days: fc.integer({ min: 1, max: 40 }) }) },
        { weight: 1, arbitrary: fc.record({ do: fc.constant('sweep' as const) }) },
    ),
    { minLength: 1, maxLength: 40 },
);

/** Runs the steps in the database and in the model, and compares every result and every balance. */
export async function live(books: Books, steps: readonly Step[]): Promise<void> {
    const accounts: Account[] = [];
    const holds: Hold[] = [];
    for (const limit of [20, 20, 20]) {
        const inviter = accounts.at(-1);
        const id = await books.user({ allowance: limit, ...(inviter && { invitedBy: inviter.id }) });
        const { rows } = await books.db.raw<{ rows: { anchored_at: Date }[] }>('select anchored_at from credit_accounts where id = ?', [
            id,
        ]);
        const anchor = rows[0]?.anchored_at ?? new Date(0);
        accounts.push({
            id,
            anchor,
            period: 1,
            limit,
            allowance: limit,
            bonus: 0,
            hasCharged: false,
            referralFrom: Number.POSITIVE_INFINITY,
            inviter,
        });
    }
    let now = Math.max(...accounts.map(({ anchor }) => anchor.getTime()));
    for (const step of steps) {
        await take(step);
        for (const account of accounts) {
            turn(account, now);
            const held = holds.filter((hold) => hold.account === account && hold.isOpen);
            expect(await books.credits.balance(account.id), JSON.stringify(step)).to.deep.include({
                allowance: { limit: account.limit, remaining: account.allowance },
                bonus: account.bonus,
                held: held.reduce((sum, { allowance, bonus }) => sum + allowance + bonus, 0),
            });
        }
    }
    for (const { operation, isOpen } of holds) if (isOpen) await books.credits.release({ operation });

    async function take(step: Step): Promise<void> {
        switch (step.do) {
            case 'hold':
                return takeHold(pick(accounts, step.who), step);
            case 'charge':
            case 'release':
                return takeEnd(pick(holds, step.which), step.do === 'charge' ? step.amount : undefined, step);
            case 'mark':
                return takeMark(pick(holds, step.which));
            case 'grant': {
                const account = pick(accounts, step.who);
                if (account) account.bonus += step.credits;
                if (account) await grantBonus(books.db, account.id, step.credits, 'model');
                return;
            }
            case 'limit': {
                const account = pick(accounts, step.who);
                if (account === undefined) return;
                const used = account.limit - account.allowance;
                account.limit = step.credits;
                account.allowance = Math.max(0, step.credits - used);
                return setLimits(books.db, account.id, { plan: 'free', planAllowance: 20, overrides: { allowance: step.credits } });
            }
            case 'wait':
                now += step.days * DAY_MS;
                return books.advance(step.days * 86_400);
            case 'sweep':
                for (const hold of holds) if (hold.expiresAt <= now) end(hold, 0);
                await books.credits.sweep();
        }
    }

    async function takeHold(
        account: Account | undefined,
        { unit, units, days, isAlone }: { unit: number; units: number; days: number } & Travel,
    ): Promise<void> {
        if (account === undefined) return;
        const paid = Math.min(units, Math.floor((account.allowance + account.bonus) / unit));
        const order = orderFor(account.id, { operation: newId('op'), unit, maxUnits: units, expiresInMs: days * DAY_MS - 3_600_000 });
        const verdict = await travel(isAlone, books.credits.hold(order));
        if (paid === 0) return void expect(verdict).to.deep.equal({ ok: false, available: account.allowance + account.bonus });
        const allowance = Math.min(paid * unit, account.allowance);
        const hold = { operation: order.operation, account, allowance, bonus: paid * unit - allowance, period: account.period };
        account.allowance -= hold.allowance;
        account.bonus -= hold.bonus;
        holds.push({ ...hold, isMarked: false, isOpen: true, expiresAt: now + days * DAY_MS });
        expect(verdict).to.include({ ok: true, units: paid, amount: paid * unit, availableAfter: account.allowance + account.bonus });
    }

    async function takeEnd(hold: Hold | undefined, amount: number | undefined, { isAlone }: Travel): Promise<void> {
        if (hold === undefined) return;
        const { isOpen, account } = hold;
        const charged = Math.min(amount ?? 0, hold.allowance + hold.bonus);
        const isFirst = isOpen && charged > 0 && !account.hasCharged;
        end(hold, charged);
        if (isOpen && charged > 0 && account.referralFrom <= now && account.inviter) {
            account.referralFrom = Number.POSITIVE_INFINITY;
            account.inviter.bonus += 100;
        }
        if (isFirst) {
            account.hasCharged = true;
            account.bonus += 50;
            account.referralFrom = (Math.floor(now / DAY_MS) + 1) * DAY_MS;
        }
        const available = account.allowance + account.bonus;
        if (amount === undefined) {
            const { before } = await travel(isAlone, books.credits.release(hold));
            expect(before === (hold.isMarked ? 'sent' : 'held')).to.equal(isOpen);
            return;
        }
        const verdict = await travel(isAlone, books.credits.charge({ operation: hold.operation, amount }));
        if (isOpen) expect(verdict).to.deep.equal({ ok: true, charged, available, firstFetchBonus: isFirst ? 50 : 0 });
        else expect(verdict).to.include({ ok: false, available });
    }

    /** Adds a movement that changes nothing: the end of an operation that does not exist. */
    async function travel<T>(isAlone: boolean, movement: Promise<T>): Promise<T> {
        const [moved] = await Promise.all([movement, ...(isAlone ? [] : [books.credits.release({ operation: newId('op') })])]);
        return moved;
    }

    async function takeMark(hold: Hold | undefined): Promise<void> {
        if (hold === undefined) return;
        expect(await books.credits.markSent(hold.operation)).to.equal(hold.isOpen && !hold.isMarked);
        if (hold.isOpen) hold.isMarked = true;
    }
}

function end(hold: Hold, charged: number): void {
    if (!hold.isOpen) return;
    hold.isOpen = false;
    const { account } = hold;
    const fromAllowance = Math.min(charged, hold.allowance);
    if (hold.period === account.period) account.allowance = Math.min(account.limit, account.allowance + hold.allowance - fromAllowance);
    account.bonus += hold.bonus - (charged - fromAllowance);
}

function turn(account: Account, now: number): void {
    let isOver = false;
    while (monthsAfter(account.anchor, account.period).getTime() <= now) {
        account.period += 1;
        isOver = true;
    }
    if (isOver) account.allowance = account.limit;
}

function monthsAfter(anchor: Date, months: number): Date {
    const end = new Date(anchor);
    end.setUTCMonth(anchor.getUTCMonth() + months);
    // The day overflowed into the next month. Use the last day of the month before.
    if (end.getUTCDate() !== anchor.getUTCDate()) end.setUTCDate(0);
    return end;
}

function pick<T>(list: readonly T[], place: number): T | undefined {
    return list[place % Math.max(1, list.length)];
}
