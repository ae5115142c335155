import { expect } from 'chai';
import { publishAsStarter } from '../../bin/demo/starter-registry.ts';
import { createKey } from '../../shared/store/keys.ts';
import { withKey } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { openWorld, type World } from '../support/world.ts';
import { type MailServer, openMailServer } from './support/mail-server.ts';
import { userOf } from './support/settled.ts';
import { freshAddress, PASSWORD, signUp, type Visitor, visitor, wordsOf } from './support/visitor.ts';

describe('inviting a friend', function () {
    this.timeout(60_000);
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
        const person = await signUp(world, email);
        await person.get((await mail.letterTo(email)).link ?? '');
        return { ...person, email };
    }

    async function linkOf(person: Visitor): Promise<string> {
        const { html } = await person.get('/dashboard/invite');
        return new URL(wordsOf(/<pre[^>]*id="invite-link"[^>]*>([\s\S]*?)<\/pre>/.exec(html)?.[1] ?? '')).pathname;
    }

    /** Follows a link, signs up, confirms the address and makes a first fetch. */
    async function comeBy(link: string, email = freshAddress()): Promise<Visitor> {
        const friend = visitor(world);
        const { to = '' } = await friend.get(link);
        const { html } = await friend.get(to);
        expect(wordsOf(html)).to.include('You are invited');
        const invite = /name="invite" value="([^"]*)"/.exec(html)?.[1] ?? '';
        expect((await friend.send('/signup', { email, password: PASSWORD, invite }, { from: to })).to).to.equal('/dashboard');
        await friend.get((await mail.letterTo(email)).link ?? '');
        await fetchOnce(email);
        return friend;
    }

    async function fetchOnce(email: string): Promise<void> {
        const userId = await userOf(world, email);
        const { rows } = await world.app.db.raw('select workspace_id from memberships where user_id = ?', [userId]);
        const { apiKey } = await createKey(world.app.db, { workspaceId: rows[0].workspace_id, userId, name: 'first' });
        dataOf(await withKey(world, apiKey).fetch(SHOP, 'product', { id: 1 }));
    }

    const bonusOf = async (email: string) => (await world.app.credits.balance(await userOf(world, email)))?.bonus;

    it('earns 100 with the first fetch of whoever came by the link, and says what came of it', async () => {
        const host = await confirmed();
        const link = await linkOf(host);
        expect(await linkOf(host)).to.equal(link);
        await comeBy(link);
        expect(await bonusOf(host.email)).to.equal(100);
        const words = wordsOf((await host.get('/dashboard/invite')).html);
        expect(words).to.include('Signed up 1').and.include('Earned 100 credits').and.include('1 of 20 that count');
    });

    it('earns nothing for an address that was here before, however it is spelled', async () => {
        const host = await confirmed();
        const email = `grace${Math.random().toString(36).slice(2, 8)}@pages.example`;
        const former = await confirmed(email);
        await former.send('/dashboard/settings/delete', { password: PASSWORD });
        await comeBy(await linkOf(host), email.replace('@', '+again@'));
        expect(await bonusOf(host.email)).to.equal(0);
    });

    it('earns for twenty people a month at the most', async () => {
        const host = await confirmed();
        const hostId = await userOf(world, host.email);
        await world.app.db.raw(
            `insert into earned_bonuses (kind, subject, beneficiary, credits, at) select 'referral', 'usr_early' || n, ?, 100, app_now() from generate_series(1, 20) n`,
            [hostId],
        );
        const link = await linkOf(host);
        await comeBy(link);
        expect(await bonusOf(host.email)).to.equal(0);
        await world.clock.advance({ days: 32 });
        await comeBy(link);
        expect(await bonusOf(host.email)).to.equal(100);
    });

    it('by mail writes to people without an account, and tells nobody who has one', async () => {
        const host = await confirmed();
        const [stranger, known] = [freshAddress(), freshAddress()];
        await confirmed(known);
        const before = mail.letters.length;
        for (const email of [stranger, known]) {
            expect((await host.send('/dashboard/invite', { email }, { from: '/dashboard/invite' })).to).to.equal('/dashboard/invite');
        }
        const letter = await mail.letterTo(stranger);
        expect(letter.link).to.equal(await linkOf(host));
        expect(letter.text).to.include(host.email);
        expect(mail.letters.length - before).to.equal(1);
    });

    it('by mail has its bounds: three to one address and twenty of one person a day, five of these an hour', async () => {
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

    it('leads whoever is signed in already to the dashboard, and a made-up link nowhere', async () => {
        const host = await confirmed();
        expect((await host.get(await linkOf(host))).to).to.equal('/dashboard');
        expect((await visitor(world).get('/invite/doesNotExist')).status).to.equal(404);
    });
});
