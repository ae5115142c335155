import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { type Answer, join, type Person } from '../support/people.ts';
import { codeOf, dataOf } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { openSite, type Site } from '../support/sites.ts';
import { ANY_TOPOLOGY, openWorld, type World } from '../support/world.ts';

const RUNNING = 1000;
const PASSING = 300;
const AT_ONCE = 16;

/** A site whose responses have the version that called it, immediately or when released. */
interface Gate extends Site {
    /** Resolves when this many different calls wait there. */
    waiting(count: number): Promise<void>;
    letGo(): void;
}

for (const topology of ANY_TOPOLOGY) {
    describe(`during ${RUNNING} fetches (${topology})`, function () {
        this.timeout(300_000);
        let world: World;
        let other: string;
        let gate: Gate;
        let ada: Person;
        const SITE = 'gate.test';

        before(async () => {
            gate = await openGate();
            world = await openWorld({
                topology,
                // A site may use half of all slots.
                config: { egressHosts: new Map([[SITE, ['127.0.0.1']]]), workerConcurrency: 2 * RUNNING + 64 },
            });
            other = (await world.openAnotherApi()).base;
            const high = 1_000_000;
            const overrides = { perMinute: high, perHour: high, perDay: high, allowance: high, concurrency: 2 * RUNNING };
            ada = await join(world, { plan: 'enterprise', overrides });
        });
        after(async () => {
            gate.letGo();
            await world.close();
            await gate.close();
        });

        let latest = 0;
        /** Publishes the site's next version, whose endpoints have the version number in their paths. */
        async function publishNext(base = world.base): Promise<number> {
            const version = latest + 1;
            const url = (path: string) => `http://${SITE}:${gate.port}/v${version}/${path}`;
            const params = [{ name: 'call', source: 'query' as const, required: true }];
            const endpoints = ['held', 'now'].map((name) => anEndpoint(SITE, { name, url: url(name), params }));
            const answer = await ada.call('POST', '/v1/schemas', {
                body: aPackage(SITE, { title: `Version ${version}`, endpoints }),
                base,
            });
            expect(dataOf(answer)['version']).to.equal(version);
            latest = version;
            return version;
        }
        /** A busy machine refuses some of so many calls. A refused call is retried. */
        const call = async (endpoint: 'held' | 'now', turn: number, more: object = {}): Promise<Answer> => {
            const body = { site: SITE, endpoint, params: { call: turn }, timeout_ms: 120_000, ...more };
            for (;;) {
                const answer = await ada.call('POST', '/v1/fetch', { body, base: turn % 2 === 0 ? world.base : other });
                if (codeOf(answer) !== 'SERVICE_UNAVAILABLE') return answer;
            }
        };
        /** Sends calls `from` to `to` to the gate, a few at a time. */
        async function bring(from: number, to: number): Promise<Promise<Answer>[]> {
            const running: Promise<Answer>[] = [];
            for (let turn = from; turn < to; turn++) {
                running.push(call('held', turn));
                if ((turn + 1) % 125 === 0) await gate.waiting(turn + 1);
            }
            return running;
        }
        /** The version that ran, which must be the one in the meta. */
        const versionOf = (answer: Answer): number => {
            expect(codeOf(answer), JSON.stringify(answer.body)).to.equal(undefined);
            const { version } = answer.body['meta'] as { version: number };
            expect(answer.body['data']).to.deep.equal({ served: version });
            return version;
        };

        it('that are running keep their version, named in meta, during publishes and yanks', async () => {
            await publishNext();
            const before = await bring(0, RUNNING / 2);
            await publishNext(other);
            const after = await bring(RUNNING / 2, RUNNING);
            await publishNext();
            for (const reason of ['broken', 'security'])
                dataOf(
                    await ada.call('POST', `/v1/schemas/${SITE}/versions/${reason === 'broken' ? 1 : 2}/yank`, {
                        body: { reason },
                        base: other,
                    }),
                );
            gate.letGo();
            const [olds, news] = await Promise.all([Promise.all(before), Promise.all(after)]);
            expect(new Set(olds.map(versionOf))).to.deep.equal(new Set([1]));
            expect(new Set(news.map(versionOf))).to.deep.equal(new Set([2]));
            expect(versionOf(await call('now', 0))).to.equal(3);
            expect(versionOf(await call('now', 1, { version: 1 }))).to.equal(1);
            expect(codeOf(await call('now', 1, { version: 2 }))).to.equal('VERSION_NOT_FOUND');
        });

        it('that start and end during publishes use a version that was the latest in between', async () => {
            let begun = 0;
            let isOver = false;
            const publishing = (async () => {
                while (!isOver) await publishNext(latest % 2 === 0 ? world.base : other);
            })();
            const callers = Array.from({ length: AT_ONCE }, async () => {
                for (let turn = begun++; turn < PASSING; turn = begun++) {
                    const atLeast = latest;
                    const version = versionOf(await call('now', turn));
                    // A version may be in use before its publisher gets the response.
                    expect(version).to.be.within(atLeast, latest + 1);
                }
            });
            await Promise.all(callers);
            isOver = true;
            await publishing;
            expect(latest).to.be.greaterThan(5);
        });

        it('that start after a yank see it, and no call gets another error', async () => {
            const [good, bad] = [await publishNext(), await publishNext()];
            let begun = 0;
            let state: 'published' | 'changing' | 'yanked' = 'published';
            let changes = 0;
            const ran = new Set<number>();
            const yanking = (async () => {
                while (begun < PASSING || changes <= 5) {
                    const isYanked: boolean = state === 'yanked';
                    state = 'changing';
                    changes++;
                    const path = `/v1/schemas/${SITE}/versions/${bad}/yank`;
                    const base = changes % 2 === 0 ? world.base : other;
                    dataOf(
                        await (isYanked
                            ? ada.call('DELETE', path, { base })
                            : ada.call('POST', path, { body: { reason: 'security' }, base })),
                    );
                    state = isYanked ? 'published' : 'yanked';
                    for (const target = begun + 20; begun < Math.min(target, PASSING); ) await call('now', 0);
                }
            })();
            const callers = Array.from({ length: AT_ONCE }, async () => {
                for (let turn = begun++; turn < PASSING || changes <= 5; turn = begun++) {
                    const [at, since] = [state, changes];
                    const version = versionOf(await call('now', turn));
                    ran.add(version);
                    expect(version).to.be.oneOf([good, bad]);
                    if (changes === since && at !== 'changing') expect(version).to.equal(at === 'yanked' ? good : bad);
                }
            });
            await Promise.all([...callers, yanking]);
            expect(ran).to.deep.equal(new Set([good, bad]));
            expect(changes).to.be.greaterThan(4);
        });
    });
}

async function openGate(): Promise<Gate> {
    const held: { response: ServerResponse; version: number }[] = [];
    const calls = new Set<string>();
    const arrivals = new EventEmitter();
    const answer = (response: ServerResponse, version: number) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ served: version }));
    const site = await openSite((request, response) => {
        const [, version = '', name, call = ''] = /^\/v(\d+)\/(\w+)\?call=(\d+)$/.exec(request.url ?? '') ?? [];
        if (name === 'now') return void answer(response, Number(version));
        held.push({ response, version: Number(version) });
        calls.add(call);
        arrivals.emit('one');
    });
    return {
        ...site,
        async waiting(count) {
            while (calls.size < count) await once(arrivals, 'one');
        },
        letGo() {
            for (const { response, version } of held.splice(0)) answer(response, version);
        },
    };
}
