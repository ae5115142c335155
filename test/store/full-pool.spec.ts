import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { newId } from '../../shared/domain/text/ids.ts';
import { type Db, openDb } from '../../shared/platform/db.ts';
import { createLog } from '../../shared/platform/log.ts';
import { isOutage } from '../../shared/platform/pg-errors.ts';
import { type Credits, openCredits } from '../../shared/store/credits/credits.ts';
import { createIdempotency, type Idempotency } from '../../shared/store/fetch/idempotency.ts';
import { roomFor } from '../support/eventually.ts';
import { testSecrets } from '../support/secrets.ts';
import { type Books, openBooks, orderFor } from './books.ts';

/** How long a call waits for a connection, and what a busy machine adds. Five sequential waits would take 5000 ms. */
const ACQUIRE_MS = 1000;
const LATE_MS = 2000;

describe('when all connections are in use', () => {
    let books: Books;
    let db: Db;
    let credits: Credits;
    let keys: Idempotency;
    before(async () => {
        books = await openBooks();
        db = openDb({ url: books.url, poolSize: 1, acquireTimeoutMs: ACQUIRE_MS });
        credits = openCredits(db);
        keys = createIdempotency(db, testSecrets(db));
    });
    after(async () => {
        await Promise.all([credits.close(), keys.close()]);
        await db.destroy();
        await books.close();
    });

    /** Calls `ask` five times, each time after the previous call was sent, and returns the outcome of each. */
    async function askWhileFull<Answer>(ask: () => Promise<Answer>): Promise<void> {
        const transaction = await db.transaction();
        try {
            const begun = performance.now();
            const asked: Promise<unknown>[] = [];
            for (let time = 0; time < 5; time++) {
                asked.push(ask().catch((error: unknown) => error));
                await nextTurn();
            }
            for (const error of await Promise.all(asked)) expect(isOutage(error), String(error)).to.equal(true);
            expect(performance.now() - begun).to.be.below(roomFor(ACQUIRE_MS + LATE_MS));
        } finally {
            await transaction.rollback();
        }
    }

    it('the log names PostgreSQL and the pool, and no bug of ours', async () => {
        const lines: string[] = [];
        const log = createLog('warn', { write: (line: string) => void lines.push(line) });
        await askWhileFull(async () => {
            await db.raw('select 1').catch((error: unknown) => {
                log.warn({ err: error }, 'refused');
                throw error;
            });
        });
        for (const line of lines) expect(JSON.parse(line).err.message).to.match(/^no connection to PostgreSQL within the time/);
        expect(lines).to.have.length(5);
    });

    it('the log says why no credits can be held, and when they can again', async () => {
        const lines: string[] = [];
        const logged = openCredits(db, { log: createLog('warn', { write: (line: string) => void lines.push(line) }) });
        const account = await books.user({ allowance: 10 });
        await askWhileFull(() => logged.hold(orderFor(account)));
        await logged.hold(orderFor(account));
        await logged.close();
        expect(lines.map((line) => JSON.parse(line).message)).to.deep.equal([
            'credits: does not work at the moment',
            'credits: works again',
        ]);
    });

    it('a hold waits for one connection at most (R9)', async () => {
        const account = await books.user({ allowance: 10 });
        await askWhileFull(() => credits.hold(orderFor(account)));
        expect(await books.story(account)).to.deep.equal(['grant +10']);
        expect(await credits.hold(orderFor(account))).to.include({ ok: true });
    });

    it('a hold under a cap waits for one connection at most (R9)', async () => {
        const account = await books.user({ allowance: 10 });
        await askWhileFull(() => credits.hold({ ...orderFor(account), isCapped: true }));
        expect(await books.story(account)).to.deep.equal(['grant +10']);
        expect(await credits.hold({ ...orderFor(account), isCapped: true })).to.include({ ok: true });
    });

    it('an Idempotency-Key waits for one connection at most (R9)', async () => {
        const order = () => {
            const of = newId('op');
            return { workspaceId: 'wsp_one', route: 'postFetch', key: of, operation: of, bodyHash: 'aa', lastsMs: 30_000 };
        };
        await askWhileFull(() => keys.begin(order()));
        expect(await keys.begin(order())).to.include({ verdict: 'new' });
    });
});
