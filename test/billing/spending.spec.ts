import { expect } from 'chai';
import { createKey } from '../../shared/store/accounts/api-keys.ts';
import { setAccountCap, setKeyCap } from '../../shared/store/credits/spending.ts';
import { eventually } from '../support/eventually.ts';
import { join, type Person, withKey } from '../support/people.ts';
import { SHOP, SHOP_HOSTS, shopPackage, useShop } from '../support/shop.ts';
import { useWorld } from '../support/world.ts';

describe('a spending cap', () => {
    const world = useWorld({ config: { egressHosts: SHOP_HOSTS } });
    const shop = useShop();
    before(async () => {
        await (await join(world)).publish(shopPackage(shop.port));
    });

    /** A user with high rate limits, who may call until a cap is active. */
    const joinQuickly = (overrides = {}) =>
        join(world, { overrides: { perMinute: 10_000, perHour: 10_000, perDay: 10_000, ...overrides } });
    const call = (person: Person, more = {}) => person.fetch(SHOP, 'product', { id: 7 }, more);
    const keyOf = async (person: Person) => {
        const { body } = await person.call('GET', '/v1/account');
        return (body['data'] as { key: { id: string } }).key.id;
    };
    /** A key's owner is cached for less than a second. */
    const untilCapped = (person: Person) =>
        eventually(
            () => call(person),
            ({ status }) => status === 403,
            5_000,
        );

    it('refuses what exceeds it with SPENDING_LIMIT, which names the cap, what is used and when it resets', async () => {
        const person = await joinQuickly();
        expect((await call(person)).status).to.equal(200);
        await setAccountCap(world.app.db, person.userId, 1);
        await untilCapped(person);
        const { status, body } = await call(person);
        expect(status).to.equal(403);
        expect(body['error']).to.include({ code: 'SPENDING_LIMIT', fault: 'caller', retryable: false });
        expect((body['error'] as { message: string }).message).to.match(
            /^This account may spend 1 credit a day and has spent \d+; this call needs at least 1\. The cap resets at \d{4}-\d\d-\d\dT00:00:00\.000Z\.$/,
        );
        expect(body['meta']).to.include({ credits_used: 0 });
        await world.clock.advance({ days: 1 });
        expect((await call(person)).status).to.equal(200);
    });

    it('of one key does not affect the other keys of the account', async () => {
        const person = await joinQuickly();
        await setKeyCap(world.app.db, await keyOf(person), 0);
        await untilCapped(person);
        expect((await call(person)).body['error']).to.include({ code: 'SPENDING_LIMIT' });
        const { body } = await person.call('GET', '/v1/account');
        const { user_id, workspace_id } = body['data'] as { user_id: string; workspace_id: string };
        const other = await createKey(world.app.db, { workspaceId: workspace_id, userId: user_id, name: 'other' });
        expect((await call(withKey(world, other.apiKey))).status).to.equal(200);
    });

    it('does not stop free calls such as dry runs', async () => {
        const person = await joinQuickly();
        await setAccountCap(world.app.db, person.userId, 0);
        await untilCapped(person);
        expect((await call(person, { dry_run: true })).status).to.equal(200);
    });

    it('is reported after missing credits: 402 comes first', async () => {
        const person = await joinQuickly({ allowance: 0 });
        await setAccountCap(world.app.db, person.userId, 0);
        await eventually(
            () => world.app.db.raw<{ rows: unknown[] }>('select from credit_accounts where day_cap = 0 and id = ?', [person.userId]),
            ({ rows }) => rows.length === 1,
        );
        expect((await call(person)).status).to.equal(402);
    });
});
