import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import pg from 'pg';
import { migrate } from '../../shared/migrate.ts';
import { type Db, openDb } from '../../shared/platform/db.ts';
import { readCatalog } from '../support/catalog.ts';
import { createEmptyDatabase, createTestDatabase } from '../support/postgres.ts';

const FOLDER = new URL('../../migrations/', import.meta.url);
/** A database as `pg_dump` of PostgreSQL 15 wrote it, without rows but those that migrations insert. */
const DUMP = new URL('../fixtures/schema-540.sql.gz', import.meta.url);

/** Tables with about one row for every call or event, and those that publishing waits for. */
const LARGE = [
    ...['usage', 'usage_hours', 'holds', 'ledger_entries', 'idempotency', 'kept_results', 'catalog_sessions', 'endpoint_days'],
    ...['jobs', 'events', 'webhook_deliveries', 'site_callers', 'schema_requests'],
];

const files = readdirSync(FOLDER)
    .filter((name) => name.endsWith('.ts'))
    .toSorted();

/** Its SQL without comments and without the bodies of functions. */
function codeOf(text: string): string {
    return text.replaceAll(/\/\*[\s\S]*?\*\/|^ *(\/\/|--).*$|\$\$[\s\S]*?\$\$/gm, '');
}

/** How a migration would block writes of calls while it builds an index. */
function faultsOf(text: string): string[] {
    const code = codeOf(text);
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

/** Tables that a migration fills and leaves without statistics, so that the first plans are wrong. */
function unanalysed(text: string): string[] {
    const code = codeOf(text);
    const filled = [...code.matchAll(/\b(?:insert\s+into|update)\s+(\w+)\s+(?:\w+\s+)?(?:\(|set\b|select\b|values\b)/gi)].map(
        ([, table = '']) => table,
    );
    const analysed = [...code.matchAll(/\banalyze\s+([\w, ]+)/gi)].flatMap(([, tables = '']) => tables.split(/,\s*/));
    return filled.filter((table) => !analysed.includes(table));
}

describe('migrations', () => {
    it('build indexes of large tables without blocking writes of calls', () => {
        for (const name of files) expect(faultsOf(readFileSync(new URL(name, FOLDER), 'utf8')), name).to.deep.equal([]);
    });

    it('are reported if they block', () => {
        const good = `export const config = { transaction: false };
            await knex.raw('drop index concurrently if exists usage_site');
            await knex.raw('create index concurrently usage_site on usage (site)');`;
        expect(faultsOf(good)).to.deep.equal([]);
        expect(faultsOf(good.replaceAll('concurrently ', ''))).to.have.length(2);
        expect(faultsOf(good.replace('false', 'true'))).to.deep.equal(['usage_site is built within a transaction']);
        expect(faultsOf(good.replace('if exists ', ''))).to.have.length(1);
        expect(faultsOf('create table usage (site text); create index usage_site on usage (site)')).to.deep.equal([]);
        expect(faultsOf('create index domains_x on domains (x)')).to.deep.equal([]);
    });

    it('analyze what they fill', () => {
        for (const name of [...files, 'bridge/from-540.ts'])
            expect(unanalysed(readFileSync(new URL(name, FOLDER), 'utf8')), name).to.deep.equal([]);
        expect(unanalysed('update sites s set title = 1; insert into notes (a) values (1); analyze notes;')).to.deep.equal(['sites']);
    });

    it('run again after a process was killed while it migrated', async () => {
        const { url, drop } = await createTestDatabase();
        const db = openDb({ url });
        try {
            await db('migrations_lock').update({ is_locked: 1 });
            await db.raw('drop table app_refresh_tokens, app_codes, app_grants, apps');
            await db('migrations').where({ name: '390_apps.ts' }).delete();
            await migrate(url);
            expect(await db.schema.hasTable('app_refresh_tokens')).to.equal(true);
        } finally {
            await db.destroy();
            await drop();
        }
    });

    it('leave nothing of one that fails, and run once its cause is gone', async () => {
        const { url, drop } = await createEmptyDatabase();
        const db = openDb({ url });
        try {
            await db.raw('create table app_codes ()');
            expect(await migrate(url).catch(String)).to.include('relation "app_codes" already exists');
            expect(await db.schema.hasTable('apps')).to.equal(false);
            await db.raw('drop table app_codes');
            await migrate(url);
            expect(await db.schema.hasTable('apps')).to.equal(true);
        } finally {
            await db.destroy();
            await drop();
        }
    });

    it('wait for no call if the database is up to date', async () => {
        const { url, drop } = await createTestDatabase();
        const db = openDb({ url });
        try {
            await db.transaction(async (call) => {
                await call.raw('lock table workspaces, endpoints, holds, jobs in access exclusive mode');
                await migrate(url);
            });
        } finally {
            await db.destroy();
            await drop();
        }
    });

    describe('of a database before the baseline', () => {
        it('create the same tables, indexes, triggers and functions as in a new database', async () => {
            const fresh = await createTestDatabase();
            const old = await openOld();
            const freshDb = openDb({ url: fresh.url, acquireTimeoutMs: 10_000 });
            try {
                // Two processes of one release that start at the same time do this.
                await Promise.all([migrate(old.url), migrate(old.url)]);
                const [bridged, expected] = [await readCatalog(old.db), await readCatalog(freshDb)];
                for (const kind of Object.keys(expected)) expect(bridged[kind], kind).to.deep.equal(expected[kind]);
                expect(expected['functions']).to.have.length.above(40);
            } finally {
                await freshDb.destroy();
                await fresh.drop();
                await old.close();
            }
        });

        it('name the commit to migrate with for older databases', async () => {
            const old = await openOld();
            try {
                await old.db('migrations').where('name', '>', '400').delete();
                const error: unknown = await migrate(old.url).catch((cause: unknown) => cause);
                expect(String(error)).to.match(/at migration 390_apps\.ts: run `npm run migrate` of commit [0-9a-f]{7} first$/);
            } finally {
                await old.close();
            }
        });
    });
});

/** A database at the last migration before the baseline. */
async function openOld(): Promise<{ url: string; db: Db; close(): Promise<void> }> {
    const { url, drop } = await createEmptyDatabase();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(gunzipSync(readFileSync(DUMP)).toString());
    await client.end();
    const db = openDb({ url });
    return {
        url,
        db,
        async close() {
            await db.destroy();
            await drop();
        },
    };
}
