import { expect } from 'chai';
import type { EventEntry } from '../../shared/contracts/events.ts';
import { EVERY_SCOPE } from '../../shared/domain/accounts/scopes.ts';
import { createKey, revokeKey } from '../../shared/store/accounts/api-keys.ts';
import { setSuspended } from '../../shared/store/accounts/users.ts';
import { recordEvent, recordEvents } from '../../shared/store/events/events.ts';
import { spreadEvents } from '../../shared/store/events/spread.ts';
import { eventually } from '../support/eventually.ts';
import { deleteOldRows } from '../support/old-rows.ts';
import { join, type Person, withKey } from '../support/people.ts';
import { codeOf, dataOf, paginationOf } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { lackOf, scopedKey } from '../support/scopes.ts';
import { SHOP, SHOP_HOSTS, shopPackage, useShop } from '../support/shop.ts';
import { useWorld } from '../support/world.ts';

describe('GET /v1/events', () => {
    const world = useWorld({ workers: 2, config: { egressHosts: SHOP_HOSTS } });
    const shop = useShop();

    const read = async (person: Person, query = '') => {
        const answer = await person.call('GET', `/v1/events?limit=100${query}`);
        const next = paginationOf(answer).next_cursor ?? '';
        return { events: dataOf<EventEntry[]>(answer), next };
    };
    /** Reads until this many events have come. */
    const readAll = async (person: Person, count: number, query = '') => {
        let page = await read(person, query);
        const again = async () => {
            page = await read(person, query);
            return page.events.map(({ type }) => type);
        };
        await eventually(again, (types) => types.length >= count, 20_000);
        expect(page.events).to.have.length(count);
        return page;
    };
    const namesOf = (events: readonly EventEntry[]) => events.map(({ data }) => data['name']);
    const revoke = async ({ workspaceId, userId }: Person, name: string) => {
        const { keyId } = await createKey(world.app.db, { workspaceId, userId, name });
        await revokeKey(world.app.db, keyId);
    };
    const record = (person: Person, name: string, db = world.app.db) =>
        recordEvent(db, { type: 'key.revoked', workspaceId: person.workspaceId, data: { name } });

    it('has the events of the workspace, and only those', async () => {
        const [ada, other] = [await join(world), await join(world)];
        await revoke(ada, 'leaked');
        const { events } = await readAll(ada, 1);
        expect(events[0]?.type).to.equal('key.revoked');
        expect(events[0]?.event_id).to.match(/^evt_/);
        expect(events[0]?.data).to.include({ name: 'leaked', reason: 'revoked' });
        expect((await read(other)).events).to.deep.equal([]);
    });

    it('continues after the cursor, and each event comes once, however many are recorded meanwhile', async () => {
        const ada = await join(world);
        const recordSix = async (writer: number) => {
            for (let turn = 0; turn < 6; turn++) await record(ada, `event ${writer} ${turn}`);
        };
        // As many concurrent writers as the connection pool can serve on a slow machine.
        const recording = Promise.all(Array.from({ length: 10 }, (_, writer) => recordSix(writer)));
        const seen: unknown[] = [];
        let after = '';
        const goOn = async () => {
            const { events, next } = await read(ada, after);
            seen.push(...namesOf(events));
            after = `&after=${encodeURIComponent(next)}`;
            return seen.length;
        };
        await eventually(goOn, (count) => count >= 60, 20_000);
        await recording;
        expect(seen).to.have.length(60);
        expect(new Set(seen).size).to.equal(60);
    });

    it('returns no more than the limit, and the others after its cursor', async () => {
        const ada = await join(world);
        for (const name of ['one', 'two', 'three']) await record(ada, name);
        await readAll(ada, 3);
        const short = await ada.call('GET', '/v1/events?limit=2');
        const { next_cursor, total } = paginationOf(short);
        expect(total).to.equal(3);
        const rest = await ada.call('GET', `/v1/events?limit=2&after=${encodeURIComponent(next_cursor ?? '')}`);
        expect(namesOf([...dataOf<EventEntry[]>(short), ...dataOf<EventEntry[]>(rest)])).to.deep.equal(['one', 'two', 'three']);
    });

    it('waits for an event and returns at once when it comes, or empty when the time is over', async () => {
        const ada = await join(world);
        const { next } = await read(ada);
        const waiting = read(ada, `&wait=30&after=${encodeURIComponent(next)}`);
        const began = performance.now();
        await record(ada, 'meanwhile');
        expect(namesOf((await waiting).events)).to.deep.equal(['meanwhile']);
        expect(performance.now() - began).to.be.below(20_000);
        const { next: end } = await read(ada);
        expect((await read(ada, `&wait=1&after=${encodeURIComponent(end)}`)).events).to.deep.equal([]);
    });

    it('asks the database for new events once for all calls that wait', async () => {
        const people = await Promise.all(Array.from({ length: 4 }, () => join(world)));
        const waiting = people.map(async (person) => {
            const { next } = await read(person);
            return Promise.all(Array.from({ length: 5 }, () => read(person, `&wait=6&after=${encodeURIComponent(next)}`)));
        });
        let looks = 0;
        const count = ({ sql }: { sql: string }) => {
            if (/max\("position"\)/.test(sql)) looks += 1;
        };
        world.app.browse.on('query', count);
        await Promise.all(waiting);
        world.app.browse.removeListener('query', count);
        // Each call also looks when it begins and when it counts; polling by each of 20 calls would be 240 looks.
        expect(looks).to.be.within(1, 99);
    });

    it('reads nothing for calls that wait while events of others come, and then their own', async () => {
        const [ada, other, early] = [await join(world), await join(world), await join(world)];
        const { next } = await read(ada);
        let [looks, reads] = [0, 0];
        const count = ({ sql }: { sql: string }) => {
            if (sql.includes('"eventId"')) reads += 1;
            else if (/max\("position"\)/.test(sql)) looks += 1;
        };
        world.app.browse.on('query', count);
        const waited = read(early, '&wait=30');
        // One as the call begins, and one for all that wait.
        await eventually(
            async () => looks,
            (all) => all >= 3,
        );
        const waiting = Promise.all(Array.from({ length: 20 }, () => read(ada, `&wait=30&after=${encodeURIComponent(next)}`)));
        for (let turn = 0; turn < 6; turn++) {
            const { next: before } = await read(other);
            await record(other, `turn ${turn}`);
            await read(other, `&wait=30&after=${encodeURIComponent(before)}`);
        }
        await record(ada, 'own');
        const pages = await waiting;
        world.app.browse.removeListener('query', count);
        for (const { events } of pages) expect(namesOf(events)).to.deep.equal(['own']);
        await record(early, 'own');
        await waited;
        // Each call reads when its own event comes. The other's calls are a few.
        expect(reads).to.be.at.most(20 + 6 * 3);
    });

    for (const { tells, end, code } of [
        {
            tells: 'a key nothing that happens after its revocation',
            end: (_: Person, keyId: string) => revokeKey(world.app.db, keyId),
            code: 'INVALID_API_KEY',
        },
        {
            tells: 'a user nothing that happens after a suspension',
            end: ({ userId }: Person) => setSuspended(world.app.db, userId, true),
            code: 'FORBIDDEN',
        },
    ]) {
        it(`tells ${tells}, even if a call waits`, async () => {
            const ada = await join(world);
            const { keyId, apiKey } = await createKey(world.app.db, { ...ada, name: 'other', scopes: EVERY_SCOPE });
            const { next } = await read(ada);
            const waiting = withKey(world, apiKey).call('GET', `/v1/events?wait=30&after=${encodeURIComponent(next)}`);
            const inService = () => world.app.db('api_keys').where({ id: keyId }).whereNotNull('last_used_at').first('id');
            await eventually(inService, (used) => used !== undefined, 10_000);
            await end(ada, keyId);
            await record(ada, 'later');
            expect(codeOf(await waiting)).to.equal(code);
        });
    }

    it('keeps waiting after the database failed to say whether there are new events', async () => {
        const ada = await join(world);
        const { next } = await read(ada);
        let [looks, failures] = [0, 0];
        const count = () => void failures++;
        const look = ({ sql }: { sql: string }) => {
            if (/max\("position"\)/.test(sql)) looks += 1;
        };
        world.app.browse.on('query-error', count).on('query', look);
        const waiting = read(ada, `&wait=30&after=${encodeURIComponent(next)}`);
        // One look before it waits, then those of its wait.
        await eventually(
            async () => looks,
            (made) => made >= 3,
            10_000,
        );
        await world.app.db.raw('alter table events rename to hidden');
        try {
            await eventually(
                async () => failures,
                (failed) => failed > 0,
                10_000,
            );
        } finally {
            await world.app.db.raw('alter table hidden rename to events');
            world.app.browse.removeListener('query-error', count).removeListener('query', look);
        }
        await record(ada, 'afterwards');
        expect(namesOf((await waiting).events)).to.deep.equal(['afterwards']);
    });

    it('does not delay other reads of the same client while calls wait', async () => {
        const ada = await join(world);
        const after = `&wait=30&after=${encodeURIComponent((await read(ada)).next)}`;
        const waiting = Promise.all(Array.from({ length: 12 }, () => read(ada, after)));
        expect((await ada.call('GET', '/v1/account')).status).to.equal(200);
        await record(ada, 'meanwhile');
        for (const { events } of await waiting) expect(namesOf(events)).to.deep.equal(['meanwhile']);
    });

    it('has the versions of sites that the workspace maintains or fetched, and of no others', async () => {
        const [owner, caller, stranger] = [await join(world), await join(world), await join(world)];
        dataOf(await owner.publish(shopPackage(shop.port)));
        dataOf(await caller.fetch(SHOP, 'product', { id: 1 }));
        await world.app.usage.flush();
        dataOf(await owner.publish(shopPackage(shop.port, { title: 'Another title' })));
        dataOf(await owner.publish(aPackage('never-fetched.test')));
        const sitesOf = (events: readonly EventEntry[]) => events.map(({ data }) => [data['site'], data['version']]);
        const own = await readAll(owner, 3, '&types=schema.published');
        expect(sitesOf(own.events)).to.deep.equal([
            [SHOP, 1],
            [SHOP, 2],
            ['never-fetched.test', 1],
        ]);
        expect(sitesOf((await read(caller, '&types=schema.published')).events)).to.deep.equal([
            [SHOP, 1],
            [SHOP, 2],
        ]);
        expect((await read(stranger)).events).to.deep.equal([]);
    });

    it('shows a job as webhooks do: with its result, or where to read a long one', async () => {
        const ada = await join(world);
        const n = { name: 'n', source: 'query', required: true, schema: { type: 'integer' } } as const;
        const all = { name: 'all', method: 'GET' as const, url: `http://dear.test:${shop.port}/search`, params: [n] };
        const { endpoints, ...rest } = shopPackage(shop.port, { site: 'dear.test' });
        dataOf(await ada.publish({ ...rest, endpoints: [...endpoints, all] }));
        const run = async (endpoint: string, params: object) => {
            const body = { site: 'dear.test', endpoint, params, metadata: { order: '7' } };
            const { job_id: id } = dataOf<{ job_id: string }>(await ada.call('POST', '/v1/jobs', { body }));
            const { params: _params, ...job } = dataOf<Record<string, unknown>>(await ada.call('GET', `/v1/jobs/${id}?wait=30`));
            return job;
        };
        const [short, failed] = [await run('product', { id: 1 }), await run('status', { code: 404 })];
        const { result, ...long } = await run('all', { n: 40_000 });
        expect(JSON.stringify(result).length).to.be.above(256 * 1024);
        const { events } = await readAll(ada, 3, '&types=job.*');
        expect(events.map(({ data }) => data)).to.deep.equal([
            { ...short, code: null },
            { ...failed, code: 'UPSTREAM_STATUS' },
            { ...long, code: null, result_url: `${world.app.publicUrl()}/v1/jobs/${long['job_id']}` },
        ]);
        await ada.call('DELETE', `/v1/jobs/${short['job_id']}/result`);
        const [first] = (await read(ada, '&types=job.succeeded')).events;
        expect(first?.data).to.include({ result: null, result_expired: true });
    });

    it('filters by types and prefixes, and names an unknown type', async () => {
        const ada = await join(world);
        await record(ada, 'key');
        await recordEvent(world.app.db, { type: 'credits.low', accountId: ada.userId, data: {} });
        await readAll(ada, 2);
        expect((await read(ada, '&types=credits.*')).events.map(({ type }) => type)).to.deep.equal(['credits.low']);
        expect((await read(ada, '&types=key.revoked,credits.low')).events).to.have.length(2);
        const wrong = await ada.call('GET', '/v1/events?types=key.revoked,nonsense');
        expect(codeOf(wrong)).to.equal('VALIDATION_ERROR');
        expect(JSON.stringify(wrong.body)).to.contain('nonsense');
    });

    it('takes only cursors of its own workspace', async () => {
        const [ada, other] = [await join(world), await join(world)];
        const after = encodeURIComponent((await read(ada)).next);
        expect((await ada.call('GET', `/v1/events?after=${after}`)).status).to.equal(200);
        expect(codeOf(await other.call('GET', `/v1/events?after=${after}`))).to.equal('INVALID_CURSOR');
        expect(codeOf(await ada.call('GET', '/v1/events?after=nonsense'))).to.equal('INVALID_CURSOR');
    });

    it('refuses a key that is limited to sites, endpoints or effects, and names the limit', async () => {
        const ada = await join(world);
        const lack = async (scopes: Parameters<typeof scopedKey>[2]) =>
            lackOf(await (await scopedKey(world, ada, scopes)).call('GET', '/v1/events'));
        expect(await lack({ sites: ['shop.test'] })).to.equal('sites: all');
        expect(await lack({ endpoints: ['product'] })).to.equal('endpoints: all');
        expect(await lack({ effects: ['read'] })).to.equal('effects: write');
        expect(await lack({ routes: ['account'] })).to.equal('routes: jobs');
        expect(await lack({})).to.equal(undefined);
    });

    it('returns an event whose transaction commits late, after the events that were read before it', async () => {
        const ada = await join(world);
        const late = await world.app.db.transaction();
        await recordEvent(late, { type: 'key.revoked', workspaceId: ada.workspaceId, data: { name: 'late' } });
        await record(ada, 'early');
        const { events, next } = await readAll(ada, 1);
        expect(namesOf(events)).to.deep.equal(['early']);
        await late.commit();
        const rest = await readAll(ada, 1, `&after=${encodeURIComponent(next)}`);
        expect(namesOf(rest.events)).to.deep.equal(['late']);
    });

    it('assigns positions in one process at a time', async () => {
        const ada = await join(world);
        await Promise.all(Array.from({ length: 20 }, (_, index) => record(ada, `event ${index}`)));
        await Promise.all(Array.from({ length: 5 }, () => spreadEvents(world.app.db)));
        await readAll(ada, 20);
    });

    it('has a workspace’s own events before most of many earlier site events, which may go to thousands', async () => {
        const ada = await join(world);
        const ofSite = { type: 'schema.yanked' as const, site: 'crowd.test', data: {} };
        // Committed together, so that no worker takes the first ones alone.
        await world.app.db.transaction(async (trx) => {
            await recordEvents(
                trx,
                Array.from({ length: 30 }, () => ofSite),
            );
            await trx('events')
                .where({ site: ofSite.site })
                .update({ at: trx.raw("at - interval '1 second'") });
            await record(ada, 'mine', trx);
        });
        await readAll(ada, 1);
        const mine = world.app.db('events').where({ workspace_id: ada.workspaceId }).select('position');
        const earlier = world.app.db('events').where({ site: ofSite.site }).where('position', '<', mine);
        expect(await earlier.select('id')).to.have.length.below(10);
        await eventually(
            async () => (await world.app.db('events').where({ site: ofSite.site, position: null })).length,
            (waiting) => waiting === 0,
        );
    });

    it('returns no event older than a day, and stores none older than two weeks', async () => {
        const ada = await join(world);
        await record(ada, 'yesterday');
        await readAll(ada, 1);
        await world.clock.advance({ hours: 25 });
        expect((await read(ada)).events).to.deep.equal([]);
        await world.clock.advance({ days: 14 });
        await deleteOldRows(world.app.db);
        expect(await world.app.db('events').where({ workspace_id: ada.workspaceId })).to.deep.equal([]);
    });
});
