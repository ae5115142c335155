import { expect } from 'chai';
import { join, type Person } from '../support/people.ts';
import { codeOf, dataOf } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { useWorld } from '../support/world.ts';

describe('mails to owners whose workspaces are added as maintainers', () => {
    const world = useWorld({ workers: 0, config: { trustProxy: 1 } });
    let number = 0;

    async function ownerOfSite(): Promise<{ ada: Person; site: string }> {
        const ada = await join(world, { plan: 'enterprise' });
        const site = `busy${++number}.test`;
        dataOf(await ada.publish(aPackage(site)));
        return { ada, site };
    }

    const change = (method: 'PUT' | 'DELETE', by: Person, site: string, workspaceId: string, address = '203.0.113.20') =>
        by.call(method, `/v1/schemas/${site}/maintainers/${workspaceId}`, { headers: { 'x-forwarded-for': address } });
    const mailsFor = async ({ workspaceId }: Person) => {
        const { rows } = await world.app.db.raw<{ rows: unknown[] }>('select from workspace_news where workspace_id = ?', [workspaceId]);
        return rows.length;
    };

    it('are at most five an hour from one user: adding a workspace that keeps leaving ends there', async () => {
        const { ada, site } = await ownerOfSite();
        const bob = await join(world);
        for (let turn = 0; turn < 5; turn++) {
            expect((await change('PUT', ada, site, bob.workspaceId)).status).to.equal(200);
            expect((await change('PUT', ada, site, bob.workspaceId)).status, 'once more changes nothing, and mails nobody').to.equal(200);
            expect((await change('DELETE', bob, site, bob.workspaceId)).status).to.equal(200);
        }
        const before = await mailsFor(bob);
        const refused = await change('PUT', ada, site, bob.workspaceId);
        expect([refused.status, codeOf(refused)]).to.deep.equal([429, 'RATE_LIMITED']);
        expect(Number(refused.headers.get('retry-after'))).to.be.within(3500, 3600);
        expect(await mailsFor(bob)).to.equal(before);
        const listed = dataOf<{ workspace_id: string }[]>(await ada.call('GET', `/v1/schemas/${site}/maintainers`));
        expect(listed.map(({ workspace_id: id }) => id)).to.deep.equal([ada.workspaceId]);
        await world.clock.advance({ hours: 1 });
        expect((await change('PUT', ada, site, bob.workspaceId)).status).to.equal(200);
    });

    it('are at most twenty an hour from one client, over all its users', async () => {
        const bob = await join(world);
        const statuses: number[] = [];
        for (let user = 0; user < 5; user++) {
            const { ada, site } = await ownerOfSite();
            for (let turn = 0; turn < 5; turn++) {
                statuses.push((await change('PUT', ada, site, bob.workspaceId, '203.0.113.30')).status);
                await change('DELETE', bob, site, bob.workspaceId, '203.0.113.30');
            }
        }
        expect(statuses).to.deep.equal([...Array(20).fill(200), ...Array(5).fill(429)]);
    });

    it('name who added the workspace, so that it can give back what it did not ask for', async () => {
        const { ada, site } = await ownerOfSite();
        const bob = await join(world);
        dataOf(await change('PUT', ada, site, bob.workspaceId, '203.0.113.40'));
        dataOf(await change('DELETE', ada, site, ada.workspaceId, '203.0.113.40'));
        expect(codeOf(await change('DELETE', bob, site, bob.workspaceId, '203.0.113.40'))).to.equal('LAST_MAINTAINER');
        const { rows } = await world.app.db.raw<{ rows: { line: string }[] }>('select line from workspace_news where workspace_id = ?', [
            bob.workspaceId,
        ]);
        const others = rows.flatMap(({ line }) => line.match(/wsp_\w+/g) ?? []).filter((id) => id !== bob.workspaceId);
        dataOf(await change('PUT', bob, site, others[0] ?? 'nobody', '203.0.113.40'));
        const left = await change('DELETE', bob, site, bob.workspaceId, '203.0.113.40');
        expect(dataOf<{ workspace_id: string }[]>(left).map(({ workspace_id: id }) => id)).to.deep.equal([ada.workspaceId]);
    });
});
