import { expect } from 'chai';
import { runAdmin } from '../../bin/admin/run-admin.ts';
import { keyHash } from '../../shared/domain/accounts/api-key.ts';
import type { JsonObject } from '../../shared/domain/types.ts';
import type { Db } from '../../shared/platform/db.ts';
import { openKeys } from '../../shared/store/accounts/callers.ts';
import { factorsOf, makeRecoveryCodes } from '../../shared/store/accounts/factors.ts';
import { addPasskey } from '../../shared/store/accounts/passkeys.ts';
import { pageOfActs } from '../../shared/store/accounts/workspace-audit.ts';
import { readBalance } from '../../shared/store/credits/credits.ts';
import { removeAsMaintainer } from '../../shared/store/registry/maintainer-orders.ts';
import * as schemas from '../../shared/store/registry/schemas.ts';
import { type OpenedDatabase, openDatabase, orderOf, packageOf } from '../store/registry.ts';
import { makeOwner } from '../support/routes.ts';

describe('the operator’s command line', () => {
    let database: OpenedDatabase;
    let db: Db;

    before(async () => {
        database = await openDatabase();
        ({ db } = database);
    });

    after(() => database.close());

    interface Ran {
        code: number;
        out: string[];
        err: string[];
        /** The last line of stdout, parsed as JSON. */
        json: JsonObject;
    }

    const admin = async (...args: (string | number)[]): Promise<Ran> => {
        const out: string[] = [];
        const err: string[] = [];
        const terminal = { print: (line: string) => out.push(line), complain: (line: string) => err.push(line) };
        const code = await runAdmin([...args.map(String), '--json'], terminal, { DATABASE_URL: database.url });
        return { code, out, err, json: JSON.parse(out.at(-1) ?? 'null') };
    };
    const done = async (...args: (string | number)[]): Promise<JsonObject> => {
        const { code, out, err, json } = await admin(...args);
        expect(code, err.join('\n')).to.equal(0);
        expect(out).to.have.length(1);
        return json;
    };
    const errorOf = ({ json }: Ran) => json['error'] as JsonObject;

    let people = 0;
    const newAccount = async (...options: (string | number)[]) => {
        const made = await done('account', 'create', '--email', `p${people++}@people.example`, ...options);
        return {
            userId: String(made['user_id']),
            workspaceId: String(made['workspace_id']),
            keyId: String(made['key_id']),
            apiKey: String(made['api_key']),
        };
    };
    const callerOf = async (apiKey: string) => {
        const keys = openKeys(db);
        const caller = await keys.find(keyHash(apiKey));
        await keys.close();
        return caller;
    };

    it('creates an account whose key works, with plan, bonus and limits of its own', async () => {
        const { apiKey, workspaceId } = await newAccount(
            ...[
                '--plan',
                'enterprise',
                '--credits',
                25,
                '--per-minute',
                9,
                '--per-hour',
                8,
                '--per-day',
                7,
                '--allowance',
                6,
                '--concurrency',
                5,
                '--monitors',
                4,
            ],
        );
        const caller = await callerOf(apiKey);
        expect(caller).to.include({ plan: 'enterprise', accountId: workspaceId, emailVerified: true });
        expect(caller?.figures).to.deep.equal({ perMinute: 9, perHour: 8, perDay: 7, allowance: 6, concurrency: 5, monitors: 4 });
        expect(await readBalance(db, workspaceId)).to.deep.include({ bonus: 25, allowance: { limit: 6, remaining: 6 } });
    });

    it('counts an invitation only for a new address and by an existing user', async () => {
        const inviter = await newAccount();
        const invited = await newAccount('--invited-by', inviter.userId);
        const { rows } = await db.raw<{ rows: { invited_by: string }[] }>('select invited_by from users where id = ?', [invited.userId]);
        expect(rows[0]?.invited_by).to.equal(inviter.userId);
        const create = ['account', 'create', '--email', 'P0+x@people.example', '--invited-by', invited.userId];
        const again = await admin(...create, '--another-workspace');
        expect(again.code).to.equal(0);
        expect(again.err.join()).to.include('not new');
        const unknown = await admin('account', 'create', '--email', 'new@people.example', '--invited-by', 'usr_unknown');
        expect([unknown.code, errorOf(unknown)['code']]).to.deep.equal([1, 'NOT_FOUND']);
    });

    it('removes the second factors of a user who lost them, and mails the user', async () => {
        const { userId } = await newAccount();
        const passkey = { userId, credentialId: 'AAAA', publicKey: Buffer.alloc(32), counter: 0, transports: [], name: 'lost phone' };
        await addPasskey(db, passkey);
        await makeRecoveryCodes(db, userId);
        const removed = { authenticator_app: false, passkeys: 1 };
        expect(await done('account', 'reset-factor', userId)).to.deep.equal({ user_id: userId, removed });
        expect(await factorsOf(db, userId)).to.deep.equal({ hasTotp: false, passkeys: 0, recoveryCodes: 0 });
        const { rows } = await db.raw('select recipient from outgoing_mails');
        expect(rows.length).to.equal(1);
        expect((await admin('account', 'reset-factor', 'usr_unknown')).code).to.equal(1);
    });

    it('suspends and unsuspends a user', async () => {
        const { userId, apiKey } = await newAccount();
        expect(await done('account', 'suspend', userId)).to.deep.equal({ user_id: userId, suspended: true });
        expect((await callerOf(apiKey))?.suspended).to.equal(true);
        await done('account', 'resume', userId);
        expect((await callerOf(apiKey))?.suspended).to.equal(false);
        expect((await admin('account', 'suspend', 'usr_unknown')).code).to.equal(1);
    });

    it('creates, lists and revokes keys', async () => {
        const { workspaceId, userId, keyId } = await newAccount();
        const made = await done('key', 'create', '--workspace', workspaceId, '--name', 'Build server', '--expires-in', 3600);
        expect(await callerOf(String(made['api_key']))).to.include({ keyName: 'Build server', userId });
        const list = (await admin('key', 'list', '--workspace', workspaceId)).json as unknown as JsonObject[];
        expect(list.map((key) => key['key_id'])).to.have.members([keyId, made['key_id']]);
        expect(JSON.stringify(list)).not.to.include(String(made['api_key']));
        expect(await done('key', 'revoke', keyId)).to.deep.equal({ key_id: keyId, revoked: true });
        expect(await done('key', 'revoke', keyId)).to.deep.equal({ key_id: keyId, revoked: true });
        const stranger = await newAccount();
        const foreign = await admin('key', 'create', '--workspace', workspaceId, '--user', stranger.userId);
        expect([foreign.code, errorOf(foreign)['code']]).to.deep.equal([1, 'NOT_FOUND']);
    });

    it('sets a plan with exactly the limits that it names', async () => {
        const { workspaceId, apiKey } = await newAccount();
        expect(await done('plan', 'set', workspaceId, 'pro', '--per-minute', 3)).to.deep.include({ plan: 'pro', account_id: workspaceId });
        expect((await callerOf(apiKey))?.figures.perMinute).to.equal(3);
        await done('plan', 'set', workspaceId, 'pro');
        expect((await callerOf(apiKey))?.figures.perMinute).to.equal(100);
    });

    it('grants credits to the payer of the workspace', async () => {
        const { workspaceId, userId } = await newAccount();
        expect(await done('credits', 'grant', workspaceId, 40)).to.deep.equal({
            workspace_id: workspaceId,
            account_id: userId,
            granted: 40,
            balance: 1040,
        });
        expect(await done('ledger', 'check')).to.deep.equal({ ok: true, accounts: [] });
    });

    it('names the accounts whose ledger does not sum, and fails', async () => {
        const { userId } = await newAccount();
        await db.raw('update credit_accounts set bonus_available = bonus_available + 1 where id = ?', [userId]);
        const checked = await admin('ledger', 'check');
        await db.raw('update credit_accounts set bonus_available = bonus_available - 1 where id = ?', [userId]);
        expect(checked.code).to.equal(1);
        expect(checked.json).to.deep.equal({ ok: false, accounts: [{ account_id: userId, available: 1, held: 0, open_holds: 0 }] });
    });

    it('sets, shows, blocks and unblocks the registrable domain of any site on it', async () => {
        expect(await done('site', 'set', 'www.Shop.Market.example', '--credits', 5, '--concurrency', 2, '--rate', 0.5)).to.deep.equal({
            domain: 'market.example',
            credits: 5,
            concurrency: 2,
            rate: 0.5,
            blocked: false,
            block_reason: null,
        });
        expect(await done('site', 'set', 'market.example', '--rate', 'default')).to.include({ credits: 5, rate: null });
        const allowed = { auth_hosts: 'login.example.org,auth.example.net' };
        expect(await done('site', 'set', 'market.example', '--auth-host', allowed.auth_hosts)).to.include(allowed);
        expect(await done('site', 'show', 'market.example')).to.include(allowed);
        expect(await done('site', 'set', 'market.example', '--auth-host', 'none')).not.to.have.property('auth_hosts');
        expect(await done('site', 'block', 'shop.market.example', '--reason', 'The owner wrote to us')).to.include({
            domain: 'market.example',
            blocked: true,
        });
        expect(await done('site', 'show', 'market.example')).to.deep.include({
            blocked: true,
            block_reason: 'The owner wrote to us',
            sites: [],
            maintainers: [],
        });
        expect(await done('site', 'unblock', 'market.example', '--reason', 'Taken back')).to.include({
            blocked: false,
            block_reason: null,
        });
        const wrong = await admin('site', 'show', 'https://market.example/');
        expect([wrong.code, errorOf(wrong)['code']]).to.deep.equal([1, 'INVALID_DOMAIN']);
    });

    it('transfers a domain, and adds and removes its maintainers', async () => {
        const [first, second] = [await newAccount(), await newAccount()];
        expect(await done('site', 'transfer', 'a.handed.example', first.workspaceId)).to.include({ domain: 'handed.example' });
        const both = await done('maintainer', 'add', 'handed.example', second.workspaceId);
        expect(both['maintainers']).to.have.length(2);
        await done('maintainer', 'remove', 'handed.example', first.workspaceId);
        const last = await admin('maintainer', 'remove', 'handed.example', second.workspaceId);
        expect([last.code, errorOf(last)['code']]).to.deep.equal([1, 'LAST_MAINTAINER']);
        const absent = await admin('maintainer', 'remove', 'handed.example', first.workspaceId);
        expect([absent.code, errorOf(absent)['code']]).to.deep.equal([1, 'NOT_FOUND']);
        expect((await admin('site', 'transfer', 'handed.example', 'wsp_unknown')).code).to.equal(1);
    });

    it('names a maintainer whose removal is pending, and the audits that contain an operator’s change', async () => {
        const [first, second] = [await newAccount(), await newAccount()];
        for (const { workspaceId } of [first, second]) await done('maintainer', 'add', 'leaving.example', workspaceId);
        const order = { registrable: 'leaving.example', by: first.workspaceId, workspaceId: second.workspaceId };
        await removeAsMaintainer(db, { ...order, actor: { actor: 'system' } });
        const { maintainers } = await done('site', 'show', 'leaving.example');
        const [stays, leaves] = maintainers as JsonObject[];
        expect(stays).not.to.have.property('removal_at');
        expect(Date.parse(String(leaves?.['removal_at']))).to.be.greaterThan(Date.now());
        await done('site', 'transfer', 'leaving.example', first.workspaceId);
        const actsIn = async (workspaceId: string) => {
            const { acts } = await pageOfActs(db, { workspaceId }, { limit: 10, after: undefined });
            return acts.filter(({ actor }) => actor === 'operator').map(({ action }) => action);
        };
        expect(await actsIn(first.workspaceId)).to.include.members(['maintainer.transferred', 'maintainer.added']);
        expect(await actsIn(second.workspaceId)).to.include.members(['maintainer.removed', 'maintainer.added']);
    });

    it('lists domains with a maintainer beside Routebook; a transfer in either direction ends that', async () => {
        const { workspaceId } = await newAccount();
        for (const site of ['kept.example', 'shared.example']) await schemas.publish(db, orderOf(packageOf(site), undefined));
        await done('maintainer', 'add', 'shared.example', workspaceId);
        const shared = async () => {
            const listed = (await done('registry', 'status')) as unknown as { site: string; others: { workspace_id: string }[] }[];
            return listed.map(({ site, others }) => [site, ...others.map((other) => other.workspace_id)]);
        };
        expect(await shared()).to.deep.equal([['kept.example'], ['shared.example', workspaceId]]);
        await done('site', 'transfer', 'shared.example', 'wsp_routebook');
        expect(await shared()).to.deep.equal([['kept.example'], ['shared.example']]);
    });

    it('yanks a version, and names the new latest version', async () => {
        const { workspaceId, userId } = await newAccount();
        const publisher = { workspaceId, userId, accountId: userId, isGuarded: true };
        for (const text of ['one', 'two']) await schemas.publish(db, orderOf(packageOf('pulled.example', text), publisher));
        expect(await done('schema', 'yank', 'pulled.example', 2, '--reason', 'legal')).to.deep.equal({
            site: 'pulled.example',
            version: 2,
            yanked: true,
            reason: 'legal',
            latest: 1,
        });
        expect(await done('schema', 'yank', 'pulled.example', 1, '--reason', 'broken')).to.include({ latest: null });
        expect(await done('schema', 'unyank', 'pulled.example', 2)).to.deep.equal({
            site: 'pulled.example',
            version: 2,
            yanked: false,
            reason: null,
            latest: 2,
        });
        const [last] = (await done('audit', 'list', '--limit', 1)) as unknown as JsonObject[];
        expect(last).to.deep.include({ command: 'schema unyank', target: 'pulled.example 2', before: { yank_reason: 'legal' } });
        const unknown = await admin('schema', 'yank', 'pulled.example', 3, '--reason', 'broken');
        expect([unknown.code, errorOf(unknown)['code']]).to.deep.equal([1, 'VERSION_NOT_FOUND']);
    });

    it('reports a yank to the workspace that published the version and to the proved owner, in their audits and by mail', async () => {
        const [publisher, owner] = [await newAccount(), await newAccount()];
        const { workspaceId, userId } = publisher;
        const order = orderOf(packageOf('told.example'), { workspaceId, userId, accountId: userId, isGuarded: true });
        await schemas.publish(db, order);
        await makeOwner(db, 'told.example', owner.workspaceId);
        await db.raw('update maintainers set proven_at = app_now() where workspace_id = ?', [owner.workspaceId]);
        await done('schema', 'yank', 'told.example', 1, '--reason', 'security');
        await done('schema', 'yank', 'told.example', 1, '--reason', 'security');
        await done('schema', 'unyank', 'told.example', 1);
        for (const notified of [publisher, owner]) {
            const { acts } = await pageOfActs(db, { workspaceId: notified.workspaceId }, { limit: 2, after: undefined });
            expect(acts.map(({ actor, action, target, details }) => ({ actor, action, target, details }))).to.deep.equal([
                { actor: 'operator', action: 'version.unyanked', target: 'told.example@1', details: {} },
                { actor: 'operator', action: 'version.yanked', target: 'told.example@1', details: { reason: 'security' } },
            ]);
            const { rows } = await db.raw<{ rows: { line: string }[] }>(
                'select line from workspace_news where workspace_id = ? order by id',
                [notified.workspaceId],
            );
            expect(rows.map(({ line }) => line)).to.deep.equal([
                'Version 1 of told.example was taken out of use (security).',
                'Version 1 of told.example was put back into use.',
            ]);
        }
    });

    it('records what was done, newest first, and nothing that was refused', async () => {
        const { apiKey, workspaceId } = await newAccount();
        await admin('credits', 'grant', 'wsp_unknown', 5);
        await done('credits', 'grant', workspaceId, 5);
        await done('site', 'block', 'noted.example', '--reason', 'Because');
        const entries = (await admin('audit', 'list', '--limit', 3)).json as unknown as JsonObject[];
        expect(entries.map((entry) => entry['command'])).to.deep.equal(['site block', 'credits grant', 'account create']);
        expect(entries[0]).to.deep.include({ target: 'noted.example', reason: 'Because' });
        expect(entries[0]?.['before']).to.deep.include({ blocked: false });
        expect(entries[0]?.['after']).to.deep.include({ blocked: true });
        expect(entries[0]?.['at']).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
        expect(JSON.stringify(entries)).not.to.include(apiKey.slice(12));
    });

    it('refuses wrong usage with exit code 2 and changes nothing', async () => {
        const { workspaceId } = await newAccount();
        const before = (await admin('audit', 'list')).json;
        for (const args of [
            [],
            ['account'],
            ['account', 'create'],
            ['account', 'create', '--email', 'nobody'],
            ['account', 'create', '--email', 'a@b.example', '--plan', 'gold'],
            ['account', 'create', '--email', 'a@b.example', '--credits', '-5'],
            ['account', 'create', '--email', 'a@b.example', '--per-minute', '1.5'],
            ['account', 'suspend', workspaceId],
            ['key', 'create', '--workspace', workspaceId, '--expires-in', '0'],
            ['key', 'create', '--workspace', workspaceId, '--name', 'a\u0000b'],
            ['credits', 'grant', workspaceId, '0'],
            ['credits', 'grant', workspaceId, '1e3'],
            ['credits', 'grant', workspaceId, '99999999999'],
            ['site', 'set', 'a.example'],
            ['site', 'set', 'a.example', '--rate', '0'],
            ['site', 'set', 'a.example', '--credits', 'default'],
            ['site', 'block', 'a.example'],
            ['schema', 'yank', 'a.example', '1', '--reason', 'ugly'],
            ['schema', 'yank', 'a.example', '0', '--reason', 'broken'],
            ['site', 'show', 'a.example', 'b.example'],
            ['nonsense'],
        ]) {
            const ran = await admin(...args);
            expect(ran.code, args.join(' ')).to.equal(2);
            expect(errorOf(ran)['code'], args.join(' ')).to.equal('WRONG_USAGE');
        }
        expect((await admin('audit', 'list')).json).to.deep.equal(before);
    });

    it('shows tables to people', async () => {
        const lines: string[] = [];
        const terminal = { print: (line: string) => lines.push(line), complain: (line: string) => lines.push(line) };
        await runAdmin(['site', 'show', 'people.example'], terminal, { DATABASE_URL: database.url });
        expect(lines[0]).to.match(/^domain {2,}people\.example$/);
        await runAdmin(['audit', 'list'], terminal, { DATABASE_URL: database.url });
        expect(lines.join('\n')).to.match(/at +actor +command +target +reason/);
        expect(await runAdmin(['--help'], terminal)).to.equal(0);
    });
});
