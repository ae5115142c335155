import { expect } from 'chai';
import type { PackageDocument } from '../../shared/domain/types.ts';
import { type Db, openDb } from '../../shared/platform/db.ts';
import { deleteAccount } from '../../shared/store/accounts/delete-account.ts';
import { changePlan, readBalance } from '../../shared/store/credits/accounts.ts';
import { type Credits, openCredits } from '../../shared/store/credits/credits.ts';
import { checkLedger } from '../../shared/store/credits/ledger.ts';
import type { Publisher } from '../../shared/store/registry/publication.ts';
import { publishPackage } from '../../shared/store/registry/publish.ts';
import { blockDomain, reclaimBonus } from '../../shared/store/registry/sites.ts';
import { claimRun, endRun } from '../../shared/store/registry/verification.ts';
import { yank } from '../../shared/store/registry/yank.ts';
import { advanceClock } from '../support/clock.ts';
import { orderFor } from './books.ts';
import { openLink } from './link.ts';
import { accepted, contributor, eventually, type OpenedDatabase, openDatabase, orderOf, packageOf } from './registry.ts';

describe('the pending bonus for a schema', () => {
    let database: OpenedDatabase;
    let db: Db;
    let credits: Credits;

    before(async () => {
        database = await openDatabase();
        ({ db } = database);
        credits = openCredits(db);
    });
    afterEach(async () => expect(await checkLedger(db)).to.deep.equal([]));
    after(async () => {
        await credits.close();
        await database.close();
    });

    let domains = 0;
    const newDomain = () => `owed${++domains}.test`;
    const publish = async (document: PackageDocument, publisher: Publisher) =>
        accepted(await publishPackage(db, orderOf(document, publisher)));
    const bonusOf = async (accountId: string) => (await readBalance(db, accountId))?.bonus;

    /** A package whose verification run calls something. `packageOf` has nothing to verify. */
    function verifiable(site: string, text = 'One'): PackageDocument {
        const endpoints = [{ name: 'front', method: 'GET' as const, url: `https://${site}/`, examples: [{ params: {} }] }];
        return packageOf(site, text, { endpoints });
    }

    /** A user whose first two domains are already paid. */
    async function author(): Promise<Publisher> {
        const publisher = await contributor(db);
        for (const site of [newDomain(), newDomain()]) expect(await publish(packageOf(site), publisher)).to.include({ creditsEarned: 50 });
        return publisher;
    }

    async function call(site: string, caller: { userId: string; accountId: string }, amount: number | null = 1): Promise<void> {
        const order = orderFor(caller.accountId, { userId: caller.userId, site });
        expect(await credits.hold(order)).to.include({ ok: true });
        if (amount === null) await credits.release(order);
        else expect(await credits.charge({ operation: order.operation, amount })).to.include({ ok: true });
    }

    async function verify(site: string, outcome: 'passed' | 'failed' | 'nothing'): Promise<void> {
        await db.raw("update verifications set due_at = case when site = ? then app_now() - interval '9 years' end", [site]);
        await db.raw('update domains set verification_began_at = null');
        const run = await claimRun(db);
        expect(run?.site).to.equal(site);
        if (run) await endRun(db, run, outcome, []);
    }

    it('is paid with the first charged call of another account if nothing can be verified', async () => {
        const [ada, bob] = [await author(), await contributor(db)];
        const site = newDomain();
        expect(await publish(packageOf(site), ada)).to.include({ creditsEarned: 0, bonusOwed: 'call' });
        await call(site, ada);
        await call(site, bob, null);
        await call(site, bob, 0);
        await verify(site, 'nothing');
        // The bonus of her own first call.
        expect(await bonusOf(ada.accountId)).to.equal(150);
        await call(site, bob);
        expect(await bonusOf(ada.accountId)).to.equal(200);
        await call(site, bob);
        await call(site, await contributor(db));
        expect(await bonusOf(ada.accountId)).to.equal(200);
    });

    it('is not paid by calls if something can be verified, before or after its verification', async () => {
        const [ada, bob] = [await author(), await contributor(db)];
        const site = newDomain();
        expect(await publish(verifiable(site), ada)).to.include({ bonusOwed: 'verification' });
        await call(site, bob);
        await verify(site, 'failed');
        await call(site, bob);
        expect(await bonusOf(ada.accountId)).to.equal(100);
        await verify(site, 'passed');
        await call(site, bob);
        expect(await bonusOf(ada.accountId)).to.equal(150);
    });

    it('depends on the latest version, on any site of the domain', async () => {
        const [ada, bob] = [await author(), await contributor(db)];
        const domain = newDomain();
        await publish(packageOf(domain), ada);
        await publish(verifiable(domain, 'Two'), ada);
        await call(domain, bob);
        expect(await bonusOf(ada.accountId)).to.equal(100);
        await publish(packageOf(`api.${domain}`), ada);
        await call(`api.${domain}`, bob);
        expect(await bonusOf(ada.accountId)).to.equal(150);
        await verify(domain, 'passed');
        expect(await bonusOf(ada.accountId)).to.equal(150);
    });

    it('depends on the version that is the latest after a yank, after its next run', async () => {
        const [ada, bob] = [await author(), await contributor(db)];
        const site = newDomain();
        await publish(packageOf(site), ada);
        await publish(verifiable(site, 'Two'), ada);
        await yank(db, site, 2, 'broken');
        await verify(site, 'nothing');
        await call(site, bob);
        expect(await bonusOf(ada.accountId)).to.equal(150);
    });

    it('is not paid by calls of the author in another workspace, whoever pays for them', async () => {
        const [ada, other] = [await author(), await contributor(db)];
        const site = newDomain();
        await publish(packageOf(site), ada);
        await call(site, { userId: ada.userId, accountId: other.accountId });
        // The author's first call earned this bonus, which the other account keeps.
        expect(await Promise.all([ada, other].map(({ accountId }) => bonusOf(accountId)))).to.deep.equal([100, 50]);
    });

    it('is counted in the month in which it is paid, and limited to ten', async () => {
        const [ada, bob] = [await author(), await contributor(db)];
        const sites = Array.from({ length: 12 }, newDomain);
        for (const site of sites) await publish(packageOf(site), ada);
        await advanceClock(db, 32 * 86_400_000);
        for (const site of sites) await call(site, bob);
        expect(await bonusOf(ada.accountId)).to.equal(600);
    });

    it('is paid once, by a hundred calls and a verification at the same time', async () => {
        const ada = await author();
        const domain = newDomain();
        await publish(packageOf(domain), ada);
        await publish(verifiable(`api.${domain}`), ada);
        const callers = await Promise.all(Array.from({ length: 20 }, () => contributor(db)));
        const others = openCredits(db);
        const calls = Array.from({ length: 100 }, async (_, turn) => {
            const batcher = turn % 2 === 0 ? credits : others;
            const caller = callers[turn % callers.length] as Publisher;
            const order = orderFor(caller.accountId, { site: domain });
            await batcher.hold(order);
            return batcher.charge({ operation: order.operation, amount: 1 });
        });
        const bills = await Promise.all([...calls, verify(`api.${domain}`, 'passed')]);
        await others.close();
        expect(bills.filter((bill) => bill?.ok)).to.have.length(100);
        expect(await bonusOf(ada.accountId)).to.equal(150);
    });

    it('is paid once even if the reply to the paying call was lost, and leaves nothing pending', async () => {
        const [ada, bob] = [await author(), await contributor(db)];
        const site = newDomain();
        await publish(packageOf(site), ada);
        const link = await openLink(database.url);
        const far = openDb({ url: link.url });
        const batcher = openCredits(far);
        try {
            const order = orderFor(bob.accountId, { site });
            await batcher.hold(order);
            link.loseNextAnswer();
            expect(await batcher.charge({ operation: order.operation, amount: 1 })).to.include({ ok: true, charged: 1 });
        } finally {
            await batcher.close();
            await far.destroy();
            await link.close();
        }
        expect(await bonusOf(ada.accountId)).to.equal(150);
        const { rows } = await db.raw(
            `select from owed_contributions where account_id = :account
             union all select from contributions_by_call where account_id = :account`,
            { account: ada.accountId },
        );
        expect(rows).to.have.length(0);
    });

    it('is paid once if the paying process is interrupted', async () => {
        const [ada, bob] = [await author(), await contributor(db)];
        const site = newDomain();
        await publish(packageOf(site), ada);
        const order = orderFor(bob.accountId, { site });
        await credits.hold(order);
        const charge = () => credits.charge({ operation: order.operation, amount: 1 });
        let cutOff: Promise<unknown> | undefined;
        await db.transaction(async (trx) => {
            await trx.raw('select from credit_accounts where id = ? for update', [ada.accountId]);
            cutOff = charge().catch(() => undefined);
            const stuck = await eventually(
                async () =>
                    (
                        await trx.raw<{ rows: { pid: number }[] }>(
                            "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
                        )
                    ).rows,
                (rows) => rows.length > 0,
            );
            for (const { pid } of stuck.answer ?? []) await trx.raw('select pg_terminate_backend(?)', [pid]);
            expect(await bonusOf(ada.accountId)).to.equal(100);
        });
        await cutOff;
        await eventually(
            async () => charge(),
            (bill) => !bill.ok && bill.state === 'charged',
        );
        expect(await bonusOf(ada.accountId)).to.equal(150);
    });

    it('follows its author to another plan and back, in whatever order payment and change come', async () => {
        const [ada, bob] = [await author(), await contributor(db)];
        const sites = Array.from({ length: 8 }, newDomain);
        for (const site of sites) await publish(packageOf(site), ada);
        const change = (plan: 'free' | 'pro') => changePlan(db, ada.workspaceId, { plan, planAllowance: plan === 'free' ? 1000 : 60_000 });
        const total = async () => ((await bonusOf(ada.accountId)) ?? 0) + ((await bonusOf(ada.workspaceId)) ?? 0);
        for (const [turn, site] of sites.entries()) {
            await Promise.all([change(turn % 2 === 0 ? 'pro' : 'free'), call(site, bob)]);
            expect(await total()).to.equal(100 + 50 * (turn + 1));
        }
        await change('pro');
        await credits.sweep();
        expect(await bonusOf(ada.workspaceId)).to.equal(500);
    });

    it('does not pay two domains at once again because the plan changed', async () => {
        const ada = await author();
        await changePlan(db, ada.workspaceId, { plan: 'pro', planAllowance: 60_000 });
        const site = newDomain();
        expect(await publish(packageOf(site), { ...ada, accountId: ada.workspaceId })).to.include({ bonusOwed: 'call' });
        await call(site, await contributor(db));
        expect(await bonusOf(ada.workspaceId)).to.equal(150);
    });

    it('does not affect calls of a site whose author is deleted', async () => {
        const ada = await author();
        const site = newDomain();
        await publish(packageOf(site), ada);
        expect(await deleteAccount(db, ada.userId)).to.equal(true);
        await call(site, await contributor(db));
    });

    describe('taken back by an operator', () => {
        const reclaim = (domain: string) =>
            db.transaction(async (trx) => {
                await blockDomain(trx, domain, 'phishing');
                return reclaimBonus(trx, domain);
            });

        it('is taken once, however many ask at the same time', async () => {
            const ada = await contributor(db);
            const domain = newDomain();
            await publish(packageOf(domain), ada);
            const taken = await Promise.all(Array.from({ length: 10 }, () => reclaim(domain)));
            expect(taken.toSorted((a, b) => b - a)).to.deep.equal([50, ...Array(9).fill(0)]);
            expect(await bonusOf(ada.accountId)).to.equal(0);
        });

        it('is at most the remaining bonus, then and later', async () => {
            const ada = await contributor(db);
            const domain = newDomain();
            await publish(packageOf(domain), ada);
            await call('elsewhere.test', ada, 1);
            const order = orderFor(ada.accountId, { unit: 1070 });
            expect(await credits.hold(order)).to.include({ ok: true });
            await credits.charge({ operation: order.operation, amount: 1070 });
            expect(await bonusOf(ada.accountId)).to.equal(29);
            expect(await reclaim(domain)).to.equal(29);
            await publish(packageOf(newDomain()), ada);
            expect(await reclaim(domain)).to.equal(0);
            expect(await bonusOf(ada.accountId)).to.equal(50);
        });

        it('is taken from the account that the author pays with by then', async () => {
            const ada = await contributor(db);
            const domain = newDomain();
            await publish(packageOf(domain), ada);
            await changePlan(db, ada.workspaceId, { plan: 'pro', planAllowance: 60_000 });
            expect(await reclaim(domain)).to.equal(50);
            expect(await bonusOf(ada.workspaceId)).to.equal(0);
        });

        it('is never paid if it was pending, and counts among the first two', async () => {
            const ada = await author();
            const domain = newDomain();
            await publish(packageOf(domain), ada);
            expect(await reclaim(domain)).to.equal(0);
            await call(domain, await contributor(db));
            expect(await bonusOf(ada.accountId)).to.equal(100);
        });
    });
});
