import { expect } from 'chai';
import type { Knex } from 'knex';
import { newId } from '../../shared/domain/text/ids.ts';
import { eventually } from '../support/eventually.ts';
import { sendKeyed } from '../support/keyed.ts';
import { join, type Person } from '../support/people.ts';
import { SHOP, SHOP_HOSTS, shopPackage, useShop } from '../support/shop.ts';
import { ANY_TOPOLOGY, useWorld } from '../support/world.ts';

/** Connections of an API process; see shared/platform/db.ts. */
const POOL = 16;
/** A hold is retried for 300 ms after waiting a second for a connection. A busy machine adds the rest. */
const PATIENCE_MS = 1000 + 300 + 1000;
const PRODUCT = { site: SHOP, endpoint: 'product', params: { id: 7 } };

/** A fetch that looks for a stored result in the database after its Idempotency-Key was reserved. */
const KEPT = { ...PRODUCT, max_age: 60 };

for (const topology of ANY_TOPOLOGY) {
    describe(`a fetch while all database connections are in use, over ${topology}`, () => {
        const world = useWorld({ topology, config: { egressHosts: SHOP_HOSTS }, acquireTimeoutMs: 1000 });
        const shop = useShop();
        let ada: Person;

        before(async () => {
            ada = await join(world, { plan: 'pro' });
            await ada.publish(shopPackage(shop.port));
        });

        /** Takes every connection when a statement with this text is sent. Returns a function that releases them. */
        function takeAllAfter(text: string): () => Promise<void> {
            const { db } = world.app;
            const taken: Promise<Knex.Transaction>[] = [];
            const take = ({ sql }: { sql: string }) => {
                if (!sql.includes(text)) return;
                db.client.off('query', take);
                for (let one = 0; one < POOL; one++) taken.push(db.transaction());
            };
            db.client.on('query', take);
            return async () => {
                db.client.off('query', take);
                // An attempt that got no connection has nothing to release.
                for (const one of taken) await (await one.catch(() => undefined))?.rollback();
            };
        }

        it('is refused after waiting for one, and its Idempotency-Key is free again (R9)', async () => {
            const key = newId('op');
            // Callers and sites are cached for less than a second.
            expect((await ada.fetch(SHOP, 'product', { id: 7 })).status).to.equal(200);
            const giveBack = takeAllAfter('idempotency_begin');
            const begun = performance.now();
            const refused = await sendKeyed(world.base, ada, key, KEPT);
            const ms = performance.now() - begun;
            await giveBack();
            expect(refused).to.include({ status: 503, code: 'SERVICE_UNAVAILABLE' });
            expect(ms).to.be.within(1000, PATIENCE_MS);
            await eventually(
                () => sendKeyed(world.base, ada, key, KEPT),
                ({ code }) => code === 'success',
            );
        });
    });
}
