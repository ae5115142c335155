import { expect } from 'chai';
import { openDb } from '../../shared/platform/db.ts';
import { isOutage } from '../../shared/platform/pg-errors.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';

describe('a connection that the server refuses or ends', () => {
    let database: TestDatabase;

    before(async () => {
        database = await createTestDatabase();
    });
    after(() => database?.drop());

    /** The error of a statement over a connection with this server option. */
    async function faultOf(option: string, ask: (db: ReturnType<typeof openDb>) => Promise<unknown>): Promise<unknown> {
        const url = new URL(database.url);
        url.searchParams.set('options', `-c ${option}`);
        const db = openDb({ url: url.href });
        try {
            return await ask(db).then(
                () => undefined,
                (error: unknown) => error,
            );
        } finally {
            await db.destroy();
        }
    }

    it('is an outage and no bug, where DATABASE_URL names a server option that does not exist', async () => {
        const error = await faultOf('nonsense=1', async (db) => db.raw('select 1'));
        expect(error).to.be.an('error').with.property('message').that.includes('nonsense');
        expect(isOutage(error)).to.equal(true);
    });

    it('is an outage and no bug, where the server ends transactions that pause', async () => {
        const error = await faultOf('idle_in_transaction_session_timeout=20', (db) =>
            db.transaction(async (trx) => {
                await trx.raw('select 1');
                const others = "select from pg_stat_activity where state = 'idle in transaction' and datname = current_database()";
                await eventually(
                    () => db.raw<{ rows: unknown[] }>(others),
                    ({ rows }) => rows.length === 0,
                );
                await trx.raw('select 1');
            }),
        );
        expect(error).to.be.an('error');
        expect(isOutage(error)).to.equal(true);
    });
});
