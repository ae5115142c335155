import { expect } from 'chai';
import type { AccountAnswer } from '../../shared/contracts/account.ts';
import * as accounts from '../../shared/store/accounts/accounts.ts';
import { createKey } from '../../shared/store/accounts/api-keys.ts';
import { eventually, patienceFor } from '../support/eventually.ts';
import { join, type Person, stranger, withKey } from '../support/people.ts';
import { codeOf, dataOf, INTENT } from '../support/routes.ts';
import { ANY_TOPOLOGY, useWorld } from '../support/world.ts';

for (const topology of ANY_TOPOLOGY) {
    describe(`an account, with counters in ${topology}`, () => {
        const world = useWorld({ topology, workers: 0 });

        const accountOf = async (person: Person) => dataOf(await person.call('GET', '/v1/account')) as unknown as AccountAnswer;
        const lookUp = (person: Person) => person.call('GET', `/v1/catalog/nowhere.test?intent=${encodeURIComponent(INTENT)}`);

        it('shows the caller, the plan, the key and all remaining limits', async () => {
            const person = await join(world, { credits: 25 });
            const account = await accountOf(person);
            expect(account).to.deep.include({
                user_id: person.userId,
                workspace_id: person.workspaceId,
                plan: 'free',
                concurrency: { limit: 5, in_flight: 0 },
            });
            expect(account.credits).to.deep.include({ balance: 1025, allowance: { limit: 1000, remaining: 1000 }, bonus: 25, held: 0 });
            expect(account.limits).to.deep.equal([
                { window: 'minute', limit: 20, remaining: 20, resets_in: 0 },
                { window: 'hour', limit: 1000, remaining: 1000, resets_in: 0 },
                { window: 'day', limit: 1000, remaining: 1000, resets_in: 0 },
            ]);
            expect(account.key).to.deep.include({ name: 'default', prefix: person.apiKey?.slice(0, 12), expires_at: null });
            expect(JSON.stringify(account)).not.to.include(person.apiKey?.slice(12));
        });

        it('has the limits of its plan, for every plan', async () => {
            const figures = { starter: [15_000, 60, 3000, 15_000, 20], pro: [60_000, 100, 5000, 60_000, 50] } as const;
            for (const [plan, [allowance, ...limits]] of Object.entries(figures)) {
                const account = await accountOf(await join(world, { plan: plan as 'starter' | 'pro' }));
                expect(account.plan).to.equal(plan);
                expect(account.credits.allowance.limit).to.equal(allowance);
                expect([...account.limits.map(({ limit }) => limit), account.concurrency.limit], plan).to.deep.equal(limits);
            }
        });

        it('shows the limits that an operator set for it', async () => {
            const person = await join(world, {
                plan: 'enterprise',
                overrides: { perMinute: 7, perHour: 8, perDay: 9, allowance: 10, concurrency: 11 },
            });
            const account = await accountOf(person);
            expect(account.limits.map(({ limit }) => limit)).to.deep.equal([7, 8, 9]);
            expect(account.credits).to.deep.include({ balance: 10, allowance: { limit: 10, remaining: 10 } });
            expect(account.concurrency).to.deep.equal({ limit: 11, in_flight: 0 });
        });

        it('counts down with counted calls; reading it is free', async () => {
            const person = await join(world);
            await lookUp(person);
            await lookUp(person);
            for (let look = 0; look < 3; look++) {
                const { limits } = await accountOf(person);
                expect(limits.map(({ remaining }) => remaining)).to.deep.equal([18, 998, 998]);
                expect(limits[0]?.resets_in).to.be.within(50, 60);
            }
        });

        it('can still be read when a limit is used up', async () => {
            const person = await join(world, { overrides: { perMinute: 1 } });
            await lookUp(person);
            expect(codeOf(await lookUp(person))).to.equal('RATE_LIMITED');
            expect((await accountOf(person)).limits[0]).to.include({ window: 'minute', remaining: 0 });
        });

        it('says when its credits renew: a month after the account began', async () => {
            const person = await join(world, { credits: 5 });
            const before = (await accountOf(person)).credits;
            const days = Math.ceil((Date.parse(before.resets_at) - Date.now()) / 86_400_000);
            expect(days).to.be.within(28, 32);
            expect(before.balance).to.equal(1005);
        });

        it('shares credits and limits over all free workspaces of one person, and names the calling key', async () => {
            const person = await join(world);
            const { rows } = await world.app.db.raw('select email from users where id = ?', [person.userId]);
            const second = await accounts.createAccount(world.app.db, { email: rows[0].email, plan: 'free' });
            const { apiKey, keyId } = await createKey(world.app.db, {
                workspaceId: second.workspaceId,
                userId: person.userId,
                name: 'laptop',
                expiresIn: 3600,
            });
            await lookUp(person);
            const account = await accountOf(withKey(world, apiKey));
            expect(account).to.include({ user_id: person.userId, workspace_id: second.workspaceId });
            expect(account.limits[0]?.remaining).to.equal(19);
            expect(account.key).to.deep.include({ id: keyId, name: 'laptop' });
            expect(Date.parse(account.key.expires_at ?? '') - Date.now()).to.be.within(3_500_000, 3_700_000);
        });

        it('shows a new plan within a second', async () => {
            const person = await join(world);
            expect((await accountOf(person)).plan).to.equal('free');
            await accounts.setPlan(world.app.db, person.workspaceId, 'starter', {});
            const ms = await eventually(
                async () => (await accountOf(person)).plan,
                (plan) => plan === 'starter',
            );
            expect(ms).to.be.below(patienceFor(1000));
        });

        it('is visible to nobody else, and takes no parameters', async () => {
            expect(codeOf(await stranger(world).call('GET', '/v1/account'))).to.equal('API_KEY_REQUIRED');
            const person = await join(world);
            expect(codeOf(await person.call('GET', `/v1/account?user_id=${person.userId}`))).to.equal('VALIDATION_ERROR');
        });
    });
}
