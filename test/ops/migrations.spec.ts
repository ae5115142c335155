import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import pg from 'pg';
import { migrate, openDb } from '../../shared/platform/db.ts';
import { createTestDatabase } from '../support/postgres.ts';

const FOLDER = new URL('../../migrations/', import.meta.url);
const BEFORE_0090 = new URL('../../ops/postgres/before-0090.sql', import.meta.url);

/** Tables that have a row for every call, or nearly so. */
const LARGE = ['usage', 'usage_hours', 'holds', 'ledger_entries', 'idempotency', 'kept_results', 'catalog_sessions', 'endpoint_days'];
/** Whatever landed before there was this rule; what landed is never edited. */
const LAST_WITHOUT = 99;

const files = readdirSync(FOLDER)
    .filter((name) => name.endsWith('.ts'))
    .toSorted();

/** How a migration would keep calls from being written while it builds an index. */
function faultsOf(text: string): string[] {
    const code = text.replaceAll(/\/\*[\s\S]*?\*\/|^ *(\/\/|--).*$/gm, '');
    const made = new Set([...code.matchAll(/create\s+table\s+(?:if\s+not\s+exists\s+)?(\w+)/gi)].map(([, table = '']) => table));
    const INDEX = /create\s+(?:unique\s+)?index\s+(concurrently\s+)?(?:if\s+not\s+exists\s+)?(\w+)\s+on\s+(?:only\s+)?(\w+)/gi;
    return [...code.matchAll(INDEX)].flatMap(([, concurrently, index = '', table = '']) => {
        if (!LARGE.includes(table) || made.has(table)) return [];
        return [
            ...(concurrently === undefined ? [`${index} is not built concurrently`] : []),
            ...(/export const config = \{ transaction: false \}/.test(code) ? [] : [`${index} is built within a transaction`]),
            ...(new RegExp(`drop\\s+index\\s+concurrently\\s+if\\s+exists\\s+${index}\\b`, 'i').test(code)
                ? []
                : [`${index} stays invalid where its building was interrupted`]),
        ];
    });
}

describe('migrations', () => {
    it('build indexes of large tables while calls go on being written', () => {
        for (const name of files.filter((file) => Number(file.slice(0, 4)) > LAST_WITHOUT)) {
            expect(faultsOf(readFileSync(new URL(name, FOLDER), 'utf8')), name).to.deep.equal([]);
        }
    });

    it('are found out where they do not', () => {
        const good = `export const config = { transaction: false };
            await knex.raw('drop index concurrently if exists usage_site');
            await knex.raw('create index concurrently usage_site on usage (site)');`;
        expect(faultsOf(good)).to.deep.equal([]);
        expect(faultsOf(good.replaceAll('concurrently ', ''))).to.have.length(2);
        expect(faultsOf(good.replace('false', 'true'))).to.deep.equal(['usage_site is built within a transaction']);
        expect(faultsOf(good.replace('if exists ', ''))).to.have.length(1);
        expect(faultsOf('create table usage (site text); create index usage_site on usage (site)')).to.deep.equal([]);
        expect(faultsOf('create index domains_x on domains (x)')).to.deep.equal([]);
        expect(faultsOf(readFileSync(new URL('0090_usage_hours.ts', FOLDER), 'utf8'))).to.have.length(3);
    });

    it('have one that can be done by hand beforehand, with the same outcome', async () => {
        const [usual, prepared] = [await createTestDatabase(), await createTestDatabase()];
        const db = openDb({ url: prepared.url });
        const client = new pg.Client({ connectionString: prepared.url });
        try {
            const settings = { directory: FOLDER.pathname, loadExtensions: ['.ts'], tableName: 'migrations' };
            for (let last = files.length - 1; Number(files[last]?.slice(0, 4)) >= 90; last--) await db.migrate.down(settings);
            await client.connect();
            const statements = readFileSync(BEFORE_0090, 'utf8')
                .replaceAll(/^--.*$/gm, '')
                .split(';');
            // One by one, as psql sends them.
            for (const statement of statements) await client.query(statement);
            await migrate(prepared.url);
            expect(await shapeOf(prepared.url)).to.deep.equal(await shapeOf(usual.url));
        } finally {
            await client.end();
            await db.destroy();
            await usual.drop();
            await prepared.drop();
        }
    });
});

/** Columns and valid indexes of the tables that 0090 is about, and which migrations are done. */
async function shapeOf(url: string): Promise<unknown> {
    const db = openDb({ url });
    try {
        const { rows: columns } = await db.raw(
            `select table_name, column_name, data_type, is_nullable, collation_name from information_schema.columns
             where table_name in ('usage', 'usage_hours') and table_schema = 'public' order by table_name, ordinal_position`,
        );
        const { rows: indexes } = await db.raw(
            `select pg_get_indexdef(indexrelid) as index, indisvalid from pg_index
             where indrelid in ('usage'::regclass, 'usage_hours'::regclass) order by 1`,
        );
        const { rows: done } = await db.raw('select name from migrations order by name');
        expect(indexes).to.have.length.above(3);
        return { columns, indexes, done };
    } finally {
        await db.destroy();
    }
}
