import { expect } from 'chai';
import { EVERY_SCOPE } from '../../shared/domain/accounts/scopes.ts';
import { createKey } from '../../shared/store/accounts/api-keys.ts';
import { makeLink, tokenOfLink } from '../../shared/store/accounts/mail-links.ts';
import { MAX_PASSKEYS } from '../../shared/store/accounts/passkeys.ts';
import { setSuspended } from '../../shared/store/accounts/users.ts';
import { eventually } from '../support/eventually.ts';
import { join, withKey } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { useWorld } from '../support/world.ts';
import { givePasskey } from './support/factor.ts';
import { userOf } from './support/settled.ts';
import { attest, challengeFor, PASSKEY_PAGE } from './support/software-authenticator.ts';
import { freshAddress, hiddenOf, PASSWORD, type PageAnswer, signUp, type Visitor, visitor, wordsOf } from './support/visitor.ts';

const OWN_PASSWORD = 'the owner’s own sentence';
const NEW_PASSWORD = 'what the stranger would have';

describe('a request that runs while the owner of the address takes over the account', () => {
    const world = useWorld({ workers: 0, config: { trustProxy: 1 } });

    /** A stranger's account on this address, and the link that its owner takes it over with. */
    async function squat() {
        const email = freshAddress();
        const stranger = await signUp(world, email);
        const userId = await userOf(world, email);
        const linkId = await makeLink(world.app.db, { purpose: 'reset', userId, address: email });
        const token = await tokenOfLink(world.app.secrets, linkId);
        const owner = visitor(world);
        const reset = await formOf(owner, `/reset?token=${token}`, '/reset', { token, password: OWN_PASSWORD });
        return { email, stranger, userId, reset };
    }

    /** A form from its page, to be sent later. */
    async function formOf(person: Visitor, page: string, action: string, fields: Record<string, string>) {
        const { html } = await person.get(page);
        const body = new URLSearchParams({
            _form: hiddenOf(html, '_form') ?? '',
            ...(hiddenOf(html, '_workspace') === undefined ? {} : { _workspace: hiddenOf(html, '_workspace') ?? '' }),
            ...fields,
        });
        return () => person.post(action, body.toString());
    }

    /** Starts one request after the other while rows are locked, each when the previous one waits. Then releases the lock. */
    async function inOrder(
        lock: string,
        of: string | readonly [],
        requests: readonly (() => Promise<PageAnswer>)[],
    ): Promise<PageAnswer[]> {
        const answers: Promise<PageAnswer>[] = [];
        await world.app.db.transaction(async (trx) => {
            await trx.raw(lock, [of].flat());
            for (const request of requests) {
                answers.push(request());
                await eventually(waiting, (count) => count === answers.length, 10_000);
            }
        });
        return Promise.all(answers);
    }

    const waiting = async () => {
        const { rows } = await world.app.db.raw<{ rows: [{ count: number }] }>(
            "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
        return rows[0].count;
    };

    const LINKS = 'select from mail_links where user_id = ? for update';
    const WORKSPACES = 'select from workspaces where id in (select workspace_id from memberships where user_id = ?) for update';

    const countOf = async (table: string, userId: string) => {
        const { rows } = await world.app.db.raw<{ rows: [{ count: number }] }>('select count(*) from ?? where user_id = ?', [
            table,
            userId,
        ]);
        return rows[0].count;
    };
    const signsIn = async (email: string, password: string) =>
        (await visitor(world).send('/login', { email, password })).to === '/dashboard';

    const KEY_FORM = { name: 'mine still', expires: 'never' };

    it('creates no key after all sessions and keys ended', async () => {
        const { stranger, userId, reset } = await squat();
        const makeKey = await formOf(stranger, '/dashboard/keys', '/dashboard/keys', KEY_FORM);
        const [taken, made] = await inOrder(LINKS, userId, [reset, makeKey]);
        expect([taken?.to, made?.to?.split('?')[0]]).to.deep.equal(['/dashboard', '/login']);
        expect(await countOf('api_keys', userId)).to.equal(0);
        expect(wordsOf((await stranger.get('/login')).html)).to.include('your session ended');
    });

    it('loses the key that it created just before', async () => {
        const { stranger, userId, reset } = await squat();
        const makeKey = await formOf(stranger, '/dashboard/keys', '/dashboard/keys', KEY_FORM);
        const [made, taken] = await inOrder(WORKSPACES, userId, [makeKey, reset]);
        expect([made?.status, taken?.to], wordsOf(made?.html ?? '')).to.deep.equal([200, '/dashboard']);
        const [apiKey = ''] = /rb_[0-9A-Za-z_]+/.exec(made?.html ?? '') ?? [];
        expect((await withKey(world, apiKey).call('GET', '/v1/account')).status).to.equal(401);
        const { rows } = await world.app.db.raw('select revoked_at from api_keys where user_id = ?', [userId]);
        expect(rows).to.have.length(1);
        expect(rows[0].revoked_at).to.be.an.instanceOf(Date);
    });

    it('invites nobody after all sessions ended', async () => {
        const { stranger, userId, reset } = await squat();
        await world.app
            .db('users')
            .where({ id: userId })
            .update({ verified_at: world.app.db.raw('app_now()') });
        const fields = { email: '', role: 'owner' };
        const invite = await formOf(stranger, '/dashboard/workspace', '/dashboard/workspace/invitations', fields);
        const [taken, made] = await inOrder(LINKS, userId, [reset, invite]);
        expect([taken?.to, made?.to?.split('?')[0]], wordsOf(made?.html ?? '')).to.deep.equal(['/dashboard', '/login']);
        expect(await world.app.db('workspace_invitations').where({ invited_by: userId })).to.deep.equal([]);
    });

    const ENDS: Record<string, (squatted: Awaited<ReturnType<typeof squat>>) => Promise<unknown>> = {
        'although its turn comes later': async ({ reset }) => expect((await reset()).to).to.equal('/dashboard'),
        'if an operator suspends the stranger before its turn': ({ userId }) => setSuspended(world.app.db, userId, true),
    };
    for (const [when, end] of Object.entries(ENDS)) {
        it(`changes nothing by the API either, ${when}`, async () => {
            const squatted = await squat();
            const { stranger, userId } = squatted;
            const { workspace_id: workspaceId } = await world.app.db('memberships').where({ user_id: userId }).first('workspace_id');
            const { apiKey } = await createKey(world.app.db, { workspaceId, userId, name: 'early', scopes: EVERY_SCOPE });
            const early = withKey(world, apiKey);
            const friend = await join(world);
            const site = `${workspaceId.slice(-8).toLowerCase()}-taken.example`;
            dataOf(await early.publish(aPackage(site)));
            const page = `/dashboard/schemas/${site}`;
            const add = await formOf(stranger, page, `${page}/maintainers`, { maintainer: friend.workspaceId });
            const answers: Promise<unknown>[] = [];
            await world.app.db.transaction(async (trx) => {
                await trx.raw('select from domains where registrable = ? for update', [site]);
                answers.push(early.call('POST', `/v1/schemas/${site}/versions/1/yank`, { body: { reason: 'broken' } }));
                await eventually(waiting, (count) => count === 1, 10_000);
                // It waits for the yank, which the same account ordered.
                answers.push(add());
                await stranger.get('/dashboard/schemas');
                await end(squatted);
            });
            await Promise.all(answers);
            const listed = await friend.call('GET', `/v1/schemas/${site}/maintainers`);
            expect(dataOf<{ workspace_id: string }[]>(listed).map(({ workspace_id: id }) => id)).to.deep.equal([workspaceId]);
        });
    }

    it('adds no passkey', async () => {
        const { stranger, userId, reset } = await squat();
        const credential = attest({ challenge: await challengeFor(stranger), origin: world.app.publicUrl() });
        const addPasskey = await formOf(stranger, PASSKEY_PAGE, PASSKEY_PAGE, { name: 'of a stranger', credential });
        const [taken, added] = await inOrder(LINKS, userId, [reset, addPasskey]);
        expect([taken?.to, added?.to?.split('?')[0]]).to.deep.equal(['/dashboard', '/login']);
        expect([await countOf('passkeys', userId), await countOf('recovery_codes', userId)]).to.deep.equal([0, 0]);
    });

    it('adds no passkey beyond the limit, even if two processes add one at the same time', async () => {
        const email = freshAddress();
        const person = await signUp(world, email);
        const userId = await userOf(world, email);
        while ((await countOf('passkeys', userId)) < MAX_PASSKEYS - 1) await givePasskey(world, userId);
        const other = await world.openAnotherApi();
        const there = visitor(world, { base: other.base });
        for (const [name, value] of person.cookies) there.cookies.set(name, value);
        const forms = await Promise.all(
            [
                { browser: person, app: world.app },
                { browser: there, app: other.app },
            ].map(async ({ browser, app }) => {
                const credential = attest({ challenge: await challengeFor(browser), origin: app.publicUrl() });
                return formOf(browser, PASSKEY_PAGE, PASSKEY_PAGE, { name: 'one more', credential });
            }),
        );
        // Nothing is stored before both have counted, or wait for each other.
        const answers = await inOrder('lock table passkeys in share row exclusive mode', [], forms);
        expect(answers.map(({ status }) => status).toSorted((one, next) => one - next)).to.deep.equal([200, 422]);
        expect(await countOf('passkeys', userId)).to.equal(MAX_PASSKEYS);
    });

    it('sets no other password, even with the previous one', async () => {
        const { email, stranger, userId, reset } = await squat();
        const fields = { password: PASSWORD, new_password: NEW_PASSWORD };
        const change = await formOf(stranger, '/dashboard/settings', '/dashboard/settings/password', fields);
        const [taken, changed] = await inOrder(LINKS, userId, [reset, change]);
        expect([taken?.to, changed?.to?.split('?')[0]]).to.deep.equal(['/dashboard', '/login']);
        expect([await signsIn(email, NEW_PASSWORD), await signsIn(email, OWN_PASSWORD)]).to.deep.equal([false, true]);
    });

    it('starts no session with the previous password, which was right when it was checked', async () => {
        const { email, userId, reset } = await squat();
        const elsewhere = visitor(world);
        const signIn = await formOf(elsewhere, '/login', '/login', { email, password: PASSWORD });
        const [taken, entered] = await inOrder(LINKS, userId, [reset, signIn]);
        expect([taken?.to, entered?.to]).to.deep.equal(['/dashboard', '/login']);
        expect((await elsewhere.get('/dashboard')).status).to.equal(303);
        expect(await countOf('web_sessions', userId)).to.equal(1);
    });
});
