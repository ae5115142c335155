import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { migrate } from '../../shared/migrate.ts';
import { type Db, openDb } from '../../shared/platform/db.ts';
import { eventually } from '../support/eventually.ts';
import { createEmptyDatabase } from '../support/postgres.ts';

const FOLDER = fileURLToPath(new URL('../../migrations', import.meta.url));
/** Roles belong to the whole server. */
const READER = `reader_${randomBytes(6).toString('hex')}`;
const NAMES = Array.from({ length: 300 }, (_, place) => `endpoint_${place}`);

/** What a worker of the release before the migration does. */
const ADD = `
    with added as (
        insert into endpoints (site, registrable, version_id, place, name, kind, effect, intent_category, is_verified, tier, search, brevity,
                               needs_id)
        select 'shop.test', 'shop.test', v.id, n.place - 1, n.name, 'api', 'read', 'commerce', false,
               case when n.place % 64 = 0 then 0 when n.place % 8 = 0 then 1 else 2 end, 'word:1A', 1, false
        from versions v, unnest(cast(? as text[])) with ordinality as n (name, place)
        returning id, name
    )
    insert into endpoint_entries (endpoint_id, entry) select id, json_build_object('title', name) from added`;

describe('the migration that stores the endpoints of a tier together', () => {
    let url: string;
    let db: Db;
    let drop: () => Promise<void>;

    before(async () => {
        ({ url, drop } = await createEmptyDatabase());
        db = openDb({ url, poolSize: 3 });
        const before = readdirSync(FOLDER)
            .filter((name) => /^[1-3]\d\d_|^4[0-3]\d_/.test(name))
            .toSorted();
        for (const name of before) await db.migrate.up({ name, directory: FOLDER, loadExtensions: ['.ts'], tableName: 'migrations' });
        await db.raw(`
            insert into domains (registrable) values ('shop.test');
            insert into sites (site, registrable, versions, title, description, intent_category, label, search, search_rules)
                values ('shop.test', 'shop.test', 1, 'Shop', '', 'commerce', 'shop', '', 1);
            insert into versions (site, version, version_hash, document, summary, change, changes, origin, published_by_workspace, hosts)
                values ('shop.test', 1, 'hash', '{}', '[]', 'minor', '{}', 'starter', 'wsp_routebook', '{}');
            create table endpoint_vectors (endpoint_id bigint primary key references endpoints on delete cascade, embedding real[] not null);
            create role ${READER};
            grant select, insert on endpoints to ${READER};
        `);
        await db.raw(ADD, [NAMES]);
        await db.raw("insert into endpoint_vectors select id, '{1}' from endpoints");
    });
    after(async () => {
        await db.raw(`drop owned by ${READER}; drop role ${READER}`).catch(() => undefined);
        await db.destroy();
        await drop();
    });

    const entries = async () =>
        (await db('endpoints as e')
            .join('endpoint_entries as x', 'x.endpoint_id', 'e.id')
            .orderBy('e.id')
            .select('e.*', 'x.entry')) as object[];
    /** Whether the migration has locked the versions, or has ended. */
    const hasBegun = async () => {
        const { rows } = await db.raw(
            `select to_regclass('endpoints_0') is not null or exists (
                select from pg_locks where relation = 'versions'::regclass and mode = 'ShareRowExclusiveLock' and granted) as begun`,
        );
        return rows[0].begun as boolean;
    };
    const counts = async () =>
        Promise.all(
            ['endpoints', 'endpoint_entries', 'endpoint_vectors'].map(async (table) => {
                const [row] = await db(table).count<{ count: number }[]>();
                return row?.count;
            }),
        );

    it('keeps all rows, vectors and rights, also beside a yank that has begun', async () => {
        const earlier = await entries();
        let migrating: Promise<void> | undefined;
        await db.transaction(async (yank) => {
            await yank('domains').where({ registrable: 'shop.test' }).forUpdate().select('registrable');
            migrating = migrate(url);
            await eventually(hasBegun, Boolean);
            await yank('versions').where({ site: 'shop.test' }).update({ version_hash: 'other' });
        });
        await migrating;
        // A later migration adds a column, which workers fill.
        expect(await entries()).to.deep.equal(earlier.map((row) => ({ ...row, direction: null })));
        expect(await counts()).to.deep.equal([300, 300, 300]);
        const { rows } = await db.raw(
            `select has_table_privilege('${READER}', 'endpoints', 'insert') as inserts,
                    has_table_privilege('${READER}', 'endpoints', 'delete') as deletes,
                    has_sequence_privilege('${READER}', 'endpoint_ids', 'usage') as numbers`,
        );
        expect(rows).to.deep.equal([{ inserts: true, deletes: false, numbers: true }]);
    });

    it('lets workers of the earlier release remove and add endpoints, and leaves no rows behind', async () => {
        await db('endpoints').where({ site: 'shop.test' }).delete();
        expect(await counts()).to.deep.equal([0, 0, 0]);
        await db.raw(ADD, [NAMES.slice(0, 10)]);
        expect(await counts()).to.deep.equal([10, 10, 0]);
    });
});
