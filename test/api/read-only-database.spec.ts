import { expect } from 'chai';
import { type Db, openDb } from '../../shared/platform/db.ts';
import { eventually } from '../support/eventually.ts';
import { join, type Person } from '../support/people.ts';
import { codeOf } from '../support/routes.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { openWorld, type World } from '../support/world.ts';

describe('a database that takes no writes, as where its disk is full', () => {
    let world: World;
    let shop: Shop;
    let ada: Person;
    let admin: Db;

    before(async () => {
        shop = await openShop();
        world = await openWorld({ config: { egressHosts: SHOP_HOSTS } });
        admin = openDb({ url: world.databaseUrl, acquireTimeoutMs: 10_000, poolSize: 1 });
        ada = await join(world);
        await ada.publish(shopPackage(shop.port));
    });
    after(async () => {
        await admin?.destroy();
        await world?.close();
        await shop?.close();
    });

    /** Also for the connections of the processes, which are opened anew. */
    async function takeWrites(does: boolean): Promise<void> {
        const { rows } = await admin.raw('select current_database() as name');
        await admin.raw('alter database ?? set default_transaction_read_only = ??', [rows[0].name, does ? 'off' : 'on']);
        await admin.raw(
            'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
        );
    }

    const call = () => ada.fetch(SHOP, 'product', { id: 1 });

    it('is no bug: callers may try again, and get results as soon as it takes writes', async () => {
        expect((await call()).status).to.equal(200);
        await takeWrites(false);
        for (let time = 0; time < 5; time++) {
            const answer = await call();
            expect([answer.status, codeOf(answer)]).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
        }
        await takeWrites(true);
        await eventually(
            async () => (await call()).status,
            (status) => status === 200,
            20_000,
        );
    });
});
