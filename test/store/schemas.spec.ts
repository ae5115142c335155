import { expect } from 'chai';
import { readBalance } from '../../shared/store/credits/accounts.ts';
import { checkLedger } from '../../shared/store/credits/ledger.ts';
import { grantMaintainer } from '../../shared/store/registry/maintainer-orders.ts';
import { publishPackage } from '../../shared/store/registry/publish.ts';
import { findLatest } from '../../shared/store/registry/site-states.ts';
import { publishStarter } from '../../shared/store/registry/starter.ts';
import { claimRun, endRun } from '../../shared/store/registry/verification.ts';
import { yank } from '../../shared/store/registry/yank.ts';
import { accepted, contributor, orderOf, packageOf, registrableOf, useDatabase } from './registry.ts';

describe('the registry', () => {
    const opened = useDatabase();

    const latestOf = (site: string) => findLatest(opened.db, { site, registrable: registrableOf(site) });

    describe('publishing', () => {
        it('stops an account after 64 MiB of compressed packages in a day', async () => {
            const publisher = await contributor(opened.db);
            accepted(await publishPackage(opened.db, orderOf(packageOf('large.example'), publisher)));
            // Digests of random numbers do not compress.
            await opened
                .db('versions')
                .where({ site: 'large.example' })
                .update({
                    document: opened.db.raw(
                        "(select to_json(string_agg(md5(random()::text), '')) from generate_series(1, 66 * 1024 * 1024 / 32))",
                    ),
                    published_at: opened.db.raw("published_at - interval '23 hours'"),
                });
            const more = await publishPackage(opened.db, orderOf(packageOf('more.large.example'), publisher));
            expect(more).to.include({ ok: false, code: 'RATE_LIMITED', window: 'bytes_per_day' });
            expect((more as { retryAfter: number }).retryAfter).to.be.within(3000, 3600);
            await opened
                .db('versions')
                .where({ site: 'large.example' })
                .update({ published_at: opened.db.raw("published_at - interval '1 hour'") });
            accepted(await publishPackage(opened.db, orderOf(packageOf('more.large.example'), publisher)));
        });
    });

    describe('the bonus for contributing', () => {
        it('is paid at publishing for two domains, for others when verified, ten times a month, also concurrently', async () => {
            const publisher = await contributor(opened.db);
            const sites = Array.from({ length: 12 }, (_, i) => `ten${i}.test`);
            const results = await Promise.all(sites.map((site) => publishPackage(opened.db, orderOf(packageOf(site), publisher))));
            const published = results.map(accepted);
            expect(published.filter(({ creditsEarned }) => creditsEarned === 50)).to.have.length(2);
            expect(published.filter(({ bonusOwed }) => bonusOwed === 'call')).to.have.length(10);
            const bonus = async () => (await readBalance(opened.db, publisher.accountId))?.bonus;
            expect(await bonus()).to.equal(100);
            for (;;) {
                const run = await claimRun(opened.db);
                if (run === undefined) break;
                const outcome = run.site === 'ten11.test' ? 'failed' : 'passed';
                const ended = await Promise.all([endRun(opened.db, run, outcome, []), endRun(opened.db, run, outcome, [])]);
                expect(ended.filter(({ isRecorded }) => isRecorded)).to.have.length(1);
            }
            expect(await bonus()).to.equal(500);
            expect(await checkLedger(opened.db)).to.deep.equal([]);
        });

        it('is not paid if the starter registry was first, nor to a workspace that an operator permits', async () => {
            await publishStarter(opened.db, packageOf('starter.example'));
            const publisher = await contributor(opened.db);
            const order = orderOf(packageOf('starter.example', 'mine'), publisher);
            expect(await publishPackage(opened.db, order)).to.deep.equal({ ok: false, code: 'NOT_MAINTAINER', isOperators: true });
            await grantMaintainer(opened.db, 'starter.example', publisher.workspaceId);
            expect(accepted(await publishPackage(opened.db, order))).to.include({ version: 2, creditsEarned: 0, isBonusUsedUp: false });
        });
    });

    describe('a package of our own', () => {
        const publishInTurn = async (site: string, texts: readonly string[], options?: { mayReturn: boolean }) => {
            for (const text of texts) await publishStarter(opened.db, packageOf(site, text), options);
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
                await yank(opened.db, site, 2, 'broken');
                expect(await publishInTurn(site, ['b'], { mayReturn }), site).to.equal(1);
            }
        });
    });
});
