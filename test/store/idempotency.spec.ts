import { expect } from 'chai';
import { newSecretKey } from '../../shared/domain/accounts/key-ring.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import type { Db } from '../../shared/platform/db.ts';
import { isOutage } from '../../shared/platform/pg-errors.ts';
import { openCredits } from '../../shared/store/credits/credits.ts';
import { createIdempotency, type Idempotency, type KeyOrder, sweepAnswers } from '../../shared/store/fetch/idempotency.ts';
import { testSecrets } from '../support/secrets.ts';
import { type Books, openBooks, orderFor } from './books.ts';

const HOUR = 3600;

describe('the Idempotency-Keys of a workspace', () => {
    let books: Books;
    let keys: Idempotency;
    before(async () => {
        books = await openBooks();
        keys = createIdempotency(books.db, testSecrets(books.db));
    });
    afterEach(async () => {
        expect(await bytesOff(books.db), 'what is kept is counted exactly').to.deep.equal([]);
        await books.expectRightBooks();
    });
    after(async () => {
        await keys.close();
        await books.close();
    });

    const orderOf = (more: Partial<KeyOrder> = {}): KeyOrder => ({
        workspaceId: 'wsp_one',
        route: 'postFetch',
        key: newId('op'),
        operation: newId('op'),
        bodyHash: 'aa',
        lastsMs: 30_000,
        ...more,
    });
    const again = (order: KeyOrder, more: Partial<KeyOrder> = {}) => keys.begin({ ...order, operation: newId('op'), ...more });
    const answer = (body = '{"answer":1}') => ({ status: 200, headers: { 'retry-after': '7' }, body });

    const toKeep = async (call: KeyOrder, head = '', tail = '') => ({
        call,
        head,
        tail,
        sealed: await keys.seal({ headers: {}, head, tail }),
    });

    it('are given to the same call a second time if its first response was lost', async () => {
        const order = orderOf();
        expect([(await keys.begin(order)).verdict, (await keys.begin(order)).verdict]).to.deep.equal(['new', 'new']);
    });

    it('distinguish bodies, routes and workspaces', async () => {
        const order = orderOf();
        await keys.begin(order);
        expect((await again(order, { bodyHash: 'bb' })).verdict).to.equal('conflict');
        expect((await again(order, { route: 'postSchemaRequest' })).verdict).to.equal('new');
        expect((await again(order, { workspaceId: 'wsp_two' })).verdict).to.equal('new');
    });

    it('return what was stored, byte for byte, until it expires', async () => {
        const order = orderOf();
        await keys.begin(order);
        const kept = answer(`{"text":"ü \\u0000 \\"${'x'.repeat(100_000)}"}`);
        await keys.store(order, kept);
        expect((await again(order)).verdict).to.equal('replay');
        expect(await keys.read(order)).to.deep.equal(kept);
        await keys.store(order, answer('another'));
        await keys.forget(order);
        expect(await keys.read(order), 'the first answer stays').to.deep.equal(kept);
        await books.advance(24 * HOUR + 1);
        expect((await again(order)).verdict).to.equal('new');
        expect(await keys.read(order)).to.equal(undefined);
    });

    it('store responses encrypted, and keep one that no key of the ring decrypts', async () => {
        const order = orderOf();
        await keys.begin(order);
        await keys.store(order, { status: 200, headers: { location: '/planted-header' }, body: '{"text":"planted-body"}' });
        const { rows } = await books.db.raw('select to_jsonb(i) as row, sealed from idempotency i where idempotency_key = ?', [order.key]);
        const dump = `${JSON.stringify(rows)} ${rows[0].sealed.toString('latin1')}`;
        for (const text of ['planted-header', 'planted-body']) {
            expect(dump).not.to.include(text).and.not.to.include(Buffer.from(text).toString('hex'));
        }
        const others = createIdempotency(books.db, testSecrets(books.db, newSecretKey('other')));
        expect(await others.read(order)).to.equal('sealed');
        expect((await others.begin({ ...order, operation: newId('op') })).verdict).to.equal('replay');
        await others.close();
        // The encryption key returns to the ring.
        expect(await keys.read(order)).to.deep.include({ status: 200, body: '{"text":"planted-body"}' });
    });

    it('are free again when their call releases them, and only then', async () => {
        const order = orderOf();
        await keys.begin(order);
        await keys.forget({ ...order, operation: newId('op') });
        expect((await again(order)).verdict).to.equal('running');
        await keys.forget(order);
        expect((await again(order)).verdict).to.equal('new');
    });

    it('say who has them when their time is up', async () => {
        const order = orderOf();
        await keys.begin(order);
        await books.advance(31);
        expect(await again(order, { bodyHash: 'bb' })).to.deep.equal({ verdict: 'abandoned', holder: order.operation });
    });

    it('store the response of a charge with the charge, also if the database could not confirm it', async () => {
        const account = await books.user({ allowance: 10 });
        const hold = orderFor(account, { maxUnits: 4 });
        const call = orderOf({ operation: hold.operation });
        await keys.begin(call);
        await books.credits.hold(hold);
        const credits = openCredits(losingItsNextAnswer(books.db));
        const charged = await credits.charge({ operation: hold.operation, amount: 3, answer: await toKeep(call, '{"left":', '}') });
        expect(charged).to.include({ ok: true, charged: 3, available: 57, kept: '{"left":57}' });
        expect(await keys.read(call)).to.deep.equal({ status: 200, headers: {}, body: '{"left":57}' });
        expect((await books.story(account)).filter((entry) => entry.startsWith('charge'))).to.have.lengthOf(1);
        await credits.close();
    });

    it('make the database give up a charge that waits to store its response, so that nothing is charged later', async () => {
        const account = await books.user({ allowance: 10 });
        const hold = orderFor(account);
        const call = orderOf({ operation: hold.operation });
        await keys.begin(call);
        await books.credits.hold(hold);
        const impatient = openCredits(books.db, { settlePatienceMs: 100 });
        await books.db.transaction(async (transaction) => {
            await transaction.raw('lock table idempotency_bytes in exclusive mode');
            const answer = await toKeep(call);
            const refused: unknown = await impatient
                .charge({ operation: hold.operation, amount: 1, answer })
                .catch((error: unknown) => error);
            expect(isOutage(refused), String(refused)).to.equal(true);
            const { rows } = await transaction.raw(
                "select query from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
            );
            expect(rows).to.deep.equal([]);
        });
        await impatient.close();
        expect((await books.credits.release(hold)).before).to.equal('held');
    });

    it('store nothing of a charge whose hold was already released', async () => {
        const account = await books.user({ allowance: 10 });
        const hold = orderFor(account);
        const call = orderOf({ operation: hold.operation });
        await keys.begin(call);
        await books.credits.hold(hold);
        await books.credits.release(hold);
        const charged = await books.credits.charge({ operation: hold.operation, amount: 1, answer: await toKeep(call) });
        expect(charged).to.include({ ok: false, state: 'released' });
        expect(await keys.read(call)).to.equal(undefined);
    });

    it('count exactly what they store while calls start, end and expire, and sweepers run', async () => {
        const names = Array.from({ length: 12 }, (_, index) => `key-${index}`);
        const life = async (turn: number) => {
            const order = orderOf({ workspaceId: `wsp_${turn % 3}`, key: names[(turn * 7) % names.length] ?? '' });
            const { verdict } = await keys.begin(order);
            if (verdict !== 'new') return;
            if (turn % 3 === 0) await keys.forget(order);
            else await keys.store(order, answer('x'.repeat(turn)));
        };
        for (let round = 0; round < 6; round++) {
            await Promise.all([
                ...Array.from({ length: 60 }, (_, turn) => life(round * 60 + turn)),
                sweepAnswers(books.db, 5),
                sweepAnswers(books.db),
            ]);
            await books.advance(13 * HOUR);
        }
        await books.advance(25 * HOUR);
        while ((await sweepAnswers(books.db)) > 0);
        const { rows } = await books.db.raw('select count(*)::integer as rows from idempotency');
        expect(rows[0].rows).to.equal(0);
    });
});

/** Workspaces whose total differs from the sum of their rows. */
async function bytesOff(db: Db): Promise<unknown[]> {
    const { rows } = await db.raw(
        `select workspace_id, coalesce(sum(i.size), 0) as kept, coalesce(max(b.bytes), 0) as counted
         from idempotency i full join idempotency_bytes b using (workspace_id)
         group by workspace_id having coalesce(sum(i.size), 0) <> coalesce(max(b.bytes), 0)`,
    );
    return rows;
}

/** A pool whose next statement is committed and whose reply is lost. */
function losingItsNextAnswer(db: Db): Db {
    db.client.once('query-response', () => {
        throw Object.assign(new Error('the connection was lost'), { code: 'ECONNRESET' });
    });
    return db;
}
