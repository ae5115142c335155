import { randomBytes } from 'node:crypto';
import { after } from 'mocha';
import pg from 'pg';
import { migrateAll } from '../../shared/migrate.ts';
import { startTemporaryPostgres } from './temporary-postgres.ts';

const TEMPLATE = 'rb_template';
/** The advisory lock of the template, the same for all processes of a test run. */
const TEMPLATE_LOCK = 7_062_601;

export interface TestDatabase {
    url: string;
    /** Closes all connections to the database and drops it. */
    drop(): Promise<void>;
}

let own: ReturnType<typeof startTemporaryPostgres> | undefined;
let template: Promise<void> | undefined;
let operators: pg.Pool | undefined;

// Only if a spec was started alone. Under `npm test` the server belongs to scripts/test.mjs.
after(async () => {
    await operators?.end();
    operators = undefined;
    await (await own)?.stop();
});

/** Creates a migrated, empty database for one test: a clone of a template that is migrated once per run. */
export async function createTestDatabase(): Promise<TestDatabase> {
    const server = await serverUrl();
    template ??= makeTemplate(server);
    await template;
    return createDatabase(server, `template ${TEMPLATE}`);
}

/** Creates a database without tables. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
    return createDatabase(await serverUrl(), '');
}

async function createDatabase(server: string, options: string): Promise<TestDatabase> {
    const name = `rb_${randomBytes(6).toString('hex')}`;
    await asOperator(server, (client) => client.query(`create database ${name} ${options} strategy file_copy`));
    return {
        url: withDatabase(server, name),
        async drop() {
            await asOperator(server, (client) => client.query(`drop database if exists ${name} with (force)`));
        },
    };
}

async function serverUrl(): Promise<string> {
    const given = process.env['TEST_DATABASE_URL'];
    if (given !== undefined) return given;
    own ??= startTemporaryPostgres();
    return (await own).url;
}

/** Creates the template. It gets its name only at the end, so an existing template is always completely migrated. */
async function makeTemplate(server: string): Promise<void> {
    await asOperator(server, async (client) => {
        await client.query('select pg_advisory_lock($1)', [TEMPLATE_LOCK]);
        try {
            const { rowCount } = await client.query('select from pg_database where datname = $1', [TEMPLATE]);
            if (rowCount !== 0) return;
            const draft = `${TEMPLATE}_draft`;
            await client.query(`drop database if exists ${draft} with (force)`);
            await client.query(`create database ${draft}`);
            await migrateAll(withDatabase(server, draft));
            await client.query(`alter database ${draft} rename to ${TEMPLATE}`);
        } finally {
            await client.query('select pg_advisory_unlock($1)', [TEMPLATE_LOCK]);
        }
    });
}

/** The pool ends before its connections do. The error is the server's end, which may reach them first. */
function openPool(server: string): pg.Pool {
    const pool = new pg.Pool({ connectionString: server, max: 2, idleTimeoutMillis: 2000, allowExitOnIdle: true });
    return pool.on('error', () => {});
}

/** Runs work on a connection that stays open for a while, so that the next database can use it too. */
async function asOperator(server: string, work: (client: pg.PoolClient) => Promise<unknown>): Promise<void> {
    operators ??= openPool(server);
    const client = await operators.connect();
    try {
        await work(client);
    } finally {
        client.release();
    }
}

function withDatabase(server: string, name: string): string {
    const url = new URL(server);
    url.pathname = `/${name}`;
    return url.href;
}
