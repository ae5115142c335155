import { expect } from 'chai';
import { keyHash } from '../../shared/domain/accounts/api-key.ts';
import { type Db, openDb } from '../../shared/platform/db.ts';
import { isOutage } from '../../shared/platform/pg-errors.ts';
import * as accounts from '../../shared/store/accounts/accounts.ts';
import * as keys from '../../shared/store/accounts/api-keys.ts';
import * as callers from '../../shared/store/accounts/callers.ts';
import { patienceFor } from '../support/eventually.ts';
import { countRowsRead } from '../support/rows-read.ts';
import { eventually, type OpenedDatabase, openDatabase } from './registry.ts';

describe('keys', () => {
    let database: OpenedDatabase;
    let db: Db;
    let elsewhereDb: Db;
    /** The keys of another process: its own pool and cache. */
    let elsewhere: callers.Keys;

    before(async () => {
        database = await openDatabase();
        ({ db } = database);
        elsewhereDb = openDb({ url: database.url, acquireTimeoutMs: 10_000 });
        elsewhere = callers.openKeys(elsewhereDb);
    });

    after(async () => {
        await elsewhere.close();
        await elsewhereDb.destroy();
        await database.close();
    });

    let people = 0;
    const join = (order: Partial<accounts.NewAccount> = {}) =>
        accounts.createAccount(db, { email: `key${people++}@people.example`, plan: 'free', ...order });
    const isSeen = async (apiKey: string, isRight: (caller: callers.Caller | undefined) => boolean) => {
        const { answer, ms } = await eventually(() => elsewhere.find(keyHash(apiKey)), isRight);
        expect(isRight(answer)).to.equal(true);
        expect(ms).to.be.below(patienceFor(1000));
    };

    it('name the caller and the payer: on Free the user, on a paid plan the workspace', async () => {
        const free = await join();
        expect(await elsewhere.find(keyHash(free.apiKey))).to.deep.include({
            keyId: free.keyId,
            keyName: 'default',
            keyPrefix: free.apiKey.slice(0, 12),
            keyExpiresAt: null,
            userId: free.userId,
            workspaceId: free.workspaceId,
            accountId: free.userId,
            plan: 'free',
            figures: { perMinute: 20, perHour: 1000, perDay: 1000, allowance: 1000, concurrency: 5, monitors: 3 },
            suspended: false,
            emailVerified: true,
        });
        const paid = await join({ plan: 'pro', overrides: { perMinute: 7, concurrency: 900 } });
        const caller = await elsewhere.find(keyHash(paid.apiKey));
        expect(caller).to.include({ accountId: paid.workspaceId, plan: 'pro' });
        expect(caller?.figures).to.include({ perMinute: 7, perHour: 5000, concurrency: 900 });
    });

    it('are looked up together, once a turn, and then cached', async () => {
        const people = await Promise.all(Array.from({ length: 20 }, () => join()));
        let queries = 0;
        const count = () => queries++;
        elsewhereDb.on('query', count);
        const callers = await Promise.all([...people, ...people].map(({ apiKey }) => elsewhere.find(keyHash(apiKey))));
        await Promise.all(people.map(({ apiKey }) => elsewhere.find(keyHash(apiKey))));
        elsewhereDb.removeListener('query', count);
        expect(queries).to.equal(1);
        expect(callers.map((caller) => caller?.keyId)).to.deep.equal([...people, ...people].map(({ keyId }) => keyId));
    });

    it('are never treated as guesses once they were found, also while they are looked up again, until they are revoked', async () => {
        const { apiKey, keyId } = await join();
        const hash = keyHash(apiKey);
        expect(elsewhere.isFamiliar(hash)).to.equal(false);
        await elsewhere.find(hash);
        let queries = 0;
        const count = () => queries++;
        elsewhereDb.on('query', count);
        const ask = async () => {
            const wasFamiliar = elsewhere.isFamiliar(hash);
            await elsewhere.find(hash);
            return { wasFamiliar, queries };
        };
        const { answer } = await eventually(ask, (asked) => asked.queries > 0 || !asked.wasFamiliar);
        elsewhereDb.removeListener('query', count);
        expect(answer).to.deep.equal({ wasFamiliar: true, queries: 1 });
        await keys.revokeKey(db, keyId);
        await isSeen(apiKey, (caller) => caller === undefined);
        await eventually(
            async () => elsewhere.isFamiliar(hash),
            (isFamiliar) => !isFamiliar,
        );
        expect(elsewhere.isFamiliar(hash)).to.equal(false);
    });

    it('end with their time, even if they are cached', async () => {
        const { workspaceId, userId } = await join();
        const { apiKey } = await keys.createKey(db, { workspaceId, userId, name: 'short', expiresIn: 1 });
        await isSeen(apiKey, (caller) => caller !== undefined);
        const { answer, ms } = await eventually(
            () => elsewhere.find(keyHash(apiKey)),
            (caller) => caller === undefined,
        );
        expect(answer).to.equal(undefined);
        expect(ms).to.be.below(patienceFor(1200));
    });

    it('are listed by their first characters, with the time of their last use', async () => {
        const { apiKey, workspaceId, userId, keyId } = await join();
        await keys.createKey(db, { workspaceId, userId, name: 'second' });
        await elsewhere.find(keyHash(apiKey));
        await elsewhere.flush();
        const rows = await keys.listKeys(db, workspaceId);
        expect(rows.map(({ name }) => name).toSorted()).to.deep.equal(['default', 'second']);
        const used = rows.find((row) => row.keyId === keyId);
        expect(used?.prefix).to.equal(apiKey.slice(0, 12));
        expect(used?.lastUsedAt).to.be.instanceOf(Date);
        expect(rows.find(({ name }) => name === 'second')?.lastUsedAt).to.equal(null);
        expect(JSON.stringify(rows)).not.to.include(apiKey.slice(12));
    });

    it('are listed on pages with all active ones first, and a bounded part of any number that have ended', async () => {
        const { workspaceId, userId, keyId } = await join();
        await db.raw(
            `insert into api_keys (id, workspace_id, user_id, name, hash, prefix, created_at, revoked_at)
             select 'key_ended' || n, :workspaceId, :userId, 'ended', sha256(('ended' || n)::bytea), 'rb_live_ende', app_now() - n * interval '1 second',
                    app_now()
             from generate_series(1, 3000) n`,
            { workspaceId, userId },
        );
        await db.raw('vacuum analyze api_keys');
        const listed = await keys.listedKeys(db, workspaceId);
        expect(listed).to.have.length(1000);
        expect(listed.slice(0, 2).map(({ state }) => state)).to.deep.equal(['active', 'revoked']);
        expect(listed[0]?.keyId).to.equal(keyId);
        const list = async (trx: Db) => {
            // As beside the keys of many other workspaces.
            await trx.raw('set local enable_seqscan = off');
            return keys.listedKeys(trx, workspaceId, { ended: 50 });
        };
        const few = await countRowsRead(db, list, 'api_keys');
        expect(few.done).to.have.length(51);
        expect(few.read).to.be.at.most(200);
    });

    it('delay nobody for a look-up that is stuck, and are found once it succeeds (R9)', async () => {
        const { apiKey } = await join();
        const refused = await db.transaction(async (transaction) => {
            await transaction.raw('lock table api_keys in access exclusive mode');
            return elsewhere.find(keyHash(apiKey)).catch((error: unknown) => error);
        });
        expect(isOutage(refused), String(refused)).to.equal(true);
        expect((await elsewhere.find(keyHash(apiKey)))?.plan).to.equal('free');
    });
});
