import { expect } from 'chai';
import type { JsonObject } from '../../shared/domain/types.ts';
import { factorsOf, makeRecoveryCodes } from '../../shared/store/accounts/factors.ts';
import { addPasskey } from '../../shared/store/accounts/passkeys.ts';
import { addMember } from '../../shared/store/accounts/workspaces.ts';
import { readBalance } from '../../shared/store/credits/accounts.ts';
import { useOperator } from './operator.ts';

describe('the operator’s commands for accounts', () => {
    const { opened, admin, done, errorOf, newAccount, callerOf } = useOperator();

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
        expect(await readBalance(opened.db, workspaceId)).to.deep.include({ bonus: 25, allowance: { limit: 6, remaining: 6 } });
    });

    it('counts an invitation only for a new address and by an existing user', async () => {
        const inviter = await newAccount();
        const invited = await newAccount('--invited-by', inviter.userId);
        const { rows } = await opened.db.raw<{ rows: { invited_by: string }[] }>('select invited_by from users where id = ?', [
            invited.userId,
        ]);
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
        await addPasskey(opened.db, passkey);
        await makeRecoveryCodes(opened.db, userId);
        const removed = { authenticator_app: false, passkeys: 1 };
        expect(await done('account', 'reset-factor', userId)).to.deep.equal({ user_id: userId, removed });
        expect(await factorsOf(opened.db, userId)).to.deep.equal({ hasTotp: false, passkeys: 0, recoveryCodes: 0 });
        const { rows } = await opened.db.raw('select recipient from outgoing_mails');
        expect(rows.length).to.equal(1);
        expect((await admin('account', 'reset-factor', 'usr_unknown')).code).to.equal(1);
    });

    it('deletes a user for good, with the reason in the audit log, but nobody’s only owner', async () => {
        const [{ userId, workspaceId, apiKey }, colleague] = [await newAccount('--plan', 'pro'), await newAccount()];
        await addMember(opened.db, { workspaceId, userId: colleague.userId, role: 'member' });
        const early = await admin('account', 'delete', userId, '--reason', 'asked by mail');
        expect([early.code, errorOf(early)['code']]).to.deep.equal([1, 'FORBIDDEN']);
        expect(errorOf(early)['message']).to.include(workspaceId);
        expect(await callerOf(apiKey)).to.not.equal(undefined);
        await opened.db('memberships').where({ workspace_id: workspaceId, user_id: colleague.userId }).delete();
        expect((await admin('account', 'delete', userId)).code).to.equal(2);
        expect(await done('account', 'delete', userId, '--reason', 'asked by mail')).to.deep.equal({
            user_id: userId,
            deleted: true,
            workspaces: [workspaceId],
        });
        expect(await callerOf(apiKey)).to.equal(undefined);
        expect((await admin('account', 'find', userId)).json).to.deep.equal([]);
        expect((await admin('account', 'delete', userId, '--reason', 'again')).code).to.equal(1);
        const [entry] = (await admin('audit', 'list', '--limit', 1)).json as unknown as JsonObject[];
        expect(entry).to.include({ command: 'account delete', target: userId, reason: 'asked by mail' });
    });

    it('deletes nobody whose workspace still pays at Stripe', async () => {
        const { userId, workspaceId } = await newAccount('--plan', 'starter');
        const subscription = { subscription_id: 'sub_1', customer_id: 'cus_1', item_id: 'si_1', status: 'active', plan: 'starter' };
        await opened.db('subscriptions').insert({ workspace_id: workspaceId, ...subscription });
        const refused = await admin('account', 'delete', userId, '--reason', 'asked by mail');
        expect([refused.code, errorOf(refused)['code']]).to.deep.equal([1, 'FORBIDDEN']);
        expect(errorOf(refused)['message']).to.include('Stripe');
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
        await opened.db.raw('update credit_accounts set bonus_available = bonus_available + 1 where id = ?', [userId]);
        const checked = await admin('ledger', 'check');
        await opened.db.raw('update credit_accounts set bonus_available = bonus_available - 1 where id = ?', [userId]);
        expect(checked.code).to.equal(1);
        expect(checked.json).to.deep.equal({ ok: false, accounts: [{ account_id: userId, available: 1, held: 0, open_holds: 0 }] });
    });
});
