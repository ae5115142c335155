import { expect } from 'chai';
import { newId } from '../../shared/domain/text/ids.ts';
import type { JsonObject } from '../../shared/domain/types.ts';
import { createAccount, type MadeAccount } from '../../shared/store/accounts/accounts.ts';
import { publishPackage } from '../../shared/store/registry/publish.ts';
import * as schemaRequests from '../../shared/store/registry/schema-requests.ts';
import { blockDomain } from '../../shared/store/registry/sites.ts';
import { openUsage } from '../../shared/store/usage/usage.ts';
import { type OpenedDatabase, openDatabase, orderOf, packageOf } from '../store/registry.ts';
import { admin } from '../support/admin.ts';

describe('what an operator looks up', () => {
    let database: OpenedDatabase;
    let ada: MadeAccount;
    let bob: MadeAccount;

    before(async () => {
        database = await openDatabase();
        const { db } = database;
        ada = await createAccount(db, { email: 'ada@people.example', plan: 'free', bonus: 7 });
        bob = await createAccount(db, { email: 'bob@firm.example', plan: 'pro' });
        const publisher = { userId: bob.userId, workspaceId: bob.workspaceId, accountId: bob.workspaceId, isLimited: true };
        await publishPackage(db, orderOf(packageOf('bob.example'), publisher));
        await publishPackage(db, orderOf(packageOf('blocked.example'), undefined));
        await db.transaction((trx) => blockDomain(trx, 'blocked.example', 'asked by mail'));
        const usage = openUsage(db);
        for (const outcome of ['success', 'success', 'UPSTREAM_TIMEOUT'] as const)
            usage.record({
                ...{ kind: 'fetch', operation: newId('op'), accountId: bob.workspaceId, workspaceId: bob.workspaceId, userId: bob.userId },
                ...{ keyId: bob.keyId, site: 'bob.example', registrable: 'bob.example', endpoint: 'front', outcome, durationMs: 9 },
                credits: outcome === 'success' ? 1 : 0,
                requestId: `req_${outcome}`,
            });
        await usage.flush();
        const request = {
            ...{ domain: 'wanted.example', registrable: 'wanted.example', task: 'read the opening hours of all shops in a town' },
            ...{ readOrWrite: null, authShape: null, outputShape: null, failureMode: null, intentCategory: null, sourceUrl: null },
            ...{ frequency: null, requesterContact: 'ada@people.example' },
        };
        for (const id of ['srq_one', 'srq_two']) await schemaRequests.create(db, request, { id, workspaceId: ada.workspaceId });
        await schemaRequests.move(db, 'srq_two', 'declined');
    });
    after(() => database?.close());

    const run = async (...args: string[]) => {
        const { code, out, err } = await admin(database.url, args);
        return { code, out, err: err.join('\n') };
    };
    const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).out.at(-1) ?? 'null') as JsonObject[];
    const of = (field: string, rows: readonly JsonObject[]) => rows.map((row) => row[field]);

    it('accounts: all of them, newest first, or those on a plan', async () => {
        expect(of('email', await json('account', 'list'))).to.deep.equal(['bob@firm.example', 'ada@people.example']);
        expect(of('email', await json('account', 'list', '--plan', 'pro'))).to.deep.equal(['bob@firm.example']);
        expect(await json('account', 'list', '--limit', '1')).to.have.length(1);
        const { out } = await run('account', 'list');
        expect(out[0]).to.match(/^user +workspace +address +plan +state +role +since$/);
        expect(out.join('\n')).to.include('ada@people.example').and.include('free');
    });

    it('an account, by any of its identifiers', async () => {
        for (const words of ['ADA@', ada.userId, ada.workspaceId, ada.keyId, ada.apiKey, ada.apiKey.slice(0, 12)])
            expect(of('user_id', await json('account', 'find', words)), words).to.deep.equal([ada.userId]);
        expect(await json('account', 'find', 'nobody')).to.deep.equal([]);
        expect(await json('account', 'find', 'people_example')).to.deep.equal([]);
    });

    it('workspaces, and one with its members, credits, limits and sites', async () => {
        expect(of('owner', await json('workspace', 'list'))).to.deep.equal(['bob@firm.example', 'ada@people.example']);
        const shown = (await json('workspace', 'show', bob.workspaceId)) as unknown as JsonObject;
        expect(shown).to.deep.include({
            workspace_id: bob.workspaceId,
            plan: 'pro',
            account_id: bob.workspaceId,
            credits: 60_050,
            keys: 1,
        });
        expect(shown['members']).to.deep.equal([{ user_id: bob.userId, email: 'bob@firm.example', role: 'owner', keys: 1 }]);
        expect(shown['sites']).to.deep.equal([{ site: 'bob.example', latest: 1, verified: false }]);
        expect(shown['limits']).to.deep.include({ per_minute: 100, concurrency: 50 });
        expect((await json('workspace', 'show', ada.workspaceId)) as unknown as JsonObject).to.include({ credits: 1007, bonus: 7 });
        expect((await run('workspace', 'show', 'wsp_unknown')).code).to.equal(1);
    });

    it('the number of active keys of a workspace, however many', async () => {
        await database.db.raw(
            `insert into api_keys (id, workspace_id, user_id, name, hash, prefix, created_at)
             select 'key_app' || n, :workspaceId, :userId, 'app', sha256(('app' || n)::bytea), 'rb_live_appp', app_now()
             from generate_series(1, 1500) n`,
            { workspaceId: ada.workspaceId, userId: ada.userId },
        );
        expect((await json('workspace', 'show', ada.workspaceId)) as unknown as JsonObject).to.include({ keys: 1501 });
        await database.db('api_keys').whereLike('id', 'key_app%').delete();
    });

    it('schema requests, with their demand and never the contact', async () => {
        const open = await json('request', 'list', '--status', 'open');
        expect(open).to.have.length(1);
        expect(open[0]).to.include({ request_id: 'srq_one', domain: 'wanted.example', demand: 1, workspace_id: ada.workspaceId });
        const all = await run('request', 'list');
        expect(all.out).to.have.length(3);
        expect(all.out.join('\n')).not.to.include('ada@people.example');
    });

    it('sites with their state and maintainers', async () => {
        expect(of('site', await json('site', 'list')).toSorted()).to.deep.equal(['blocked.example', 'bob.example']);
        expect(of('site', await json('site', 'list', '--only', 'blocked'))).to.deep.equal(['blocked.example']);
        expect(await json('site', 'list', '--only', 'verified')).to.deep.equal([]);
        expect((await run('site', 'list')).out.join('\n')).to.match(/blocked\.example +blocked +1 +[\d-]{10} +Routebook/);
    });

    it('on a terminal of 80 columns, with the ids that other commands take in full', async () => {
        await run(
            'key',
            'create',
            '--workspace',
            bob.workspaceId,
            '--name',
            'a key with a long name, for the nightly import of all prices',
        );
        const shown = async (...args: string[]) => (await admin(database.url, args, {}, 80)).out;
        for (const [args, expected] of [
            [
                ['account', 'list'],
                [ada.userId, ada.workspaceId, bob.userId, bob.workspaceId, 'bob@firm.example'],
            ],
            [
                ['workspace', 'list'],
                [ada.workspaceId, 'free', 'ada@people.example'],
            ],
            [
                ['key', 'list', '--workspace', bob.workspaceId],
                [bob.keyId, 'a key with a long name'],
            ],
            [
                ['site', 'list'],
                ['blocked.example', 'blocked', 'Routebook'],
            ],
            [
                ['request', 'list'],
                ['srq_one', 'wanted.example', 'declined', 'read the openi'],
            ],
            [['registry', 'status'], ['blocked.example']],
            [
                ['usage', 'top', '--by', 'workspace'],
                [bob.workspaceId, '66.6 %'],
            ],
            [['audit', 'list'], ['key create']],
            [
                ['site', 'show', 'bob.example'],
                ['bob.example', bob.workspaceId],
            ],
        ] as const) {
            const lines = await shown(...args);
            expect(Math.max(...lines.map((line) => line.length)), args.join(' ')).to.be.at.most(80);
            for (const text of expected) expect(lines.join('\n'), args.join(' ')).to.include(text);
        }
        expect((await shown('site', 'list', '--only', 'verified')).at(-1)).to.equal('none');
        const ids = /[a-z]{3}_[0-9A-Za-z]+…/;
        expect((await shown('audit', 'list')).join('\n')).not.to.match(ids);
    });

    it('the most called sites, endpoints, workspaces and users', async () => {
        const expected = { calls: 3, successes: 2, credits: 2 };
        for (const [by, name] of [
            ['site', { site: 'bob.example' }],
            ['endpoint', { site: 'bob.example', endpoint: 'front' }],
            ['workspace', { workspace: bob.workspaceId }],
            ['user', { user: bob.userId }],
        ] as const)
            expect((await json('usage', 'top', '--by', by))[0], by).to.include({ ...name, ...expected });
        expect((await run('usage', 'top')).out[1]).to.match(/^bob\.example +3 +66\.6 % +2 /);
    });

    it('an address with an account, which gets another workspace for a program, or for a person who asks for it', async () => {
        const create = ['account', 'create', '--email', 'Ada+x@people.example'];
        const refused = await run(...create);
        expect(refused.code).to.equal(1);
        expect(refused.err).to.include(ada.userId).and.include(`${ada.workspaceId} on free`).and.include('--another-workspace');
        expect((await run(...create, '--another-workspace')).code).to.equal(0);
        const again = await run(...create, '--json');
        expect(again.code).to.equal(0);
        expect(again.err)
            .to.include(ada.userId)
            .and.include(`${ada.workspaceId} on free`)
            .and.include('another workspace was created for it');
        expect(JSON.parse(again.out.at(-1) ?? 'null'))
            .to.include({ user_id: ada.userId })
            .and.not.include({ workspace_id: ada.workspaceId });
        expect(of('email', await json('account', 'find', 'ada@'))).to.have.length(1);
        const [account] = await json('account', 'find', 'ada@');
        expect(account?.['workspaces']).to.have.length(3);
    });

    it('the calls of a workspace, newest first, and the one that somebody asks about', async () => {
        const calls = (...args: string[]) => json('usage', 'calls', '--workspace', bob.workspaceId, ...args);
        expect(of('outcome', await calls())).to.deep.equal(['UPSTREAM_TIMEOUT', 'success', 'success']);
        expect(await calls('--limit', '2')).to.have.length(2);
        const [failed] = await calls('--request', 'req_UPSTREAM_TIMEOUT');
        expect(failed).to.deep.include({ site: 'bob.example', endpoint: 'front', credits: 0, duration_ms: 9, key_id: bob.keyId });
        expect(of('request_id', await calls('--outcome', 'failed'))).to.deep.equal(['req_UPSTREAM_TIMEOUT']);
        expect(await calls('--site', 'other.example')).to.deep.equal([]);
        const { out } = await run('usage', 'calls', '--workspace', bob.workspaceId);
        expect(out[0]).to.match(/^at +outcome +site +endpoint +credits/);
        expect((await run('usage', 'calls', '--workspace', 'wsp_unknown')).code).to.equal(1);
    });
});
