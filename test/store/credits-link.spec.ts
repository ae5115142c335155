import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import pg from 'pg';
import { type Db, openDb } from '../../shared/db.ts';
import { isOutage } from '../../shared/store/credits/outages.ts';
import { type Credits, openCredits } from '../../shared/store/credits.ts';
import { type Books, openBooks, orderFor } from './books.ts';

/** A link to the database that can lose an answer, or be down. */
interface Link {
    url: string;
    /** The next answer of the database is lost, and the connection with it: whatever was asked has been committed. */
    loseNextAnswer(): void;
    /** Cuts every connection and refuses new ones. */
    cut(): void;
    restore(): void;
    close(): Promise<void>;
}

describe('credits, where the link to the database breaks', () => {
    let books: Books;
    let link: Link;
    let db: Db;
    let credits: Credits;
    before(async () => {
        books = await openBooks();
        link = await openLink(books.url);
        db = openDb({ url: link.url });
        credits = openCredits(db, { settlePatienceMs: 300 });
    });
    // Connections are made before a test breaks one: what is lost is the answer to a movement, not to a greeting.
    beforeEach(() => db.raw('select 1'));
    afterEach(() => books.expectRightBooks());
    after(async () => {
        await credits.close();
        await db.destroy();
        await link.close();
        await books.close();
    });

    it('right after a hold was committed, find it by its operation', async () => {
        const [account, empty] = await Promise.all([books.user({ allowance: 10 }), books.user({})]);
        const order = orderFor(account, { unit: 4, maxUnits: 9 });
        link.loseNextAnswer();
        const [verdict, refusal] = await Promise.all([credits.hold(order), credits.hold(orderFor(empty))]);
        expect(verdict).to.deep.equal({ ok: true, operation: order.operation, amount: 8, units: 2, availableAfter: 2 });
        expect(refusal).to.deep.equal({ ok: false, available: 0 });
        await credits.release(order);
        expect(await books.story(account)).to.deep.equal(['grant +10', 'hold -8 +8', 'release +8 -8']);
    });

    it('right after a charge was committed, tell the bill and charge once', async () => {
        const account = await books.user({ allowance: 10 });
        const order = orderFor(account, { maxUnits: 4 });
        await credits.hold(order);
        link.loseNextAnswer();
        expect(await credits.charge({ operation: order.operation, amount: 3 })).to.deep.equal({
            ok: true,
            charged: 3,
            available: 57,
            firstFetchBonus: 50,
        });
        expect(await books.story(account)).to.deep.equal(['grant +10', 'hold -4 +4', 'charge +1 -4', 'first_fetch +50']);
    });

    it('right after a mark was committed, know it for their own', async () => {
        const account = await books.user({ allowance: 10 });
        const order = orderFor(account, { effect: 'write' });
        await credits.hold(order);
        link.loseNextAnswer();
        expect(await credits.markSent(order.operation)).to.equal(true);
        expect(await books.credits.markSent(order.operation)).to.equal(false);
        link.loseNextAnswer();
        expect(await credits.release(order)).to.include({ before: 'sent', marked: true });
    });

    it('and stays down, say so soon, and move nothing', async () => {
        const account = await books.user({ allowance: 10 });
        link.cut();
        const begun = performance.now();
        const error = await credits.hold(orderFor(account)).catch((reason: unknown) => reason);
        expect(isOutage(error)).to.equal(true);
        expect(performance.now() - begun).to.be.below(500);
        link.restore();
        expect(await books.story(account)).to.deep.equal(['grant +10']);
    });

    it('and stays down after a hold, leave it to the sweeper', async () => {
        const account = await books.user({ allowance: 10 });
        const order = orderFor(account, { expiresInMs: 0 });
        await credits.hold(order);
        link.cut();
        const error = await credits.charge({ operation: order.operation, amount: 1 }).catch((reason: unknown) => reason);
        expect(isOutage(error)).to.equal(true);
        link.restore();
        await books.credits.sweep();
        expect(await books.credits.balance(account)).to.include({ available: 10, held: 0 });
        expect(await credits.charge({ operation: order.operation, amount: 1 })).to.include({ ok: false, state: 'released' });
    });

    it('lose no credit and charge nobody twice, however often an answer is lost', async () => {
        const account = await books.user({ allowance: 1000 });
        const charged = await Promise.all(
            Array.from({ length: 8 }, async () => {
                let sum = 0;
                for (let call = 0; call < 25; call++) {
                    const order = orderFor(account, { userId: 'usr_nobody' });
                    if (call % 5 === 0) link.loseNextAnswer();
                    await credits.hold(order);
                    const bill = await credits.charge({ operation: order.operation, amount: 1 });
                    if (bill.ok) sum += bill.charged;
                }
                return sum;
            }),
        );
        expect(charged.reduce((sum, credits) => sum + credits, 0)).to.equal(200);
        expect(await books.credits.balance(account)).to.include({ available: 800, held: 0 });
    });
});

async function openLink(databaseUrl: string): Promise<Link> {
    // Read by the driver itself: the server may listen on a unix socket.
    const { host, port, user, password, database } = new pg.Client({ connectionString: databaseUrl });
    const target = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
    const sockets = new Set<Socket>();
    let isDown = false;
    let isLosing = false;
    const server: Server = createServer((near) => {
        if (isDown) return void near.destroy();
        const far = connect(target);
        for (const [one, other] of [
            [near, far],
            [far, near],
        ] as const) {
            sockets.add(one);
            one.on('error', () => other.destroy());
            one.on('close', () => {
                sockets.delete(one);
                other.destroy();
            });
        }
        near.on('data', (bytes) => far.write(bytes));
        far.on('data', (bytes) => {
            // A last message of 'Z' says: the statement is over, and what it did is committed.
            const isOver = bytes.at(-6) === 0x5a;
            if (!isLosing || !isOver) return void near.write(bytes);
            isLosing = false;
            near.destroy();
        });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = new URL(`postgres://127.0.0.1:${(server.address() as AddressInfo).port}/${database}`);
    url.username = user ?? '';
    url.password = password ?? '';
    return {
        url: url.href,
        loseNextAnswer() {
            isLosing = true;
        },
        cut() {
            isDown = true;
            for (const socket of sockets) socket.destroy();
        },
        restore() {
            isDown = false;
        },
        async close() {
            for (const socket of sockets) socket.destroy();
            server.close();
            await once(server, 'close');
        },
    };
}
