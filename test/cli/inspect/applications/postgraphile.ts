import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { END_ALL, postgres, type RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'postgraphile',
    host: 'fleet.test',
    ready: '/graphiql',
    visit,
    start(folder, port, npm) {
        writeFileSync(
            join(folder, 'tables.sql'),
            `create table owners (id serial primary key, name text not null, berth text);
            create table boats (id serial primary key, name text not null, length numeric, afloat boolean, owner_id int references owners);
            insert into owners (name, berth) values ('Ada', 'A1'), ('Grace', 'A2'), ('Mary', 'A3');
            insert into boats (name, length, afloat, owner_id) select 'Boat ' || i, 7 + i / 2.0, i % 2 = 0, 1 + i % 3 from generate_series(1, 12) i;
            create function search_boats(term text) returns setof boats language sql stable as $$ select * from boats where name ilike '%' || term || '%' $$;`,
        );
        return `${END_ALL}${postgres(folder, port + 1000)}
            psql -q -h 127.0.0.1 -p ${port + 1000} -U postgres -f tables.sql
            ${process.execPath} ${npm}/postgraphile/cli.js -c postgres://postgres@127.0.0.1:${port + 1000}/postgres --port ${port} --host 127.0.0.1 & wait $!`;
    },
};

/** Opens the explorer of a database's GraphQL and works with boats and their owners. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/graphiql`);
    await page.waitForTimeout(2500);
    const send = (operationName: string, query: string, variables: object) =>
        ask(page, 'POST', '/graphql', { operationName, query, variables });
    for (const offset of [0, 4, 8])
        await send(
            'Boats',
            'query Boats($first: Int!, $offset: Int) { allBoats(first: $first, offset: $offset, orderBy: NAME_ASC) { totalCount nodes { nodeId id name length afloat } pageInfo { hasNextPage } } }',
            { first: 4, offset },
        );
    for (const id of [1, 2])
        await send('Boat', 'query Boat($id: Int!) { boatById(id: $id) { id name length ownerByOwnerId { id name } } }', { id });
    for (const term of ['1', '2'])
        await send('SearchBoats', 'query SearchBoats($term: String) { searchBoats(term: $term) { nodes { id name } } }', { term });
    for (const _ of [1, 2]) await send('Owners', 'query Owners { allOwners { nodes { id name berth } } }', {});
    for (const berth of ['A1', 'A2'])
        await send(
            'OwnersOfBerth',
            'query OwnersOfBerth($berth: String) { allOwners(condition: { berth: $berth }) { nodes { id name } } }',
            {
                berth,
            },
        );
    for (const name of ['Rope', 'Kettle'])
        await send(
            'AddBoat',
            'mutation AddBoat($name: String!, $owner: Int) { createBoat(input: { boat: { name: $name, ownerId: $owner } }) { boat { id name } } }',
            { name, owner: 1 },
        );
    for (const [id, name] of [
        [3, 'Fog'],
        [4, 'Bell'],
    ] as const)
        await send(
            'RenameBoat',
            'mutation RenameBoat($id: Int!, $name: String!) { updateBoatById(input: { id: $id, boatPatch: { name: $name } }) { boat { id name } } }',
            { id, name },
        );
    for (const id of [11, 12])
        await send('RemoveBoat', 'mutation RemoveBoat($id: Int!) { deleteBoatById(input: { id: $id }) { deletedBoatId } }', { id });
    await page.close();
}
