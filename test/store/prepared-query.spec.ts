import { expect } from 'chai';
import { type Db, openDb } from '../../shared/platform/db.ts';
import { failureOf } from '../../shared/platform/pg-errors.ts';
import { type PreparedQuery, runPrepared } from '../../shared/platform/prepared-query.ts';
import { type Books, openBooks } from './books.ts';

const TIMEOUT_MS = 5000;
const SHORT_MS = 20;
const PID: PreparedQuery = { name: 'pid', text: 'select pg_backend_pid() as pid' };
const SLEEP: PreparedQuery = { name: 'sleep', text: 'select pg_sleep($1)' };
const DIVIDE: PreparedQuery = { name: 'divide', text: 'select 1 / $1::integer as share' };

describe('a prepared query', () => {
    let books: Books;
    let db: Db;
    before(async () => {
        books = await openBooks();
        db = openDb({ url: books.url, poolSize: 1 });
    });
    after(async () => {
        await db.destroy();
        await books.close();
    });

    async function pidOf(on: Db): Promise<number | undefined> {
        const [row] = await runPrepared<{ pid: number }>(on, PID, [], TIMEOUT_MS);
        return row?.pid;
    }

    it('that fails leaves its connection usable', async () => {
        const first = await pidOf(db);
        const error = await runPrepared(db, DIVIDE, [0], TIMEOUT_MS).catch((failed: unknown) => failed);
        expect(String(error)).to.include('division by zero').and.to.include(DIVIDE.text);
        expect(await pidOf(db)).to.equal(first);
    });

    it('that takes too long counts as an outage, and the next query uses another connection', async () => {
        const first = await pidOf(db);
        const error = await runPrepared(db, SLEEP, [60], SHORT_MS).catch((failed: unknown) => failed);
        expect(failureOf(error)).to.equal('unknown');
        expect(await pidOf(db))
            .to.be.a('number')
            .and.not.to.equal(first);
    });

    it('of a transaction runs on its connection, and not after the transaction has ended', async () => {
        const transaction = await db.transaction();
        const inside = await transaction.raw<{ rows: { pid: number }[] }>(PID.text);
        expect(await pidOf(transaction)).to.equal(inside.rows[0]?.pid);
        await transaction.commit();
        const error = await pidOf(transaction).catch((failed: unknown) => failed);
        expect(String(error)).to.include('has ended');
    });

    it('that a pooler has forgotten within a transaction fails with this cause, and afterwards nothing is prepared', async () => {
        // Another copy of the module, because it remembers this.
        const copy = '../../shared/platform/prepared-query.ts?forgotten';
        const prepared = (await import(copy)) as { runPrepared: typeof runPrepared };
        const inTransaction = () => db.transaction(async (trx) => prepared.runPrepared<{ pid: number }>(trx, PID, [], TIMEOUT_MS));
        await inTransaction();
        await db.raw('deallocate all');
        const error = await inTransaction().catch((failed: unknown) => failed);
        expect(error).to.include({ code: '26000' });
        expect(await inTransaction()).to.have.lengthOf(1);
        const { rows } = await db.raw('select count(*)::integer as count from pg_prepared_statements');
        expect(rows[0].count).to.equal(0);
    });
});
