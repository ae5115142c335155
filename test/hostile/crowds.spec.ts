import { expect } from 'chai';
import { readConfig } from '../../shared/platform/config.ts';
import { freshAddress, PASSWORD, signUp, visitor } from '../dashboard/support/visitor.ts';
import { join, type Person } from '../support/people.ts';
import { codeOf, dataOf, INTENT } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { openWorld, type World } from '../support/world.ts';
import { CROWDS, type Crowd, HARMLESS } from './crowds.ts';

const SIZE = 120;
const CALLS = 20;
/** The crowd, its callers and the API share this process. A call may take this many times as long as beside a harmless crowd. */
const TIMES_AS_LONG = 10;

describe('beside a crowd', () => {
    let world: World;
    let good: Person;
    let crowd: Person;
    let site: string;
    let usual: number;

    before(async () => {
        const { clientConnections, clientConnectionsPerSecond } = readConfig({});
        world = await openWorld({ workers: 0, config: { clientConnections, clientConnectionsPerSecond } });
        const overrides = { perMinute: 100_000, perHour: 100_000, perDay: 100_000 };
        [good, crowd] = await Promise.all([join(world, { plan: 'enterprise', overrides }), join(world, { plan: 'starter' })]);
        site = 'good.test';
        dataOf(await good.publish(aPackage(site)));
        await callAll();
        usual = median(await beside(HARMLESS, callAll));
    });
    after(() => world.close());

    /** Look-ups with a write in between, one after the other. Each must succeed. */
    async function callAll(): Promise<number[]> {
        const times: number[] = [];
        for (let turn = 0; turn < CALLS; turn++) {
            const began = performance.now();
            const answer =
                turn % 10 === 9
                    ? await good.call('PUT', `/v1/schemas/${site}/maintainers/${good.workspaceId}`)
                    : await good.call('GET', `/v1/catalog/${site}?intent=${encodeURIComponent(INTENT)}`);
            times.push(performance.now() - began);
            expect(codeOf(answer) ?? 'success').to.equal('success');
        }
        return times;
    }

    /** Runs `work` while the crowd is active. */
    async function beside<Result>({ run }: Crowd, work: () => Promise<Result>): Promise<Result> {
        const stop = new AbortController();
        const running = run({ base: world.base, apiKey: crowd.apiKey ?? '', size: SIZE, site: 'crowd.test' }, stop.signal);
        const gone = running.then(() => Promise.reject(new Error('the crowd went away')));
        try {
            return await Promise.race([work(), gone]);
        } finally {
            stop.abort();
            await gone.catch(() => undefined);
        }
    }

    for (const row of CROWDS) {
        it(`of ${row.name}, a normal caller is served, and soon`, async () => {
            const took = median(await beside(row, callAll));
            expect(took, `${Math.round(took)} ms, usually ${Math.round(usual)} ms`).to.be.below(TIMES_AS_LONG * usual);
        });
    }

    it('of passwords, another user can sign in', async () => {
        const email = freshAddress();
        await signUp(world, email);
        const row = CROWDS.find(({ name }) => name.startsWith('right passwords')) as Crowd;
        const signIn = async () => (await visitor(world).send('/login', { email, password: PASSWORD }, { from: '/signup' })).status;
        expect(await beside(row, async () => [await signIn(), await signIn(), await signIn()])).to.deep.equal([303, 303, 303]);
    });

    it('there are at least ten kinds', () => {
        expect(new Set(CROWDS.map(({ name }) => name)).size)
            .to.equal(CROWDS.length)
            .and.to.be.at.least(10);
    });
});

function median(times: readonly number[]): number {
    return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}
