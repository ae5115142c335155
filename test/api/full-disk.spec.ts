import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { join, type Person, stranger } from '../support/people.ts';
import { codeOf } from '../support/routes.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { openWorld, type World } from '../support/world.ts';

describe('a database that has no room for a call', () => {
    let world: World;
    let shop: Shop;
    let ada: Person;

    before(async () => {
        shop = await openShop();
        world = await openWorld({ config: { egressHosts: SHOP_HOSTS } });
        ada = await join(world);
        await ada.publish(shopPackage(shop.port));
    });
    after(async () => {
        await world?.close();
        await shop?.close();
    });

    for (const [words, code] of [
        ['its disk is full', '53100'],
        ['its memory is full', '53200'],
        ['its provider made it read-only', '25006'],
    ] as const) {
        it(`is no bug where ${words}: the caller may try again`, async () => {
            const { db } = world.app;
            await db.raw(`
                create function refuse() returns trigger language plpgsql as
                    $$ begin raise exception 'no room' using errcode = '${code}'; end $$;
                create trigger refuse before insert on holds execute function refuse();`);
            const answer = await ada.fetch(SHOP, 'product', { id: 1 });
            const health = await stranger(world).call('GET', '/v1/health');
            await db.raw('drop function refuse cascade');
            expect([answer.status, codeOf(answer)]).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
            expect((await ada.fetch(SHOP, 'product', { id: 1 })).status).to.equal(200);
            expect(health.status, 'for monitoring').to.equal(503);
            expect(health.body['data']).to.deep.include({ checks: { database: 'down', queue: 'ok', workers: 'ok' } });
            expect(await world.app.metrics.registry.metrics()).to.match(
                new RegExp(`routebook_database_faults_total{code="${code}"} [1-9]`),
            );
            await eventually(
                () => stranger(world).call('GET', '/v1/health'),
                ({ status }) => status === 200,
            );
        });
    }
});
