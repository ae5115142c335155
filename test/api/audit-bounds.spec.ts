import { expect } from 'chai';
import { OWN_WINDOWS } from '../../shared/domain/jobs/bounds.ts';
import { ATTEMPTS, takeAttempts } from '../../shared/store/accounts/attempts.ts';
import { signUp, type Visitor } from '../dashboard/support/visitor.ts';
import { type Answer, join, type Person, withKey } from '../support/people.ts';
import { codeOf, dataOf } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { useWorld } from '../support/world.ts';

const SITE = 'audited.test';

describe('an audit log', () => {
    const world = useWorld({ workers: 0 });

    async function rowsOf(workspaceId: string): Promise<number> {
        const [counted] = await world.app.db('workspace_audit').where({ workspace_id: workspaceId }).count({ all: '*' });
        return Number(counted?.['all']);
    }

    /** Records calls until the hourly limit is reached, without making them. */
    async function fill(person: Person): Promise<void> {
        const { limit } = OWN_WINDOWS.changes;
        const client = () => person.call('PUT', `/v1/oauth-clients/${SITE}`, { body: { client_id: 'mine' } });
        // The first call names its rate-limit window.
        expect((await client()).status).to.equal(200);
        const order = { identity: `changes:account:${person.userId}`, windows: [OWN_WINDOWS.changes] };
        for (let used = 1; used < limit; used++) expect((await world.app.limits.take(order)).ok).to.equal(true);
        expect(codeOf(await client())).to.equal('RATE_LIMITED');
    }

    const changes: readonly [method: string, path: (workspaceId: string) => string, body?: object][] = [
        ['POST', () => '/v1/connections', { site: SITE, secret: { value: 'a long value' } }],
        ['PATCH', () => '/v1/connections/con_0000000000000000000000', { name: 'another' }],
        ['DELETE', () => '/v1/connections/con_0000000000000000000000'],
        ['POST', () => '/v1/connections/authorize', { site: SITE }],
        ['PUT', () => `/v1/oauth-clients/${SITE}`, { client_id: 'mine' }],
        ['DELETE', () => `/v1/oauth-clients/${SITE}`],
        ['POST', () => `/v1/sites/${SITE}/claims`],
        ['DELETE', () => `/v1/sites/${SITE}/claims/clm_0000000000000000000000`],
        ['PUT', () => `/v1/sites/${SITE}/policy`, { writes: false }],
        ['POST', () => `/v1/schemas/${SITE}/versions/1/yank`, { reason: 'broken' }],
        ['DELETE', () => `/v1/schemas/${SITE}/versions/1/yank`],
        ['PUT', (workspaceId) => `/v1/schemas/${SITE}/maintainers/${workspaceId}`],
        ['DELETE', (workspaceId) => `/v1/schemas/${SITE}/maintainers/${workspaceId}`],
        ['POST', () => '/v1/webhooks', { url: 'https://hooks.audited.test/', events: ['job.succeeded'] }],
        ['PATCH', () => '/v1/webhooks/whk_0000000000000000000000', { enabled: false }],
        ['DELETE', () => '/v1/webhooks/whk_0000000000000000000000'],
        ['POST', () => '/v1/webhooks/whk_0000000000000000000000/rotate'],
    ];

    it('gets at most 1,200 changes an hour from one account; its calls still succeed', async () => {
        const person = await join(world);
        const other = await join(world);
        expect((await person.publish(aPackage(SITE))).status).to.equal(201);
        await fill(person);
        const before = await rowsOf(person.workspaceId);
        const tell = ({ status, body }: Answer) => {
            const { code, message } = body['error'] as { code: string; message: string };
            return `${status} ${code} ${message}`;
        };
        for (const [method, path, body] of changes) {
            const answer = await person.call(method, path(other.workspaceId), { body });
            expect(tell(answer), `${method} ${path('W')}`).to.match(/^429 RATE_LIMITED The window changes is full: 1200 calls an hour/);
            expect(Number(answer.headers.get('retry-after'))).to.be.within(1, 3600);
        }
        expect(await rowsOf(person.workspaceId)).to.equal(before);
        expect((await person.call('GET', '/v1/connections')).status).to.equal(200);
        expect((await person.fetch(SITE, 'product', { id: 1 }, { dry_run: true })).status).to.equal(200);
        expect((await other.call('PUT', `/v1/oauth-clients/${SITE}`, { body: { client_id: 'theirs' } })).status).to.equal(200);
        await world.clock.advance({ hours: 1, seconds: 1 });
        expect((await person.call('PUT', `/v1/oauth-clients/${SITE}`, { body: { client_id: 'mine' } })).status).to.equal(200);
    });

    it('gets at most 1,200 form submissions an hour from one person; keys and sessions can still be revoked', async () => {
        const person = await signUp(world);
        const key = await makeKey(person);
        await fillForms(key.userId);
        const before = await rowsOf(key.workspaceId);
        const refused = await person.send(`/dashboard/keys/${key.keyId}/rename`, { name: 'desk' });
        expect([refused.status, refused.headers['retry-after'] !== undefined]).to.deep.equal([429, true]);
        expect(refused.html).to.include('Too many changes');
        for (const [path, fields] of [
            ['/dashboard/keys', { name: 'more', expires: 'never' }],
            ['/dashboard/workspaces', { name: 'Another one' }],
            ['/dashboard/workspace/rename', { name: 'Another name' }],
        ] as const)
            expect((await person.send(path, fields)).status, path).to.equal(429);
        expect(await rowsOf(key.workspaceId)).to.equal(before);
        expect((await person.get(`/dashboard/keys/${key.keyId}`)).html).not.to.include('desk');
        expect((await person.send(`/dashboard/keys/${key.keyId}/revoke`)).status).to.equal(303);
        expect(await rowsOf(key.workspaceId)).to.equal(before + 1);
    });

    async function makeKey(person: Visitor) {
        const { html } = await person.send('/dashboard/keys', { name: 'laptop', expires: 'never' });
        const apiKey = /rb_live_[0-9A-Za-z]{36}/.exec(html)?.[0] ?? '';
        const account = dataOf<{ key: { id: string } }>(await withKey(world, apiKey).call('GET', '/v1/account'));
        const made = await world.app.db('api_keys').where({ id: account.key.id }).first('user_id', 'workspace_id');
        return { keyId: account.key.id, userId: `${made?.user_id}`, workspaceId: `${made?.workspace_id}` };
    }

    async function fillForms(userId: string): Promise<void> {
        while ((await takeAttempts(world.app.db, [['change by user', userId]])) === 0);
        const counted = await world.app
            .db('attempts')
            .where({ name: `change by user: ${userId}` })
            .first('used');
        expect(counted?.used).to.equal(ATTEMPTS['change by user'].max);
    }
});
