import { expect } from 'chai';
import { isOperator } from '../../api/dashboard/authorize.ts';
import { createKey } from '../../shared/store/accounts/api-keys.ts';
import { deleteAccount } from '../../shared/store/accounts/delete-account.ts';
import { findSignedIn, type SignedIn } from '../../shared/store/accounts/user-sessions.ts';
import { eventually } from '../support/eventually.ts';
import { withKey } from '../support/people.ts';
import { codeOf } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { openWorld, type World } from '../support/world.ts';
import type { MailServer } from './support/mail-server.ts';
import { openMailWorld } from './support/mail-world.ts';
import { userOf } from './support/settled.ts';
import { freshAddress, PASSWORD, signUp, signUpByMail, type Visitor, visitor, wordsOf } from './support/visitor.ts';

const OTHER_PASSWORD = 'another long sentence';

describe('an account', () => {
    let world: World;
    let mail: MailServer;

    before(async () => {
        ({ world, mail } = await openMailWorld({ operatorEmails: ['ops@pages.example'] }));
    });
    after(() => world.close());

    const mayEnter = async (person: Visitor) => (await person.get('/dashboard')).status === 200;
    const signIn = (person: Visitor, email: string, password: string) => person.send('/login', { email, password });

    describe('with an unconfirmed address', () => {
        it('may browse, with a notice; fetch, publish and invite are refused, with a key too', async () => {
            const email = freshAddress();
            const person = await signUp(world, email);
            expect(wordsOf((await person.get('/dashboard')).html)).to.include('Confirm your email address.');
            const userId = await userOf(world, email);
            const { rows } = await world.app.db.raw('select workspace_id from memberships where user_id = ?', [userId]);
            const { apiKey } = await createKey(world.app.db, { workspaceId: rows[0].workspace_id, userId, name: 'early' });
            const caller = withKey(world, apiKey);
            expect(codeOf(await caller.fetch('shop.test', 'product'))).to.equal('EMAIL_NOT_VERIFIED');
            expect(codeOf(await caller.publish(aPackage('early.test')))).to.equal('EMAIL_NOT_VERIFIED');
            expect((await caller.call('GET', '/v1/account')).status).to.equal(200);
            const invited = await person.send('/dashboard/invite', { email: freshAddress() });
            expect(invited.status).to.equal(403);
            const asked = await person.send('/dashboard/workspace/invitations', { email: freshAddress(), role: 'member' });
            expect(asked.status).to.equal(422);

            expect((await person.get((await mail.mailTo(email)).link ?? '')).to).to.equal('/dashboard');
            await eventually(
                async () => codeOf(await caller.fetch('shop.test', 'product')),
                (code) => code === 'SITE_NOT_FOUND',
            );
        });

        it('is confirmed by its mailed link, once; with the password if somebody else may have opened it', async () => {
            const email = freshAddress();
            await signUp(world, email);
            const { link = '', from, text } = await mail.mailTo(email);
            expect(from).to.equal('Routebook <hello@routebook.example>');
            expect(text).to.include('If you did not sign up');
            const scanner = visitor(world);
            expect(wordsOf((await scanner.get(link)).html)).to.include('Is this your address?');
            const { rows } = await world.app.db.raw('select verified_at from users where email = ?', [email]);
            expect(rows[0].verified_at).to.equal(null);
            const token = new URL(link, world.base).searchParams.get('token') ?? '';
            expect((await scanner.send('/verify', { token, password: PASSWORD }, { from: link })).to).to.equal('/dashboard');
            expect((await visitor(world).get(link)).status).to.equal(410);
        });

        it('gets the link again on request, a few times an hour', async () => {
            const email = freshAddress();
            const person = await signUp(world, email);
            const first = await mail.mailTo(email);
            const dead = await person.get('/verify?token=nothing');
            expect([dead.status, dead.html.includes('<a class="button plain" href="/dashboard/settings">')]).to.deep.equal([410, true]);
            expect((await person.get('/dashboard/settings')).html).to.include('action="/verify/send"');
            for (let time = 0; time < 4; time++) expect((await person.send('/verify/send')).to).to.equal('/dashboard');
            expect((await person.send('/verify/send')).status).to.equal(429);
            expect((await person.get(first.link ?? '')).status).to.equal(410);
            // Mails may arrive in another order.
            const opened: (string | undefined)[] = [];
            for (let message = 1; message <= 4; message++) opened.push((await person.get((await mail.mailTo(email)).link ?? '')).to);
            expect(opened.filter((to) => to === '/dashboard')).to.have.length(1);
        });

        it('takes nothing from the owner of the address, who signs up later', async () => {
            const [email, inviter] = [freshAddress(), freshAddress()];
            await signUp(world, inviter);
            const inviterId = await userOf(world, inviter);
            await world.app.db.raw('update users set invite_code = ? where id = ?', ['friendscode', inviterId]);
            const squatter = await signUp(world, email);
            await mail.mailTo(email);
            const elsewhere = freshAddress();
            await squatter.send('/dashboard/settings/address', { email: elsewhere, password: PASSWORD });
            expect((await squatter.get((await mail.mailTo(elsewhere)).link ?? '')).to).to.equal('/dashboard');
            await mail.mailTo(email);
            const owner = visitor(world);
            const made = await owner.send('/signup', { email, password: OTHER_PASSWORD, invite: 'friendscode' }, { from: '/signup' });
            expect(made.status).to.equal(200);
            expect((await owner.get((await mail.mailTo(email)).link ?? '')).to).to.equal('/dashboard');
            const userId = await userOf(world, email);
            expect((await world.app.credits.balance(userId))?.available).to.equal(1000);
            const { rows } = await world.app.db.raw('select invited_by from users where id = ?', [userId]);
            expect(rows[0].invited_by).to.equal(inviterId);
        });

        it('is no operator by another spelling than that of OPERATOR_EMAILS, since that may be another mailbox', async () => {
            const person = await signUp(world, 'ops+evil@pages.example');
            await person.get((await mail.mailTo('ops+evil@pages.example')).link ?? '');
            const who = (await findSignedIn(world.app.db, person.cookies.get('routebook_session') ?? '')) as SignedIn;
            expect([who.isVerified, isOperator(world.app, who)]).to.deep.equal([true, false]);
            expect(isOperator(world.app, { ...who, email: 'OPS@Pages.example' }), 'another case').to.equal(true);
            expect(await deleteAccount(world.app.db, who.userId)).to.equal(true);
        });

        it('is no operator before the link was opened, even if OPERATOR_EMAILS contains it', async () => {
            const person = await signUp(world, 'ops@pages.example');
            const look = async () => isOperator(world.app, await findSignedIn(world.app.db, person.cookies.get('routebook_session') ?? ''));
            expect(await look()).to.equal(false);
            await person.get((await mail.mailTo('ops@pages.example')).link ?? '');
            expect(await look()).to.equal(true);
        });
    });

    describe('with a forgotten password', () => {
        const ask = (person: Visitor, email: string) => person.send('/forgot', { email }, { from: '/forgot' });

        it('gets a link that sets a new one once, ends every session, and does not reveal whether there is an account', async () => {
            const email = freshAddress();
            const before = await signUp(world, email);
            await mail.mailTo(email);
            const person = visitor(world);
            const [known, unknown] = [await ask(person, email), await ask(person, 'nobody@pages.example')];
            expect(known.status).to.equal(unknown.status);
            expect(wordsOf(known.html).replaceAll(email, 'X')).to.equal(wordsOf(unknown.html).replaceAll('nobody@pages.example', 'X'));
            const { link = '' } = await mail.mailTo(email);
            const token = new URL(link, world.base).searchParams.get('token') ?? '';
            expect((await person.send('/reset', { token, password: 'short' }, { from: link })).status).to.equal(422);
            expect((await person.send('/reset', { token, password: OTHER_PASSWORD }, { from: link })).to).to.equal('/dashboard');
            expect(await mayEnter(person)).to.equal(true);
            expect(await mayEnter(before)).to.equal(false);
            expect((await visitor(world).get(link)).status).to.equal(410);
            expect((await signIn(visitor(world), email, PASSWORD)).status).to.equal(422);
            expect((await signIn(visitor(world), email, OTHER_PASSWORD)).status).to.equal(303);
            expect((await mail.mailTo(email)).subject).to.equal('Your password was changed');
        });

        it('gets a link that expires after an hour', async () => {
            const email = freshAddress();
            await signUp(world, email);
            await mail.mailTo(email);
            await ask(visitor(world), email);
            const { link = '' } = await mail.mailTo(email);
            await world.clock.advance({ hours: 1, seconds: 1 });
            expect((await visitor(world).get(link)).status).to.equal(410);
        });

        it('belongs to the owner of the address: whoever signed up with it before loses the keys', async () => {
            const email = freshAddress();
            await signUp(world, email);
            await mail.mailTo(email);
            const userId = await userOf(world, email);
            const { rows } = await world.app.db.raw('select workspace_id from memberships where user_id = ?', [userId]);
            const { apiKey } = await createKey(world.app.db, { workspaceId: rows[0].workspace_id, userId, name: 'of the squatter' });
            await ask(visitor(world), email);
            const { link = '' } = await mail.mailTo(email);
            const token = new URL(link, world.base).searchParams.get('token') ?? '';
            await visitor(world).send('/reset', { token, password: OTHER_PASSWORD }, { from: link });
            await eventually(
                async () => (await withKey(world, apiKey).call('GET', '/v1/account')).status,
                (status) => status === 401,
                1000,
            );
        });

        it('allows no other access: an earlier change to this address by somebody else is void', async () => {
            const email = freshAddress();
            const squatter = await signUp(world, email);
            await mail.mailTo(email);
            const elsewhere = freshAddress();
            const asked = await squatter.send('/dashboard/settings/address', { email: elsewhere, password: PASSWORD });
            expect(asked.to).to.equal('/dashboard/settings');
            const { link: change = '' } = await mail.mailTo(elsewhere);
            await ask(visitor(world), email);
            const { link = '' } = await mail.mailTo(email);
            const token = new URL(link, world.base).searchParams.get('token') ?? '';
            const owner = visitor(world);
            expect((await owner.send('/reset', { token, password: OTHER_PASSWORD }, { from: link })).to).to.equal('/dashboard');
            expect((await squatter.get(change)).status).to.equal(410);
            const changeToken = new URL(change, world.base).searchParams.get('token') ?? '';
            expect((await squatter.send('/verify', { token: changeToken }, { from: '/login' })).status).to.equal(410);
            expect((await signIn(visitor(world), email, OTHER_PASSWORD)).status).to.equal(303);
        });

        it('is not mailed more than four times an hour, and says the same', async () => {
            const email = freshAddress();
            await signUp(world, email);
            await mail.mailTo(email);
            for (let time = 0; time < 6; time++) expect((await ask(visitor(world), email)).status).to.equal(200);
            const resets = () => mail.mails.filter(({ to, subject }) => to === email && subject === 'Reset your password').length;
            await eventually(
                async () => resets(),
                (count) => count >= 4,
            );
            const sentinel = freshAddress();
            await signUp(world, sentinel);
            await mail.mailTo(sentinel);
            expect(resets()).to.equal(4);
        });
    });

    describe('whose address strangers use', () => {
        it('is still mailed a link for a new password', async () => {
            const { email } = await signUpByMail(world, mail);
            const mailsOf = (subject: string) => mail.mails.filter((one) => one.to === email && one.subject === subject);
            const mailed = (subject: string, times: number) =>
                eventually(
                    async () => mailsOf(subject).length,
                    (count) => count === times,
                );
            const stranger = await signUp(world);
            const change = { email, password: PASSWORD };
            for (let time = 0; time < 2; time++)
                await stranger.send('/dashboard/settings/address', change, { from: '/dashboard/settings' });
            await mailed('Someone tried to use your email address', 2);
            const order = { email, password: OTHER_PASSWORD };
            for (let time = 0; time < 2; time++) await visitor(world).send('/signup', order, { from: '/signup' });
            await mailed('You already have an account', 2);
            const owner = visitor(world);
            await owner.send('/forgot', { email }, { from: '/forgot' });
            await mailed('Reset your password', 1);
            expect((await owner.get(mailsOf('Reset your password')[0]?.link ?? '')).status).to.equal(200);
        });
    });

    describe('without a mail server', () => {
        it('works at once, and its address is confirmed by the link in the log', async () => {
            const quiet = await openWorld({ workers: 0 });
            try {
                const email = freshAddress();
                const person = await signUp(quiet, email);
                const userId = await userOf(quiet, email);
                const { rows } = await quiet.app.db.raw('select workspace_id from memberships where user_id = ?', [userId]);
                const { apiKey } = await createKey(quiet.app.db, { workspaceId: rows[0].workspace_id, userId, name: 'early' });
                expect(codeOf(await withKey(quiet, apiKey).fetch('shop.test', 'product'))).to.equal('SITE_NOT_FOUND');
                expect(wordsOf((await person.get('/dashboard')).html)).to.not.include('Confirm your email address');
                const written = () => quiet.logged.find(({ mail_to }) => mail_to === email);
                await eventually(
                    async () => written(),
                    (line) => line !== undefined,
                    10_000,
                );
                const again = await person.send('/verify/send', {}, { from: '/dashboard/settings' });
                expect(wordsOf((await person.get(again.to ?? '')).html)).to.include('the email is printed where Routebook runs');
                const forgotten = await person.send('/forgot', { email }, { from: '/forgot' });
                expect(wordsOf(forgotten.html)).to.include('the email is printed where Routebook runs');
                const links = () => quiet.logged.flatMap(({ mail_link }) => (typeof mail_link === 'string' ? [mail_link] : []));
                await eventually(
                    async () => links(),
                    ({ length }) => length === 3,
                    10_000,
                );
                const link = links()[1] ?? '';
                expect(link).to.match(/^http:\/\/[^/]+\/verify\?token=[\w-]+$/);
                expect((await person.get(new URL(link).pathname + new URL(link).search)).to).to.equal('/dashboard');
                const invited = await person.send('/dashboard/workspace/invitations', { email: 'bob@people.example', role: 'member' });
                expect(wordsOf(invited.html))
                    .to.include('No mail server is set up here. Share this link with bob@people.example yourself')
                    .and.not.include('We emailed');
                expect(wordsOf((await person.get('/dashboard/settings')).html)).to.include('Email address confirmed');
            } finally {
                await quiet.close();
            }
        });
    });
});
