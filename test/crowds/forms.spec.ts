import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import type { Knex } from 'knex';
import { openDb } from '../../shared/platform/db.ts';
import { signUp } from '../dashboard/support/visitor.ts';
import { eventually } from '../support/eventually.ts';
import { openWorld, type World } from '../support/world.ts';

const CROWD = 100;
/** One that runs and four that wait. */
const INSIDE = 5;

describe('a crowd of forms', () => {
    let world: World;
    let other: Knex;

    before(async () => {
        world = await openWorld({ workers: 0, config: { trustProxy: 1 }, acquireTimeoutMs: 1000 });
        other = openDb({ url: world.databaseUrl, poolSize: 2, name: 'another', acquireTimeoutMs: 10_000 });
    });
    after(async () => {
        await other.destroy();
        await world.close();
    });

    it('of one person that never arrive completely use memory for a few only', async () => {
        const [crowd, good] = [await signUp(world), await signUp(world)];
        const { hostname, port } = new URL(world.base);
        const sockets = Array.from({ length: INSIDE + 1 }, () => {
            const cookie = [...crowd.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
            const head = ['POST /dashboard/schemas/new HTTP/1.1', 'Host: x', `Cookie: ${cookie}`, 'Content-Length: 5000000'];
            const socket = connect(Number(port), hostname).on('error', () => undefined);
            socket.write(`${head.join('\r\n')}\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\npackage=`);
            return socket;
        });
        const [answer] = (await Promise.race(sockets.map((socket) => once(socket, 'data')))) as [Buffer];
        expect(answer.toString()).to.match(/^HTTP\/1.1 429 /);
        expect((await good.send('/dashboard/schemas/new', { package: '{' })).status, 'others').to.equal(422);
        for (const socket of sockets) socket.destroy();
        await eventually(
            async () => (await crowd.send('/dashboard/schemas/new', { package: '{' })).status,
            (status) => status === 422,
        );
    });

    it('of one person uses one database connection, and other people are served meanwhile', async () => {
        const [crowd, good] = [await signUp(world), await signUp(world)];
        const held = await other.transaction();
        await held.raw('lock table api_keys in exclusive mode');
        let refused = 0;
        const all = Array.from({ length: CROWD }, async () => {
            const { status } = await crowd.send('/dashboard/keys', { name: 'laptop', expires: 'never' });
            if (status === 429) refused += 1;
            return status;
        });
        try {
            await eventually(
                async () => refused,
                (count) => count === CROWD - INSIDE,
                10_000,
            );
            expect((await good.get('/dashboard')).status).to.equal(200);
        } finally {
            await held.rollback();
        }
        const statuses = await Promise.all(all);
        expect(statuses.filter((status) => status === 200)).to.have.length(INSIDE);
    });
});
