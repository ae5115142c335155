import { expect } from 'chai';
import { createTokenBuckets } from '../../api/admission/token-buckets.ts';
import { AT_ONCE_MS, CHECKED_AN_HOUR, checkingTimeOf } from '../../api/schemas/guard-checks.ts';
import { createSideThread } from '../../shared/platform/side-thread.ts';
import { join, type Person } from '../support/people.ts';
import { codeOf, dataOf, detailsOf } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { ANY_TOPOLOGY, useWorld } from '../support/world.ts';

for (const topology of ANY_TOPOLOGY) {
    describe(`a client that sends many packages, over ${topology}`, () => {
        const world = useWorld({ topology, workers: 0 });

        /** Sets the account's counter of this hour. */
        async function haveSent({ userId }: Person, count: number): Promise<void> {
            const windows = [{ name: 'hour', limit: CHECKED_AN_HOUR, seconds: 3600 }] as const;
            const take = () => world.app.limits.take({ identity: `packages:${userId}`, windows });
            for (let sent = 0; sent < count; sent += 100) await Promise.all(Array.from({ length: Math.min(100, count - sent) }, take));
        }

        it('may send 3,600 an hour, including dry runs and refused ones', async () => {
            const eager = await join(world);
            await haveSent(eager, CHECKED_AN_HOUR - 3);
            const send = (query: string, more = {}) => eager.publish(aPackage('many.test', more), query);
            expect((await send('?dry_run=true')).status).to.equal(200);
            expect(codeOf(await send('?dry_run=true', { title: 7 }))).to.equal('SCHEMA_INVALID');
            expect(codeOf(await send('', { title: 7 }))).to.equal('SCHEMA_INVALID');
            for (const query of ['?dry_run=true', '']) {
                const refused = await send(query);
                expect([refused.status, codeOf(refused)]).to.deep.equal([429, 'RATE_LIMITED']);
                expect((refused.body['error'] as { message: string }).message).to.include('packages');
                expect(Number(refused.headers.get('retry-after'))).to.be.within(3500, 3600);
            }
            // Look-ups and fetches have other windows.
            const account = dataOf<{ limits: { limit: number; remaining: number }[] }>(await eager.call('GET', '/v1/account'));
            for (const { limit, remaining } of account.limits) expect(remaining).to.equal(limit);
            await world.clock.advance({ hours: 1 });
            expect((await send('')).status).to.equal(201);
        });

        it('is not limited on the enterprise plan', async () => {
            const large = await join(world, { plan: 'enterprise' });
            await haveSent(large, CHECKED_AN_HOUR);
            expect((await large.publish(aPackage('large.test'), '?dry_run=true')).status).to.equal(200);
        });
    });
}

describe('a package that is built to be slow', () => {
    const world = useWorld({ workers: 0 });
    let maker: Person;
    before(async () => {
        maker = await join(world);
    });

    const list = (count: number, one: (index: number) => string) => Array.from({ length: count }, (_, index) => one(index)).join(',');

    for (const [what, field] of [
        ['400,000 keys', `{${list(400_000, (index) => `"${index.toString(36)}":1`)}}`],
        ['a million values', `[${list(1_000_000, () => '0')}]`],
        ['as many objects', `[${list(700_000, () => '{}')}]`],
    ] as const) {
        it(`with ${what} is refused before it is parsed`, async () => {
            const text = JSON.stringify(aPackage('slow.test')).replace('"title"', `"x":${field},"title"`);
            const { parse } = JSON;
            let parsed = 0;
            JSON.parse = (source: string, ...rest) => {
                if (typeof source === 'string' && source.length > 1_000_000) parsed++;
                return parse(source, ...rest);
            };
            try {
                const refused = await maker.call('POST', '/v1/schemas', { body: text });
                expect([refused.status, codeOf(refused)]).to.deep.equal([422, 'SCHEMA_INVALID']);
                expect(detailsOf(refused)).to.deep.equal([' TOO_COMPLEX']);
                expect(parsed).to.equal(0);
            } finally {
                JSON.parse = parse;
            }
        });
    }

    it('uses the time share of its own account only', async () => {
        const [slow, other] = [await join(world), await join(world)];
        const publish = (person: Person) => person.publish(aPackage('slow.test'), '?dry_run=true');
        expect((await publish(slow)).status).to.equal(200);
        checkingTimeOf(world.app).spend(slow.userId, AT_ONCE_MS + 2000);
        const refused = await publish(slow);
        expect([refused.status, codeOf(refused)]).to.deep.equal([429, 'RATE_LIMITED']);
        expect((refused.body['error'] as { message: string }).message).to.include('packages');
        expect(Number(refused.headers.get('retry-after'))).to.be.within(15, 21);
        expect((await publish(other)).status).to.equal(200);
    });

    it('makes its account wait when its packages took too long, until a tenth of the time has made up for it', () => {
        let now = 0;
        const time = createTokenBuckets({ capacity: AT_ONCE_MS, perSecond: 100, now: () => now });
        const waitAt = (at: number, name = 'one') => {
            now = at;
            return time.waitMs(name);
        };
        time.spend('one', AT_ONCE_MS);
        expect(waitAt(0)).to.equal(0);
        time.spend('one', 500);
        expect([waitAt(0), waitAt(2000), waitAt(5000)]).to.deep.equal([5000, 3000, 0]);
        expect(waitAt(5000, 'other')).to.equal(0);
        // A package every five seconds takes a tenth of the time.
        for (let at = 5000; at < 500_000; at += 5000) {
            expect(waitAt(at)).to.equal(0);
            time.spend('one', 500);
        }
    });

    it('may contain commas in its texts', async () => {
        const text = ','.repeat(60_000);
        const answer = await maker.publish(aPackage('commas.test', { description: text.slice(0, 900) }), '?dry_run=true');
        expect(answer.status).to.equal(200);
    });

    it('waits behind packages of its own account, and delays no other account', async () => {
        const thread = createSideThread(new URL('../../api/packages/thread.ts', import.meta.url));
        const ended: string[] = [];
        const run = async (owner: string, task: object = { name: 'tools', text: '{"endpoints":[]}' }) => {
            await thread.run(owner, task).catch((error: Error) => ended.push(error.constructor.name));
            ended.push(owner);
        };
        await Promise.all([run('eager'), run('eager'), run('eager'), run('other')]);
        expect(ended).to.deep.equal(['eager', 'other', 'eager', 'eager']);
        ended.length = 0;
        await Promise.all([run('eager', { name: 'tools', text: 'no JSON' }), run('other')]);
        expect(ended).to.deep.equal(['SideThreadFailure', 'eager', 'other']);
    });
});
