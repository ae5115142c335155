import { expect } from 'chai';
import { keyHash } from '../../shared/domain/accounts/api-key.ts';
import type { Db } from '../../shared/platform/db.ts';
import * as accounts from '../../shared/store/accounts/accounts.ts';
import { openKeys } from '../../shared/store/accounts/callers.ts';
import { findUser } from '../../shared/store/accounts/users.ts';
import { findWorkspace } from '../../shared/store/accounts/workspaces.ts';
import { readBalance } from '../../shared/store/credits/accounts.ts';
import { checkLedger } from '../../shared/store/credits/ledger.ts';
import { type OpenedDatabase, openDatabase } from './registry.ts';

describe('an account', () => {
    let database: OpenedDatabase;
    let db: Db;

    before(async () => {
        database = await openDatabase();
        ({ db } = database);
    });

    after(async () => {
        const drift = await checkLedger(db);
        await database.close();
        expect(drift).to.deep.equal([]);
    });

    it('begins verified, with the allowance of its plan and the bonus', async () => {
        const free = await accounts.createAccount(db, { email: 'free@people.example', plan: 'free', bonus: 7 });
        expect(await readBalance(db, free.userId)).to.deep.include({ allowance: { limit: 1000, remaining: 1000 }, bonus: 7, held: 0 });
        expect((await findUser(db, free.userId))?.verifiedAt).to.be.instanceOf(Date);
        const pro = await accounts.createAccount(db, { email: 'pro@people.example', plan: 'pro', bonus: 3 });
        expect(await readBalance(db, pro.workspaceId)).to.deep.include({ allowance: { limit: 60_000, remaining: 60_000 }, bonus: 3 });
        const own = await accounts.createAccount(db, { email: 'own@people.example', plan: 'enterprise', overrides: { allowance: 0 } });
        expect(await readBalance(db, own.workspaceId)).to.deep.include({ allowance: { limit: 0, remaining: 0 }, available: 0 });
    });

    it('of a known address gets another workspace, and shares the free credits', async () => {
        const first = await accounts.createAccount(db, { email: 'Ada.L@gmail.com', plan: 'free' });
        const second = await accounts.createAccount(db, { email: 'adal+work@googlemail.com', plan: 'free', bonus: 5 });
        expect(second).to.include({ userId: first.userId, isNewUser: false });
        expect(second.workspaceId).not.to.equal(first.workspaceId);
        expect(await readBalance(db, first.userId)).to.deep.include({ allowance: { limit: 1000, remaining: 1000 }, bonus: 5 });
        const third = await accounts.createAccount(db, { email: 'adal@gmail.com', plan: 'starter' });
        expect((await readBalance(db, third.workspaceId))?.available).to.equal(15_000);
        expect((await readBalance(db, first.userId))?.bonus).to.equal(5);
    });

    it('of one address that is created sixteen times at once is one user with sixteen workspaces', async () => {
        const made = await Promise.all(
            Array.from({ length: 16 }, () => accounts.createAccount(db, { email: 'race@people.example', plan: 'free' })),
        );
        expect(new Set(made.map(({ userId }) => userId)).size).to.equal(1);
        expect(new Set(made.map(({ workspaceId }) => workspaceId)).size).to.equal(16);
        expect(made.filter(({ isNewUser }) => isNewUser)).to.have.length(1);
    });

    it('of an unverified address loses password and keys when its owner verifies it', async () => {
        const stranger = await accounts.createAccount(db, { email: 'taken@people.example', plan: 'free' });
        await db.raw("update users set verified_at = null, password_hash = 'theirs' where id = ?", [stranger.userId]);
        const owner = await accounts.createAccount(db, { email: 'taken@people.example', plan: 'free' });
        const keys = openKeys(db);
        expect(await keys.find(keyHash(stranger.apiKey))).to.equal(undefined);
        expect(await keys.find(keyHash(owner.apiKey))).to.include({ userId: stranger.userId, emailVerified: true });
        await keys.close();
        const { rows } = await db.raw<{ rows: { password_hash: string | null }[] }>('select password_hash from users where id = ?', [
            owner.userId,
        ]);
        expect(rows[0]?.password_hash).to.equal(null);
    });

    it('of a verified address keeps its keys', async () => {
        const first = await accounts.createAccount(db, { email: 'kept@people.example', plan: 'free' });
        await accounts.createAccount(db, { email: 'kept@people.example', plan: 'free' });
        const keys = openKeys(db);
        expect(await keys.find(keyHash(first.apiKey))).to.include({ userId: first.userId });
        await keys.close();
    });

    it('changes its plan with its workspace, and the bonus belongs to the payer', async () => {
        const { workspaceId, userId } = await accounts.createAccount(db, { email: 'grow@people.example', plan: 'free', bonus: 11 });
        expect(await accounts.setPlan(db, workspaceId, 'starter', { allowance: 20 })).to.equal(workspaceId);
        expect(await readBalance(db, workspaceId)).to.deep.include({ allowance: { limit: 20, remaining: 20 }, bonus: 11 });
        const workspace = await findWorkspace(db, workspaceId);
        expect(workspace).to.include({ plan: 'starter', ownerId: userId, accountId: workspaceId });
        if (workspace === undefined) throw new Error('the workspace is gone');
        expect(await accounts.grantCredits(db, workspace, 9)).to.equal(40);
        expect(await accounts.setPlan(db, 'wsp_none', 'pro', {})).to.equal(undefined);
    });
});
