import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import pg from 'pg';
import { newId } from '../../shared/domain/text/ids.ts';
import { migrate } from '../../shared/migrate.ts';
import { type Db, openDb } from '../../shared/platform/db.ts';
import { createIdempotency } from '../../shared/store/fetch/idempotency.ts';
import { readCatalog } from '../support/catalog.ts';
import { createEmptyDatabase, createTestDatabase } from '../support/postgres.ts';
import { testSecrets } from '../support/secrets.ts';

const FOLDER = new URL('../../migrations/', import.meta.url);
/** Databases in the form of `pg_dump --schema-only` of PostgreSQL 15 at these migrations, with the rows that migrations insert. */
const dumpOf = (migration: string) => new URL(`../fixtures/schema-${migration}.sql.gz`, import.meta.url);

/** Tables with about one row for every call. */
const LARGE = ['usage', 'usage_hours', 'holds', 'ledger_entries', 'idempotency', 'kept_results', 'catalog_sessions', 'endpoint_days'];

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
        const all = [...files, 'bridge/from-0097.ts', 'bridge/from-0156.ts'];
        for (const name of all) expect(unanalysed(readFileSync(new URL(name, FOLDER), 'utf8')), name).to.deep.equal([]);
        expect(unanalysed('update sites s set title = 1; insert into notes (a) values (1); analyze notes;')).to.deep.equal(['sites']);
    });

    describe('of a database before the baseline', () => {
        for (const migration of ['0097', '0156']) {
            it(`${migration} create the same tables, indexes, triggers and functions as in a new database`, async () => {
                const fresh = await createTestDatabase();
                const old = await openOld(migration);
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
        }

        it('name the commit to migrate with for other databases', async () => {
            const old = await openOld('0156');
            try {
                await old.db.raw("delete from migrations where name > '0150'");
                const error: unknown = await migrate(old.url).catch((cause: unknown) => cause);
                expect(String(error)).to.match(
                    /at migration 0149_operator_policies\.ts: run `npm run migrate` of commit [0-9a-f]{7} first$/,
                );
                expect(await old.db.schema.hasColumn('sites', 'revision')).to.equal(false);
            } finally {
                await old.close();
            }
        });

        it('record the hosts of earlier versions, and what each version added', async () => {
            const old = await openOld('0097');
            try {
                const packageOf = (...urls: string[]) => JSON.stringify({ endpoints: urls.map((url) => ({ url })) });
                const prepared = { url: 'https://api.many.example:8443/x', prepare: { url: 'https://www.many.example' } };
                await old.db.raw(
                    `insert into domains (registrable) values ('many.example');
                     insert into sites (site, registrable) values ('many.example', 'many.example');`,
                );
                for (const [place, document] of [
                    packageOf('https://many.example/a?b={c}'),
                    JSON.stringify({ endpoints: [{ url: 'https://many.example/' }, prepared] }),
                    JSON.stringify({ endpoints: [prepared] }),
                ].entries()) {
                    await old.db.raw(
                        `insert into versions (site, version, version_hash, document, summary, change, changes, origin)
                         values ('many.example', ?, '', ?, '{}', 'major', '{}', 'starter')`,
                        [place + 1, document],
                    );
                }
                await migrate(old.url);
                const { rows } = await old.db.raw(
                    "select hosts, changes->'hosts_added' as added, published_by_workspace as by from versions order by version",
                );
                const by = 'wsp_routebook';
                expect(rows).to.deep.equal([
                    { hosts: ['many.example'], added: ['many.example'], by },
                    {
                        hosts: ['api.many.example', 'many.example', 'www.many.example'],
                        added: ['api.many.example', 'www.many.example'],
                        by,
                    },
                    { hosts: ['api.many.example', 'www.many.example'], added: [], by },
                ]);
            } finally {
                await old.close();
            }
        });

        it('never repeat a call whose response was stored as plain text', async () => {
            const old = await openOld('0156');
            const keys = createIdempotency(old.db, testSecrets(old.db));
            try {
                await old.db.raw(
                    `insert into idempotency (workspace_id, route, idempotency_key, body_hash, operation, status, body, running_until, expires_at)
                     values ('wsp_a', 'fetch', 'k', '\\xaa', 'op_1', 200, '{}', now(), now() + interval '1 hour')`,
                );
                await migrate(old.url);
                const call = { workspaceId: 'wsp_a', route: 'fetch', key: 'k' };
                const begun = await keys.begin({ ...call, operation: newId('op'), bodyHash: 'aa', lastsMs: 1000 });
                expect(begun.verdict).to.equal('replay');
                expect(await keys.read(call)).to.equal('sealed');
            } finally {
                await keys.close();
                await old.close();
            }
        });
    });
});

/** A database at an old migration. */
async function openOld(migration: string): Promise<{ url: string; db: Db; close(): Promise<void> }> {
    const { url, drop } = await createEmptyDatabase();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(gunzipSync(readFileSync(dumpOf(migration))).toString());
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
