import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { openWorld, type World } from '../support/world.ts';
import type { MailServer } from './support/mail-server.ts';
import { openMailWorld } from './support/mail-world.ts';
import { userOf } from './support/settled.ts';
import { freshAddress, PASSWORD, type PageAnswer, signUpByMail, type Visitor, visitor, wordsOf } from './support/visitor.ts';

const OTHER_PASSWORD = 'another long sentence';

describe('signing up with a mail server', () => {
    let world: World;
    let mail: MailServer;

    before(async () => {
        ({ world, mail } = await openMailWorld());
    });
    after(() => world.close());

    const send = (person: Visitor, email: string, more: Record<string, string> = {}) =>
        person.send('/signup', { email, password: PASSWORD, ...more }, { from: '/signup' });
    const mayEnter = async (person: Visitor) => (await person.get('/dashboard')).status === 200;
    const signsIn = async (email: string, password: string) =>
        (await visitor(world).send('/login', { email, password }, { from: '/login' })).to === '/dashboard';
    const tokenOf = (link: string) => new URL(link, world.base).searchParams.get('token') ?? '';

    /** The visible parts of a response, without what differs each time. */
    const seen = ({ status, headers, html, to }: PageAnswer, email: string) => ({
        status,
        to,
        headers: Object.keys(headers).toSorted(),
        cookies: (headers['set-cookie'] ?? []).map((cookie) => cookie.replace(/=[^;]*/, '')),
        html: html.replaceAll(email, 'the address').replaceAll(/value="[\w-]{43}"/g, ''),
    });

    /** An address that signed up and was not confirmed. */
    async function unconfirmed(): Promise<string> {
        const email = freshAddress();
        await send(visitor(world), email);
        await mail.mailTo(email);
        return email;
    }

    it('answers the same for a free address, one with an account, and an unconfirmed one', async () => {
        const { email: taken } = await signUpByMail(world, mail);
        const pages = [];
        for (const email of [freshAddress(), taken, await unconfirmed()]) {
            const person = visitor(world);
            pages.push(seen(await send(person, email), email));
            expect(await mayEnter(person), email).to.equal(false);
        }
        expect(pages[0]?.html).to.include('We sent an email to the address.');
        expect(pages[0]?.cookies).to.have.length(1);
        expect(pages[1]).to.deep.equal(pages[0]);
        expect(pages[2]).to.deep.equal(pages[0]);
    });

    it('mails a link to a new address, and a notice to one that has an account', async () => {
        const { email: taken } = await signUpByMail(world, mail);
        const free = freshAddress();
        for (const email of [free, taken]) await send(visitor(world), email, { password: OTHER_PASSWORD });
        expect((await mail.mailTo(free)).link).to.match(/^\/verify\?token=/);
        const message = await mail.mailTo(taken);
        expect(message.subject).to.equal('You already have an account');
        expect(message.text).to.include('/login').and.include('/forgot').and.not.include('token=');
        expect([await signsIn(taken, PASSWORD), await signsIn(taken, OTHER_PASSWORD)]).to.deep.equal([true, false]);
    });

    it('reveals nothing by signing in with the chosen password, however often', async () => {
        const { email: taken } = await signUpByMail(world, mail);
        const free = freshAddress();
        const tries = [];
        for (const email of [free, taken]) {
            const person = visitor(world);
            await send(person, email, { password: OTHER_PASSWORD });
            await mail.mailTo(email);
            const answers = [];
            for (let turn = 0; turn < 11; turn++) {
                const answer = await person.send('/login', { email, password: OTHER_PASSWORD }, { from: '/login' });
                answers.push([answer.status, wordsOf(answer.html).replaceAll(email, 'the address')]);
            }
            tries.push(answers);
        }
        expect(tries[0]?.[0]?.[1]).to.include('If you just signed up, open the link in our email first.');
        // The password check of the sign-up counts as well.
        expect(tries[0]?.map(([status]) => status)).to.deep.equal([...Array(9).fill(422), 429, 429]);
        expect(tries[1]).to.deep.equal(tries[0]);
    });

    it('takes as long for an address with an account: its password is hashed too', async () => {
        const slow = await openWorld({ workers: 0, config: { trustProxy: 1, passwordCost: 15, mail: world.app.config.mail } });
        try {
            const { email: taken } = await signUpByMail(slow, mail);
            const msFor = async (email: string) => {
                const person = visitor(slow);
                await person.get('/signup');
                const began = performance.now();
                await send(person, email);
                return performance.now() - began;
            };
            // Alternately, and the fastest of three, since a busy machine slows down some of them.
            const [known, fresh]: [number[], number[]] = [[], []];
            for (let turn = 0; turn < 3; turn++) {
                known.push(await msFor(taken));
                fresh.push(await msFor(freshAddress()));
            }
            expect(Math.min(...known)).to.be.greaterThan(Math.min(...fresh) / 2);
        } finally {
            await slow.close();
        }
    });

    it('ends with the link: at once in the browser that signed up, on the wanted page', async () => {
        const [person, email] = [visitor(world), freshAddress()];
        await send(person, email, { next: '/registry?q=shoes' });
        const { link = '' } = await mail.mailTo(email);
        expect((await person.get(link)).to).to.equal('/registry?q=shoes');
        expect(await mayEnter(person)).to.equal(true);
        expect(wordsOf((await person.get('/dashboard/settings')).html)).to.include('Email address confirmed');
        expect([await signsIn(email, PASSWORD), (await visitor(world).get(link)).status]).to.deep.equal([true, 410]);
    });

    it('ends with the link and the password in any other browser', async () => {
        const email = freshAddress();
        await send(visitor(world), email, { next: '/registry' });
        const { link = '' } = await mail.mailTo(email);
        const phone = visitor(world);
        expect(wordsOf((await phone.get(link)).html)).to.include('Is this your address?');
        expect(await mayEnter(phone)).to.equal(false);
        const done = await phone.send('/verify', { token: tokenOf(link), password: PASSWORD, next: '/registry' }, { from: link });
        expect([done.to, await mayEnter(phone)]).to.deep.equal(['/registry', true]);
    });

    it('sends the link again if somebody signs up again, and keeps the first password', async () => {
        const [stranger, owner, email] = [visitor(world), visitor(world), freshAddress()];
        await send(stranger, email);
        await mail.mailTo(email);
        await send(owner, email, { password: OTHER_PASSWORD });
        const { link = '' } = await mail.mailTo(email);
        // Somebody else signed up first. The link asks for the password or a new one, and its reader takes over the address.
        expect(wordsOf((await owner.get(link)).html)).to.include('Is this your address?');
        const token = tokenOf(link);
        expect((await owner.send('/verify', { token, password: OTHER_PASSWORD }, { from: link })).status).to.equal(422);
        expect((await owner.send('/verify', { token, new_password: OTHER_PASSWORD }, { from: link })).to).to.equal('/dashboard');
        expect([await mayEnter(owner), await signsIn(email, PASSWORD), await signsIn(email, OTHER_PASSWORD)]).to.deep.equal([
            true,
            false,
            true,
        ]);
    });

    const misspelled = (email: string) => email.replace('@', '+nobody@');

    it('signs in an owner whose address signed up in a spelling that mails do not reach', async () => {
        const [owner, email] = [visitor(world), freshAddress()];
        await send(visitor(world), misspelled(email));
        await mail.mailTo(misspelled(email));
        await send(owner, email, { password: OTHER_PASSWORD });
        const { link = '' } = await mail.mailTo(email);
        await owner.send('/verify', { token: tokenOf(link), new_password: OTHER_PASSWORD }, { from: link });
        expect([await mayEnter(owner), await signsIn(email, PASSWORD)]).to.deep.equal([true, false]);
        expect(wordsOf((await owner.get('/dashboard/settings')).html))
            .to.include(email)
            .and.not.include(misspelled(email));
    });

    it('signs in such an owner after a new password too, but by no earlier link to another spelling', async () => {
        const [owner, email] = [visitor(world), freshAddress()];
        await send(owner, email);
        const { link = '' } = await mail.mailTo(email);
        const forgot = async (address: string) => {
            await visitor(world).send('/forgot', { email: address }, { from: '/forgot' });
            return (await mail.mailTo(address)).link ?? '';
        };
        const elsewhere = await forgot(misspelled(email));
        await owner.get(link);
        expect(await mayEnter(owner)).to.equal(true);
        const stranger = visitor(world);
        await stranger.send('/reset', { token: tokenOf(elsewhere), password: OTHER_PASSWORD }, { from: '/forgot' });
        expect([await mayEnter(stranger), await signsIn(email, PASSWORD)]).to.deep.equal([false, true]);

        const another = freshAddress();
        await send(visitor(world), misspelled(another));
        await mail.mailTo(misspelled(another));
        const reset = await forgot(another);
        const reader = visitor(world);
        await reader.send('/reset', { token: tokenOf(reset), password: OTHER_PASSWORD }, { from: reset });
        expect([await mayEnter(reader), (await userOf(world, another)) !== undefined]).to.deep.equal([true, true]);
    });

    it('mails one address four times an hour beyond the first, and says the same', async () => {
        const { email: taken } = await signUpByMail(world, mail);
        for (let turn = 0; turn < 6; turn++) expect((await send(visitor(world), taken)).status).to.equal(200);
        const notices = () => mail.mails.filter(({ to, subject }) => to === taken && subject === 'You already have an account').length;
        await eventually(
            async () => notices(),
            (count) => count === 4,
        );
    });

    it('mails its links to an unconfirmed address although a stranger used up those of other spellings', async () => {
        const email = await unconfirmed();
        const [local, domain] = email.split('@');
        for (let turn = 0; turn < 6; turn++) await send(visitor(world), `${local}+${turn}@${domain}`);
        for (const path of ['/signup', '/forgot']) {
            const sent = mail.mails.length;
            await visitor(world).send(path, { email, password: PASSWORD }, { from: path });
            await eventually(
                async () => mail.mails.slice(sent).some(({ to }) => to === email),
                (isThere) => isThere,
            );
        }
    });

    it('creates one account for ten sign-ups with one address at the same time', async () => {
        const email = freshAddress();
        const answers = await Promise.all(Array.from({ length: 10 }, () => send(visitor(world), email)));
        expect(answers.map(({ status }) => status)).to.deep.equal(Array(10).fill(200));
        await mail.mailTo(email);
        const userId = await userOf(world, email);
        const { rows } = await world.app.db.raw('select from memberships where user_id = ?', [userId]);
        expect(rows).to.have.length(1);
    });
});
