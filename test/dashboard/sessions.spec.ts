import { expect } from 'chai';
import { findSignedIn } from '../../shared/store/accounts/user-sessions.ts';
import { deleteOldRows } from '../support/old-rows.ts';
import type { World } from '../support/world.ts';
import type { MailServer } from './support/mail-server.ts';
import { openMailWorld } from './support/mail-world.ts';
import { userOf } from './support/settled.ts';
import { freshAddress, PASSWORD, signUp, signUpByMail, type Visitor, visitor, wordsOf } from './support/visitor.ts';

const SETTINGS = '/dashboard/settings';
const NEWS = 'New sign-in to your account';

describe('sessions', () => {
    let world: World;
    let mail: MailServer;

    before(async () => {
        ({ world, mail } = await openMailWorld());
    });
    after(() => world.close());

    const mayEnter = async (person: Visitor) => (await person.get('/dashboard')).status === 200;
    const signIn = (person: Visitor, email: string) => person.send('/login', { email, password: PASSWORD }, { from: '/login' });
    const sessionOf = async (person: Visitor) =>
        (await findSignedIn(world.app.db, person.cookies.get('routebook_session') ?? ''))?.sessionId ?? '';

    async function confirmed(address = '192.0.2.1') {
        const person = await signUpByMail(world, mail, { address });
        return { email: person.email, person };
    }

    it('are listed with browser, address and last use', async () => {
        const { email, person } = await confirmed('192.0.2.44');
        await signIn(visitor(world, { address: '198.51.100.9' }), email);
        const words = wordsOf((await person.get(SETTINGS)).html);
        expect(words).to.include('192.0.2.44').and.include('198.51.100.9').and.include('Firefox on Linux').and.include('Last used');
    });

    it('show the address that used them last', async () => {
        const { person } = await confirmed('192.0.2.45');
        await world.clock.advance({ hours: 2 });
        const moved = visitor(world, { address: '203.0.113.45' });
        for (const [name, value] of person.cookies) moved.cookies.set(name, value);
        await moved.get(SETTINGS);
        const sessions = wordsOf((await moved.get(SETTINGS)).html).split('Recent sign-ins')[0];
        expect(sessions).to.include('203.0.113.45').and.not.include('192.0.2.45');
    });

    it('are ended one by one', async () => {
        const { email, person } = await confirmed();
        const [lost, kept] = [visitor(world), visitor(world)];
        for (const browser of [lost, kept]) await signIn(browser, email);
        const path = `${SETTINGS}/sessions/${await sessionOf(lost)}/end`;
        expect((await person.send(path)).to).to.equal(SETTINGS);
        expect([await mayEnter(person), await mayEnter(lost), await mayEnter(kept)]).to.deep.equal([true, false, true]);
        expect((await person.send(path)).status).to.equal(404);
    });

    it('of another user cannot be ended', async () => {
        const [{ person: mine }, { person: theirs }] = [await confirmed(), await confirmed()];
        expect((await mine.send(`${SETTINGS}/sessions/${await sessionOf(theirs)}/end`)).status).to.equal(404);
        expect(await mayEnter(theirs)).to.equal(true);
    });

    it('end 14 days after they were last used', async () => {
        const [{ person: used }, { person: idle, email }] = [await confirmed(), await confirmed()];
        await world.clock.advance({ days: 13 });
        expect(await mayEnter(used)).to.equal(true);
        await world.clock.advance({ days: 1, hours: 1 });
        expect([await mayEnter(used), await mayEnter(idle)]).to.deep.equal([true, false]);
        await deleteOldRows(world.app.db);
        const { rows } = await world.app.db.raw('select from web_sessions where user_id = ?', [await userOf(world, email)]);
        expect(rows).to.deep.equal([]);
    });

    it('of a new browser are reported by mail, with browser and address; those of a known one are not', async () => {
        const { email, person } = await confirmed();
        const other = visitor(world, { address: '198.51.100.77' });
        await signIn(other, email);
        const message = await mail.mailTo(email);
        expect(message.subject).to.equal(NEWS);
        expect(message.text).to.include('Firefox on Linux').and.include('198.51.100.77');
        expect(message.text).to.include(SETTINGS);
        for (const browser of [other, person]) {
            await browser.send('/logout');
            await signIn(browser, email);
        }
        await signIn(visitor(world), email);
        await mail.mailTo(email);
        expect(mail.mails.filter(({ to, subject }) => to === email && subject === NEWS)).to.have.length(2);
    });

    it('of an unconfirmed address are not reported by mail', async () => {
        const email = freshAddress();
        await signUp(world, email);
        await mail.mailTo(email);
        await signIn(visitor(world), email);
        const { email: other } = await confirmed();
        await signIn(visitor(world), other);
        await mail.mailTo(other);
        expect(mail.mails.filter(({ to }) => to === email)).to.have.length(1);
    });

    it('leave a list of the last twenty sign-ins: when, from where, in which browser and how', async () => {
        const { email, person } = await confirmed('192.0.2.60');
        expect(wordsOf((await person.get(SETTINGS)).html)).to.match(/Recent sign-ins .*192\.0\.2\.60 mailed link/);
        await signIn(visitor(world, { address: '198.51.100.61' }), email);
        expect(wordsOf((await person.get(SETTINGS)).html)).to.match(/198\.51\.100\.61 password .*192\.0\.2\.60 mailed link/);
        for (let time = 0; time < 20; time++) await signIn(visitor(world), email);
        const { rows } = await world.app.db.raw('select from sign_ins where user_id = ?', [await userOf(world, email)]);
        expect(rows).to.have.length(20);
    });
});
