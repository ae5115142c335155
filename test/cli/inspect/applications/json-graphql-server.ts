import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { node, type RecordedApplication } from '../starting.ts';
import { ask } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'json-graphql-server',
    host: 'boats.test',
    ready: '/?query=%7B__typename%7D',
    visit,
    start(folder, port, npm) {
        const boats = Array.from({ length: 12 }, (_, id) => ({
            id,
            name: `Boat ${id}`,
            length: 7 + id / 2,
            owner_id: id % 3,
            afloat: id % 2 === 0,
        }));
        const owners = ['Ada', 'Grace', 'Mary'].map((name, id) => ({ id, name, berth: `A${id}` }));
        writeFileSync(join(folder, 'db.cjs'), `module.exports = ${JSON.stringify({ boats, owners })};`);
        return node(npm, 'json-graphql-server/bin/json-graphql-server.cjs', join(folder, 'db.cjs'), '-p', String(port), '-h', '127.0.0.1');
    },
};

/** Works with boats and their owners by GraphQL. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await page.goto(`${base}/?query=%7B__typename%7D`);
    const send = (operationName: string, query: string, variables: object) => ask(page, 'POST', '/', { operationName, query, variables });
    for (const place of [0, 1, 2])
        await send(
            'Boats',
            'query Boats($page: Int, $perPage: Int) { allBoats(page: $page, perPage: $perPage, sortField: "name") { id name length afloat } _allBoatsMeta { count } }',
            { page: place, perPage: 4 },
        );
    for (const id of ['1', '2'])
        await send('Boat', 'query Boat($id: ID!) { Boat(id: $id) { id name length Owner { id name berth } } }', { id });
    for (const q of ['Ada', 'Grace'])
        await send('Owners', 'query Owners($q: String) { allOwners(filter: {q: $q}) { id name berth Boats { id } } }', { q });
    for (const name of ['Rope', 'Kettle'])
        await send(
            'AddBoat',
            'mutation AddBoat($name: String!, $length: Float!, $owner: ID!, $afloat: Boolean!) { createBoat(name: $name, length: $length, owner_id: $owner, afloat: $afloat) { id name } }',
            { name, length: 8.5, owner: '1', afloat: true },
        );
    await send('RemoveBoat', 'mutation RemoveBoat($id: ID!) { removeBoat(id: $id) { id } }', { id: '3' });
    await page.close();
}
