import { eventually } from './eventually.ts';
import { type FlakySite, flakyPackage, openFlakySite } from './flaky-site.ts';
import { type Answer, join, type Person } from './people.ts';
import { dataOf } from './routes.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from './shop.ts';
import { openWorld, type Topology, type World } from './world.ts';

export const FLAKY = 'flaky.test';

/** A batch as the API shows it. */
export interface Batch {
    batch_id: string;
    status: string;
    paused_reason: string | null;
    counts: Record<string, number>;
    credits: { used: number; max: number };
    warnings?: string[];
    retried?: number;
    waiting_for: string | null;
    eta_seconds: number | null;
    finished_at: string | null;
}

/** An item in the results of a batch. */
export interface Item {
    job_id: string;
    batch_id: string;
    custom_id: string | null;
    status: string;
    cursor: string;
    credits_used: number;
    result: { data: Record<string, unknown> } | null;
    error: { code: string } | null;
}

type Named = Pick<Batch, 'batch_id'>;

interface BatchWorld {
    world: World;
    shop: Shop;
    /** It misbehaves on demand, and behaves when a test begins. */
    flaky: FlakySite;
    /** A caller who published the schemas of both sites. */
    ada: Person;
}

/** Opens a world for the tests of a `describe`. */
export function useBatchWorld(topology: Topology): BatchWorld {
    const opened = {} as BatchWorld;
    before(async () => {
        opened.shop = await openShop();
        opened.flaky = await openFlakySite();
        opened.world = await openWorld({ topology, config: { egressHosts: new Map([...SHOP_HOSTS, [FLAKY, ['127.0.0.1']]]) } });
        opened.ada = await someone(opened.world);
        dataOf(await opened.ada.publish(shopPackage(opened.shop.port)));
        dataOf(await opened.ada.publish(flakyPackage(FLAKY, opened.flaky.port)));
    });
    beforeEach(() => {
        opened.flaky.behaviour = 'well';
        opened.flaky.letGo();
    });
    after(async () => {
        opened.flaky.letGo();
        opened.shop.letGo();
        await opened.world.close();
        await opened.shop.close();
        await opened.flaky.close();
    });
    return opened;
}

/** A caller without narrow rate limits. */
export function someone(world: World): Promise<Person> {
    return join(world, { plan: 'enterprise', overrides: { perMinute: 100_000, perHour: 100_000, perDay: 100_000 } });
}

/** Items that fetch products of the shop. */
export function products(count: number, first = 1) {
    return Array.from({ length: count }, (_, at) => ({ params: { id: first + at }, custom_id: `p${first + at}` }));
}

/** Creates a batch, by default of products of the shop. */
export function order(
    person: Person,
    body: object,
    { query = '', headers = {} }: { query?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
    return person.call('POST', `/v1/batches${query}`, { body: { defaults: { site: SHOP, endpoint: 'product' }, ...body }, headers });
}

export async function ordered(person: Person, body: object): Promise<Batch> {
    return dataOf<Batch>(await order(person, body));
}

export async function read(person: Person, { batch_id: id }: Named, wait = 0): Promise<Batch> {
    return dataOf<Batch>(await person.call('GET', `/v1/batches/${id}?wait=${wait}`));
}

/** Waits until the batch has ended. */
export async function ended(person: Person, batch: Named): Promise<Batch> {
    let last = await read(person, batch, 30);
    await eventually(
        async () => {
            last = await read(person, batch, 30);
            return last;
        },
        ({ finished_at }) => finished_at !== null,
        30_000,
    );
    return last;
}

export function change(person: Person, { batch_id: id }: Named, verb: string, body?: object): Promise<Answer> {
    return person.call('POST', `/v1/batches/${id}/${verb}`, body === undefined ? {} : { body });
}

export function remove(person: Person, { batch_id: id }: Named): Promise<Answer> {
    return person.call('DELETE', `/v1/batches/${id}`);
}

export async function resultsOf(person: Person, { batch_id: id }: Named, query = ''): Promise<Item[]> {
    return dataOf<Item[]>(await person.call('GET', `/v1/batches/${id}/results?limit=1000${query}`));
}

/** Types of the events about a batch, oldest first. */
export async function eventsOf(world: World, { batch_id: id }: Named): Promise<string[]> {
    return (await world.app.db('events').where({ about: id }).orderBy(['at', 'id'])).map(({ type }) => type);
}

export function jobsOf(world: World, { batch_id: id }: Named) {
    return world.app.db('jobs').where({ batch_id: id });
}
