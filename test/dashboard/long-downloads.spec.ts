import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { findSignedIn } from '../../shared/store/accounts/user-sessions.ts';
import { removeMember } from '../../shared/store/accounts/workspaces.ts';
import { eventually } from '../support/eventually.ts';
import { useWorld } from '../support/world.ts';
import { signUp, type Visitor } from './support/visitor.ts';

/** More than the buffers of a connection hold. */
const CALLS = 50_000;
const LONG_NAME = `${'a'.repeat(240)}.test`;

describe('a download', () => {
    const world = useWorld({ workers: 0 });

    const me = async (person: Visitor) => {
        const found = await findSignedIn(world.app.db, person.cookies.get('routebook_session') ?? '');
        if (found?.current === undefined) throw new Error('not signed in');
        return { userId: found.userId, workspaceId: found.current.workspaceId };
    };

    it('ends for a person who is removed from the workspace meanwhile', async () => {
        const [owner, member] = [await signUp(world), await signUp(world)];
        const [{ userId: by, workspaceId }, { userId }] = [await me(owner), await me(member)];
        await world.app.db('memberships').insert({ workspace_id: workspaceId, user_id: userId, role: 'admin' });
        await world.app.db('web_sessions').where({ user_id: userId }).update({ workspace_id: workspaceId });
        await world.app.db.raw(
            `insert into usage (kind, operation, account_id, workspace_id, user_id, key_id, site, registrable, endpoint, outcome, credits,
                                duration_ms, at)
             select 'fetch', 'op_' || n, :by, :workspaceId, :by, 'key_1', :site, :site, 'product', 'success', 1, 10, app_now()
             from generate_series(1, :calls::int) n`,
            { by, workspaceId, site: LONG_NAME, calls: CALLS },
        );
        const headers = { cookie: [...member.cookies].map(([name, value]) => `${name}=${value}`).join('; ') };
        const [response] = (await once(get(new URL('/dashboard/usage/calls.csv', world.base), { headers }), 'response')) as [
            IncomingMessage,
        ];
        await removeMember(world.app.db, { workspaceId, userId, by });
        const began = performance.now();
        await eventually(
            async () => performance.now() - began > 1200,
            (isOver) => isOver,
        );
        const end = await response.toArray().then(
            () => 'whole',
            (error: NodeJS.ErrnoException) => error.code,
        );
        expect({ status: response.statusCode, end }).to.deep.equal({ status: 200, end: 'ECONNRESET' });
    });
});
