import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import type { PublishAnswer } from '../../shared/contracts/schemas.ts';
import type { VersionEntry } from '../../shared/contracts/versions.ts';
import { createKey } from '../../shared/store/accounts/api-keys.ts';
import { inTurn } from '../support/in-turn.ts';
import { type Answer, join, type Person, stranger, withKey } from '../support/people.ts';
import { codeOf, dataOf } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { openSite, type Site } from '../support/sites.ts';
import { openWorld, TOPOLOGIES, type World } from '../support/world.ts';

const RUNNING = 1000;
const PASSING = 300;
const AT_ONCE = 16;

/** A site that answers with the version that it was called by, at once or when it is let go. */
interface Gate extends Site {
    /** Resolves when so many different calls wait there. */
    waiting(count: number): Promise<void>;
    letGo(): void;
}

for (const topology of TOPOLOGIES) {
    describe(`publishing by many at once, over two processes and ${topology}`, function () {
        this.timeout(60_000);
        let world: World;
        let bases: string[];
        let maker: Person;
        let number = 0;

        before(async () => {
            world = await openWorld({ topology, workers: 0 });
            bases = [world.base, (await world.openAnotherApi()).base];
            maker = await join(world, { plan: 'enterprise' });
        });
        after(() => world.close());

        const newSite = () => `race${++number}.test`;
        const baseOf = (turn: number) => bases[turn % bases.length] as string;
        const publish = (person: Person, document: object, turn: number) =>
            inTurn(() => person.call('POST', '/v1/schemas', { body: document, base: baseOf(turn) }));
        const published = (answer: Answer) => dataOf(answer) as unknown as PublishAnswer;

        it('with 16 keys of one workspace gives 16 packages the versions 1 to 16, each compared with the one before', async () => {
            const site = newSite();
            const keys = await Promise.all(
                Array.from({ length: 16 }, () =>
                    createKey(world.app.db, { workspaceId: maker.workspaceId, userId: maker.userId, name: 'ci' }),
                ),
            );
            const answers = await Promise.all(
                keys.map(({ apiKey }, turn) => publish(withKey(world, apiKey), aPackage(site, { title: `Title ${turn}` }), turn)),
            );
            expect(answers.map(({ status }) => status)).to.deep.equal(Array(16).fill(201));
            const results = answers.map(published).toSorted((a, b) => a.version - b.version);
            expect(results.map(({ version }) => version)).to.deep.equal(Array.from({ length: 16 }, (_, index) => index + 1));
            expect(results.map(({ change }) => change)).to.deep.equal(['major', ...Array(15).fill('patch')]);
            expect(results.map(({ credits_earned: credits }) => credits)).to.deep.equal([50, ...Array(15).fill(0)]);
            const history = await stranger(world).call('GET', `/v1/schemas/${site}/versions`);
            expect(dataOf<VersionEntry[]>(history).map(({ version, version_hash: hash }) => [version, hash])).to.deep.equal(
                results.map(({ version, version_hash: hash }) => [version, hash]).toReversed(),
            );
        });

        it('with 16 workspaces on a new domain lets one in, on whichever of its sites, and pays once', async () => {
            const people = await Promise.all(Array.from({ length: 16 }, () => join(world)));
            const site = newSite();
            const answers = await Promise.all(
                people.map((person, turn) => publish(person, aPackage(turn % 4 === 0 ? site : `s${turn}.${site}`), turn)),
            );
            expect(answers.map(({ status }) => status).toSorted()).to.deep.equal([201, ...Array(15).fill(403)]);
            expect(answers.filter((answer) => codeOf(answer) === 'NOT_MAINTAINER')).to.have.length(15);
            const winner = people[answers.findIndex(({ status }) => status === 201)];
            const [first] = answers.filter(({ status }) => status === 201).map(published);
            expect(first?.credits_earned).to.equal(50);
            const maintainers = await stranger(world).call('GET', `/v1/schemas/${first?.site}/maintainers`);
            expect(dataOf<{ workspace_id: string }[]>(maintainers).map(({ workspace_id: id }) => id)).to.deep.equal([winner?.workspaceId]);
            const balances = await Promise.all(people.map((person) => person.call('GET', '/v1/account')));
            const bonuses = balances.map((answer) => dataOf<{ credits: { bonus: number } }>(answer).credits.bonus);
            expect(bonuses.toSorted()).to.deep.equal([...Array(15).fill(0), 50]);
        });

        it('with one If-Match lets one update through', async () => {
            const site = newSite();
            const { version_hash: hash } = published(await publish(maker, aPackage(site), 0));
            const answers = await Promise.all(
                Array.from({ length: 12 }, (_, turn) =>
                    inTurn(() =>
                        maker.call('POST', '/v1/schemas', {
                            body: aPackage(site, { title: `Title ${turn}` }),
                            headers: { 'if-match': `"${hash}"` },
                            base: baseOf(turn),
                        }),
                    ),
                ),
            );
            expect(answers.map(({ status }) => status).toSorted()).to.deep.equal([201, ...Array(11).fill(409)]);
            expect(answers.filter((answer) => codeOf(answer) === 'VERSION_CONFLICT')).to.have.length(11);
        });

        it('keeps to 60 versions an hour and 20 sites a day of one account, exactly', async () => {
            const author = await join(world);
            const sites = Array.from({ length: 24 }, newSite);
            const first = await Promise.all(sites.map((site, turn) => publish(author, aPackage(site), turn)));
            expect(first.map(({ status }) => status).toSorted()).to.deep.equal([...Array(20).fill(201), ...Array(4).fill(429)]);
            const own = sites.filter((_site, turn) => first[turn]?.status === 201);
            const more = await Promise.all(
                Array.from({ length: 50 }, (_, turn) =>
                    publish(author, aPackage(own[turn % own.length] ?? '', { title: `Title ${turn}` }), turn),
                ),
            );
            expect(more.map(({ status }) => status).toSorted()).to.deep.equal([...Array(40).fill(201), ...Array(10).fill(429)]);
            for (const answer of [...first, ...more].filter(({ status }) => status === 429))
                expect(codeOf(answer)).to.equal('RATE_LIMITED');
        });

        it('while versions are yanked and put back leaves the latest what the history says it is', async () => {
            const site = newSite();
            published(await publish(maker, aPackage(site), 0));
            await Promise.all([
                ...Array.from({ length: 10 }, (_, turn) => publish(maker, aPackage(site, { title: `Title ${turn}` }), turn)),
                ...Array.from({ length: 20 }, (_, turn) =>
                    inTurn(() =>
                        maker.call(turn % 3 === 2 ? 'DELETE' : 'POST', `/v1/schemas/${site}/versions/${(turn % 10) + 1}/yank`, {
                            ...(turn % 3 === 2 ? {} : { body: { reason: 'broken' } }),
                            base: baseOf(turn),
                        }),
                    ),
                ),
            ]);
            const history = dataOf<VersionEntry[]>(await stranger(world).call('GET', `/v1/schemas/${site}/versions`));
            expect(history.map(({ version }) => version)).to.deep.equal(Array.from({ length: 11 }, (_, index) => 11 - index));
            const latest = history.find(({ yanked }) => !yanked)?.version;
            const card = await stranger(world).call('GET', `/v1/schemas/${site}`);
            expect(codeOf(card) ?? dataOf(card)['version']).to.equal(latest ?? 'SITE_NOT_FOUND');
        });
    });

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
                // A site has half of all slots.
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
        /** The site's next version, whose endpoints lead to paths that tell its number. */
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
        /** A machine that is busy with other things refuses some of so many; whoever is refused comes again. */
        const call = async (endpoint: 'held' | 'now', turn: number, more: object = {}): Promise<Answer> => {
            const body = { site: SITE, endpoint, params: { call: turn }, timeout_ms: 120_000, ...more };
            for (;;) {
                const answer = await ada.call('POST', '/v1/fetch', { body, base: turn % 2 === 0 ? world.base : other });
                if (codeOf(answer) !== 'SERVICE_UNAVAILABLE') return answer;
            }
        };
        /** Brings calls `from` to `to` to the gate, some at a time. */
        async function bring(from: number, to: number): Promise<Promise<Answer>[]> {
            const running: Promise<Answer>[] = [];
            for (let turn = from; turn < to; turn++) {
                running.push(call('held', turn));
                if ((turn + 1) % 125 === 0) await gate.waiting(turn + 1);
            }
            return running;
        }
        /** The version that ran, which is the one that the meta names. */
        const versionOf = (answer: Answer): number => {
            expect(codeOf(answer), JSON.stringify(answer.body)).to.equal(undefined);
            const { version } = answer.body['meta'] as { version: number };
            expect(answer.body['data']).to.deep.equal({ served: version });
            return version;
        };

        it('that are running publishing and yanks leave each its one version, named in its meta', async () => {
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

        it('that come and go each runs the latest of a moment between its beginning and its end', async () => {
            let begun = 0;
            let isOver = false;
            const publishing = (async () => {
                while (!isOver) await publishNext(latest % 2 === 0 ? world.base : other);
            })();
            const callers = Array.from({ length: AT_ONCE }, async () => {
                for (let turn = begun++; turn < PASSING; turn = begun++) {
                    const atLeast = latest;
                    const version = versionOf(await call('now', turn));
                    // The one that is being published may be in use before its publisher is told.
                    expect(version).to.be.within(atLeast, latest + 1);
                }
            });
            await Promise.all(callers);
            isOver = true;
            await publishing;
            expect(latest).to.be.greaterThan(5);
        });

        it('that come and go a yank is seen by every call that begins after it, and by no call as something else', async () => {
            const [good, bad] = [await publishNext(), await publishNext()];
            let begun = 0;
            let state: 'published' | 'changing' | 'yanked' = 'published';
            let changes = 0;
            const ran = new Set<number>();
            const yanking = (async () => {
                while (begun < PASSING) {
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
                for (let turn = begun++; turn < PASSING; turn = begun++) {
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
