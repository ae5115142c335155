import { expect } from 'chai';
import type { AuditEntry } from '../../shared/contracts/audit.ts';
import type { MaintainerEntry } from '../../shared/contracts/maintainers.ts';
import { mailNews } from '../../shared/mail/news.ts';
import { endCheck } from '../../shared/store/registry/claim-checks.ts';
import { grantMaintainer, removeAsOperator, transferDomain } from '../../shared/store/registry/maintainer-orders.ts';
import { applyDueRemovals } from '../../shared/store/registry/removals.ts';
import { startSweeper } from '../../workers/sweep.ts';
import { eventually } from '../support/eventually.ts';
import { holdMails, mailsTo } from '../support/mails.ts';
import { type Answer, join, type Person, stranger } from '../support/people.ts';
import { aProvenClaim, codeOf, dataOf } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { ANY_TOPOLOGY, useWorld } from '../support/world.ts';

const DAY_MS = 86_400_000;
/** The longest interval of a timer. News is mailed only when a test says so. */
const NEVER_MS = 2 ** 31 - 1;

for (const topology of ANY_TOPOLOGY) {
    describe(`the removal of another maintainer, over ${topology}`, () => {
        const world = useWorld({ topology, workers: 0, config: { mailEveryMs: NEVER_MS } });
        let ada: Person;
        let bob: Person;
        let eve: Person;
        let number = 0;

        before(async () => {
            await holdMails(world.app);
        });
        beforeEach(async () => {
            [ada, bob, eve] = await Promise.all([join(world), join(world), join(world)]);
        });

        /** A site that Ada published and maintains with `others`. */
        const newSite = async (...others: Person[]) => {
            const site = `left${++number}.test`;
            dataOf(await ada.publish(aPackage(site)));
            for (const other of others) dataOf(await change('PUT', ada, site, other));
            return site;
        };
        const change = (method: 'PUT' | 'DELETE', by: Person, site: string, { workspaceId }: Pick<Person, 'workspaceId'>) =>
            by.call(method, `/v1/schemas/${site}/maintainers/${workspaceId}`);
        const listed = (answer: Answer) => dataOf<MaintainerEntry[]>(answer);
        const list = async (site: string) => listed(await stranger(world).call('GET', `/v1/schemas/${site}/maintainers`));
        const idsAt = async (site: string) => (await list(site)).map(({ workspace_id: id }) => id);
        const sweep = () => applyDueRemovals(world.app.db);
        const now = async () => (await world.app.db.raw<{ rows: [{ now: Date }] }>('select app_now() as now')).rows[0].now.getTime();
        const messageOf = ({ body }: Answer) => (body['error'] as { message: string }).message;
        const auditOf = async (person: Person) =>
            dataOf<AuditEntry[]>(await person.call('GET', '/v1/audit?limit=100'))
                .filter(({ action }) => action.startsWith('maintainer.'))
                .map(({ action, actor, target, details }) => ({ action, actor, target, domain: details['domain'] }))
                .reverse();
        const keyOf = async (person: Person) => dataOf<{ key: { id: string } }>(await person.call('GET', '/v1/account')).key.id;
        /** Confirms the owner's address, since mails go only to confirmed ones, and returns it. */
        const reachable = async ({ userId }: Person) => {
            const { rows } = await world.app.db.raw<{ rows: [{ email: string }] }>(
                'update users set verified_at = app_now() where id = ? returning email',
                [userId],
            );
            return rows[0].email;
        };
        const mailed = async (email: string) => {
            await mailNews(world.app.db, world.app.secrets, 'https://routebook.example');
            return (await mailsTo(world.app, email)).filter(({ subject }) => /maintain|removed/.test(subject));
        };
        /** Stops the removal like the button of the page. */
        const stopBy = async (email: string, site: string) => {
            const link =
                /https:\S+\/maintainers\/stop\?token=\S+/.exec((await mailed(email)).at(-1)?.body ?? '')?.[0] ?? `no link about ${site}`;
            const token = new URL(link).searchParams.get('token') ?? '';
            const page = await fetch(`${world.base}/maintainers/stop?token=${token}`);
            const form = /name="_form" value="([^"]*)"/.exec(await page.text())?.[1] ?? '';
            const cookie = page.headers
                .getSetCookie()
                .map((line) => line.split(';')[0])
                .join('; ');
            const answer = await fetch(`${world.base}/maintainers/stop`, {
                method: 'POST',
                headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
                body: new URLSearchParams({ _form: form, token }),
            });
            return [page.status, answer.status];
        };

        it('takes effect after 24 hours, as response and list say; until then the workspace publishes', async () => {
            const site = await newSite(bob);
            const asked = await now();
            const answer = await change('DELETE', ada, site, bob);
            expect(answer.status).to.equal(200);
            const [first, second] = listed(answer);
            expect(first).to.have.all.keys('workspace_id', 'name');
            expect(second?.workspace_id).to.equal(bob.workspaceId);
            expect(Date.parse(second?.removal_at ?? '') - asked).to.be.within(DAY_MS, DAY_MS + 20_000);
            expect(await list(site)).to.deep.equal([first, second]);
            // A second request changes nothing.
            expect(listed(await change('DELETE', ada, site, bob))).to.deep.equal([first, second]);
            await world.clock.advance({ hours: 23 });
            await sweep();
            expect((await bob.publish(aPackage(site, { title: 'By Bob' }))).status).to.equal(201);
            await world.clock.advance({ hours: 1 });
            await sweep();
            expect(await idsAt(site)).to.deep.equal([ada.workspaceId]);
            expect(codeOf(await bob.publish(aPackage(site, { title: 'Late' })))).to.equal('NOT_MAINTAINER');
        });

        it('is applied by the workers once, even if several sweep at the same time', async () => {
            const site = await newSite(bob);
            dataOf(await change('DELETE', ada, site, bob));
            await world.clock.advance({ days: 1 });
            const { app } = await world.openAnotherApi();
            const sweepers = [world.app, app].map(startSweeper);
            try {
                await eventually(
                    () => idsAt(site),
                    (ids) => ids.length === 1,
                    9000,
                );
            } finally {
                for (const sweeper of sweepers) await sweeper.stop();
            }
            await Promise.all([sweep(), applyDueRemovals(app.db)]);
            expect((await auditOf(bob)).filter(({ action }) => action === 'maintainer.removed')).to.have.length(1);
        });

        it('is stopped by the link in the mail to the workspace’s owners; opening the link changes nothing', async () => {
            const email = await reachable(bob);
            const site = await newSite(bob);
            dataOf(await change('DELETE', ada, site, bob));
            await world.clock.advance({ hours: 1, minutes: 1 });
            const letter = (await mailed(email)).at(-1);
            expect(letter?.subject).to.equal(`Your workspace is about to be removed from ${site}, and other news`);
            expect(letter?.body).to.include(`maintains ${site} from now on`);
            expect(letter?.body)
                .to.include(`Workspace ${ada.workspaceId} asked to remove your workspace ${bob.workspaceId}`)
                .and.match(/\d\d:\d\d UTC/);
            const [link = ''] = /\/maintainers\/stop\?token=\S+/.exec(letter?.body ?? '') ?? [];
            const opened = await fetch(`${world.base}${link}`);
            expect([opened.status, (await opened.text()).includes(site)]).to.deep.equal([200, true]);
            expect((await list(site))[1]).to.have.property('removal_at');
            expect(await stopBy(email, site)).to.deep.equal([200, 200]);
            expect((await list(site))[1]).not.to.have.property('removal_at');
            await world.clock.advance({ days: 1 });
            await sweep();
            expect(await idsAt(site)).to.deep.equal([ada.workspaceId, bob.workspaceId]);
            expect((await fetch(`${world.base}${link}`)).status).to.equal(410);
        });

        it('is stopped once: within 30 days, only an operator or a proved owner may request the next one', async () => {
            const email = await reachable(bob);
            const site = await newSite(bob, eve);
            dataOf(await change('DELETE', ada, site, bob));
            await stopBy(email, site);
            for (const by of [ada, eve]) {
                const refused = await change('DELETE', by, site, bob);
                expect([refused.status, codeOf(refused)]).to.deep.equal([403, 'FORBIDDEN']);
                expect(messageOf(refused)).to.include('30 days').and.to.include('operator');
            }
            await world.clock.advance({ days: 29 });
            expect(codeOf(await change('DELETE', ada, site, bob))).to.equal('FORBIDDEN');
            await world.clock.advance({ days: 1, minutes: 1 });
            expect(listed(await change('DELETE', ada, site, bob))[1]).to.have.property('removal_at');
            await stopBy(email, site);
            expect(await removeAsOperator(world.app.db, site, bob.workspaceId)).to.equal('removed');
            expect(await idsAt(site)).to.deep.equal([ada.workspaceId, eve.workspaceId]);
        });

        it('is immediate if a workspace removes itself, also if it is being removed', async () => {
            const site = await newSite(bob);
            dataOf(await change('DELETE', ada, site, bob));
            expect(listed(await change('DELETE', bob, site, bob)).map(({ workspace_id: id }) => id)).to.deep.equal([ada.workspaceId]);
            // The earlier removal does not apply to a maintainer who was added again.
            dataOf(await change('PUT', ada, site, bob));
            await world.clock.advance({ days: 1 });
            await sweep();
            expect(await idsAt(site)).to.deep.equal([ada.workspaceId, bob.workspaceId]);
        });

        it('is immediate for a proved owner, also if it is pending or stopped; only an operator removes the owner', async () => {
            const email = await reachable(bob);
            const site = await newSite(bob, eve);
            dataOf(await change('DELETE', eve, site, bob));
            await stopBy(email, site);
            dataOf(await change('DELETE', bob, site, eve));
            await aProvenClaim(world, ada, site);
            for (const other of [bob, eve]) {
                const refused = await change('DELETE', other, site, ada);
                expect([refused.status, codeOf(refused)]).to.deep.equal([403, 'FORBIDDEN']);
            }
            dataOf(await change('DELETE', ada, site, bob));
            dataOf(await change('DELETE', ada, site, eve));
            expect(await idsAt(site)).to.deep.equal([ada.workspaceId]);
        });

        it('leaves a workspace that is being removed its versions, but no control over maintainers', async () => {
            const site = await newSite(bob, eve);
            dataOf(await change('DELETE', ada, site, bob));
            for (const [method, target] of [
                ['PUT', await join(world)],
                ['DELETE', ada],
                ['DELETE', eve],
            ] as const) {
                const refused = await change(method, bob, site, target);
                expect([refused.status, codeOf(refused)]).to.deep.equal([403, 'FORBIDDEN']);
                expect(messageOf(refused)).to.include('being removed');
            }
            expect(await idsAt(site)).to.deep.equal([ada, bob, eve].map(({ workspaceId }) => workspaceId));
            expect((await list(site)).filter((one) => 'removal_at' in one)).to.have.length(1);
        });

        it('is cancelled if nobody else maintains the domain when it is due', async () => {
            const email = await reachable(bob);
            const site = await newSite(bob);
            dataOf(await change('DELETE', ada, site, bob));
            dataOf(await change('DELETE', ada, site, ada));
            await world.clock.advance({ days: 1 });
            await sweep();
            await sweep();
            expect(await list(site)).to.deep.equal([{ workspace_id: bob.workspaceId, name: (await list(site))[0]?.name }]);
            expect((await mailed(email)).at(-1)?.body).to.include('does not take place: nobody else would maintain the domain');
            for (const person of [ada, bob])
                expect((await auditOf(person)).at(-1)).to.include({ action: 'maintainer.removal_dropped', actor: 'system', domain: site });
        });

        it('is cancelled if the workspace proves the domain meanwhile, or an operator keeps it', async () => {
            const site = await newSite(bob, eve);
            dataOf(await change('DELETE', ada, site, bob));
            dataOf(await change('DELETE', ada, site, eve));
            const { claim_id: claim } = dataOf<{ claim_id: string }>(await bob.call('POST', `/v1/sites/${site}/claims`));
            await endCheck(world.app.db, claim, { result: 'proven', method: 'dns' });
            await world.app.db.transaction((trx) => grantMaintainer(trx, site, eve.workspaceId));
            expect((await list(site)).filter((one) => 'removal_at' in one)).to.deep.equal([]);
            await world.clock.advance({ days: 1 });
            await sweep();
            expect(await idsAt(site)).to.have.length(3);
            expect((await auditOf(eve)).at(-1)).to.include({ action: 'maintainer.removal_dropped', actor: 'operator' });
        });

        it('is in the audits of both workspaces, each with its own people only', async () => {
            const email = await reachable(bob);
            const site = await newSite(bob);
            const { workspaceId: target } = bob;
            dataOf(await change('DELETE', ada, site, bob));
            await stopBy(email, site);
            await world.clock.advance({ days: 31 });
            dataOf(await change('DELETE', ada, site, bob));
            await world.clock.advance({ days: 1 });
            await sweep();
            const acts = ['added', 'removal_requested', 'removal_stopped', 'removal_requested', 'removed'].map(
                (act) => `maintainer.${act}`,
            );
            const key = await keyOf(ada);
            const asIn = (actors: string[]) => acts.map((action, index) => ({ action, actor: actors[index], target, domain: site }));
            expect(await auditOf(ada)).to.deep.equal(asIn([key, key, bob.workspaceId, key, 'system']));
            const { workspaceId } = ada;
            expect(await auditOf(bob)).to.deep.equal(asIn([workspaceId, workspaceId, 'system', workspaceId, 'system']));
            const foreign = await bob.call('GET', `/v1/audit?actor=${ada.workspaceId}`);
            expect(dataOf<AuditEntry[]>(foreign).map(({ ip }) => ip)).to.deep.equal([null, null, null]);
        });

        it('by an operator, and a transfer, are audited in both workspaces and mailed to their owners', async () => {
            const [ofAda, ofBob] = [await reachable(ada), await reachable(bob)];
            const site = await newSite();
            await world.app.db.transaction((trx) => grantMaintainer(trx, site, bob.workspaceId));
            await world.app.db.transaction((trx) => transferDomain(trx, site, bob.workspaceId));
            expect(await auditOf(ada)).to.deep.equal([
                { action: 'maintainer.removed', actor: 'operator', target: ada.workspaceId, domain: site },
            ]);
            expect((await auditOf(bob)).map(({ action, actor }) => [action, actor])).to.deep.equal([
                ['maintainer.added', 'operator'],
                ['maintainer.transferred', 'operator'],
            ]);
            expect((await mailed(ofAda)).at(-1)?.body).to.include('removed your workspace from its maintainers');
            // One mail an hour contains all news of the hour.
            const letters = await mailed(ofBob);
            expect(letters).to.have.length(1);
            expect(letters[0]?.body)
                .to.include('lets your workspace maintain it')
                .and.to.include('made your workspace its only maintainer');
        });

        it('shares the one mail an hour of its domain with versions and yanks', async () => {
            const email = await reachable(ada);
            const site = await newSite(bob);
            await aProvenClaim(world, ada, site);
            await mailed(email);
            dataOf(await bob.publish(aPackage(site, { title: 'By Bob' })));
            dataOf(await bob.call('POST', `/v1/schemas/${site}/versions/2/yank`, { body: { reason: 'broken' } }));
            dataOf(await change('DELETE', ada, site, bob));
            const all = async () => {
                await mailNews(world.app.db, world.app.secrets, 'https://routebook.example');
                return (await mailsTo(world.app, email)).filter(({ subject }) => subject.includes(site));
            };
            const before = (await all()).length;
            expect(before).to.equal(1);
            await world.clock.advance({ hours: 1, minutes: 1 });
            const [, letter, ...more] = await all();
            expect(more).to.deep.equal([]);
            expect(letter?.subject).to.match(/, and other news$/);
            for (const words of ['Version 2', 'was published', 'taken out of use (broken)', 'no longer maintains'])
                expect(letter?.body).to.include(words);
        });

        it('is mailed an hour after the mail about the addition, with all news in between', async () => {
            const email = await reachable(bob);
            const [first, second] = [await newSite(bob), await newSite(bob)];
            const letters = async () => {
                await mailNews(world.app.db, world.app.secrets, 'https://routebook.example');
                return (await mailsTo(world.app, email)).filter(({ subject }) => [first, second].some((site) => subject.includes(site)));
            };
            // One mail contains both additions.
            expect(await letters()).to.have.length(1);
            dataOf(await change('DELETE', ada, first, bob));
            dataOf(await change('PUT', bob, second, eve));
            expect(await letters()).to.have.length(1);
            await world.clock.advance({ hours: 1, minutes: 1 });
            const [, ...later] = await letters();
            expect(later.map(({ body }) => /stop\?token=/.test(body))).to.have.members([true, false]);
            expect(await letters()).to.have.length(3);
        });
    });
}
