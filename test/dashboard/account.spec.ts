import { expect } from 'chai';
import { readEmail } from '../../shared/domain/accounts/email.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import { createAccount } from '../../shared/store/accounts/accounts.ts';
import { createKey } from '../../shared/store/accounts/api-keys.ts';
import { workspacesLeft } from '../../shared/store/accounts/delete-account.ts';
import { deleteRests } from '../../shared/store/accounts/delete-rests.ts';
import { signUp as signUpInStore } from '../../shared/store/accounts/sign-up.ts';
import { addMember, createWorkspace } from '../../shared/store/accounts/workspaces.ts';
import { create as createRequest } from '../../shared/store/registry/schema-requests.ts';
import { eventually } from '../support/eventually.ts';
import { stranger, withKey } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { openWorld, type World } from '../support/world.ts';
import type { MailServer } from './support/mail-server.ts';
import { openMailWorld } from './support/mail-world.ts';
import { userOf } from './support/settled.ts';
import { freshAddress, PASSWORD, type PageAnswer, signUp as signUpEarly, type Visitor, visitor, wordsOf } from './support/visitor.ts';

const OTHER_PASSWORD = 'another long sentence';

describe('an account', () => {
    let world: World;
    /** A world without a mail server, in which accounts work before their address is confirmed. */
    let quiet: World;
    let mail: MailServer;

    before(async () => {
        quiet = await openWorld({ workers: 0, config: { trustProxy: 1 } });
        ({ world, mail } = await openMailWorld({ operatorEmails: ['ops@pages.example'] }));
    });
    after(async () => {
        await world.close();
        await quiet.close();
    });

    /** A person with a confirmed address. */
    async function signUp(inWorld: World, email = freshAddress()): Promise<Visitor> {
        const person = await signUpEarly(inWorld, email);
        await inWorld.app.db.raw('update users set verified_at = app_now() where email = ?', [email]);
        return person;
    }

    /**
     * Starts requests one after the other while a statement holds locks, each when the previous one waits. Then releases the locks.
     * @param act runs while all of them wait
     */
    async function whileLocked<T>(
        inWorld: World,
        lock: string,
        requests: readonly (() => Promise<T>)[],
        act: () => Promise<unknown> = async () => undefined,
    ): Promise<T[]> {
        const { db } = inWorld.app;
        const waiting = async () => {
            const locked = db('pg_stat_activity').where({ wait_event_type: 'Lock', datname: db.raw('current_database()') });
            return (await locked.count<{ count: number }[]>())[0]?.count;
        };
        const answers: Promise<T>[] = [];
        await db.transaction(async (trx) => {
            await trx.raw(lock);
            for (const request of requests) {
                answers.push(request());
                await eventually(waiting, (count) => count === answers.length, 10_000);
            }
            await act();
        });
        return Promise.all(answers);
    }

    const mayEnter = async (person: Visitor) => (await person.get('/dashboard')).status === 200;
    const signIn = (person: Visitor, email: string, password: string) => person.send('/login', { email, password });

    describe('that is created', () => {
        it('signs its owner in at once, with the allowance of Free and nothing to pay', async () => {
            const person = await signUp(world);
            const { status, html } = await person.get('/dashboard');
            expect(status).to.equal(200);
            expect(wordsOf(html)).to.include('1,000 of 1,000').and.include('Create an API key');
        });

        it('says that the terms apply, and links to them and to the privacy notice', async () => {
            const { html } = await visitor(world).get('/signup');
            expect(wordsOf(html)).to.include('By signing up you accept the terms');
            expect(/<main[\s\S]*<\/main>/.exec(html)?.[0])
                .to.include('href="/terms"')
                .and.include('href="/privacy"');
        });

        it('keeps the typed values beside errors, except for the password', async () => {
            const { status, html } = await visitor(world).send('/signup', { email: '<b>ada', password: 'short' }, { from: '/signup' });
            expect(status).to.equal(422);
            expect(html).to.include('value="&lt;b&gt;ada"').and.not.include('<b>ada').and.not.include('short"');
            expect(wordsOf(html)).to.include('This is not an email address');
        });

        for (const password of [
            'password123',
            '1234567890',
            'aaaaaaaaaaaa',
            'nine char',
            'routebook2026',
            'q1w2e3r4t5y6',
            'Manchester',
            'dragon!2026',
            'x'.repeat(201),
        ]) {
            it(`refuses ${password.slice(0, 20)} as a password`, async () => {
                const { status } = await visitor(world).send('/signup', { email: freshAddress(), password }, { from: '/signup' });
                expect(status).to.equal(422);
            });
        }

        it('is the only one of its address, however that is spelled', async () => {
            await signUp(quiet, 'Ada.Lovelace@gmail.com');
            for (const email of ['ada.lovelace@gmail.com', 'adalovelace+two@gmail.com', 'A.d.a.Lovelace@googlemail.com']) {
                const { status, html } = await visitor(quiet).send('/signup', { email, password: PASSWORD }, { from: '/signup' });
                expect(status, email).to.equal(422);
                expect(wordsOf(html), email).to.include('already has an account');
            }
        });

        it('is created once by ten sign-ups with one address at the same time', async () => {
            const email = freshAddress();
            const answers = await Promise.all(
                Array.from({ length: 10 }, () => visitor(quiet).send('/signup', { email, password: PASSWORD }, { from: '/signup' })),
            );
            expect(answers.filter(({ status }) => status === 303)).to.have.length(1);
            expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([303, 422]));
        });

        it('can be created twenty times an hour, and a hundred times a day, from one address', async () => {
            const address = '192.0.2.77';
            const attempt = () =>
                visitor(world, { address }).send('/signup', { email: freshAddress(), password: PASSWORD }, { from: '/signup' });
            /** Ten passwords of one address are hashed in a minute. A sign-up that has to wait for the next one counts for nothing. */
            const inTheNextMinute = async () => {
                const { status, headers } = await attempt();
                expect([status, Number(headers['retry-after']) <= 60]).to.deep.equal([429, true]);
                await world.clock.advance({ minutes: 1, seconds: 1 });
            };
            for (let hour = 0; hour < 5; hour++) {
                for (let time = 0; time < 20; time++) {
                    expect((await attempt()).status).to.equal(200);
                    if (time % 10 === 9) await inTheNextMinute();
                }
                const { status, headers, html } = await attempt();
                expect(status).to.equal(429);
                expect(Number(headers['retry-after'])).to.be.within(3000, hour < 4 ? 3600 : 86_400);
                expect(wordsOf(html)).to.include('Too many sign-ups from your network');
                await world.clock.advance({ hours: 1, seconds: 1 });
            }
            expect((await attempt()).status).to.equal(429);
            await world.clock.advance({ days: 1 });
            expect((await attempt()).status).to.equal(200);
        });
    });

    describe('with sign-in', () => {
        it('accepts the password, and says only that address and password do not match', async () => {
            const email = freshAddress();
            await signUp(world, email);
            const person = visitor(world);
            const wrong = await signIn(person, email, 'not the password');
            const nobody = await signIn(person, freshAddress(), 'not the password');
            expect([wrong.status, nobody.status]).to.deep.equal([422, 422]);
            expect(wordsOf(wrong.html)).to.include('Wrong email address or password');
            const plain = (html: string) => wordsOf(html.replaceAll(/value="[^"]*"/g, ''));
            expect(plain(wrong.html)).to.equal(plain(nobody.html));
            expect((await signIn(person, email.toUpperCase(), PASSWORD)).to).to.equal('/dashboard');
            expect(await mayEnter(person)).to.equal(true);
        });

        it('lets more than forty people of one address in within a quarter of an hour', async () => {
            const email = freshAddress();
            await signUp(world, email);
            for (let minute = 0; minute < 5; minute++) {
                for (let time = 0; time < 9; time++) {
                    const { status } = await signIn(visitor(world, { address: '192.0.2.78' }), email, PASSWORD);
                    expect(status, `sign-in ${9 * minute + time + 1}`).to.equal(303);
                }
                await world.clock.advance({ minutes: 1, seconds: 1 });
            }
        });

        it('leads to the page that its owner wanted, and to no other site', async () => {
            const email = freshAddress();
            await signUp(world, email);
            expect((await visitor(world).get('/dashboard/keys?a=b')).to).to.equal('/login?next=%2Fdashboard%2Fkeys%3Fa%3Db');
            const { html } = await visitor(world).get('/signup?next=%2Fregistry');
            expect(html).to.include('<a href="/login?next=%2Fregistry">Sign in</a>');
            // The head of the page keeps it too, and leads back to an invitation.
            expect(html).to.include('href="/login?next=%2Fregistry">Sign in</a>\n<a class="button small" href="/signup?next=%2Fregistry">');
            const invited = (await visitor(world).get('/invite/nothing')).html;
            expect(invited).to.include('<a class="button small" href="/signup?next=%2Finvite%2Fnothing">');
            const goTo = async (next: string) => (await visitor(world).send('/login', { email, password: PASSWORD, next })).to;
            expect(await goTo('/dashboard/keys?a=b')).to.equal('/dashboard/keys?a=b');
            for (const next of ['https://evil.example/', '//evil.example', '/\\evil.example', '/a\r\nb', 'javascript:alert(1)', ''])
                expect(await goTo(next), next).to.equal('/dashboard');
        });

        it('cannot be guessed, from one address or from many, over all processes; a mailed link still signs its owner in', async () => {
            const email = freshAddress();
            await signUp(world, email);
            const other = await world.openAnotherApi();
            for (let attempt = 0; attempt < 10; attempt++) {
                const base = attempt % 2 === 0 ? world.base : other.base;
                expect((await signIn(visitor(world, { address: '192.0.2.10', base }), email, 'a wrong guess')).status).to.equal(422);
            }
            expect((await signIn(visitor(world, { address: '192.0.2.10' }), email, PASSWORD)).status).to.equal(429);
            expect((await signIn(visitor(world, { address: '192.0.2.11' }), email, PASSWORD)).status).to.equal(303);
            await world.clock.advance({ minutes: 16 });
            expect((await signIn(visitor(world, { address: '192.0.2.10' }), email, PASSWORD)).status).to.equal(303);
        });

        it('keeps the fifty latest sessions', async () => {
            const email = freshAddress();
            const first = await signUp(world, email);
            const last = visitor(world);
            for (let time = 0; time < 49; time++) await signIn(visitor(world), email, PASSWORD);
            expect(await mayEnter(first)).to.equal(true);
            await signIn(last, email, PASSWORD);
            expect([await mayEnter(first), await mayEnter(last)]).to.deep.equal([false, true]);
        });

        it('ends the session by signing out: a copy of the cookie is refused', async () => {
            const person = await signUp(world);
            const kept = new Map(person.cookies);
            expect((await person.send('/logout')).to).to.equal('/login');
            for (const [name, value] of kept) person.cookies.set(name, value);
            expect(await mayEnter(person)).to.equal(false);
        });

        it('ends the session after thirty days', async () => {
            const person = await signUp(world);
            for (const days of [13, 13, 3]) {
                await world.clock.advance({ days });
                expect(await mayEnter(person)).to.equal(true);
            }
            await world.clock.advance({ days: 2 });
            expect(await mayEnter(person)).to.equal(false);
        });

        it('stores only a hash of the cookie, which scripts cannot read and other sites do not send', async () => {
            const person = visitor(quiet);
            const { headers } = await person.send('/signup', { email: freshAddress(), password: PASSWORD }, { from: '/signup' });
            const line = headers['set-cookie']?.find((cookie) => cookie.startsWith('routebook_session='));
            expect(line).to.include('HttpOnly').and.include('SameSite=Lax').and.include('Path=/');
            const token = person.cookies.get('routebook_session') ?? '';
            const { rows } = await quiet.app.db.raw('select row_to_json(s)::text as row from web_sessions s');
            expect(rows.map(({ row }: { row: string }) => row).join()).to.not.include(token);
        });
    });

    describe('with changes', () => {
        it('accepts a new password with the old one, and ends the other sessions', async () => {
            const email = freshAddress();
            const person = await signUp(world, email);
            const elsewhere = visitor(world);
            await signIn(elsewhere, email, PASSWORD);
            const change = (password: string, next: string) =>
                person.send('/dashboard/settings/password', { password, new_password: next });
            const wrong = await change('not the password', OTHER_PASSWORD);
            expect(wrong.status).to.equal(422);
            expect(wordsOf(wrong.html)).to.include('Wrong password.');
            expect((await change(PASSWORD, OTHER_PASSWORD)).to).to.equal('/dashboard/settings');
            expect([await mayEnter(person), await mayEnter(elsewhere)]).to.deep.equal([true, false]);
        });

        it('signs out everywhere else on request', async () => {
            const email = freshAddress();
            const person = await signUp(world, email);
            const elsewhere = visitor(world);
            await signIn(elsewhere, email, PASSWORD);
            expect(wordsOf((await person.get('/dashboard/settings')).html)).to.include('Firefox on Linux this session');
            await person.send('/dashboard/settings/sessions');
            expect([await mayEnter(person), await mayEnter(elsewhere)]).to.deep.equal([true, false]);
        });

        it('gets another address when the link sent there is opened; the old one is notified and earns no second allowance', async () => {
            const [old, fresh] = [freshAddress(), freshAddress()];
            const person = await signUp(world, old);
            await mail.mailTo(old);
            expect((await person.send('/dashboard/settings/address', { email: fresh, password: PASSWORD })).to).to.equal(
                '/dashboard/settings',
            );
            const { link = '' } = await mail.mailTo(fresh);
            expect(wordsOf((await person.get('/dashboard/settings')).html)).to.include(`You sign in with ${old}`);
            expect((await person.get(link)).to).to.equal('/dashboard');
            expect((await mail.mailTo(old)).subject).to.equal('Your email address was changed');
            expect((await signIn(visitor(world), fresh, PASSWORD)).status).to.equal(303);
            expect((await signIn(visitor(world), old, PASSWORD)).status).to.equal(422);
            const again = await signUp(world, old);
            expect(wordsOf((await again.get('/dashboard')).html)).to.include('0 of 1,000');
        });

        it('does not get an address of another account, even if that was created first', async () => {
            const [mine, theirs] = [freshAddress(), freshAddress()];
            const person = await signUpEarly(world, mine);
            await signUp(world, theirs);
            await mail.mailTo(theirs);
            const known = await person.send('/dashboard/settings/address', { email: theirs, password: PASSWORD });
            expect(known.to).to.equal('/dashboard/settings');
            const { subject, link: none } = await mail.mailTo(theirs);
            expect([subject, none]).to.deep.equal(['Someone tried to use your email address', undefined]);
            const raced = freshAddress();
            await person.send('/dashboard/settings/address', { email: raced, password: PASSWORD });
            const { link = '' } = await mail.mailTo(raced);
            await signUp(world, raced);
            expect((await person.get(link)).status).to.equal(410);
        });

        it('does not get an address that another account is signing up with', async () => {
            const [mine, raced] = [freshAddress(), freshAddress()];
            const person = await signUpEarly(world, mine);
            await person.send('/dashboard/settings/address', { email: raced, password: PASSWORD });
            const { link = '' } = await mail.mailTo(raced);
            const email = readEmail(raced);
            if (!email.ok) throw new Error(email.message);
            const order = { email, passwordHash: 'x', address: '192.0.2.8' };
            const [, opened] = await whileLocked<unknown>(world, 'lock table workspaces in share row exclusive mode', [
                () => signUpInStore(world.app.db, order),
                () => person.get(link),
            ]);
            expect((opened as PageAnswer).status).to.equal(410);
        });
    });

    describe('that is deleted', () => {
        it('deletes keys, sessions and all personal data; published packages stay with the workspace', async () => {
            const email = freshAddress();
            const person = await signUp(world, email);
            await person.get((await mail.mailTo(email)).link ?? '');
            const userId = await userOf(world, email);
            const workspaceId = (await createWorkspace(world.app.db, userId, 'The Bookbinders')) ?? '';
            const { apiKey } = await createKey(world.app.db, { workspaceId, userId, name: 'press' });
            const caller = withKey(world, apiKey);
            dataOf(await caller.publish(aPackage('bookbinders.example')));
            await world.app.db.raw("insert into outgoing_mails (recipient, sealed, due_at) values (?, '', 'infinity')", [email]);
            expect((await person.send('/dashboard/settings/delete', { password: 'not the password' })).status).to.equal(422);
            expect((await person.send('/dashboard/settings/delete', { password: PASSWORD })).to).to.equal('/');

            expect(await mayEnter(person)).to.equal(false);
            expect((await signIn(visitor(world), email, PASSWORD)).status).to.equal(422);
            await eventually(
                async () => (await caller.call('GET', '/v1/account')).status,
                (status) => status === 401,
                1000,
            );
            const card = dataOf(await stranger(world).call('GET', '/v1/schemas/bookbinders.example'));
            expect(card).to.include({ maintainer: 'The Bookbinders' });
            for (const table of [
                'users',
                'web_sessions',
                'outgoing_mails',
                'mail_links',
                'api_keys',
                'memberships',
                'usage',
                'former_users',
            ]) {
                const { rows } = await world.app.db.raw('select coalesce(json_agg(t)::text, ?) as text from ?? t', ['', table]);
                expect(rows[0].text, table).to.not.include(email);
            }
        });

        it('is no contact of schema requests any more; the requests stay, and so do those of others', async () => {
            const [email, colleague] = [freshAddress(), freshAddress()];
            const person = await signUp(world, email);
            const other = await signUp(world, colleague);
            const [mine, theirs] = [await workspaceOf(email), await workspaceOf(colleague)];
            await addMember(world.app.db, { workspaceId: theirs, userId: await userOf(world, email), role: 'member' });
            const ask = async (workspaceId: string, requesterContact: string) => {
                const id = newId('srq');
                const wish = { domain: 'ferries.example', registrable: 'ferries.example', task: 'Read all departures of one harbour.' };
                const unsaid = { readOrWrite: null, authShape: null, outputShape: null, failureMode: null, intentCategory: null };
                await createRequest(
                    world.app.db,
                    { ...wish, ...unsaid, sourceUrl: null, frequency: null, requesterContact },
                    { id, workspaceId },
                );
                return id;
            };
            const asked = [await ask(mine, '+49 40 1234'), await ask(theirs, ` ${email.toUpperCase()}`), await ask(theirs, `x${email}`)];
            expect((await person.send('/dashboard/settings/delete', { password: PASSWORD })).to).to.equal('/');
            const { rows } = await world.app.db.raw<{ rows: { requester_contact: string | null }[] }>(
                'select requester_contact from schema_requests where id = any(?::text[]) order by array_position(?::text[], id)',
                [asked, asked],
            );
            expect(rows.map((row) => row.requester_contact)).to.deep.equal([null, null, `x${email}`]);
            expect((await other.get('/requests')).status).to.equal(200);
        });

        const workspaceOf = async (email: string) => {
            const { rows } = await world.app.db.raw<{ rows: { workspace_id: string }[] }>(
                'select workspace_id from memberships where user_id = ?',
                [await userOf(world, email)],
            );
            return rows[0]?.workspace_id ?? '';
        };

        it('has no second allowance when its address signs up again', async () => {
            const email = freshAddress();
            const person = await signUp(world, email);
            const userId = await userOf(world, email);
            await world.app.db.raw(`select credits_open(?, 'free', 700, '{}'::jsonb, false)`, [userId]);
            await person.send('/dashboard/settings/delete', { password: PASSWORD });
            const again = await signUp(world, email);
            expect(wordsOf((await again.get('/dashboard')).html)).to.include('700 of 1,000');
            await world.clock.advance({ days: 32 });
            const later = visitor(world);
            await signIn(later, email, PASSWORD);
            expect(wordsOf((await later.get('/dashboard')).html)).to.include('1,000 of 1,000');
        });

        it('has no second allowance when its address signs up again during the deletion', async () => {
            const email = freshAddress();
            const person = await signUp(quiet, email);
            const userId = await userOf(quiet, email);
            await quiet.app.db.raw(`select credits_open(?, 'free', 700, '{}'::jsonb, false)`, [userId]);
            const again = visitor(quiet);
            // The deletion waits for its last statement, the sign-up for the deletion.
            const [deleted, signedUp] = await whileLocked(quiet, 'lock table audit in share row exclusive mode', [
                () => person.send('/dashboard/settings/delete', { password: PASSWORD }),
                () => again.send('/signup', { email, password: PASSWORD }, { from: '/signup' }),
            ]);
            expect([deleted?.to, signedUp?.to]).to.deep.equal(['/', '/dashboard']);
            expect(wordsOf((await again.get('/dashboard')).html)).to.include('700 of 1,000');
        });

        it('waits for none of its jobs, which workers delete in steps, and go on with after a death', async () => {
            const email = freshAddress();
            const person = await signUp(quiet, email);
            const userId = await userOf(quiet, email);
            const { db } = quiet.app;
            await db.raw(
                `insert into jobs (job_id, workspace_id, key_id, account_id, site, registrable, endpoint, version_id, version, effect, needs,
                                   metadata, unit, expires_at)
                 select 'job_' || n, m.workspace_id, 'key_1', m.user_id, 'shop.test', 'shop.test', 'product', 1, 1, 'read', 'read', '{}', 1,
                        app_now()
                 from memberships m, generate_series(1, 6000) n where m.user_id = ?`,
                [userId],
            );
            const left = () => db('jobs').where({ account_id: userId }).pluck('job_id');
            await db.transaction(async (trx) => {
                await trx.raw("select from jobs where job_id = 'job_6000' for update");
                expect((await person.send('/dashboard/settings/delete', { password: PASSWORD })).to).to.equal('/');
                await deleteRests(db);
                expect(await left()).to.deep.equal(['job_6000']);
            });
            await deleteRests(db);
            expect(await left()).to.deep.equal([]);
            expect(await db('job_accounts').where({ account_id: userId }).first('open_items')).to.deep.equal({ open_items: 0 });
            expect(await db('users').where({ id: userId }).first('emptied')).to.deep.equal({ emptied: null });
        });

        it('keeps its whole history if it stays, because somebody joined at that moment', async () => {
            const [email, colleague] = [freshAddress(), freshAddress()];
            const person = await signUp(quiet, email);
            await signUp(quiet, colleague);
            const [userId, colleagueId] = [await userOf(quiet, email), await userOf(quiet, colleague)];
            const { db } = quiet.app;
            const workspaceId = (await workspacesLeft(db, userId))[0]?.workspaceId ?? '';
            await db('events').insert({ id: 'evt_kept', type: 'schema.published', position: -1, workspace_id: workspaceId, data: '{}' });
            const [answer] = await whileLocked(
                quiet,
                `select from users where id = '${userId}' for no key update`,
                [() => person.send('/dashboard/settings/delete', { password: PASSWORD })],
                () => addMember(db, { workspaceId, userId: colleagueId, role: 'member' }),
            );
            expect(wordsOf(answer?.html ?? '')).to.include('One of your workspaces has changed');
            await deleteRests(db);
            expect(await db('events').where({ workspace_id: workspaceId }).pluck('position')).to.deep.equal([-1]);
        });

        it('leaves no credential in a workspace that nobody is in any more', async () => {
            const email = freshAddress();
            const person = await signUp(quiet, email);
            const userId = await userOf(quiet, email);
            const { db } = quiet.app;
            const workspace_id = (await workspacesLeft(db, userId))[0]?.workspaceId ?? '';
            const [site, sealed] = ['shop.example', Buffer.from('sealed')];
            const shared = { id: 'con_shared', workspace_id, owner_id: userId, shared: true, site, auth_id: 'key', name: 'ours' };
            await db('connections').insert({ ...shared, entry: '{}', hosts: [site], sealed, hint: 'abcd' });
            await db('oauth_clients').insert({ workspace_id, site, client_id: 'ours', sealed });
            await person.send('/dashboard/settings/delete', { password: PASSWORD });
            for (const table of ['connections', 'oauth_clients'])
                expect(await db(table).where({ workspace_id }).pluck('site'), table).to.deep.equal([]);
        });

        it('leaves nothing to spend for a process that knows its keys for a moment longer', async () => {
            const email = freshAddress();
            const person = await signUp(quiet, email);
            const userId = await userOf(quiet, email);
            await person.send('/dashboard/settings/delete', { password: PASSWORD });
            expect((await quiet.app.credits.balance(userId))?.available).to.equal(0);
            await quiet.clock.advance({ days: 32 });
            expect((await quiet.app.credits.balance(userId))?.available).to.equal(0);
        });

        it('cannot be deleted while others would be left without an owner', async () => {
            const [email, colleague] = [freshAddress(), freshAddress()];
            const person = await signUp(world, email);
            await signUp(world, colleague);
            const { rows } = await world.app.db.raw('select workspace_id from memberships where user_id = ?', [await userOf(world, email)]);
            await addMember(world.app.db, { workspaceId: rows[0].workspace_id, userId: await userOf(world, colleague), role: 'member' });
            const { status, html } = await person.send('/dashboard/settings/delete', { password: PASSWORD });
            expect(status).to.equal(422);
            expect(wordsOf(html)).to.include('Make someone else an owner of these workspaces first');
            expect(await mayEnter(person)).to.equal(true);
        });
    });

    it('that an operator creates for an unconfirmed address ends whatever was begun with it', async () => {
        const email = freshAddress();
        const squatter = await signUpEarly(world, email);
        await createAccount(world.app.db, { email, plan: 'free' });
        expect(await mayEnter(squatter)).to.equal(false);
        expect((await signIn(visitor(world), email, PASSWORD)).status).to.equal(422);
        const owner = visitor(world);
        await owner.send('/forgot', { email }, { from: '/forgot' });
        await mail.mailTo(email);
        const { link = '' } = await mail.mailTo(email);
        const token = new URL(link, world.base).searchParams.get('token') ?? '';
        expect((await owner.send('/reset', { token, password: OTHER_PASSWORD }, { from: link })).to).to.equal('/dashboard');
        expect(await mayEnter(owner)).to.equal(true);
    });

    it('that is suspended says so, and can sign out', async () => {
        const email = freshAddress();
        const person = await signUp(world, email);
        await world.app.db.raw('update users set suspended_at = app_now() where email = ?', [email]);
        const { status, html } = await person.get('/dashboard');
        expect(status).to.equal(403);
        expect(wordsOf(html)).to.include('This account is suspended');
        expect((await person.send('/logout')).to).to.equal('/login');
    });
});
