import { newTimedId } from '../../domain/text/ids.ts';
import type { Db } from '../../platform/db.ts';
import { type HoldOrder, type MovedRow, move, type Settlement } from '../credits/moves.ts';
import type { HoldEnd, LockedJob } from './write-ends.ts';

/**
 * The credits of jobs. The items of a batch that start together share a hold: the sum of their highest costs, which is charged in parts as
 * they end. A single job has a hold of its own, like a fetch; and so has a write, because the mark that it was sent is on its hold.
 */

/** Credits of a started job, as whole units. */
export interface Held {
    hold: string;
    amount: number;
    units: number;
}

const TIMEOUT_MS = 5000;

/**
 * Holds the maximum costs of these jobs: items of one batch, or one single job. Holds for as many whole jobs as the account can pay, in
 * their order. If it can pay none and holds nothing else, the first job holds what is available, at least one unit.
 * @returns what each job holds, by its operation; `stale`: its site has changed since its look-up. Jobs that must wait for credits are
 * absent.
 */
export async function holdJobs(trx: Db, orders: readonly HoldOrder[], batchId: string | null): Promise<Map<string, Held | 'stale'>> {
    const held = new Map<string, Held | 'stale'>();
    const [first] = orders;
    if (first === undefined) return held;
    const groups = groupByHold(orders, batchId);
    const moved = await moveOrders(
        trx,
        groups.map(({ order }) => order),
    );
    for (const { order, jobs } of groups) {
        const row = moved.get(order.operation);
        for (const job of row?.is_stale === true ? jobs : jobs.slice(0, row?.units ?? 0)) {
            const whole = { hold: order.operation, amount: order.unit, units: job.maxUnits };
            held.set(job.operation, row?.is_stale === true ? 'stale' : whole);
        }
    }
    if (held.size > 0 || !(await holdsNothing(trx, first.accountId))) return held;
    const alone = (await moveOrders(trx, [{ ...first, ...ofBatch(batchId, 1) }])).get(first.operation);
    if (alone?.won === true) held.set(first.operation, { hold: first.operation, amount: alone.amount, units: alone.units });
    return held;
}

/** Divides jobs into those that share a hold. */
export function groupByHold(orders: readonly HoldOrder[], batchId: string | null): HoldGroup[] {
    return [...Map.groupBy(orders, (order) => holdKey(order, batchId)).values()].map((jobs) => toGroup(jobs, batchId));
}

/** Jobs with the same key share a hold. */
function holdKey({ operation, expiresInMs, ...order }: HoldOrder, batchId: string | null): string {
    return batchId === null || order.effect === 'write' ? operation : JSON.stringify(order);
}

interface HoldGroup {
    /** Its unit is a whole job. */
    order: HoldOrder;
    jobs: readonly HoldOrder[];
}

function toGroup(jobs: HoldOrder[], batchId: string | null): HoldGroup {
    const [first] = jobs as [HoldOrder, ...HoldOrder[]];
    const order = {
        ...first,
        operation: batchId === null || first.effect === 'write' ? first.operation : newTimedId('op', Date.now()),
        unit: first.unit * first.maxUnits,
        maxUnits: jobs.length,
        expiresInMs: Math.max(...jobs.map(({ expiresInMs }) => expiresInMs)),
        ...ofBatch(batchId, jobs.length),
    };
    return { order, jobs };
}

function ofBatch(batchId: string | null, items: number): Pick<HoldOrder, 'batch'> {
    return batchId === null ? {} : { batch: { batchId, items } };
}

async function moveOrders(trx: Db, orders: readonly HoldOrder[]): Promise<Map<string, MovedRow>> {
    const rows = await move(trx, { orders, settlements: [], marks: [] }, TIMEOUT_MS);
    return new Map(rows.map((row) => [row.operation, row]));
}

/** Exact: the orders before have locked the account. */
async function holdsNothing(trx: Db, accountId: string): Promise<boolean> {
    return (await trx('credit_accounts').where({ id: accountId }).first('held'))?.held === 0;
}

export const NO_HOLD: HoldEnd = { won: false, marked: false, charged: 0, available: 0 };

/** A job whose attempt ends, and its credits to charge; null releases them. */
export type EndingJob = Pick<LockedJob, 'operation' | 'hold' | 'batchId' | 'held'> & { charge: number | null };

/** Charges or releases what these jobs held. Items that share a hold are one movement. Returns the ends by the operations of the jobs. */
export async function endHolds(trx: Db, jobs: readonly EndingJob[]): Promise<Map<string, HoldEnd>> {
    if (jobs.length === 0) return new Map();
    const byHold = Map.groupBy(jobs, ({ hold }) => hold ?? '');
    const settlements = [...byHold].map(([operation, ended]) => settlementOf(operation, ended));
    const rows = await move(trx, { orders: [], settlements, marks: [] }, TIMEOUT_MS);
    return new Map(
        rows.flatMap((row) =>
            (byHold.get(row.operation) ?? []).map(({ operation, held, charge }) => {
                const { won, marked, available } = row;
                return [operation ?? '', { won, marked, available, charged: won ? Math.min(charge ?? 0, held) : 0 }];
            }),
        ),
    );
}

function settlementOf(operation: string, jobs: readonly EndingJob[]): Settlement {
    const charges = jobs.flatMap(({ charge, held }) => (charge === null ? [] : [Math.min(charge, held)]));
    const charge = charges.length === 0 ? null : sum(charges);
    if (jobs[0]?.batchId == null) return { operation, charge };
    return { operation, charge, part: { held: sum(jobs.map(({ held }) => held)), movement: newTimedId('op', Date.now()) } };
}

function sum(credits: readonly number[]): number {
    return credits.reduce((total, one) => total + one, 0);
}
