import { expect } from 'chai';
import type { AuditEntry } from '../../shared/contracts/audit.ts';
import { createKey } from '../../shared/store/accounts/api-keys.ts';
import { maintainAudit, recordAct } from '../../shared/store/accounts/workspace-audit.ts';
import { join, type Person, withKey } from '../support/people.ts';
import { codeOf, dataOf, paginationOf } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { useWorld } from '../support/world.ts';

describe('the audit of a workspace', () => {
    const world = useWorld({ workers: 0, config: { trustProxy: 1 } });

    const actsOf = async (person: Person, query = '') => dataOf<AuditEntry[]>(await person.call('GET', `/v1/audit${query}`));
    const keyOf = async (person: Person) => dataOf<{ key: { id: string } }>(await person.call('GET', '/v1/account')).key.id;
    const record = (person: Person, target: string) =>
        recordAct(world.app.db, { workspaceId: person.workspaceId, actor: 'system', action: 'plan.changed', target, ip: '192.0.2.7' });

    it('records published and yanked versions, with the key and the address', async () => {
        const person = await join(world);
        const from = { 'x-forwarded-for': '203.0.113.9' };
        await person.call('POST', '/v1/schemas', { body: aPackage('audited.test'), headers: from });
        for (const body of [{ reason: 'broken' }, { reason: 'broken' }, { reason: 'security' }])
            await person.call('POST', '/v1/schemas/audited.test/versions/1/yank', { body, headers: from });
        await person.call('DELETE', '/v1/schemas/audited.test/versions/1/yank');
        const acts = await actsOf(person);
        const key = await keyOf(person);
        expect(acts.map(({ action, target, details }) => [action, target, details['reason']])).to.deep.equal([
            ['version.unyanked', 'audited.test@1', undefined],
            ['version.yanked', 'audited.test@1', 'security'],
            ['version.yanked', 'audited.test@1', 'broken'],
            ['version.published', 'audited.test@1', undefined],
        ]);
        expect(acts.map(({ actor }) => actor)).to.deep.equal([key, key, key, key]);
        expect(acts[3]?.ip).to.equal('203.0.113.9');
        expect(acts[3]?.details).to.include({ change: 'major' });
    });

    it('records no dry runs and no refused calls', async () => {
        const [person, other] = [await join(world), await join(world)];
        await person.publish(aPackage('dry.test'), '?dry_run=true');
        await other.publish(aPackage('taken.test'));
        expect((await person.publish(aPackage('taken.test', { title: 'Mine' }))).status).to.equal(403);
        expect(await actsOf(person)).to.deep.equal([]);
    });

    it('filters by person, action and start time, and is read page by page', async () => {
        const person = await join(world);
        for (const target of ['one', 'two', 'three']) await record(person, target);
        await person.publish(aPackage('paged.test'));
        const targets = async (query: string) => (await actsOf(person, query)).map(({ target }) => target);
        expect(await targets('?action=plan.changed')).to.deep.equal(['three', 'two', 'one']);
        expect(await targets('?actor=system&action=version.published')).to.deep.equal([]);
        expect(await targets(`?actor=${await keyOf(person)}`)).to.deep.equal(['paged.test@1']);
        expect(await targets('?since=2999-01-01')).to.deep.equal([]);
        expect(await targets('?action=plan.changed&since=2026-01-01T00:00:00%2B00:00')).to.deep.equal(['three', 'two', 'one']);
        const noDay = await person.call('GET', '/v1/audit?since=2026-02-99');
        expect(codeOf(noDay)).to.equal('VALIDATION_ERROR');
        expect(JSON.stringify(noDay.body)).to.include('must be a day or time in UTC, such as 2026-11-02');
        expect(codeOf(await person.call('GET', '/v1/audit?action=plan'))).to.equal('VALIDATION_ERROR');

        const seen: string[] = [];
        let cursor = '';
        do {
            const answer = await person.call('GET', `/v1/audit?limit=1&action=plan.changed${cursor}`);
            const { total, next_cursor: next } = paginationOf(answer);
            expect(total).to.equal(3);
            seen.push(...dataOf<AuditEntry[]>(answer).map(({ target }) => target));
            cursor = next === null ? '' : `&cursor=${next}`;
        } while (cursor !== '');
        expect(seen).to.deep.equal(['three', 'two', 'one']);
    });

    it('is open only to owners and admins of that workspace', async () => {
        const [person, other] = [await join(world), await join(world)];
        await record(person, 'mine');
        expect(await actsOf(other)).to.deep.equal([]);
        const { db } = world.app;
        for (const role of ['admin', 'member', 'billing']) {
            await db.raw(
                'insert into memberships (workspace_id, user_id, role) values (?, ?, ?) on conflict (workspace_id, user_id) do update set role = excluded.role',
                [person.workspaceId, other.userId, role],
            );
            const { apiKey } = await createKey(db, { workspaceId: person.workspaceId, userId: other.userId, name: role });
            const answer = await withKey(world, apiKey).call('GET', '/v1/audit');
            expect(role === 'admin' ? answer.status : codeOf(answer), role).to.equal(role === 'admin' ? 200 : 'FORBIDDEN');
        }
    });

    it('shows addresses for 90 days and entries for 400 days', async () => {
        const person = await join(world);
        const { db } = world.app;
        const kept = async () => {
            const { rows } = await db.raw<{ rows: { ip: string | null; part: string }[] }>(
                'select ip, tableoid::regclass::text as part from workspace_audit where workspace_id = ?',
                [person.workspaceId],
            );
            return rows;
        };
        await record(person, 'old');
        expect((await actsOf(person))[0]?.ip).to.equal('192.0.2.7');
        expect((await kept())[0]?.part).to.match(/^workspace_audit_\d{4}_\d\d$/);
        await world.clock.advance({ days: 91 });
        expect((await actsOf(person))[0]).to.include({ target: 'old', ip: null });
        await maintainAudit(db);
        expect((await kept())[0]?.ip).to.equal(null);
        await world.clock.advance({ days: 308 });
        expect(await actsOf(person)).to.have.length(1);
        await world.clock.advance({ days: 2 });
        expect(await actsOf(person)).to.deep.equal([]);
        expect(await kept()).to.have.length(1);
        await world.clock.advance({ days: 62 });
        await record(person, 'before its month was made');
        expect((await kept()).at(-1)?.part).to.equal('workspace_audit_rest');
        await maintainAudit(db);
        expect((await kept()).map(({ part }) => /^workspace_audit_\d{4}_\d\d$/.test(part))).to.deep.equal([true]);
    });
});
