import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { Db } from '../../shared/platform/db.ts';
import { createAccount } from '../../shared/store/accounts/accounts.ts';
import { addFlow, MAX_FLOWS, takeDueFlow, takeRevocation } from '../../shared/store/connections/oauth.ts';
import { useDatabase } from './registry.ts';

const ENTRY = { id: 'sign_in', type: 'bearer' as const };
const SEALED = Buffer.from('sealed');

describe('the consents and revocations of several workspaces', () => {
    const database = useDatabase({ forEach: true });
    let db: Db;
    let busy: { userId: string; workspaceId: string };
    let other: { userId: string; workspaceId: string };

    beforeEach(async () => {
        ({ db } = database);
        busy = await createAccount(db, { email: 'busy@people.example', plan: 'free' });
        other = await createAccount(db, { email: 'other@people.example', plan: 'free' });
    });

    let flows = 0;
    const begin = ({ userId, workspaceId }: typeof busy) =>
        addFlow(db, {
            userId,
            workspaceId,
            connectionId: `con_${flows++}`,
            site: 'shop.test',
            entry: ENTRY,
            hosts: [],
            scopes: [],
            clientId: 'client',
            redirectUrl: null,
            sealed: SEALED,
            stateHash: randomBytes(32),
        });
    const submitAll = () => db('oauth_flows').where({ status: 'open' }).update({ status: 'due' });

    it('take turns: many of one workspace at a slow site do not hold up a later one of another', async () => {
        for (let flow = 0; flow < 5; flow++) await begin(busy);
        await submitAll();
        expect(await takeDueFlow(db)).to.include({ workspaceId: busy.workspaceId, status: 'running' });
        await begin(other);
        await submitAll();
        const taken = [await takeDueFlow(db), await takeDueFlow(db)];
        expect(taken.map((flow) => flow?.workspaceId)).to.deep.equal([other.workspaceId, busy.workspaceId]);
    });

    it('count until their codes are exchanged', async () => {
        for (let flow = 0; flow < MAX_FLOWS; flow++) expect(await begin(busy)).to.be.instanceOf(Date);
        await submitAll();
        await takeDueFlow(db);
        expect([await begin(busy), (await begin(other)) !== undefined]).to.deep.equal([undefined, true]);
        await db('oauth_flows').where({ status: 'running' }).update({ status: 'done' });
        expect(await begin(busy)).to.be.instanceOf(Date);
    });

    it('are revoked in turns too', async () => {
        const revocation = (connection: string, { workspaceId }: typeof busy) => ({
            connection_id: connection,
            workspace_id: workspaceId,
            site: 'shop.test',
            entry: JSON.stringify(ENTRY),
            sealed: SEALED,
        });
        await db('oauth_revocations').insert(['con_1', 'con_2', 'con_3'].map((id) => revocation(id, busy)));
        await db('oauth_revocations').insert(revocation('con_other', other));
        const taken = [await takeRevocation(db), await takeRevocation(db)];
        expect(taken.map((one) => one?.workspaceId)).to.deep.equal([other.workspaceId, busy.workspaceId]);
        expect((await db('oauth_revocations').pluck('connection_id')).length).to.equal(2);
    });
});
