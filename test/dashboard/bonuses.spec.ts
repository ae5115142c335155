import { expect } from 'chai';
import { NO_POLICY } from '../../shared/domain/site/site-policy.ts';
import { createKey } from '../../shared/store/accounts/api-keys.ts';
import { checkLedger } from '../../shared/store/credits/ledger.ts';
import { setPolicy } from '../../shared/store/registry/site-policies.ts';
import { admin } from '../support/admin.ts';
import { join, type Person, withKey } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { openWorld, type World } from '../support/world.ts';
import { userOf } from './support/settled.ts';
import { freshAddress, signUp, type Visitor, wordsOf } from './support/visitor.ts';

describe('the bonus for a schema, on its author’s pages', () => {
    let world: World;
    let shop: Shop;
    let page: Visitor;
    let author: Person;
    let workspaceId: string;

    before(async () => {
        shop = await openShop();
        world = await openWorld({ config: { egressHosts: SHOP_HOSTS } });
        const email = freshAddress();
        page = await signUp(world, email);
        const userId = await userOf(world, email);
        const { rows } = await world.app.db.raw('select workspace_id from memberships where user_id = ?', [userId]);
        workspaceId = rows[0].workspace_id;
        author = withKey(world, (await createKey(world.app.db, { workspaceId, userId, name: 'ci' })).apiKey);
    });
    after(async () => {
        expect(await checkLedger(world.app.db)).to.deep.equal([]);
        await world.close();
        await shop.close();
    });

    const bonus = async () => dataOf<{ credits: { bonus: number } }>(await author.call('GET', '/v1/account')).credits.bonus;
    const statement = async () => wordsOf((await page.get('/dashboard/statement')).html);

    async function block(domain: string, ...options: string[]): Promise<Record<string, unknown>> {
        const { code, json, err } = await admin(world.databaseUrl, ['site', 'block', domain, '--reason', 'phishing', ...options, '--json']);
        expect(code, err.join('\n')).to.equal(0);
        return json;
    }

    it('comes with the first call of another account if nothing of the package can be verified', async () => {
        for (const site of ['first.test', 'second.test']) dataOf(await author.publish(aPackage(site)));
        const { warnings } = dataOf<{ warnings: { code: string; message: string }[] }>(await author.publish(shopPackage(shop.port)));
        const owed = warnings.find(({ code }) => code === 'BONUS_OWED');
        expect(owed?.message).to.include('the first charged call of another account');
        expect(await bonus()).to.equal(100);
        dataOf(await author.fetch(SHOP, 'product', { id: 1 }));
        expect(await bonus()).to.equal(150);
        const other = await join(world);
        const order = { body: { site: SHOP, endpoint: 'product', params: { id: 1 } }, headers: { 'idempotency-key': 'once' } };
        for (const answer of [await other.call('POST', '/v1/fetch', order), await other.call('POST', '/v1/fetch', order)]) dataOf(answer);
        expect(await bonus()).to.equal(200);
        dataOf(await other.fetch(SHOP, 'product', { id: 2 }));
        expect(await bonus()).to.equal(200);
        expect(await statement()).to.include(`Bonus for the schema of ${SHOP} +50`);
    });

    it('is taken back by an operator who blocks the domain for it, once, with a notice', async () => {
        expect(await block('first.test'))
            .to.include({ blocked: true })
            .and.not.to.have.property('reclaimed_credits');
        expect(await bonus()).to.equal(200);
        expect(await block('first.test', '--reclaim')).to.include({ blocked: true, reclaimed_credits: 50 });
        expect(await block('first.test', '--reclaim')).to.include({ reclaimed_credits: 0 });
        expect(await bonus()).to.equal(150);
        expect(await statement()).to.include('Bonus for the schema of first.test reversed: site blocked −50');
        const { rows } = await world.app.db.raw(
            "select actor, target, details from workspace_audit where workspace_id = ? and action = 'bonus.reclaimed'",
            [workspaceId],
        );
        expect(rows).to.deep.equal([{ actor: 'operator', target: 'first.test', details: { credits: 50 } }]);
        expect(wordsOf((await page.get('/dashboard/audit')).html)).to.include('took back the bonus for a schema');
    });

    it('stays if the owner of the domain blocks it', async () => {
        await setPolicy(world.app.db, 'second.test', { ...NO_POLICY, blocked: true });
        expect(await bonus()).to.equal(150);
        expect(await statement()).not.to.include('Bonus for the schema of second.test reversed');
    });
});
