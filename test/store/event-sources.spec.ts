import { expect } from 'chai';
import type { JsonObject } from '../../shared/domain/types.ts';
import { createKey, revokeReported, rotateKey } from '../../shared/store/accounts/api-keys.ts';
import { deleteAccount } from '../../shared/store/accounts/delete-account.ts';
import { deleteRests } from '../../shared/store/accounts/delete-rests.ts';
import { addMember, removeMember } from '../../shared/store/accounts/workspaces.ts';
import { recordEvent } from '../../shared/store/events/events.ts';
import * as schemaRequests from '../../shared/store/registry/schema-requests.ts';
import * as verification from '../../shared/store/registry/verification.ts';
import { watchSpending } from '../../workers/watch-spending.ts';
import { admin } from '../support/admin.ts';
import { eventually } from '../support/eventually.ts';
import { join, type Person } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { SHOP, SHOP_HOSTS, shopPackage, useShop } from '../support/shop.ts';
import { useWorld } from '../support/world.ts';

interface RecordedEvent {
    type: string;
    workspace_id: string | null;
    account_id: string | null;
    site: string | null;
    data: JsonObject;
}

describe('an event is recorded', () => {
    const world = useWorld({ workers: 1, config: { egressHosts: SHOP_HOSTS } });
    const shop = useShop();
    let ada: Person;
    before(async () => {
        ada = await join(world, { plan: 'starter' });
    });

    /** Events that `act` records, in any order. */
    async function eventsFrom(act: () => Promise<unknown>): Promise<RecordedEvent[]> {
        const known: string[] = await world.app.db('events').pluck('id');
        await act();
        const rows: (RecordedEvent & { data: unknown })[] = await world.app
            .db('events')
            .whereNotIn('id', known)
            .select('type', 'workspace_id', 'account_id', 'site', 'data');
        return rows.map((row) => ({ ...row, data: JSON.parse(String(row.data)) }));
    }
    const typesOf = (events: readonly RecordedEvent[]) => events.map(({ type }) => type).toSorted();

    it('with the published version, and with the requests that it fulfils', async () => {
        const asked = { domain: 'wanted.test', task: 'Read the price of every product once a day.' };
        const { request_id } = dataOf<{ request_id: string }>(await ada.call('POST', '/v1/schema-requests', { body: asked }));
        const events = await eventsFrom(async () => dataOf(await ada.publish(aPackage('wanted.test'))));
        expect(typesOf(events)).to.deep.equal(['request.fulfilled', 'schema.published']);
        const [published, fulfilled] = events.toSorted((a, b) => (a.type < b.type ? 1 : -1));
        expect(published?.site).to.equal('wanted.test');
        expect(published?.data).to.include({ site: 'wanted.test', version: 1, change: 'major' });
        expect(fulfilled?.workspace_id).to.equal(ada.workspaceId);
        const fulfilled_by = { site: 'wanted.test', version: 1 };
        expect(fulfilled?.data).to.deep.equal({ request_id, domain: 'wanted.test', status: 'fulfilled', fulfilled_by });
    });

    it('not if the same package is published again, or publishing fails', async () => {
        expect(await eventsFrom(() => ada.publish(aPackage('wanted.test')))).to.deep.equal([]);
        expect(await eventsFrom(() => ada.publish(aPackage('dry.test'), '?dry_run=true'))).to.deep.equal([]);
    });

    it('not if its transaction is rolled back', async () => {
        const events = await eventsFrom(async () => {
            const failing = world.app.db.transaction(async (trx) => {
                await recordEvent(trx, { type: 'batch.paused', workspaceId: ada.workspaceId, data: {} });
                throw new Error('something went wrong afterwards');
            });
            await failing.catch(() => undefined);
        });
        expect(events).to.deep.equal([]);
    });

    it('when an operator marks a request as fulfilled, but not for a request without a key', async () => {
        const task = 'Read the price of every product once a day.';
        const { db } = world.app;
        const ask = (id: string, workspaceId: string | undefined) =>
            schemaRequests.create(
                db,
                {
                    domain: 'by-hand.test',
                    registrable: 'by-hand.test',
                    task,
                    readOrWrite: null,
                    authShape: null,
                    outputShape: null,
                    failureMode: null,
                    intentCategory: null,
                    sourceUrl: null,
                    frequency: null,
                    requesterContact: null,
                },
                { id, workspaceId },
            );
        await ask('srq_withKey', ada.workspaceId);
        await ask('srq_withoutKey', undefined);
        const events = await eventsFrom(async () => {
            for (const id of ['srq_withKey', 'srq_withoutKey']) await schemaRequests.move(db, id, 'fulfilled');
        });
        expect(events.map(({ data }) => [data['request_id'], data['fulfilled_by']])).to.deep.equal([['srq_withKey', null]]);
    });

    it('when a version is verified for the first time, and when it drifts', async () => {
        dataOf(await ada.publish(aPackage('checked.test')));
        const { db } = world.app;
        /** One verification run of the site with this outcome. */
        async function run(outcome: 'passed' | 'failed'): Promise<RecordedEvent[]> {
            await verification.requestRun(db, 'checked.test');
            await db('verifications').whereNot({ site: 'checked.test' }).update({ due_at: null });
            await world.clock.advance({ minutes: 11 });
            // A run skips a domain that another transaction locks at that moment.
            let claimed: verification.VerificationRun | undefined;
            await eventually(
                async () => {
                    claimed = await verification.claimRun(db);
                    return claimed;
                },
                (run) => run !== undefined,
            );
            return eventsFrom(() => verification.endRun(db, claimed ?? expect.fail('no run is due'), outcome, []));
        }
        const first = await run('passed');
        expect(first.map(({ type, site, data }) => [type, site, data['version']])).to.deep.equal([['schema.verified', 'checked.test', 1]]);
        expect(await run('passed')).to.deep.equal([]);
        expect(await run('failed')).to.deep.equal([]);
        expect(await run('failed')).to.deep.equal([]);
        expect(typesOf(await run('failed'))).to.deep.equal(['schema.drift']);
        expect(await run('failed')).to.deep.equal([]);
        expect(typesOf(await run('passed'))).to.deep.equal(['schema.verified']);
    });

    it('when a maintainer or an operator yanks a version, but not when the yank is undone', async () => {
        dataOf(await ada.publish(aPackage('yanked.test')));
        const yank = (reason: string) => ada.call('POST', '/v1/schemas/yanked.test/versions/1/yank', { body: { reason } });
        const first = await eventsFrom(() => yank('broken'));
        expect(first.map(({ type, data }) => [type, data])).to.deep.equal([
            ['schema.yanked', { site: 'yanked.test', version: 1, reason: 'broken' }],
        ]);
        expect(await eventsFrom(() => yank('broken'))).to.deep.equal([]);
        expect(await eventsFrom(() => ada.call('DELETE', '/v1/schemas/yanked.test/versions/1/yank'))).to.deep.equal([]);
        const byOperator = () => admin(world.databaseUrl, ['schema', 'yank', 'yanked.test', '1', '--reason', 'legal']);
        expect(typesOf(await eventsFrom(byOperator))).to.deep.equal(['schema.yanked']);
    });

    it('with every key that ends, whoever ends it', async () => {
        const { app } = world;
        const owner = await join(world);
        const member = await join(world);
        await addMember(app.db, { workspaceId: owner.workspaceId, userId: member.userId, role: 'admin' });
        const make = (userId: string) => createKey(app.db, { workspaceId: owner.workspaceId, userId, name: 'a key' });
        const reasonsOf = async (act: () => Promise<unknown>) =>
            (await eventsFrom(act)).map(
                ({ type, workspace_id, data }) => `${type} ${workspace_id === owner.workspaceId} ${data['reason']}`,
            );

        const reported = await make(owner.userId);
        const hash: { hash: Buffer } = await app.db('api_keys').where({ id: reported.keyId }).first('hash');
        expect(await reasonsOf(() => revokeReported(app, [hash.hash], ''))).to.deep.equal(['key.revoked true reported']);
        expect(await reasonsOf(() => revokeReported(app, [hash.hash], ''))).to.deep.equal([]);

        const rotated = await make(owner.userId);
        expect(await reasonsOf(() => rotateKey(app.db, rotated.keyId, 0))).to.deep.equal(['key.revoked true rotated']);

        await make(member.userId);
        const { workspaceId } = owner;
        expect(await reasonsOf(() => removeMember(app.db, { workspaceId, userId: member.userId, by: owner.userId }))).to.deep.equal([
            'key.revoked true member',
        ]);

        await addMember(app.db, { workspaceId, userId: member.userId, role: 'admin' });
        await make(member.userId);
        const deletion = async () => {
            await deleteAccount(app.db, member.userId);
            // With the events of the member's own workspace.
            await deleteRests(app.db);
        };
        expect(await reasonsOf(deletion)).to.deep.equal(['key.revoked true member']);
    });

    it('once a period when four fifths of the allowance are used, and when no credit is left', async () => {
        dataOf(await ada.publish(shopPackage(shop.port)));
        const bo = await join(world, { plan: 'enterprise', overrides: { allowance: 5 } });
        const call = async () => dataOf(await bo.fetch(SHOP, 'product', { id: 1 }));
        const watch = async () => {
            await world.app.usage.flush();
            await world.clock.advance({ seconds: 16 });
            return eventsFrom(() => watchSpending(world.app));
        };
        for (let calls = 1; calls <= 4; calls++) await call();
        const low = await watch();
        expect(low.map(({ type, account_id }) => [type, account_id])).to.deep.equal([['credits.low', bo.workspaceId]]);
        expect(low[0]?.data).to.deep.nested.include({ plan: 'enterprise', 'credits.allowance': { limit: 5, remaining: 1 } });
        await call();
        // The first fetch earned a bonus.
        expect(await watch()).to.deep.equal([]);
        for (let tens = 1; tens <= 5; tens++) await Promise.all(Array.from({ length: 10 }, call));
        expect(typesOf(await watch())).to.deep.equal(['credits.exhausted']);
        expect(await watch()).to.deep.equal([]);
    });
});
