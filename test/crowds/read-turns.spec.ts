import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { newId } from '../../shared/domain/text/ids.ts';
import type { Db } from '../../shared/platform/db.ts';
import { join, type Person } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { useWorld } from '../support/world.ts';

const MANY = 40;

describe('many calls of one caller that only read', () => {
    const world = useWorld({ workers: 0 });
    let person: Person;
    before(async () => {
        person = await join(world);
    });

    /** The most connections of a pool that were in use at a time, while many of these calls ran. */
    async function connectionsOf({ client }: Db, call: (at: number) => Promise<{ status: number }>): Promise<number> {
        const { pool } = client as { pool: { numUsed(): number } };
        let isOver = false;
        const all = Promise.all(Array.from({ length: MANY }, (_, at) => call(at))).finally(() => {
            isOver = true;
        });
        let most = 0;
        for (; !isOver; await turn()) most = Math.max(most, pool.numUsed());
        expect(new Set((await all).map(({ status }) => status))).to.deep.equal(new Set([200]));
        return most;
    }

    const ask = async (path: string, body: object) => {
        const headers = { authorization: `Bearer ${person.apiKey}`, 'content-type': 'application/json' };
        const answer = await fetch(`${world.base}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
        await answer.text();
        return answer;
    };

    it('build one list of the tools of a site at a time', async () => {
        const site = 'many-tools.test';
        const names = Array.from({ length: MANY }, (_, at) => `endpoint_${at}`);
        dataOf(await person.publish(aPackage(site, { endpoints: names.map((name) => anEndpoint(site, { name })) })));
        const list = (at: number) => ask(`/mcp/${site}?endpoints=${names[at]}`, { jsonrpc: '2.0', id: 1, method: 'tools/list' });
        // One reads the package and the health of its endpoints, another one may still be letting go.
        expect(await connectionsOf(world.app.browse, list)).to.be.at.most(3);
    });

    it('read by the tools for agents one at a time', async () => {
        const params = { name: 'check_request', arguments: { request_id: newId('srq') } };
        const messages = Array.from({ length: 10 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/call', params }));
        expect(await connectionsOf(world.app.browse, () => ask('/mcp', messages))).to.be.at.most(2);
    });

    it('list jobs one list at a time', async () => {
        const list = () => person.call('GET', '/v1/jobs?status=failed');
        expect(await connectionsOf(world.app.browse, list)).to.be.at.most(2);
    });

    it('repeat a stored answer one at a time', async () => {
        const body = { domain: 'ferries.test', task: 'Read the departures of one harbour every morning.' };
        const options = { body, headers: { 'idempotency-key': 'once' } };
        const first = await person.call('POST', '/v1/schema-requests', options);
        expect(first.status).to.equal(201);
        const replay = async () => {
            const { status } = await person.call('POST', '/v1/schema-requests', options);
            return { status: status === 201 ? 200 : status };
        };
        expect(await connectionsOf(world.app.db, replay)).to.be.at.most(4);
    });
});
