import { expect } from 'chai';
import type { Db } from '../../shared/platform/db.ts';
import { readBalance } from '../../shared/store/credits/credits.ts';
import { checkLedger } from '../../shared/store/credits/ledger.ts';
import { grantMaintainer } from '../../shared/store/registry/maintainer-orders.ts';
import * as schemas from '../../shared/store/registry/schemas.ts';
import { blockDomain } from '../../shared/store/registry/sites.ts';
import { claimRun, endRun } from '../../shared/store/registry/verification.ts';
import { readPackageText } from '../../shared/store/registry/versions.ts';
import { accepted, contributor, type OpenedDatabase, openDatabase, orderOf, packageOf, registrableOf } from './registry.ts';

describe('the registry', () => {
    let database: OpenedDatabase;
    let db: Db;

    before(async () => {
        database = await openDatabase();
        ({ db } = database);
    });

    after(() => database.close());

    const latestOf = (site: string) => schemas.findLatest(db, { site, registrable: registrableOf(site) });

    describe('publishing', () => {
        it('gives sixteen concurrent packages the versions 1 to 16, without gaps', async () => {
            const publisher = await contributor(db);
            const results = await Promise.all(
                Array.from({ length: 16 }, (_, i) => schemas.publish(db, orderOf(packageOf('sixteen.example', `No ${i}`), publisher))),
            );
            const versions = results.map((result) => accepted(result).version);
            expect(versions.toSorted((a, b) => a - b)).to.deep.equal(Array.from({ length: 16 }, (_, i) => i + 1));
            expect((await latestOf('sixteen.example')).version?.version).to.equal(16);
        });

        it('makes exactly one of sixteen workspaces the maintainer of a new domain', async () => {
            const publishers = await Promise.all(Array.from({ length: 16 }, () => contributor(db)));
            const results = await Promise.all(
                publishers.map((publisher, i) => schemas.publish(db, orderOf(packageOf(`s${i}.raced.example`), publisher))),
            );
            expect(results.filter((result) => result.ok)).to.have.length(1);
            for (const result of results) if (!result.ok) expect(result.code).to.equal('NOT_MAINTAINER');
            const winner = publishers[results.findIndex((result) => result.ok)];
            expect(accepted(await schemas.publish(db, orderOf(packageOf('late.raced.example'), winner))).version).to.equal(1);
        });

        it('keeps the package as it was published, the order of its keys included', async () => {
            const { endpoints, ...rest } = packageOf('kept.example');
            const document = { endpoints, ...rest, description: 'Ümläut \u{1f600} 1e3' };
            const { versionId } = accepted(await schemas.publish(db, orderOf(document, await contributor(db))));
            expect(JSON.stringify(JSON.parse((await readPackageText(db, versionId ?? 0)) ?? ''))).to.equal(JSON.stringify(document));
        });

        it('returns the existing version for the content of the latest one', async () => {
            const publisher = await contributor(db);
            const first = accepted(await schemas.publish(db, orderOf(packageOf('same.example'), publisher)));
            const second = accepted(await schemas.publish(db, orderOf(packageOf('same.example'), publisher)));
            expect(first).to.include({ isCreated: true, version: 1, change: 'major', creditsEarned: 50 });
            expect(second).to.include({ isCreated: false, version: 1, change: 'major', creditsEarned: 0 });
            expect(second.publishedAt).to.deep.equal(first.publishedAt);
            expect(second).not.to.have.property('document');
        });

        it('gives yanked content a new number', async () => {
            const publisher = await contributor(db);
            await schemas.publish(db, orderOf(packageOf('again.example'), publisher));
            await schemas.yank(db, 'again.example', 1, 'broken');
            expect(accepted(await schemas.publish(db, orderOf(packageOf('again.example'), publisher)))).to.include({
                isCreated: true,
                version: 2,
            });
        });

        it('refuses an update of a version that is not the latest any more', async () => {
            const publisher = await contributor(db);
            const first = accepted(await schemas.publish(db, orderOf(packageOf('lost.example', 'one'), publisher, { ifMatch: undefined })));
            const update = orderOf(packageOf('lost.example', 'two'), publisher, { ifMatch: first.versionHash });
            expect(accepted(await schemas.publish(db, update)).version).to.equal(2);
            const lost = await schemas.publish(db, orderOf(packageOf('lost.example', 'three'), publisher, { ifMatch: first.versionHash }));
            expect(lost).to.deep.equal({ ok: false, code: 'VERSION_CONFLICT', latestHash: update.versionHash });
            const none = await schemas.publish(db, orderOf(packageOf('absent.example'), publisher, { ifMatch: '*' }));
            expect(none).to.include({ code: 'VERSION_CONFLICT', latestHash: null });
        });

        it('returns the version of an update that is sent again, though If-Match names the one before', async () => {
            const publisher = await contributor(db);
            const first = accepted(await schemas.publish(db, orderOf(packageOf('twice.example', 'one'), publisher)));
            const update = orderOf(packageOf('twice.example', 'two'), publisher, { ifMatch: first.versionHash });
            const { version, versionHash } = accepted(await schemas.publish(db, update));
            expect(accepted(await schemas.publish(db, update))).to.include({ isCreated: false, version, versionHash });
            const stranger = { ...update, publisher: await contributor(db) };
            expect(await schemas.publish(db, stranger)).to.deep.equal({ ok: false, code: 'NOT_MAINTAINER', isOperators: false });
        });

        it('refuses a blocked domain, and stores nothing of it', async () => {
            await db.transaction((trx) => blockDomain(trx, 'blocked.example', 'the owner asked'));
            const refused = await schemas.publish(db, orderOf(packageOf('www2.blocked.example'), await contributor(db)));
            expect(refused).to.include({ ok: false, code: 'SITE_BLOCKED' });
            expect(await latestOf('www2.blocked.example')).to.include({ isBlocked: true, isKnown: false, version: undefined });
        });

        it('answers a dry run with what would happen, and stores nothing', async () => {
            const publisher = await contributor(db);
            const dry = accepted(await schemas.publish(db, orderOf(packageOf('dry.example'), publisher, { isDryRun: true })));
            expect(dry).to.include({ isCreated: false, version: 1, publishedAt: null, creditsEarned: 0 });
            expect(await latestOf('dry.example')).to.include({ isKnown: false });
            expect(accepted(await schemas.publish(db, orderOf(packageOf('dry.example'), await contributor(db)))).isCreated).to.equal(true);
        });

        it('stops an account after 60 new versions in an hour, and says when the next one is accepted', async () => {
            const publisher = await contributor(db);
            for (let i = 0; i < 60; i++) accepted(await schemas.publish(db, orderOf(packageOf('busy.example', `${i}`), publisher)));
            const refused = await schemas.publish(db, orderOf(packageOf('busy.example', 'one too many'), publisher));
            expect(refused).to.include({ ok: false, code: 'RATE_LIMITED', window: 'versions_per_hour' });
            if (refused.ok || refused.code !== 'RATE_LIMITED') throw new Error('refused otherwise');
            expect(refused.retryAfter).to.be.within(3500, 3600);
            expect(accepted(await schemas.publish(db, orderOf(packageOf('busy.example', '59'), publisher))).isCreated).to.equal(false);
            const enterprise = { ...publisher, isGuarded: false };
            expect(accepted(await schemas.publish(db, orderOf(packageOf('busy.example', 'one too many'), enterprise))).version).to.equal(
                61,
            );
        });

        it('stops an account after 20 new sites in a day, also concurrent ones, and lets it update the old ones', async () => {
            const publisher = await contributor(db);
            const results = await Promise.all(
                Array.from({ length: 24 }, (_, i) => schemas.publish(db, orderOf(packageOf(`s${i}.many.example`), publisher))),
            );
            expect(results.filter((result) => result.ok)).to.have.length(20);
            for (const result of results) if (!result.ok) expect(result).to.include({ code: 'RATE_LIMITED', window: 'sites_per_day' });
            const old = results.findIndex((result) => result.ok);
            expect(accepted(await schemas.publish(db, orderOf(packageOf(`s${old}.many.example`, 'new'), publisher))).version).to.equal(2);
        });

        it('stops an account after 64 MiB of compressed packages in a day', async () => {
            const publisher = await contributor(db);
            accepted(await schemas.publish(db, orderOf(packageOf('large.example'), publisher)));
            // Digests of random numbers do not compress.
            await db('versions')
                .where({ site: 'large.example' })
                .update({
                    document: db.raw(
                        "(select to_json(string_agg(md5(random()::text), '')) from generate_series(1, 66 * 1024 * 1024 / 32))",
                    ),
                    published_at: db.raw("published_at - interval '23 hours'"),
                });
            const more = await schemas.publish(db, orderOf(packageOf('more.large.example'), publisher));
            expect(more).to.include({ ok: false, code: 'RATE_LIMITED', window: 'bytes_per_day' });
            expect((more as { retryAfter: number }).retryAfter).to.be.within(3000, 3600);
            await db('versions')
                .where({ site: 'large.example' })
                .update({ published_at: db.raw("published_at - interval '1 hour'") });
            accepted(await schemas.publish(db, orderOf(packageOf('more.large.example'), publisher)));
        });
    });

    describe('the bonus for contributing', () => {
        it('is paid once for a registrable domain, to the account that pays', async () => {
            const publisher = await contributor(db);
            expect(accepted(await schemas.publish(db, orderOf(packageOf('bonus.example'), publisher))).creditsEarned).to.equal(50);
            expect(accepted(await schemas.publish(db, orderOf(packageOf('b.bonus.example'), publisher))).creditsEarned).to.equal(0);
            expect((await readBalance(db, publisher.accountId))?.bonus).to.equal(50);
        });

        it('is paid at publishing for two domains, for others when verified, ten times a month, also concurrently', async () => {
            const publisher = await contributor(db);
            const sites = Array.from({ length: 12 }, (_, i) => `ten${i}.test`);
            const results = await Promise.all(sites.map((site) => schemas.publish(db, orderOf(packageOf(site), publisher))));
            const published = results.map(accepted);
            expect(published.filter(({ creditsEarned }) => creditsEarned === 50)).to.have.length(2);
            expect(published.filter(({ bonusOwed }) => bonusOwed === 'call')).to.have.length(10);
            const bonus = async () => (await readBalance(db, publisher.accountId))?.bonus;
            expect(await bonus()).to.equal(100);
            for (;;) {
                const run = await claimRun(db);
                if (run === undefined) break;
                const outcome = run.site === 'ten11.test' ? 'failed' : 'passed';
                const ended = await Promise.all([endRun(db, run, outcome, []), endRun(db, run, outcome, [])]);
                expect(ended.filter(({ isRecorded }) => isRecorded)).to.have.length(1);
            }
            expect(await bonus()).to.equal(500);
            expect(await checkLedger(db)).to.deep.equal([]);
        });

        it('is not paid if the starter registry was first, nor to a workspace that an operator permits', async () => {
            await schemas.publishStarter(db, packageOf('starter.example'));
            const publisher = await contributor(db);
            const order = orderOf(packageOf('starter.example', 'mine'), publisher);
            expect(await schemas.publish(db, order)).to.deep.equal({ ok: false, code: 'NOT_MAINTAINER', isOperators: true });
            await grantMaintainer(db, 'starter.example', publisher.workspaceId);
            expect(accepted(await schemas.publish(db, order))).to.include({ version: 2, creditsEarned: 0, isBonusUsedUp: false });
        });
    });

    describe('a package of our own', () => {
        const publishInTurn = async (site: string, texts: readonly string[], options?: { mayReturn: boolean }) => {
            for (const text of texts) await schemas.publishStarter(db, packageOf(site, text), options);
            return (await latestOf(site)).version?.version;
        };

        it('is never published again after newer content', async () => {
            expect(await publishInTurn('ours.example', ['a', 'b', 'a'])).to.equal(2);
        });

        it('is published again if permitted, once each time', async () => {
            expect(await publishInTurn('demo.example', ['a', 'b', 'a', 'a'], { mayReturn: true })).to.equal(3);
        });

        it('is not published again if it was yanked, whether or not it is permitted', async () => {
            for (const mayReturn of [true, false]) {
                const site = `yanked-${mayReturn}.example`;
                await publishInTurn(site, ['a', 'b']);
                await schemas.yank(db, site, 2, 'broken');
                expect(await publishInTurn(site, ['b'], { mayReturn }), site).to.equal(1);
            }
        });
    });
});
