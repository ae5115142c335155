import { expect } from 'chai';
import { down, up } from '../../migrations/0101_hosts_of_versions.ts';
import * as schemas from '../../shared/store/registry/schemas.ts';
import { accepted, contributor, openDatabase, orderOf, packageOf } from './registry.ts';

describe('versions that were published before their hosts were noted', () => {
    it('get the hosts, and what each version added, that publishing notes today', async () => {
        const { db, close } = await openDatabase();
        try {
            const publisher = await contributor(db);
            const endpoint = (name: string, url: string, prepare?: { url: string }) => ({
                name,
                method: 'GET' as const,
                url,
                ...(prepare && { prepare }),
            });
            const first = endpoint('front', 'https://many.example/a?b={c}');
            const second = endpoint('more', 'https://api.many.example:8443/x', { url: 'https://www.many.example' });
            for (const endpoints of [[first], [first, second], [second]])
                accepted(await schemas.publish(db, orderOf(packageOf('many.example', 'x', { endpoints }), publisher)));
            const noted = async () =>
                (await db.raw("select version, hosts, changes->'hosts_added' as added from versions order by site, version")).rows;
            const before = await noted();
            expect(before).to.deep.equal([
                { version: 1, hosts: ['many.example'], added: ['many.example'] },
                {
                    version: 2,
                    hosts: ['api.many.example', 'many.example', 'www.many.example'],
                    added: ['api.many.example', 'www.many.example'],
                },
                { version: 3, hosts: ['api.many.example', 'www.many.example'], added: [] },
            ]);
            await db.raw("update versions set changes = (changes::jsonb - 'hosts_added')::json");
            await down(db);
            await up(db);
            expect(await noted()).to.deep.equal(before);
        } finally {
            await close();
        }
    });
});
