import { expect } from 'chai';
import type { AnyContract } from '../../shared/contracts/contract.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import { sealText } from '../../shared/store/monitors/sealed.ts';
import { connectedPackage } from '../support/connections.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, join, type Person } from '../support/people.ts';
import { codeOf, dataOf, everyRoute, INTENT, paginationOf, placeholdersOf, type RouteCall } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { useWorld } from '../support/world.ts';

/** Ids by the names under which routes take them. */
type Ids = Record<string, string>;

/** Names like those of our ids, for values that are others' ids or known to everybody. */
const PUBLIC = new Set(['auth_id', 'client_id', 'custom_id', 'request_id', 'workspace_id']);

/** Calls with a connection, by contract. */
const WITH_CONNECTION: Readonly<Record<string, (call: object) => object>> = {
    postFetch: (call) => ({ ...call, dry_run: true }),
    postJob: (call) => call,
    postBatch: (call) => ({ items: [call] }),
    postMonitor: (call) => ({ ...call, cron: '0 8 1 1 *' }),
    patchMonitor: (call) => ({ connection: (call as { connection: string }).connection }),
};

/** Sites that may not be called, so that every call of this test fails at once. */
const NAMES = ['others.test', 'my-others.test', 'mine.test', 'my-mine.test'];

describe('an id of another workspace, where such ids belong (I8)', () => {
    const world = useWorld({ config: { egressAllow: [], egressHosts: new Map(NAMES.map((name) => [name, ['127.0.0.1']])) } });
    let other: { person: Person; site: string; ids: Ids };
    let mine: typeof other;

    before(async () => {
        other = await settle('others.test');
        mine = await settle('mine.test');
    });

    /** A workspace that has two of everything, with the ids of the first. */
    async function settle(site: string): Promise<{ person: Person; site: string; ids: Ids }> {
        const overrides = { perMinute: 10_000, perHour: 10_000, perDay: 10_000 };
        const person = await join(world, { plan: 'enterprise', overrides });
        const connected = `my-${site}`;
        dataOf(await person.publish(aPackage(site)));
        dataOf(await person.publish(connectedPackage(connected)));
        const order = { site, endpoint: 'product', params: { id: 1 } };
        const ids: Ids = {};
        const addTwo = async (path: string, body?: object) => {
            for (let count = 0; count < 2; count++) {
                const made = dataOf<Ids>(await person.call('POST', path, { body }));
                for (const [name, id] of Object.entries(made)) if (name.endsWith('_id')) ids[name] ??= id;
            }
        };
        await addTwo(`/v1/sites/${site}/claims`);
        await addTwo('/v1/connections', { site: connected, secret: { value: 'a-secret-of-mine' }, shared: true });
        await addTwo('/v1/jobs', order);
        await addTwo('/v1/batches', { items: [order, order] });
        await addTwo('/v1/webhooks', { url: 'https://127.0.0.1/hook', events: ['job.*'] });
        await addTwo(`/v1/webhooks/${ids['webhook_id']}/test`);
        await addTwo('/v1/monitors', { ...order, cron: '0 8 1 1 *' });
        await addTwo(`/v1/schemas/${site}/reports`, { kind: 'broken', text: 'Nothing comes back.' });
        await addHistory(ids['monitor_id'] ?? '');
        const batch = `/v1/batches/${ids['batch_id']}`;
        await eventually(
            async () => dataOf(await person.call('GET', batch))['finished_at'],
            (at) => at !== null,
        );
        return { person, site, ids: { ...ids, connection: ids['connection_id'] ?? '' } };
    }

    async function addHistory(monitorId: string): Promise<void> {
        const { db, secrets } = world.app;
        for (const runId of [newId('run'), newId('run')]) {
            const run = { run_id: runId, monitor_id: monitorId, base: 1, status: 'skipped', skipped_reason: 'unfinished' };
            await db('monitor_runs').insert({ ...run, finished_at: db.raw('app_now()') });
            const diff = await sealText(secrets, 'diff', '{"added":[],"removed":[],"changed":[]}');
            const change = { change_id: newId('chg'), monitor_id: monitorId, before_run: runId, after_run: runId };
            await db('monitor_changes').insert({ ...change, diff, diff_truncated: false });
        }
    }

    const routesOf = ({ site, ids }: typeof other, replaced: Ids = {}) => everyRoute(site, { version: '1', ...ids, ...replaced });
    const absentOf = (id: string) => newId(id.split('_')[0] as 'job');
    const ask = ({ person }: typeof other, { method, path, body }: RouteCall, query = '') =>
        person.call(method, query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`, body === undefined ? {} : { body });

    /** A response without the given id and without what each call gets anew. */
    const saying = ({ status, body }: Answer, id: string) =>
        `${status} ${JSON.stringify(body)
            .replaceAll(id, 'ID')
            .replaceAll(/req_[0-9A-Za-z]+/g, 'req')}`;

    function idOfOther(contract: AnyContract, name: string): string {
        const id = other.ids[name];
        if (id === undefined)
            throw new Error(`${contract.name} takes ${name}, of which this test has none that belongs to another workspace`);
        return id;
    }

    const isId = (name: string) => /_id$|^connections?$/.test(name) && !PUBLIC.has(name);
    const queryOf = ({ query }: AnyContract) => Object.keys(query?.describe().keys ?? {});

    /** The names of all fields of a body, in objects and lists too. */
    function fieldsOf(schema: unknown): string[] {
        if (typeof schema !== 'object' || schema === null) return [];
        return Object.entries(schema).flatMap(([key, value]: [string, unknown]) => {
            if (typeof value !== 'object' || value === null) return [];
            return key === 'keys' ? [...Object.keys(value), ...Object.values(value).flatMap(fieldsOf)] : fieldsOf(value);
        });
    }

    it('is not found in a path, beside own ids or alone', async () => {
        for (const { contract } of routesOf(mine)) {
            const names = placeholdersOf({ contract }).filter(isId);
            const places = names.length > 1 ? [...names.map((name) => [name]), names] : [names];
            for (const replaced of places.filter(({ length }) => length > 0)) {
                const foreign = Object.fromEntries(replaced.map((name) => [name, idOfOther(contract, name)]));
                const absent = Object.fromEntries(replaced.map((name) => [name, absentOf(foreign[name] ?? '')]));
                const said = [];
                for (const ids of [foreign, absent]) {
                    const [route] = everyRoute(mine.site, { version: '1', ...mine.ids, ...ids }, [contract]);
                    const answer = await ask(mine, route as RouteCall);
                    expect(answer.status, `${contract.name} ${replaced}`).to.equal(404);
                    said.push(Object.values(ids).reduce((text, id) => text.replaceAll(id, 'ID'), saying(answer, 'none')));
                }
                expect(said[0], `${contract.name} ${replaced}`).to.equal(said[1]);
            }
        }
    });

    it('names nothing in a query', async () => {
        for (const route of routesOf(mine)) {
            for (const name of queryOf(route.contract).filter(isId)) {
                const foreign = idOfOther(route.contract, name);
                const absent = absentOf(foreign);
                const [given, missing] = [await ask(mine, route, `${name}=${foreign}`), await ask(mine, route, `${name}=${absent}`)];
                expect(saying(given, foreign), route.contract.name).to.equal(saying(missing, absent));
            }
        }
    });

    it('names nothing in a body', async () => {
        const call = { site: 'my-mine.test', endpoint: 'mine', params: {} };
        for (const route of routesOf(mine)) {
            const { contract } = route;
            for (const name of contract.body === undefined ? [] : fieldsOf(contract.body.schema.describe()).filter(isId)) {
                const foreign = idOfOther(contract, name);
                const body = WITH_CONNECTION[contract.name];
                if (body === undefined) throw new Error(`${contract.name} takes ${name}; this test has no body with one`);
                const said = [];
                for (const connection of [foreign, absentOf(foreign)]) {
                    const answer = await ask(mine, { ...route, body: body({ ...call, connection }) });
                    expect(answer.status, contract.name).to.be.oneOf([400, 404, 422]);
                    said.push(saying(answer, connection));
                }
                expect(said[0], contract.name).to.equal(said[1]);
            }
        }
    });

    it('is not in a cursor that works for others', async () => {
        const cursors = ['cursor', 'after'];
        const lists = routesOf(other).filter(
            ({ contract }) => contract.auth === 'required' && queryOf(contract).some((name) => cursors.includes(name)),
        );
        for (const route of lists) {
            const { contract } = route;
            const name = queryOf(contract).find((one) => cursors.includes(one));
            const first = await ask(other, route, 'limit=1');
            const cursor = paginationOf(first).next_cursor;
            if (cursor === null) throw new Error(`${contract.name}: this test needs two rows, and another workspace has fewer`);
            const place = `limit=1&${name}=${encodeURIComponent(cursor)}`;
            expect((await ask(other, route, place)).status, contract.name).to.equal(200);
            const [own] = everyRoute(mine.site, { version: '1', ...mine.ids }, [contract]);
            expect(codeOf(await ask(mine, own as RouteCall, place)), contract.name).to.equal('INVALID_CURSOR');
        }
    });

    it('leaves everything as it was', async () => {
        const { site, ids } = other;
        expect(dataOf(await other.person.call('GET', `/v1/connections/${ids['connection_id']}`))['status']).to.equal('active');
        expect(dataOf(await other.person.call('GET', `/v1/webhooks/${ids['webhook_id']}`))['description']).to.equal(null);
        expect(dataOf(await other.person.call('GET', `/v1/monitors/${ids['monitor_id']}`))['name']).to.equal(null);
        expect(dataOf<object[]>(await other.person.call('GET', `/v1/sites/${site}/claims`))).to.have.length(2);
        expect((await other.person.call('GET', `/v1/catalog/${site}?intent=${encodeURIComponent(INTENT)}`)).status).to.equal(200);
    });
});
