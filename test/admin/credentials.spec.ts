import { expect } from 'chai';
import { generate } from 'otplib';
import { newSecretKey } from '../../shared/domain/accounts/key-ring.ts';
import type { JsonObject } from '../../shared/domain/types.ts';
import type { Db } from '../../shared/platform/db.ts';
import { createAccount } from '../../shared/store/accounts/accounts.ts';
import { listChanges } from '../../shared/store/accounts/audit.ts';
import { findUnreadable, rewrapAll } from '../../shared/store/accounts/sealed-rows.ts';
import { confirmTotp, pendingTotp, type TotpVerdict, useTotp } from '../../shared/store/accounts/totp.ts';
import { openRequest } from '../../shared/store/jobs/sealed.ts';
import { useDatabase } from '../store/registry.ts';
import { admin } from '../support/admin.ts';
import { CONNECTED, connectedPackage } from '../support/connections.ts';
import { eventually } from '../support/eventually.ts';
import { join } from '../support/people.ts';
import { startProcess } from '../support/processes.ts';
import { dataOf } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { testSecretKeys, testSecrets } from '../support/secrets.ts';
import { openSite } from '../support/sites.ts';
import { openWorld } from '../support/world.ts';

const [OLD, NEW, GONE] = [newSecretKey('old'), newSecretKey('new'), newSecretKey('gone')];
const NOW = Date.now();

const rotateIn = (databaseUrl: string, keys: string) =>
    admin(databaseUrl, ['credentials', 'rotate', '--json'], { DATA_DIR: '/nonexistent', SECRET_KEYS: keys });

describe('rotating the encryption keys', () => {
    const database = useDatabase({ forEach: true });
    let db: Db;
    beforeEach(() => {
        ({ db } = database);
    });

    async function rotate(keys: string): Promise<{ code: number; json: JsonObject; told: string }> {
        const { code, json, err } = await rotateIn(database.url, keys);
        return { code, json, told: err.join('\n') };
    }
    const counts = (rewrapped: number, current: number, unreadable: number) => [
        { table: 'totp_secrets', rewrapped, current, unreadable },
        { table: 'connection_keys', rewrapped: 0, current: 0, unreadable: 0 },
        ...[
            ...['webhooks.sealed', 'webhooks.former_sealed', 'jobs.request', 'jobs.result', 'jobs.error'],
            ...['monitors', 'monitor_runs.value', 'monitor_changes', 'monitor_runs.error'],
        ].map((table) => ({ table, rewrapped: 0, current: 0, unreadable: 0 })),
    ];

    let people = 0;
    /** A user with an authenticator app that was encrypted with these keys. */
    async function withApp(keys: string): Promise<{ userId: string; secret: string }> {
        people += 1;
        const { userId } = await createAccount(db, { email: `person${people}@people.example`, plan: 'free' });
        const parts = { db, secrets: testSecrets(db, keys), now: NOW };
        const secret = await pendingTotp(parts, userId);
        expect(await confirmTotp(parts, userId, await codeOf(secret, NOW))).to.equal('right');
        return { userId, secret };
    }

    const codeOf = (secret: string, now: number) => generate({ secret, epoch: Math.floor(now / 1000) });

    /** Whether a service with these keys accepts the app's code of `steps` half minutes later. */
    async function enters({ userId, secret }: { userId: string; secret: string }, keys: string, steps: number): Promise<TotpVerdict> {
        const now = NOW + steps * 30_000;
        return useTotp({ db, secrets: testSecrets(db, keys), now }, userId, await codeOf(secret, now));
    }

    it('lets users sign in with their authenticator apps after the old key was removed', async () => {
        const [ada, grace] = [await withApp(OLD), await withApp(OLD)];
        expect(await enters(ada, NEW, 1)).to.equal('unreadable');
        const { code, json } = await rotate(`${NEW},${OLD}`);
        expect([code, json]).to.deep.equal([0, { key: 'new', tables: counts(2, 0, 0) }]);
        for (const person of [ada, grace]) expect(await enters(person, NEW, 2)).to.equal('right');
    });

    it('is asked for when a process starts without a key that is in use', async () => {
        await withApp(GONE);
        await withApp(OLD);
        const startWith = (keys: string) =>
            startProcess('api', { DATABASE_URL: database.url, SECRET_KEYS: keys, HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'error' });
        const api = startWith(`${NEW},${OLD}`);
        try {
            const line = JSON.parse(await api.said('no key of SECRET_KEYS decrypts some rows of'));
            expect(line)
                .to.include({ level: 'error', part: 'secrets' })
                .and.deep.include({ tables: ['totp_secrets'] });
        } finally {
            await api.end('SIGKILL');
        }
        expect(await findUnreadable(db, testSecrets(db, `${NEW},${OLD},${GONE}`))).to.deep.equal([]);
        // Another key under the same id.
        expect(await findUnreadable(db, testSecrets(db, `${newSecretKey('old')},${GONE}`))).to.deep.equal(['totp_secrets']);
    });

    it('still accepts each code once', async () => {
        const ada = await withApp(OLD);
        expect(await enters(ada, OLD, 1)).to.equal('right');
        await rotate(`${NEW},${OLD}`);
        expect(await enters(ada, NEW, 1)).to.equal('wrong');
    });

    it('does nothing if it was already done, and continues where it stopped', async () => {
        await withApp(OLD);
        await rotate(`${NEW},${OLD}`);
        const { rows: before } = await db.raw('select user_id, sealed from totp_secrets');
        await withApp(OLD);
        expect((await rotate(`${NEW},${OLD}`)).json['tables']).to.deep.equal(counts(1, 1, 0));
        expect((await rotate(`${NEW},${OLD}`)).json['tables']).to.deep.equal(counts(0, 2, 0));
        const { rows: after } = await db.raw('select user_id, sealed from totp_secrets where user_id = ?', [before[0].user_id]);
        expect(after).to.deep.equal(before);
    });

    it('skips values that no key decrypts, and says so', async () => {
        const [ada, lost] = [await withApp(OLD), await withApp(GONE)];
        const { code, json, told } = await rotate(`${NEW},${OLD}`);
        expect([code, json['tables']]).to.deep.equal([0, counts(1, 0, 1)]);
        expect(told).to.include('decrypts 1 of these secrets');
        expect([await enters(ada, NEW, 1), await enters(lost, NEW, 1)]).to.deep.equal(['right', 'unreadable']);
        expect((await rotate(`${NEW},${GONE}`)).json['tables']).to.deep.equal(counts(1, 1, 0));
        expect(await enters(lost, NEW, 2)).to.equal('right');
    });

    it('processes a large table in batches, and two concurrent runs do it once', async () => {
        const sealed = await testSecrets(db, OLD).seal('JBSWY3DPEHPK3PXP', 'totp');
        await db.raw(
            `insert into users (id, email, email_normalised) select 'usr_' || n, n || '@crowd.example', n || '@crowd.example'
             from generate_series(1, 1201) as n`,
        );
        await db.raw("insert into totp_secrets (user_id, sealed) select id, ? from users where email like '%@crowd.example'", [sealed]);
        const both = await Promise.all([rotate(`${NEW},${OLD}`), rotate(`${NEW},${OLD}`)]);
        const tables = both.map(({ json }) => (json['tables'] as unknown as ReturnType<typeof counts>)[0]);
        expect(tables.reduce((sum, each) => sum + (each?.rewrapped ?? 0), 0)).to.equal(1201);
        expect((await rotate(NEW)).json['tables']).to.deep.equal(counts(0, 1201, 0));
    });

    it('is in the audit with its counts, and never with a secret or a key', async () => {
        const { secret } = await withApp(OLD);
        await rotate(`${NEW},${OLD}`);
        const [entry] = await listChanges(db, 1);
        expect(entry).to.deep.include({ command: 'credentials rotate', target: 'new', after: { tables: counts(1, 0, 0) } });
        for (const text of [secret, NEW.split(':')[1], OLD.split(':')[1]]) expect(JSON.stringify(entry)).not.to.include(text);
    });

    it('is refused without SECRET_KEYS, and changes nothing', async () => {
        const ada = await withApp(OLD);
        const { code, json } = await rotate('');
        expect([code, (json['error'] as JsonObject)['code']]).to.deep.equal([1, 'VALIDATION_ERROR']);
        expect(await listChanges(db, 1)).to.deep.equal([]);
        expect(await enters(ada, OLD, 1)).to.equal('right');
    });
});

describe('rotating the encryption keys of jobs', () => {
    it('encrypts their params, results and errors again', async () => {
        const world = await openWorld({ workers: 0 });
        try {
            const ada = await join(world, { plan: 'pro' });
            dataOf(await ada.publish(aPackage('jobs.test')));
            dataOf(await ada.call('POST', '/v1/jobs', { body: { site: 'jobs.test', endpoint: 'product', params: { id: 1 } } }));
            const { db, secrets } = world.app;
            const sealed = async () => (await db('jobs').first('request')).request as Buffer;
            const before = await sealed();
            const ring = { ...secrets, isCurrent: async () => false };
            const done = await rewrapAll(db, ring);
            expect(done.find(({ table }) => table === 'jobs.request')).to.include({ rewrapped: 1, unreadable: 0 });
            expect((await sealed()).equals(before)).to.equal(false);
            expect(await openRequest(secrets, await sealed())).to.deep.include({ site: 'jobs.test', endpoint: 'product' });
        } finally {
            await world.close();
        }
    });
});

describe('rotating the encryption keys of connections', () => {
    it('fails no call that uses one meanwhile, and leaves nothing encrypted with the old key', async () => {
        const site = await openSite((_request, response) => {
            response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
        });
        const config = { egressHosts: new Map([[CONNECTED, ['127.0.0.1']]]), secretKeys: testSecretKeys(`${OLD},${NEW}`) };
        const world = await openWorld({ config });
        try {
            const ada = await join(world, { plan: 'enterprise', overrides: { perMinute: 1e6, perHour: 1e6, perDay: 1e6 } });
            dataOf(await ada.publish(connectedPackage(CONNECTED, { base: `http://${CONNECTED}:${site.port}` })));
            dataOf(await ada.call('POST', '/v1/connections', { body: { site: CONNECTED, secret: { value: 'the-key-of-ada-4711' } } }));
            const rotate = async (keys: string) => {
                const { code, json } = await rotateIn(world.databaseUrl, keys);
                const { tables } = json as unknown as { tables: { table: string }[] };
                return { code, keys: tables.find(({ table }) => table === 'connection_keys') };
            };
            const outcomes: string[] = [];
            const calling = new Set<Promise<void>>();
            // Fifty a second, unless the machine is too slow for that.
            const timer = setInterval(() => {
                if (calling.size >= 32) return;
                const call = ada.fetch(CONNECTED, 'mine').then((answer) => {
                    outcomes.push(answer.status === 200 ? 'success' : String(answer.text));
                    calling.delete(call);
                });
                calling.add(call);
            }, 20);
            const table = 'connection_keys';
            const rotated = await rotate(`${NEW},${OLD}`);
            const before = outcomes.length;
            await eventually(
                async () => outcomes.length,
                (count) => count > before + 100,
                60_000,
            );
            clearInterval(timer);
            await Promise.all(calling);
            expect(rotated).to.deep.equal({ code: 0, keys: { table, rewrapped: 1, current: 0, unreadable: 0 } });
            expect(new Set(outcomes)).to.deep.equal(new Set(['success']));
            expect((await rotate(NEW)).keys).to.deep.equal({ table, rewrapped: 0, current: 1, unreadable: 0 });
        } finally {
            await world.close();
            await site.close();
        }
    });
});
