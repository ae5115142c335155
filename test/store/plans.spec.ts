import { expect } from 'chai';
import { newId } from '../../shared/domain/text/ids.ts';
import { type Db, openDb } from '../../shared/platform/db.ts';
import { type Credits, openCredits } from '../../shared/store/credits/credits.ts';
import { createIdempotency, type Idempotency } from '../../shared/store/fetch/idempotency.ts';
import { testSecrets } from '../support/secrets.ts';
import { type Books, openBooks, orderFor } from './books.ts';

/** Tables that grow with each call. */
const GROWING = ['holds', 'ledger_entries', 'idempotency'];

describe('the statements of a call on its hold, its account and its key', () => {
    let books: Books;
    /** One connection, which caches its query plans for the test. */
    let db: Db;
    let credits: Credits;
    let keys: Idempotency;
    let account = '';
    before(async () => {
        books = await openBooks();
        db = openDb({ url: books.url, poolSize: 1, acquireTimeoutMs: 10_000 });
        credits = openCredits(db);
        keys = createIdempotency(db, testSecrets(db));
        account = await books.user({ allowance: 100_000 });
    });
    after(async () => {
        await Promise.all([keys.close(), credits.close()]);
        await db.destroy();
        await books.close();
    });

    /** Calls of one tick, often enough that the connection caches its plans. */
    async function call(size: number): Promise<void> {
        for (let round = 0; round < 10; round++) {
            await Promise.all(
                Array.from({ length: size }, async () => {
                    const order = orderFor(account);
                    const key = { workspaceId: 'wsp_any', route: 'fetch', key: order.operation, operation: order.operation };
                    await keys.begin({ ...key, bodyHash: 'aa', lastsMs: 1000 });
                    expect(await credits.hold(order)).to.include({ ok: true });
                    expect(await credits.markSent(order.operation)).to.equal(true);
                    const [head, tail] = ['{"left":', '}'];
                    const answer = { call: key, head, tail, sealed: await keys.seal({ headers: {}, head, tail }) };
                    const isKept = round % 2 === 0;
                    const bill = await credits.charge({ operation: order.operation, amount: 1, ...(isKept && { answer }) });
                    expect(bill).to.include({ ok: true });
                    if (!isKept) await keys.forget(key);
                }),
            );
        }
    }

    /** The number of rows read by sequential scans. */
    async function rowsScanned(): Promise<number> {
        // Other connections see the statistics once they were flushed.
        await db.raw('select pg_stat_force_next_flush()');
        const { rows } = await books.db.raw('select sum(seq_tup_read) as count from pg_stat_user_tables where relname = any(?)', [GROWING]);
        return rows[0].count;
    }

    async function walkedMeanwhile(work: () => Promise<void>): Promise<number> {
        const before = await rowsScanned();
        await work();
        return (await rowsScanned()) - before;
    }

    it('use indexes on an empty database, and still do while it fills', async () => {
        expect(await walkedMeanwhile(() => call(1))).to.equal(0);
        expect(await walkedMeanwhile(() => call(20))).to.equal(0);
        await fill();
        expect(await walkedMeanwhile(() => call(1))).to.equal(0);
        expect(await walkedMeanwhile(() => call(20))).to.equal(0);
    });

    it('use indexes on large and analysed tables', async () => {
        await books.db.raw('analyze');
        expect(await walkedMeanwhile(() => call(1))).to.equal(0);
        expect(await walkedMeanwhile(() => call(20))).to.equal(0);
    });

    /** As many holds and keys of others as a busy minute adds, without statistics about them. */
    async function fill(): Promise<void> {
        const other = await books.user({ allowance: 0 });
        await books.db.raw(
            `with made as (
                 insert into holds (operation, account_id, user_id, workspace_id, key_id, site, endpoint, version_id, effect, amount,
                                    from_allowance, from_bonus, units, period_number, state, created_at, expires_at, settled_at)
                 select :prefix || n, :other, :other, 'wsp_any', 'key_any', 'shop.example', 'search', 1, 'read', 1, 1, 0, 1, 1, 'released',
                        now(), now(), now()
                 from generate_series(1, 50000) n returning operation
             )
             insert into idempotency (workspace_id, route, idempotency_key, body_hash, operation, running_until, expires_at)
             select 'wsp_other', 'fetch', operation, '', operation, now(), now() + interval '1 hour' from made`,
            { prefix: newId('op'), other },
        );
    }
});
