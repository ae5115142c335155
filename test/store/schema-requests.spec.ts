import { expect } from 'chai';
import type { NewRequest } from '../../shared/domain/site/schema-request.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import { countRows, type Db } from '../../shared/platform/db.ts';
import { insertWorkspace } from '../../shared/store/accounts/workspaces.ts';
import { publishPackage } from '../../shared/store/registry/publish.ts';
import * as schemaRequests from '../../shared/store/registry/schema-requests.ts';
import { blockDomain } from '../../shared/store/registry/sites.ts';
import { countRowsRead } from '../support/rows-read.ts';
import { accepted, contributor, orderOf, packageOf, registrableOf, useDatabase } from './registry.ts';

describe('requests for schemas', () => {
    const database = useDatabase();
    let db: Db;
    before(() => {
        ({ db } = database);
    });

    const request = async (domain: string, more: Partial<NewRequest> = {}, workspaceId?: string) => {
        const nothing = { readOrWrite: null, authShape: null, outputShape: null, failureMode: null, intentCategory: null };
        const asked = { domain, registrable: registrableOf(domain), task: 'Read the prices of all shoes every day.', ...nothing };
        const id = newId('srq');
        const made = await schemaRequests.create(
            db,
            { ...asked, sourceUrl: null, frequency: null, requesterContact: null, ...more },
            { id, workspaceId },
        );
        return { id, ...made };
    };

    it('count the open ones of their domain', async () => {
        expect((await request('wanted.example')).demand).to.equal(1);
        const second = await request('wanted.example');
        expect(second.demand).to.equal(2);
        await schemaRequests.move(db, second.id, 'declined');
        expect((await request('wanted.example')).demand).to.equal(2);
        expect((await schemaRequests.find(db, second.id))?.demand).to.equal(2);
    });

    it('are fulfilled by the published version of their domain, and by no other site', async () => {
        const [open, begun, declined, elsewhere] = await Promise.all(
            ['filled.example', 'filled.example', 'filled.example', 'shop.filled.example'].map((domain) => request(domain)),
        );
        if (!open || !begun || !declined || !elsewhere) throw new Error('four requests');
        await schemaRequests.move(db, begun.id, 'in_progress');
        await schemaRequests.move(db, declined.id, 'declined');
        const publisher = await contributor(db);
        const order = orderOf(packageOf('filled.example'), publisher);
        accepted(await publishPackage(db, { ...order, isDryRun: true }));
        expect((await schemaRequests.find(db, open.id))?.status).to.equal('open');
        accepted(await publishPackage(db, order));
        const find = async ({ id }: { id: string }) => {
            const found = await schemaRequests.find(db, id);
            return [found?.status, found?.fulfilledBy];
        };
        expect(await find(open)).to.deep.equal(['fulfilled', { site: 'filled.example', version: 1 }]);
        expect(await find(begun)).to.deep.equal(['fulfilled', { site: 'filled.example', version: 1 }]);
        expect(await find(declined)).to.deep.equal(['declined', null]);
        expect(await find(elsewhere)).to.deep.equal(['open', null]);
        accepted(await publishPackage(db, orderOf(packageOf('filled.example', 'two'), publisher)));
        expect(await find(open)).to.deep.equal(['fulfilled', { site: 'filled.example', version: 1 }]);
    });

    it('are all fulfilled, however many there are, and their workspaces get events', async () => {
        const publisher = await contributor(db);
        const { id } = await request('crowded.example', {}, publisher.workspaceId);
        // A statement takes at most 65,535 values.
        await db.raw(
            `insert into schema_requests (id, domain, registrable, task, workspace_id)
             select 'srq_' || n, 'crowded.example', 'crowded.example', 'Read all prices.', case when n > 33000 then ? end
             from generate_series(1, 42000) n`,
            [publisher.workspaceId],
        );
        expect(await schemaRequests.mostRequested(db, 1)).to.deep.equal([{ domain: 'crowded.example', requests: 42_001 }]);
        accepted(await publishPackage(db, orderOf(packageOf('crowded.example'), publisher)));
        expect((await schemaRequests.find(db, id))?.history.map(({ status }) => status)).to.deep.equal(['open', 'fulfilled']);
        const counted = async (table: string, which: object) => countRows(db(table).where(which));
        expect(await counted('schema_requests', { domain: 'crowded.example', status: 'fulfilled' })).to.equal(42_001);
        expect(await counted('events', { type: 'request.fulfilled', workspace_id: publisher.workspaceId })).to.equal(9001);
    });

    it('are not fulfilled by a publish that fails', async () => {
        const { id } = await request('failed.example');
        const publishing = db.transaction(async (trx) => {
            accepted(await publishPackage(trx, orderOf(packageOf('failed.example'), await contributor(db))));
            throw new Error('the connection is lost');
        });
        await publishing.then(
            () => expect.fail('it committed'),
            () => undefined,
        );
        expect((await schemaRequests.find(db, id))?.status).to.equal('open');
    });

    it('that an operator marks as fulfilled name the latest version, if there is one', async () => {
        const { id: without } = await request('nobody.example');
        await schemaRequests.move(db, without, 'fulfilled');
        expect(await schemaRequests.find(db, without)).to.deep.include({ status: 'fulfilled', fulfilledBy: null });
        accepted(await publishPackage(db, orderOf(packageOf('somebody.example'), await contributor(db))));
        const { id } = await request('somebody.example');
        await schemaRequests.move(db, id, 'fulfilled');
        expect((await schemaRequests.find(db, id))?.fulfilledBy).to.deep.equal({ site: 'somebody.example', version: 1 });
    });

    it('are ranked by the number of people whose workspaces made open ones, then of requests, without those for blocked domains', async () => {
        const people = await Promise.all(Array.from({ length: 4 }, () => contributor(db)));
        const workspaces = people.map(({ workspaceId }) => workspaceId);
        // Many workspaces of one person count once.
        for (let number = 0; number < 5; number++) {
            await request('one.rank', {}, await insertWorkspace(db, people[0]?.userId ?? '', `Many ${number}`));
        }
        for (const [domain, count] of [
            ['b.rank', 2],
            ['a.rank', 2],
            ['most.rank', 3],
            ['blocked.rank', 4],
        ] as const)
            for (const workspaceId of workspaces.slice(0, count)) await request(domain, {}, workspaceId);
        for (let number = 0; number < 5; number++) {
            await request('b.rank', {}, workspaces[0]);
            await request('nobody.rank');
        }
        await db.transaction((trx) => blockDomain(trx, 'blocked.rank', 'asked to'));
        expect(await schemaRequests.mostRequested(db, 5)).to.deep.equal([
            { domain: 'most.rank', requests: 3 },
            { domain: 'b.rank', requests: 7 },
            { domain: 'a.rank', requests: 2 },
            { domain: 'nobody.rank', requests: 5 },
            { domain: 'one.rank', requests: 5 },
        ]);
    });

    it('are ranked without reading them, however many there are', async () => {
        await db.raw(
            `insert into schema_requests (id, domain, registrable, task)
             select 'srq_many' || n, n || '.many', n || '.many', 'Read all prices.' from generate_series(1, 20000) n`,
        );
        await db.raw('analyze');
        const { done, read } = await countRowsRead(db, (trx) => schemaRequests.mostRequested(trx, 20));
        expect(done).to.have.length(20);
        expect(read).to.be.at.most(200);
    });

    it('may all be declined at once', async () => {
        await db('schema_requests').whereLike('domain', '%.many').update({ status: 'declined' });
        const wanted = await schemaRequests.mostRequested(db, 100);
        expect(wanted.filter(({ domain }) => domain.endsWith('.many'))).to.deep.equal([]);
    });
});
