import { expect } from 'chai';
import { publishAsStarter } from '../../bin/demo/starter-registry.ts';
import { createKey } from '../../shared/store/accounts/api-keys.ts';
import { deleteOldRows } from '../support/old-rows.ts';
import { withKey } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { openWorld, type World } from '../support/world.ts';
import { type MailServer, openMailServer } from './support/mail-server.ts';
import { userOf } from './support/settled.ts';
import { freshAddress, PASSWORD, signUpByMail, type Visitor, visitor, wordsOf } from './support/visitor.ts';

describe('inviting a friend', () => {
    let world: World;
    let shop: Shop;
    let mail: MailServer;

    before(async () => {
        shop = await openShop();
        mail = await openMailServer();
        world = await openWorld({ config: { trustProxy: 1, egressHosts: SHOP_HOSTS, mail: { smtpUrl: mail.url, from: undefined } } });
        await publishAsStarter(world.app, shopPackage(shop.port));
    });
    after(async () => {
        await world.close();
        await shop.close();
        await mail.close();
    });

    async function confirmed(email = freshAddress()): Promise<Visitor & { email: string }> {
        return signUpByMail(world, mail, { email });
    }

    async function linkOf(person: Visitor): Promise<string> {
        const { html } = await person.get('/dashboard/invite');
        return new URL(wordsOf(/<pre[^>]*id="invite-link"[^>]*>([\s\S]*?)<\/pre>/.exec(html)?.[1] ?? '')).pathname;
    }

    /** Follows a link, signs up, confirms the address and makes a first fetch. */
    async function comeBy(link: string, email = freshFriend(), address = freshRange()): Promise<Visitor> {
        const friend = visitor(world, { address });
        const { to = '' } = await friend.get(link);
        const { html } = await friend.get(to);
        expect(wordsOf(html)).to.include('You are invited');
        const invite = /name="invite" value="([^"]*)"/.exec(html)?.[1] ?? '';
        await friend.send('/signup', { email, password: PASSWORD, invite }, { from: to });
        expect((await friend.get((await mail.mailTo(email)).link ?? '')).to).to.equal('/dashboard');
        await fetchOnce(email);
        return friend;
    }

    let ranges = 0;
    const freshRange = () => `10.99.${++ranges}.7`;
    const freshFriend = () => freshAddress().replace('pages.example', 'gmail.com');

    async function fetchOnce(email: string): Promise<void> {
        const userId = await userOf(world, email);
        const { rows } = await world.app.db.raw('select workspace_id from memberships where user_id = ?', [userId]);
        const { apiKey } = await createKey(world.app.db, { workspaceId: rows[0].workspace_id, userId, name: 'first' });
        dataOf(await withKey(world, apiKey).fetch(SHOP, 'product', { id: 1 }));
    }

    const bonusOf = async (email: string) => (await world.app.credits.balance(await userOf(world, email)))?.bonus;

    it('earns 100 when an invited user calls on a second day, and says so', async () => {
        const host = await confirmed();
        const link = await linkOf(host);
        expect(await linkOf(host)).to.equal(link);
        const email = freshFriend();
        await comeBy(link, email);
        await fetchOnce(email);
        expect(await bonusOf(host.email)).to.equal(0);
        expect(await bonusOf(email)).to.equal(50);
        const words = async () => wordsOf((await host.get('/dashboard/invite')).html);
        expect(await words())
            .to.include('Signed up 1')
            .and.include('Made a first call 1')
            .and.include('Earned 0 credits');
        await world.clock.advance({ days: 1 });
        await fetchOnce(email);
        expect(await bonusOf(host.email)).to.equal(100);
        expect(await words())
            .to.include('Earned 100 credits')
            .and.include('1 of up to 20');
        await host.get('/dashboard/statement');
    });

    it('earns nothing for an address that already had an account, in any spelling', async () => {
        const host = await confirmed();
        const email = `grace${Math.random().toString(36).slice(2, 8)}@pages.example`;
        const former = await confirmed(email);
        await former.send('/dashboard/settings/delete', { password: PASSWORD });
        const again = email.replace('@', '+again@');
        await comeBy(await linkOf(host), again);
        await world.clock.advance({ days: 1 });
        await fetchOnce(again);
        expect(await bonusOf(host.email)).to.equal(0);
    });

    it('earns for at most twenty people a month', async () => {
        const host = await confirmed();
        const hostId = await userOf(world, host.email);
        await world.app.db.raw(
            `insert into earned_bonuses (kind, subject, beneficiary, credits, at) select 'referral', 'usr_early' || n, ?, 100, app_now() from generate_series(1, 20) n`,
            [hostId],
        );
        const link = await linkOf(host);
        const [late, later] = [freshFriend(), freshFriend()];
        await comeBy(link, late);
        // The same month as the twenty.
        await world.app.db.raw('update users set referral_from = app_now() where email = ?', [late]);
        await fetchOnce(late);
        expect(await bonusOf(host.email)).to.equal(0);
        await world.clock.advance({ days: 32 });
        await comeBy(link, later);
        await world.clock.advance({ days: 1 });
        await fetchOnce(later);
        expect(await bonusOf(host.email)).to.equal(100);
    });

    describe('on one day', () => {
        // Each test has days of its own, since other sign-ups count too.
        beforeEach(() => world.clock.advance({ days: 1 }));

        /** The bonus for seven invited users who call on that day and on the next one. */
        async function earnedBy(emailOf: (place: number) => string, addressOf: (place: number) => string) {
            const host = await confirmed(freshFriend());
            const link = await linkOf(host);
            await world.clock.advance({ days: 1 });
            const emails = Array.from({ length: 7 }, (_, place) => emailOf(place));
            for (const [place, email] of emails.entries()) await comeBy(link, email, addressOf(place));
            await world.clock.advance({ days: 1 });
            for (const email of emails) await fetchOnce(email);
            return { host, earned: await bonusOf(host.email), theirs: await Promise.all(emails.map(bonusOf)) };
        }
        const ownDomain = () => freshAddress().replace('pages.example', 'one-owner.example');

        it('earns for five people of one IPv4 /24, and says so; each of them earns 50 with the first call', async () => {
            const { host, earned, theirs } = await earnedBy(freshFriend, (place) => `203.0.113.${place + 1}`);
            expect(earned).to.equal(500);
            expect(theirs).to.deep.equal(Array(7).fill(50));
            const words = wordsOf((await host.get('/dashboard/invite')).html);
            expect(words).to.include('Signed up 7').and.include('Not counted 2: more than 5 signed up on one day');
        });

        it('earns for five people of one IPv6 /48', async () => {
            expect((await earnedBy(freshFriend, (place) => `2001:db8:5:${place + 1}::1`)).earned).to.equal(500);
        });

        it('earns for five people of one private mail domain, including its subdomains', async () => {
            const { earned } = await earnedBy((place) => ownDomain().replace('@', `@m${place}.`), freshRange);
            expect(earned).to.equal(500);
        });

        it('earns for everybody from other addresses with a public provider, and starts again on the next day', async () => {
            expect((await earnedBy(freshFriend, freshRange)).earned).to.equal(700);
            expect((await earnedBy(ownDomain, freshRange)).earned).to.equal(500);
        });

        it('counts exactly if all sign up at the same time', async () => {
            const host = await confirmed(freshFriend());
            const link = await linkOf(host);
            await world.clock.advance({ days: 1 });
            await Promise.all(Array.from({ length: 9 }, (_, place) => comeBy(link, ownDomain(), `198.51.100.${place + 1}`)));
            const { rows } = await world.app.db.raw(
                'select count(*) filter (where earns_inviter) as counted, count(*) as all from users where invited_by = ?',
                [await userOf(world, host.email)],
            );
            expect(rows).to.deep.equal([{ counted: 5, all: 9 }]);
        });

        it('stores no address and no domain, and nothing after the day', async () => {
            await comeBy(await linkOf(await confirmed(freshFriend())), ownDomain(), '192.0.2.77');
            const rows = async () => (await world.app.db.raw('select s::text as row from sign_ups_of_a_day s')).rows as { row: string }[];
            expect((await rows()).length).to.be.above(0);
            for (const { row } of await rows()) expect(row).not.to.match(/192\.0\.2|one-owner/);
            await world.clock.advance({ days: 1 });
            await deleteOldRows(world.app.db);
            expect(await rows()).to.deep.equal([]);
        });
    });

    it('by mail is sent to people without an account, and does not reveal who has one', async () => {
        const host = await confirmed();
        const [stranger, known] = [freshAddress(), freshAddress()];
        await confirmed(known);
        const before = mail.mails.length;
        for (const email of [stranger, known]) {
            expect((await host.send('/dashboard/invite', { email }, { from: '/dashboard/invite' })).to).to.equal('/dashboard/invite');
        }
        const message = await mail.mailTo(stranger);
        expect(message.link).to.equal(await linkOf(host));
        expect(message.text).to.include(host.email);
        expect(mail.mails.length - before).to.equal(1);
    });

    it('by mail is limited: three to one address and twenty from one person a day, five of these an hour', async () => {
        const [host, stranger] = [await confirmed(), freshAddress()];
        const send = async (email: string) => (await host.send('/dashboard/invite', { email }, { from: '/dashboard/invite' })).status;
        expect([await send(stranger), await send(stranger), await send(stranger), await send(stranger)]).to.deep.equal([
            303, 303, 303, 422,
        ]);
        for (let count = 3; count < 20; count++) {
            if (count % 5 === 0) {
                expect(await send(freshAddress()), `${count}`).to.equal(422);
                await world.clock.advance({ hours: 1 });
            }
            expect(await send(freshAddress()), `${count}`).to.equal(303);
        }
        await world.clock.advance({ hours: 1 });
        expect(await send(freshAddress())).to.equal(422);
    });

    it('redirects signed-in visitors to the dashboard, and an invented link nowhere', async () => {
        const host = await confirmed();
        expect((await host.get(await linkOf(host))).to).to.equal('/dashboard');
        expect((await visitor(world).get('/invite/doesNotExist')).status).to.equal(404);
    });
});
