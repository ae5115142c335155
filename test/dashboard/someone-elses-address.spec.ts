import { expect } from 'chai';
import { isOperator } from '../../api/dashboard/authorize.ts';
import { createKey } from '../../shared/store/accounts/api-keys.ts';
import { findSignedIn } from '../../shared/store/accounts/user-sessions.ts';
import { eventually } from '../support/eventually.ts';
import { withKey } from '../support/people.ts';
import { newTestSecretKeys } from '../support/secrets.ts';
import { openWorld, type World } from '../support/world.ts';
import type { MailServer } from './support/mail-server.ts';
import { openMailWorld } from './support/mail-world.ts';
import { userOf } from './support/settled.ts';
import { freshAddress, PASSWORD, signUp, type Visitor, visitor, wordsOf } from './support/visitor.ts';

const OWN_PASSWORD = 'the owner’s own sentence';
const OPERATOR = 'root@pages.example';

describe('an address that a stranger signed up with', () => {
    let world: World;
    let mail: MailServer;

    before(async () => {
        ({ world, mail } = await openMailWorld({ operatorEmails: [OPERATOR] }));
    });
    after(() => world.close());

    async function keyOf(email: string): Promise<string> {
        const userId = await userOf(world, email);
        const { rows } = await world.app.db.raw('select workspace_id from memberships where user_id = ?', [userId]);
        return (await createKey(world.app.db, { workspaceId: rows[0].workspace_id, userId, name: 'made early' })).apiKey;
    }

    /** A stranger's account on this address, with a session and a key, and the link that the owner got. */
    async function squat(email = freshAddress()) {
        const squatter = await signUp(world, email);
        const key = await keyOf(email);
        const { link = '' } = await mail.mailTo(email);
        return { email, squatter, key, link, token: tokenOf(link) };
    }

    const tokenOf = (link: string) => new URL(link, world.base).searchParams.get('token') ?? '';
    const mayEnter = async (person: Visitor) => (await person.get('/dashboard')).status === 200;
    const works = async (key: string) => (await withKey(world, key).call('GET', '/v1/account')).status === 200;
    const isVerified = async (email: string) => {
        const { rows } = await world.app.db.raw('select verified_at from users where email = ?', [email]);
        return rows[0].verified_at !== null;
    };
    /** Keys are cached for less than a second. */
    const stopsWorking = (key: string) =>
        eventually(
            () => works(key),
            (isWorking) => !isWorking,
            1500,
        );
    const signsIn = async (email: string, password: string) =>
        (await visitor(world).send('/login', { email, password })).to === '/dashboard';

    describe('when its owner opens the link that confirms it', () => {
        it('is not confirmed by a click: the link asks for the password, or for a new one', async () => {
            const { email, squatter, link, token } = await squat();
            const owner = visitor(world);
            expect(wordsOf((await owner.get(link)).html))
                .to.include('Is this your address?')
                .and.include('Set new password');
            expect((await owner.send('/verify', { token }, { from: link })).status).to.equal(422);
            expect((await owner.send('/verify', { token, password: 'a guess at it' }, { from: link })).status).to.equal(422);
            expect((await owner.send('/verify', { token, new_password: 'short' }, { from: link })).status).to.equal(422);
            expect([await isVerified(email), await mayEnter(squatter), await mayEnter(owner)]).to.deep.equal([false, true, false]);
        });

        it('becomes the owner’s with a new password: the stranger’s sessions, keys and password end', async () => {
            const { email, squatter, key, link, token } = await squat();
            const owner = visitor(world);
            expect((await owner.send('/verify', { token, new_password: OWN_PASSWORD }, { from: link })).to).to.equal('/dashboard');
            expect([await isVerified(email), await mayEnter(owner), await mayEnter(squatter)]).to.deep.equal([true, true, false]);
            await stopsWorking(key);
            expect([await signsIn(email, PASSWORD), await signsIn(email, OWN_PASSWORD)]).to.deep.equal([false, true]);
            expect((await visitor(world).get(link)).status).to.equal(410);
        });

        it('stays unchanged for the person who signed up and enters the password on another device', async () => {
            const { email, squatter: laptop, key, link, token } = await squat();
            const phone = visitor(world);
            expect((await phone.send('/verify', { token, password: PASSWORD }, { from: link })).to).to.equal('/dashboard');
            expect([await isVerified(email), await mayEnter(phone), await mayEnter(laptop), await works(key)]).to.deep.equal([
                true,
                true,
                true,
                true,
            ]);
        });

        it('is confirmed at once in the browser that signed up', async () => {
            const { email, squatter, key, link } = await squat();
            expect((await squatter.get(link)).to).to.equal('/dashboard');
            expect([await isVerified(email), await works(key)]).to.deep.equal([true, true]);
        });

        it('is not confirmed in the browser of another account', async () => {
            const { email, link, token } = await squat();
            const other = await signUp(world);
            expect(wordsOf((await other.get(link)).html)).to.include('Is this your address?');
            expect((await other.send('/verify', { token }, { from: link })).status).to.equal(422);
            expect(await isVerified(email)).to.equal(false);
        });

        it('gives nobody an operator’s rights', async () => {
            const { squatter, link, token, key } = await squat(OPERATOR);
            const operates = async (person: Visitor) =>
                isOperator(world.app, await findSignedIn(world.app.db, person.cookies.get('routebook_session') ?? ''));
            const owner = visitor(world);
            await owner.get(link);
            await owner.send('/verify', { token }, { from: link });
            expect(await operates(squatter)).to.equal(false);
            await owner.send('/verify', { token, new_password: OWN_PASSWORD }, { from: link });
            expect([await operates(owner), await operates(squatter)]).to.deep.equal([true, false]);
            await stopsWorking(key);
        });

        it('accepts no new password once it is confirmed: an old link does not open the account', async () => {
            const { email, squatter, token } = await squat();
            await world.app.db.raw('update users set verified_at = app_now() where email = ?', [email]);
            expect((await visitor(world).send('/verify', { token, new_password: OWN_PASSWORD }, { from: '/login' })).status).to.equal(410);
            expect([await signsIn(email, OWN_PASSWORD), await mayEnter(squatter)]).to.deep.equal([false, true]);
        });

        it('counts wrong passwords like signing in', async () => {
            const { link, token } = await squat();
            const guesser = visitor(world);
            for (let guess = 0; guess < 10; guess++) {
                expect((await guesser.send('/verify', { token, password: `guess number ${guess}` }, { from: link })).status).to.equal(422);
            }
            const last = await guesser.send('/verify', { token, password: PASSWORD }, { from: link });
            expect(wordsOf(last.html)).to.include('Too many attempts');
        });
    });

    describe('when its owner requests a new password', () => {
        async function reset(email: string, fields: Record<string, string> = {}) {
            await visitor(world).send('/forgot', { email }, { from: '/forgot' });
            let message = await mail.mailTo(email);
            while (message.subject !== 'Reset your password') message = await mail.mailTo(email);
            const { link = '' } = message;
            const owner = visitor(world);
            const page = wordsOf((await owner.get(link)).html);
            await owner.send('/reset', { token: tokenOf(link), password: OWN_PASSWORD, ...fields }, { from: link });
            return { owner, page };
        }

        it('ends the keys and sessions from before the confirmation', async () => {
            const { email, squatter, key } = await squat();
            const { owner } = await reset(email);
            expect([await mayEnter(owner), await mayEnter(squatter)]).to.deep.equal([true, false]);
            await stopsWorking(key);
        });

        it('offers to revoke the keys of a confirmed address, which otherwise still work', async () => {
            const { email, squatter, key, link } = await squat();
            await squatter.get(link);
            const { page } = await reset(email);
            expect(page).to.include('revoke my API keys');
            expect(await works(key)).to.equal(true);
            await reset(email, { revoke_keys: 'yes' });
            await stopsWorking(key);
        });

        it('withdraws with the keys the invitations by which others could come back', async () => {
            const { email, squatter, link } = await squat();
            await squatter.get(link);
            const { html } = await squatter.send('/dashboard/workspace/invitations', { email: '', role: 'owner' });
            const [invitation = ''] = /\/invite\/[\w-]+/.exec(html) ?? [];
            const other = await squat();
            await other.squatter.get(other.link);
            expect(wordsOf((await other.squatter.get(invitation)).html)).to.include('with the role owner');
            await reset(email, { revoke_keys: 'yes' });
            expect((await other.squatter.get(invitation)).status).to.equal(404);
        });
    });

    describe('when an account changes to it', () => {
        async function asked() {
            const [before, elsewhere] = [freshAddress(), freshAddress()];
            const person = await signUp(world, before);
            await person.send('/dashboard/settings/address', { email: elsewhere, password: PASSWORD });
            const { link = '' } = await mail.mailTo(elsewhere);
            return { before, elsewhere, person, link, token: tokenOf(link) };
        }
        const holds = async (email: string) => (await userOf(world, email)) !== '';

        it('is not given by a click of its owner: that needs the session or the password of the account', async () => {
            const { elsewhere, link, token } = await asked();
            const owner = visitor(world);
            expect(wordsOf((await owner.get(link)).html))
                .to.include('Is this your address?')
                .and.not.include('Set new password');
            expect((await owner.send('/verify', { token }, { from: link })).status).to.equal(422);
            expect((await owner.send('/verify', { token, new_password: OWN_PASSWORD }, { from: link })).status).to.equal(422);
            expect(await holds(elsewhere)).to.equal(false);
        });

        it('is given in the session that requested it, or with its password', async () => {
            const [here, there] = [await asked(), await asked()];
            expect((await here.person.get(here.link)).to).to.equal('/dashboard');
            const phone = visitor(world);
            await phone.send('/verify', { token: there.token, password: PASSWORD }, { from: there.link });
            expect([await holds(here.elsewhere), await holds(there.elsewhere), await holds(there.before)]).to.deep.equal([
                true,
                true,
                false,
            ]);
        });
    });

    it('is mailed once; what the stranger does in the account is not reported', async () => {
        const { email, squatter } = await squat();
        const change = { password: PASSWORD, new_password: 'another long sentence' };
        expect((await squatter.send('/dashboard/settings/password', change)).to).to.equal('/dashboard/settings');
        await visitor(world).send('/login', { email, password: 'another long sentence' });
        await squat();
        expect(mail.mails.filter(({ to }) => to === email)).to.have.length(1);
    });

    it('is not given for data in the database, nor for a token of another key ring', async () => {
        const { email, link, token } = await squat();
        const [id, mac] = [token.slice(0, 22), token.slice(22)];
        const { rows } = await world.app.db.raw('select l.*, l.token_hash::text as hash from mail_links l where address = ?', [email]);
        for (const part of [token, id, mac]) expect(JSON.stringify(rows)).to.not.include(part);
        expect(Buffer.from(rows[0].hash.slice(2), 'hex').toString('latin1')).to.not.include(id);
        const forged = id + newTestSecretKeys().hmac(id, 'mail link').toString('base64url');
        for (const wrong of [forged, id, mac, id + 'A'.repeat(43), `${token}A`, token.slice(0, -1)]) {
            expect((await visitor(world).get(`/verify?token=${wrong}`)).status, wrong).to.equal(410);
        }
        expect(wordsOf((await visitor(world).get(link)).html)).to.include('Is this your address?');
    });

    it('is not given without a mail server either, where links are in the log', async () => {
        const quiet = await openWorld({ workers: 0, config: { operatorEmails: [OPERATOR] } });
        try {
            const squatter = await signUp(quiet, OPERATOR);
            const written = () => quiet.logged.find(({ mail_to }) => mail_to === OPERATOR);
            await eventually(
                async () => written(),
                (line) => line !== undefined,
                10_000,
            );
            const link = /\/verify\?token=[\w-]+/.exec(String(written()?.['mail_text']))?.[0] ?? '';
            expect(wordsOf((await visitor(quiet).get(link)).html)).to.include('Is this your address?');
            const me = await findSignedIn(quiet.app.db, squatter.cookies.get('routebook_session') ?? '');
            expect([me?.isVerified, isOperator(quiet.app, me)]).to.deep.equal([false, false]);
        } finally {
            await quiet.close();
        }
    });
});
