import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import type { Knex } from 'knex';
import { EVERY_SCOPE, type Scopes } from '../../shared/domain/accounts/scopes.ts';
import { openDb } from '../../shared/platform/db.ts';
import { changeScopes, createKey, revokeKey } from '../../shared/store/accounts/api-keys.ts';
import { addMaintainer } from '../../shared/store/registry/maintainers.ts';
import { connectedPackage } from '../support/connections.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, join, type Person, withKey } from '../support/people.ts';
import { codeOf, dataOf, INTENT } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { openWorld, type World } from '../support/world.ts';

const CROWD = 250;
/** One that runs and four that wait. */
const INSIDE = 5;

/** A lock that others hold: the statement that takes it, and its value. */
type Lock = [sql: string, value: () => string];

describe('a crowd of writes', () => {
    let world: World;
    let other: Knex;
    let crowd: Person;
    let good: Person;
    let number = 0;

    before(async () => {
        world = await openWorld({ workers: 0, acquireTimeoutMs: 1000 });
        other = openDb({ url: world.databaseUrl, poolSize: 2, name: 'another', acquireTimeoutMs: 10_000 });
        [crowd, good] = await Promise.all([
            join(world, { plan: 'enterprise' }),
            join(world, { plan: 'enterprise', overrides: { perMinute: 10_000, perHour: 10_000, perDay: 10_000 } }),
        ]);
        dataOf(await good.publish(aPackage('good.test')));
    });
    after(async () => {
        await other.destroy();
        await world.close();
    });

    async function newSite(person: Person): Promise<string> {
        const site = `crowd${++number}.test`;
        dataOf(await person.publish(aPackage(site)));
        return site;
    }
    const yank = (site: string, person = crowd) =>
        person.call('POST', `/v1/schemas/${site}/versions/1/yank`, { body: { reason: 'broken' } });
    const look = async () => codeOf(await good.call('GET', `/v1/catalog/good.test?intent=${encodeURIComponent(INTENT)}`)) ?? 'success';

    /** Locks the row of a domain until `release` is called. */
    async function hold(registrable: string): Promise<{ release(): Promise<unknown> }> {
        const trx = await other.transaction();
        await trx.raw('select from domains where registrable = ? for update', [registrable]);
        return { release: () => trx.rollback() };
    }

    /** Connections of the API that wait for a lock. */
    async function waitingConnections(): Promise<number> {
        const { rows } = await other.raw<{ rows: [{ count: number }] }>(
            "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
        return rows[0].count;
    }

    /** Sends all of them, waits until all but the admitted ones were refused, and then lets these end. */
    async function sendWhileHeld(
        registrable: string,
        send: (turn: number) => Promise<Answer>,
    ): Promise<{ refused: Answer[]; done: Answer[] }> {
        const held = await hold(registrable);
        const refused: Answer[] = [];
        const all = Array.from({ length: CROWD }, async (_, turn) => {
            const answer = await send(turn);
            if (answer.status === 429) refused.push(answer);
            return answer;
        });
        try {
            await eventually(
                async () => refused.length,
                (count) => count === CROWD - INSIDE,
                60_000,
            );
            expect(await waitingConnections()).to.be.at.most(1);
            expect(await Promise.all([look(), look(), look(), look(), look()])).to.deep.equal(Array(5).fill('success'));
        } finally {
            await held.release();
        }
        const answers = await Promise.all(all);
        return { refused, done: answers.filter(({ status }) => status !== 429) };
    }

    it('of yanks by one account uses one database connection, and others are served meanwhile', async () => {
        const site = await newSite(crowd);
        const { refused, done } = await sendWhileHeld(site, () => yank(site));
        expect(done.map(({ status }) => status)).to.deep.equal(Array(INSIDE).fill(200));
        for (const answer of refused) {
            expect(codeOf(answer)).to.equal('RATE_LIMITED');
            expect(answer.headers.get('retry-after')).to.equal('1');
            expect(answer.body).to.have.nested.property('error.retry_after', 1);
            expect(answer.body).to.have.nested.property('error.message').that.includes('window publishing');
        }
    });

    it('of publishes by one account uses one database connection, and others are served meanwhile', async () => {
        const site = await newSite(crowd);
        const { done } = await sendWhileHeld(site, (turn) => crowd.publish(aPackage(site, { title: `Title ${turn}` })));
        expect(done.map(({ status }) => status)).to.deep.equal(Array(INSIDE).fill(201));
        expect(done.map((answer) => dataOf<{ version: number }>(answer).version).toSorted()).to.deep.equal([2, 3, 4, 5, 6]);
    });

    it('of changes of maintainers by one account uses one database connection, and others are served meanwhile', async () => {
        const site = await newSite(crowd);
        const put = () => crowd.call('PUT', `/v1/schemas/${site}/maintainers/${good.workspaceId}`);
        const { done } = await sendWhileHeld(site, put);
        expect(done.map(({ status }) => status)).to.deep.equal(Array(INSIDE).fill(200));
    });

    describe('of other kinds', () => {
        let writer: Person;
        /** What the write of a row goes to. */
        let place: string;

        const DOMAIN: Lock = ['select from domains where registrable = ? for update', () => place];
        const lockNamed = (name: string): Lock => [
            'select pg_advisory_xact_lock(hashtextextended(?, 0))',
            () => `${name} ${writer.workspaceId}`,
        ];
        const send = (method: string, path: () => string, body?: object) => () => writer.call(method, path(), body && { body });
        const idOf = async (path: string, body: object) =>
            String(Object.values(dataOf<object>(await writer.call('POST', path, { body })))[0]);
        const addWebhook = () => idOf('/v1/webhooks', { url: 'https://hooks.crowd.test/', events: ['job.succeeded'] });
        const addMonitor = async () => {
            const site = await newSite(writer);
            return idOf('/v1/monitors', { site, endpoint: 'product', params: { id: 1 }, every: '1h' });
        };
        const addClaim = async () => {
            const site = await newSite(writer);
            await writer.call('POST', `/v1/sites/${site}/claims`);
            return site;
        };
        const connected = async () => {
            const site = `crowd${++number}.test`;
            dataOf(await writer.publish(connectedPackage(site)));
            return site;
        };
        const WEBHOOK: Lock = ['select from webhooks where id = ? for update', () => place];
        const MONITOR: Lock = ['select from monitors where monitor_id = ? for update', () => place];

        /** What is prepared, the lock that holds the write up, and the write. */
        const WRITES: Record<string, [prepare: () => Promise<string>, lock: Lock, write: () => Promise<Answer>]> = {
            claims: [() => newSite(writer), lockNamed('claims'), send('POST', () => `/v1/sites/${place}/claims`)],
            'policies of sites': [addClaim, DOMAIN, send('PUT', () => `/v1/sites/${place}/policy`, { writes: false })],
            'OAuth clients': [
                connected,
                lockNamed('oauth clients'),
                send('PUT', () => `/v1/oauth-clients/${place}`, { client_id: 'crowd' }),
            ],
            connections: [
                connected,
                lockNamed('connections'),
                () => writer.call('POST', '/v1/connections', { body: { site: place, secret: { value: 'a secret of mine' } } }),
            ],
            'changes of webhooks': [addWebhook, WEBHOOK, send('PATCH', () => `/v1/webhooks/${place}`, { enabled: false })],
            'secrets of webhooks': [addWebhook, WEBHOOK, send('POST', () => `/v1/webhooks/${place}/rotate`)],
            'changes of monitors': [addMonitor, MONITOR, send('PATCH', () => `/v1/monitors/${place}`, { name: 'crowd' })],
            'ends of monitors': [addMonitor, MONITOR, send('DELETE', () => `/v1/monitors/${place}`)],
        };

        for (const [name, [prepare, [sql, heldOf], write]] of Object.entries(WRITES)) {
            it(`(${name}) by one account holds one database connection, lets four wait, and leaves its orders alone`, async () => {
                writer = await join(world, { plan: 'enterprise' });
                place = await prepare();
                const site = await newSite(writer);
                const monitor = await addMonitor();
                const held = await other.transaction();
                const refused: Answer[] = [];
                const sendOne = async () => {
                    const answer = await write();
                    if (answer.status === 429) refused.push(answer);
                    return answer;
                };
                let all: Promise<Answer>[] = [];
                try {
                    await held.raw(sql, [heldOf()]);
                    all = Array.from({ length: 20 }, sendOne);
                    await eventually(
                        async () => refused.length,
                        (count) => count === 20 - INSIDE,
                        60_000,
                    );
                    // Those that are refused may be answered before the first one comes to the lock.
                    await eventually(waitingConnections, (count) => count > 0);
                    expect(await waitingConnections()).to.equal(1);
                    expect(new Set(refused.map(codeOf))).to.deep.equal(new Set(['RATE_LIMITED']));
                    expect(refused[0]?.body).to.have.nested.property('error.message').that.includes('window publishing');
                    const order = await writer.call('POST', '/v1/jobs', { body: { site, endpoint: 'product', params: { id: 1 } } });
                    const run = await writer.call('POST', `/v1/monitors/${monitor}/run`);
                    expect([codeOf(order), codeOf(run)]).to.deep.equal([undefined, undefined]);
                } finally {
                    await held.rollback();
                }
                const answers = await Promise.all(all);
                expect(answers.filter(({ status }) => status >= 500).map(codeOf)).to.deep.equal([]);
            });
        }
    });

    it('of many accounts on one domain uses one database connection; beyond 256 waiting ones it gets OVERLOADED', async () => {
        const site = await newSite(crowd);
        const people: Person[] = [];
        for (let one = 0; one < 60; one++) people.push(await join(world));
        for (const { workspaceId } of people) await addMaintainer(world.app.db, site, workspaceId);
        const held = await hold(site);
        const refused: Answer[] = [];
        const all = people.flatMap((person) =>
            Array.from({ length: INSIDE }, async () => {
                const answer = await yank(site, person);
                if (answer.status !== 200) refused.push(answer);
            }),
        );
        try {
            await eventually(
                async () => refused.length,
                (count) => count === people.length * INSIDE - 256 - 1,
                60_000,
            );
            expect(await waitingConnections()).to.equal(1);
            expect(await look()).to.equal('success');
            expect(new Set(refused.map(codeOf))).to.deep.equal(new Set(['OVERLOADED']));
        } finally {
            await held.release();
        }
        await Promise.all(all);
    });

    it('leaves four connections to writes of other domains, and others get the next turn', async () => {
        const people = await Promise.all(Array.from({ length: 6 }, () => join(world)));
        const sites = await Promise.all(people.map((person) => newSite(person)));
        const held = await Promise.all(sites.slice(0, 1).map(hold));
        const stuck = yank(sites[0] as string, people[0]);
        await eventually(waitingConnections, (count) => count === 1);
        const rest = await Promise.all(sites.slice(1).map((site, turn) => yank(site, people[turn + 1])));
        expect(rest.map(({ status }) => status)).to.deep.equal(Array(5).fill(200));
        await Promise.all(held.map(({ release }) => release()));
        expect((await stuck).status).to.equal(200);
    });

    it('of packages that never arrive completely uses memory for a few only, and frees it afterwards', async () => {
        const [slow, body] = [await join(world, { plan: 'pro' }), JSON.stringify(aPackage('slow.test'))];
        const { hostname, port } = new URL(world.base);
        const open = () => {
            const socket = connect(Number(port), hostname).on('error', () => undefined);
            const head = ['POST /v1/schemas HTTP/1.1', 'Host: x', `Authorization: Bearer ${slow.apiKey}`, 'Content-Type: application/json'];
            socket.write(`${head.join('\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, -1)}`);
            return socket;
        };
        const sockets = Array.from({ length: INSIDE + 1 }, open);
        const [answer] = (await Promise.race(sockets.map((socket) => once(socket, 'data')))) as [Buffer];
        expect(answer.toString()).to.match(/^HTTP\/1.1 429 [\s\S]*RATE_LIMITED/);
        expect(await look(), 'others').to.equal('success');
        for (const socket of sockets) socket.destroy();
        await eventually(
            async () => (await slow.publish(aPackage('slow.test'))).status,
            (status) => status === 201,
        );
    });

    it('drops a write whose caller disconnected before its turn', async () => {
        const site = await newSite(crowd);
        const held = await hold(site);
        const first = yank(site);
        await eventually(waitingConnections, (count) => count === 1);
        const hangUp = new AbortController();
        let refused = 0;
        const waiting = Array.from({ length: INSIDE }, () =>
            fetch(`${world.base}/v1/schemas/${site}/versions/1/yank`, {
                method: 'POST',
                headers: { authorization: `Bearer ${crowd.apiKey}`, 'content-type': 'application/json' },
                body: '{"reason":"broken"}',
                signal: hangUp.signal,
            }).then(
                ({ status }) => {
                    if (status === 429) refused += 1;
                },
                () => undefined,
            ),
        );
        // Of five, four wait.
        await eventually(
            async () => refused,
            (count) => count === 1,
        );
        hangUp.abort();
        await Promise.all(waiting);
        const restore = () => crowd.call('DELETE', `/v1/schemas/${site}/versions/1/yank`);
        const after = Array.from({ length: INSIDE }, () => restore().then(({ status }) => status));
        // Four wait again: those who disconnected do not count.
        expect(await Promise.race(after)).to.equal(429);
        await held.release();
        expect((await first).status).to.equal(200);
        expect((await Promise.all(after)).toSorted()).to.deep.equal([...Array(INSIDE - 1).fill(200), 429]);
    });

    const narrow = (keyId: string, scopes: Partial<Scopes>) =>
        changeScopes(world.app.db, keyId, { scopes: { ...EVERY_SCOPE, ...scopes }, mayWiden: false });
    for (const [what, change, status] of [
        ['revoked', (keyId: string) => revokeKey(world.app.db, keyId), 401],
        ['narrowed to other sites', (keyId: string) => narrow(keyId, { sites: ['another.example'] }), 403],
        ['narrowed to other routes', (keyId: string) => narrow(keyId, { routes: ['fetch'] }), 403],
    ] as const) {
        it(`drops a write whose key was ${what} before its turn`, async () => {
            const site = await newSite(crowd);
            const { workspaceId, userId } = crowd;
            const { apiKey, keyId } = await createKey(world.app.db, { workspaceId, userId, name: 'stolen', scopes: EVERY_SCOPE });
            const thief = withKey(world, apiKey);
            const held = await hold(site);
            const first = yank(site);
            await eventually(waitingConnections, (count) => count === 1);
            let refused = 0;
            const waiting = [
                thief.publish(aPackage(`stolen-${site}`)),
                thief.publish(aPackage(site, { title: 'Another' })),
                thief.call('PUT', `/v1/schemas/${site}/maintainers/${good.workspaceId}`),
                thief.call('POST', `/v1/sites/${site}/claims`),
                yank(site, thief),
            ].map(async (write) => {
                const answer = await write;
                if (answer.status === 429) refused += 1;
                return answer.status;
            });
            // Of five, four wait.
            await eventually(
                async () => refused,
                (count) => count === 1,
            );
            await change(keyId);
            await held.release();
            expect((await first).status).to.equal(200);
            expect((await Promise.all(waiting)).toSorted()).to.deep.equal([...Array(INSIDE - 1).fill(status), 429]);
        });
    }
});
