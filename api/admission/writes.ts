import { setTimeout as sleep } from 'node:timers/promises';
import type { Request } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import { PACKAGE_BYTES } from '../../shared/contracts/body-bytes.ts';
import { createCounts } from '../../shared/platform/counts.ts';
import type { InTurn } from '../../shared/platform/in-turn.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import { checkKeyAgain } from '../auth/api-key.ts';
import { callerOf } from '../auth/caller.ts';
import type { Call, OpenCall, Reply } from '../call.ts';
import type { AppPlugin } from '../plugins/plugin.ts';
import { KeyedQueue, type QueueTurn } from './keyed-queue.ts';
import { perApp } from './per-app.ts';
import { createTokenBuckets } from './token-buckets.ts';

/** Maximum number of writes of one account that wait for its running one. */
const WAITING_PER_ACCOUNT = 4;
/** Maximum number of writes that wait in one process. */
const WAITING_PER_PROCESS = 256;
/** Maximum number of writes of one process that use a database connection at the same time, of its 16. */
const AT_ONCE = 4;
/**
 * Maximum number of orders of jobs and batches that use a database connection at the same time. A large one may change thousands of rows.
 */
const SMALL_ORDERS_AT_ONCE = 4;
const LARGE_ORDERS_AT_ONCE = 2;
/** Maximum number of orders that wait in one process, and of one account. */
const WAITING_ORDERS = 2048;
const WAITING_ORDERS_PER_ACCOUNT = 256;

const queuesOf = perApp(() => {
    const room = { places: WAITING_PER_PROCESS, taken: 0 };
    const orderRoom = { places: WAITING_ORDERS, taken: 0 };
    return {
        ordersByAccount: new KeyedQueue({ waitingPerKey: WAITING_ORDERS_PER_ACCOUNT, room: orderRoom }),
        smallOrders: new KeyedQueue({ atOnce: SMALL_ORDERS_AT_ONCE, room: orderRoom }),
        largeOrders: new KeyedQueue({ atOnce: LARGE_ORDERS_AT_ONCE, room: orderRoom }),
        accounts: new KeyedQueue({ waitingPerKey: WAITING_PER_ACCOUNT, room }),
        domains: new KeyedQueue({ atOnce: AT_ONCE, room }),
    };
});

type Writer = Pick<Call<unknown, unknown, unknown>, 'app' | 'caller' | 'gone' | 'request'>;
/** Somebody who may have no key, such as the sender of a schema request. */
type OpenWriter = Pick<OpenCall<unknown, unknown, unknown>, keyof Writer>;

/**
 * Runs the writes of one account, and those of one domain, one after another. They wait in this process, because a write that waits for
 * a database lock occupies one of the connections that all callers share.
 * @param registrable the domain that is locked, if any
 * @throws Refusal RATE_LIMITED, OVERLOADED, and what `work` throws
 */
export function writeInTurn<Result>(writer: Writer, registrable: string | undefined, work: () => Promise<Result>): Promise<Result> {
    return inAccountTurn(writer, () => inDomainTurn(writer, registrable, work));
}

/** The first part of a write: work that needs no database connection, such as checking a package. */
export function inAccountTurn<Result>(writer: Writer, work: () => Promise<Result>): Promise<Result> {
    const { app, caller, gone } = writer;
    const full: QueueTurn['full'] = (where) => (where === 'key' ? accountFull(app, caller) : processFull());
    return queuesOf(app).accounts.run({ keys: [caller.accountId], gone, full }, work);
}

/** The refusal that another write of the account would get now, if any. @param begun the account's packages that are not answered yet */
function accountRefusal(app: App, caller: Caller, begun: number): Refusal | undefined {
    return begun > WAITING_PER_ACCOUNT || queuesOf(app).accounts.isFull(caller.accountId) ? accountFull(app, caller) : undefined;
}

/**
 * The second part of a write, called within the first: waits for one of the few database connections for writes.
 * @throws Refusal INVALID_API_KEY or FORBIDDEN if the caller lost the right to write meanwhile
 */
export function inDomainTurn<By extends OpenWriter, Result>(
    writer: By,
    registrable: string | undefined,
    work: (now: By) => Promise<Result>,
): Promise<Result> {
    const { app, gone } = writer;
    const keys = registrable === undefined ? [] : [registrable];
    return queuesOf(app).domains.run({ keys, gone, full: processFull }, () => ifStillAllowed(writer, work));
}

/**
 * Packages of others may have delayed the write by seconds. A revoked or narrowed key must have no more effect after one second, so `work`
 * gets the caller as it is now.
 */
async function ifStillAllowed<By extends OpenWriter, Result>(writer: By, work: (now: By) => Promise<Result>): Promise<Result> {
    const { caller } = writer;
    return work(caller === undefined ? writer : { ...writer, caller: await checkKeyAgain({ ...writer, caller }) });
}

/**
 * Runs the orders of one account, and changes of them, one after another. They all lock the account's row, and a change of a large batch
 * may hold it for a second. Orders that waited for the lock in the database would take the connections that other accounts need.
 * @param isLarge whether it may change thousands of rows
 * @throws Refusal RATE_LIMITED, OVERLOADED, and what `work` throws
 */
export function orderInTurn<Result>(
    { app, caller, gone }: Omit<Writer, 'request'>,
    work: () => Promise<Result>,
    { isLarge = false }: { isLarge?: boolean } = {},
): Promise<Result> {
    const { accountId } = caller;
    const { ordersByAccount, smallOrders, largeOrders } = queuesOf(app);
    const full: QueueTurn['full'] = (where) =>
        where === 'key' ? accountFull(app, caller, { window: 'jobs', waiting: WAITING_ORDERS_PER_ACCOUNT }) : processFull();
    return ordersByAccount.run({ keys: [accountId], gone, full }, () =>
        (isLarge ? largeOrders : smallOrders).run({ keys: [], gone, full: processFull }, work),
    );
}

/** A handler that runs as a whole in the account's turn. It must wait only for the database, since other writes wait for it. */
export function inTurn<Params, Query, Body, Answer>(respond: (call: Call<Params, Query, Body>) => Promise<Reply<Answer>>) {
    return (call: Call<Params, Query, Body>): Promise<Reply<Answer>> => inAccountTurn(call, () => inDomainTurn(call, undefined, respond));
}

/** As `inTurn`, for a write of many transactions, each in a turn of its own. A caller who leaves does not end it between two of them. */
export function inSteps<Params, Query, Body, Answer>(respond: (call: Call<Params, Query, Body>, inTurn: InTurn) => Promise<Reply<Answer>>) {
    return (call: Call<Params, Query, Body>): Promise<Reply<Answer>> => {
        const { domains } = queuesOf(call.app);
        const step: InTurn = (work) => domains.run({ keys: [], full: processFull }, work);
        return inAccountTurn(call, () => ifStillAllowed(call, (now) => respond(now, step)));
    };
}

function accountFull(app: App, { plan }: Caller, { window, waiting } = { window: 'publishing', waiting: WAITING_PER_ACCOUNT }): Refusal {
    app.metrics.rateLimited.inc({ plan, window });
    const message = `The window ${window} is full: one write of this account is running and ${waiting} are waiting.`;
    return new Refusal('RATE_LIMITED', message, { retryAfter: 1 });
}

function processFull(): Refusal {
    return new Refusal('OVERLOADED', 'Too many writes are waiting.', { retryAfter: 1 });
}

/** Maximum number of refusals of one account per second that are answered at once. */
const REFUSED_AT_ONCE = 10;
/** A slow refusal takes 0.5 to 1.5 times this, so that the refusals do not all end at the same time. */
const SLOWLY_MS = 2000;

/**
 * Refuses a write before its body is read if too many writes of the account wait. Packages that are still arriving count too, since each
 * may take 4 MiB of memory. An account that keeps sending is refused slowly, because thousands of refusals a second would delay other
 * callers.
 */
export const writeThrottling: AppPlugin = {
    name: 'write-throttling',
    register(server, { app }) {
        const quickly = createTokenBuckets({ capacity: REFUSED_AT_ONCE, perSecond: REFUSED_AT_ONCE });
        /** Packages that are not answered yet, by account. */
        const begun = createCounts();
        const entered = new WeakMap<Request, string>();
        const enter = (request: Request, accountId: string) => {
            entered.set(request, accountId);
            begun.add(accountId, 1);
        };
        const leave = (request: Request) => {
            const accountId = entered.get(request);
            if (accountId === undefined) return;
            entered.delete(request);
            begun.add(accountId, -1);
        };

        server.ext(
            'onPostAuth',
            async (request, h) => {
                const caller = callerOf(request);
                const { contract } = request.route.settings.app ?? {};
                if (caller === undefined || contract === undefined || contract.method === 'GET' || contract.counted) return h.continue;
                // Orders of jobs have a queue of their own. A run of a monitor is one.
                if (contract.tag === 'Jobs' || contract.name === 'postMonitorRun') return h.continue;
                const isPackage = contract.body?.maxBytes === PACKAGE_BYTES;
                const refusal = accountRefusal(app, caller, isPackage ? begun.of(caller.accountId) : 0);
                if (refusal === undefined) {
                    if (isPackage) enter(request, caller.accountId);
                    return h.continue;
                }
                if (!quickly.take(caller.accountId)) await sleep(SLOWLY_MS * (0.5 + Math.random()));
                throw refusal;
            },
            { before: 'input' },
        );
        // This event is also emitted if the caller hung up.
        server.events.on('response', leave);
    },
};
