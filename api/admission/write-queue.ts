import type { App } from '../../shared/app.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import type { Call } from '../serve.ts';
import { createKeyedQueue, type KeyedQueue } from './keyed-queue.ts';

/** The most writes of one account that wait for its running one. */
const WAITING_PER_ACCOUNT = 4;
/** The most writes that wait in one process. */
const WAITING_PER_PROCESS = 256;
/** The most writes of one process that use a database connection at the same time, of its 16. */
const AT_ONCE = 4;

interface WriteQueues {
    accounts: KeyedQueue;
    domains: KeyedQueue;
}

const queues = new WeakMap<App, WriteQueues>();

/** Whose write it is. */
export type Writer = Pick<Call<unknown, unknown, unknown>, 'app' | 'caller' | 'gone'>;

/**
 * Writes of one account run one after another, and so do those of one domain. They queue in the process: a write that waits for a lock of
 * the database holds one of the connections that everybody needs.
 * @param registrable the domain that is locked, if any
 * @throws Refusal RATE_LIMITED, OVERLOADED, and what `work` throws
 */
export function writeInTurn<Result>(writer: Writer, registrable: string | undefined, work: () => Promise<Result>): Promise<Result> {
    return inAccountTurn(writer, () => inDomainTurn(writer, registrable, work));
}

/** The first half: work that needs no connection, such as judging a package. */
export function inAccountTurn<Result>(writer: Writer, work: () => Promise<Result>): Promise<Result> {
    const { app, gone } = writer;
    const caller = writer.caller as Caller;
    const full = (where: 'key' | 'room') => (where === 'key' ? accountFull(app, caller) : processFull());
    return queuesOf(app).accounts.run({ keys: [caller.accountId], gone, full }, work);
}

/** The refusal that another write of the account would get now, if any. @param begun its packages that are not answered yet */
export function accountRefusal(app: App, caller: Caller, begun: number): Refusal | undefined {
    return begun > WAITING_PER_ACCOUNT || queuesOf(app).accounts.isFull(caller.accountId) ? accountFull(app, caller) : undefined;
}

/** The second half, within the first: waits for one of the few connections for writes. */
export function inDomainTurn<Result>({ app, gone }: Writer, registrable: string | undefined, work: () => Promise<Result>): Promise<Result> {
    return queuesOf(app).domains.run({ keys: registrable === undefined ? [] : [registrable], gone, full: processFull }, work);
}

function queuesOf(app: App): WriteQueues {
    const known = queues.get(app) ?? createQueues();
    queues.set(app, known);
    return known;
}

function createQueues(): WriteQueues {
    const room = { places: WAITING_PER_PROCESS, taken: 0 };
    return {
        accounts: createKeyedQueue({ waitingPerKey: WAITING_PER_ACCOUNT, room }),
        domains: createKeyedQueue({ atOnce: AT_ONCE, room }),
    };
}

function accountFull(app: App, { plan }: Caller): Refusal {
    app.metrics.rateLimited.inc({ plan, window: 'publishing' });
    const message = `The window publishing is full: one write of this account runs and ${WAITING_PER_ACCOUNT} wait for it.`;
    return new Refusal('RATE_LIMITED', message, { retryAfter: 1 });
}

function processFull(): Refusal {
    return new Refusal('OVERLOADED', 'Too many writes wait for their turn.', { retryAfter: 1 });
}
