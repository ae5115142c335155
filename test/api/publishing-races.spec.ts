import { expect } from 'chai';
import type { PublishAnswer } from '../../shared/contracts/schemas.ts';
import type { VersionEntry } from '../../shared/contracts/versions.ts';
import { createKey } from '../../shared/store/accounts/api-keys.ts';
import { inTurn } from '../support/in-turn.ts';
import { type Answer, join, type Person, stranger, withKey } from '../support/people.ts';
import { codeOf, dataOf } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { ANY_TOPOLOGY, useWorld } from '../support/world.ts';

for (const topology of ANY_TOPOLOGY) {
    describe(`concurrent publishing, over two processes and ${topology}`, () => {
        const world = useWorld({ topology, workers: 0 });
        let bases: string[];
        let maker: Person;
        let number = 0;

        before(async () => {
            bases = [world.base, (await world.openAnotherApi()).base];
            maker = await join(world, { plan: 'enterprise' });
        });

        const newSite = () => `race${++number}.test`;
        const baseOf = (turn: number) => bases[turn % bases.length] as string;
        const publish = (person: Person, document: object, turn: number) =>
            inTurn(() => person.call('POST', '/v1/schemas', { body: document, base: baseOf(turn) }));
        const published = (answer: Answer) => dataOf(answer) as unknown as PublishAnswer;

        it('with 16 keys of one workspace gives 16 packages the versions 1 to 16, each compared with its predecessor', async () => {
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

        it('with 16 workspaces on a new domain accepts one, on whichever site, and pays once', async () => {
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

        it('with one If-Match accepts one update', async () => {
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

        it('accepts exactly 60 versions an hour and 20 sites a day from one account', async () => {
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

        it('accepts more from an account on the enterprise plan', async () => {
            const answers = await Promise.all(Array.from({ length: 61 }, (_, turn) => publish(maker, aPackage(newSite()), turn)));
            expect(answers.map(({ status }) => status)).to.deep.equal(Array(61).fill(201));
        });

        it('with concurrent yanks and unyanks ends with the right latest version', async () => {
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
}
