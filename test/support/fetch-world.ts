import { expect } from 'chai';
import { type Answer, join, type Person } from './people.ts';
import { openShop, SHOP_HOSTS, type Shop, shopPackage } from './shop.ts';
import { openWorld, type Topology, type World } from './world.ts';

interface FetchWorld {
    world: World;
    shop: Shop;
    /** A caller who published the shop's package. */
    ada: Person;
}

/** Sites of a single test, which lead to loopback. */
const MORE_SITES = ['changing.test', 'growing.test', 'numbers.test'];

/** Opens a world for fetches of a `describe`. Its parts are empty until then. */
export function useFetchWorld(topology: Topology): FetchWorld {
    const opened = { world: {}, shop: {}, ada: {} } as FetchWorld;
    before(async () => {
        Object.assign(opened.shop, await openShop());
        const hosts = MORE_SITES.map((host): [string, string[]] => [host, ['127.0.0.1']]);
        Object.assign(opened.world, await openWorld({ topology, config: { egressHosts: new Map([...SHOP_HOSTS, ...hosts]) } }));
        Object.assign(opened.ada, await join(opened.world, { plan: 'pro' }));
        const published = await opened.ada.publish(shopPackage(opened.shop.port));
        expect(published.status, JSON.stringify(published.body)).to.equal(201);
    });
    after(async () => {
        opened.shop.letGo();
        await opened.world.close();
        await opened.shop.close();
    });
    return opened;
}

export function errorOf({ body }: Answer): Record<string, unknown> {
    return body['error'] as Record<string, unknown>;
}

export function metaOf({ body }: Answer): Record<string, unknown> {
    return body['meta'] as Record<string, unknown>;
}
