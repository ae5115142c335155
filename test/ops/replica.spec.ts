import { expect } from 'chai';
import { migrateAll } from '../../shared/migrate.ts';
import { openDb } from '../../shared/platform/db.ts';
import * as accounts from '../../shared/store/accounts/accounts.ts';
import { type DebianPostgres, startDebianPostgres } from '../support/debian-postgres.ts';
import { eventually, patienceFor } from '../support/eventually.ts';
import { type Running, startProcess } from '../support/processes.ts';
import { aPackage } from '../support/schemas.ts';
import { needs } from '../support/system-programs.ts';

describe('a replica of the database', () => {
    let primary: DebianPostgres;
    let standby: DebianPostgres;
    let api: Running;
    let base = '';
    let apiKey = '';

    before(async function () {
        needs(this, 'postgresql');
        primary = await startDebianPostgres();
        await primary.tool('createdb', ['routebook']);
        await migrateAll(primary.url('routebook'));
        standby = await startDebianPostgres({ standbyOf: primary });
        api = startProcess('api', {
            DATABASE_URL: primary.url('routebook'),
            DATABASE_REPLICA_URL: standby.url('routebook'),
            HOST: '127.0.0.1',
            PORT: '0',
        });
        base = /http:\/\/[\w.:]+/.exec(await api.said('routebook ready on'))?.[0] ?? '';
        const db = openDb({ url: primary.url('routebook'), acquireTimeoutMs: 10_000 });
        ({ apiKey } = await accounts.createAccount(db, { email: 'ada@people.example', plan: 'enterprise', bonus: 1000 }));
        await db.destroy();
    });

    after(async () => {
        await api?.end();
        await standby?.remove();
        await primary?.remove();
    });

    const ask = (path: string, body?: object) =>
        fetch(`${base}${path}`, {
            ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
            headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
        });

    async function publish(site: string): Promise<void> {
        expect((await ask('/v1/schemas', aPackage(site))).status).to.equal(201);
    }

    async function listed(): Promise<string[]> {
        const answer = await ask('/v1/schemas?limit=100');
        expect(answer.status).to.equal(200);
        return ((await answer.json()) as { data: { site: string }[] }).data.map(({ site }) => site);
    }

    /** The latest list query that browsing sent to this server. */
    async function lastAsked(server: DebianPostgres): Promise<number> {
        const [row] = (await server.run(
            `select coalesce(extract(epoch from max(query_start)), 0)::float8 as at from pg_stat_activity
             where application_name ~ '^routebook-api-(replica|browse)$' and query ~ 'trending_rollups'`,
        )) as { at: number }[];
        return row?.at ?? 0;
    }

    it('answers lists, search, find and trends while it is up to date', async () => {
        await publish('first.test');
        await eventually(listed, (sites) => sites.includes('first.test'));
        const [before, ofPrimary] = [await lastAsked(standby), await lastAsked(primary)];
        await eventually(
            async () => {
                for (const path of ['/v1/schemas?q=first', '/v1/endpoints?task=find+a+product', '/v1/trending']) {
                    expect((await ask(path)).status, path).to.equal(200);
                }
                return lastAsked(standby);
            },
            (at) => at > before,
        );
        expect(await lastAsked(primary)).to.equal(ofPrimary);
    });

    it('is skipped while it is more than a second behind, and used again once it has caught up', async () => {
        await standby.run('select pg_wal_replay_pause()');
        await publish('second.test');
        // Cards and packages always come from the primary.
        expect((await ask('/v1/schemas/second.test')).status).to.equal(200);
        const ms = await eventually(listed, (sites) => sites.includes('second.test'));
        expect(ms).to.be.below(patienceFor(3000));
        const before = await lastAsked(standby);
        await standby.run('select pg_wal_replay_resume()');
        await eventually(
            async () => {
                expect(await listed()).to.include('second.test');
                return lastAsked(standby);
            },
            (at) => at > before,
        );
    });

    it('can die or be promoted without an effect on callers', async () => {
        await standby.stop('immediate');
        for (let time = 0; time < 5; time++) expect(await listed()).to.include('second.test');
        await standby.start();
        await standby.run('select pg_promote()');
        await publish('third.test');
        await eventually(listed, (sites) => sites.includes('third.test'), 3000);
        expect(await listed()).to.include('third.test');
    });
});
