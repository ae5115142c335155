import { type Db, openDb } from '../../shared/platform/db.ts';
import { checkLedger } from '../../shared/store/credits/ledger.ts';
import { rollUpTrending } from '../../shared/store/registry/trending.ts';
import { makeLogDays } from '../../shared/store/usage/log-days.ts';

/** The amount of data after a long time. */
export interface Size {
    accounts: number;
    /** Ledger rows of all accounts together: a grant, a bonus, and then a hold and a charge per call. */
    ledgerRows: number;
    usageRows: number;
    usageHours: number;
}

/** Rows of the request log per statement. */
const CHUNK = 500_000;
const DAYS = 30;

/**
 * Adds accounts and their past to a migrated database, directly into its tables, the same each time. Existing rows stay. The log is ordered
 * by time. Its calls are those of all accounts in turn, to 1,000 sites.
 */
export async function fillPast(url: string, size: Size): Promise<void> {
    const db = openDb({ url, poolSize: 1, acquireTimeoutMs: 60_000 });
    try {
        await db.raw("set synchronous_commit = off; set maintenance_work_mem = '512MB'; set work_mem = '256MB'; set jit = off");
        await fillAccounts(db, size);
        await db.raw(OWNERS, { accounts: size.accounts });
        await makeLogDays(db, DAYS * 86_400_000);
        await withoutIndexes(db, 'usage', () => fillUsage(db, size));
        await db.raw(HOURS, { accounts: size.accounts, hours: Math.floor(size.usageHours / size.accounts) });
        const drift = await checkLedger(db);
        if (drift.length > 0) throw new Error(`made-up ledgers do not sum: ${JSON.stringify(drift.slice(0, 3))}`);
        await rollUpTrending(db);
        await db.raw('vacuum (analyze)');
        await db.raw('checkpoint');
    } finally {
        await db.destroy();
    }
}

async function fillAccounts(db: Db, { accounts, ledgerRows }: Size): Promise<void> {
    const calls = Math.floor((ledgerRows / accounts - 2) / 2);
    await db.raw(PEOPLE, { accounts });
    await db.raw(ACCOUNTS, { accounts, calls });
    for (const sql of [FIRST_ENTRIES, HOLDS, ENTRIES]) await db.raw(sql, { accounts, calls });
}

async function fillUsage(db: Db, { accounts, usageRows }: Size): Promise<void> {
    for (let from = 0; from < usageRows; from += CHUNK) {
        const until = Math.min(usageRows, from + CHUNK) - 1;
        await db.raw(USAGE, { from, until, usageRows, accounts });
    }
}

/** Drops the indexes, fills the table, and creates the indexes again. This is faster than updating them row by row. */
async function withoutIndexes(db: Db, table: string, fill: () => Promise<void>): Promise<void> {
    const { rows } = await db.raw<{ rows: { name: string; made: string }[] }>(
        `select i.relname as name, pg_get_indexdef(x.indexrelid) as made from pg_index x join pg_class i on i.oid = x.indexrelid
         where x.indrelid = ?::regclass and not x.indisprimary`,
        [table],
    );
    for (const { name } of rows) await db.raw('drop index ??', [name]);
    await fill();
    for (const { made } of rows) await db.raw(made.replace(' ON ONLY ', ' ON '));
}

/** A pseudo-random id of 22 characters, the same for the same text. */
const id = (prefix: string, text: string) => `'${prefix}_' || left(md5(${text}), 22)`;
const user = id('usr', `'u' || n`);
const workspace = id('wsp', `'w' || n`);
const key = id('key', `'k' || n`);
/** In the order of time, like the product's. */
const operation = `'op_' || lpad((c * :accounts + n)::text, 22, '0')`;
const hour = "interval '1 hour'";

const PEOPLE = `
    with people as (
        insert into users (id, email, email_normalised, verified_at, first_charged_at, created_at)
        select ${user}, 'grown' || n || '@grown.example', 'grown' || n || '@grown.example', app_now(), app_now(), app_now() - interval '60 days'
        from generate_series(1, :accounts) as n
    ), places as (
        insert into workspaces (id, name) select ${workspace}, 'Workspace ' || n from generate_series(1, :accounts) as n
    ), members as (
        insert into memberships (workspace_id, user_id, role) select ${workspace}, ${user}, 'owner' from generate_series(1, :accounts) as n
    )
    insert into api_keys (id, workspace_id, user_id, name, hash, prefix)
    select ${key}, ${workspace}, ${user}, 'default', sha256(convert_to('grown' || n, 'UTF8')), 'rb_live_' || left(md5(n::text), 4)
    from generate_series(1, :accounts) as n`;

/** Accounts in a month that began ten days ago, with the credits that their calls left. */
const ACCOUNTS = `
    insert into credit_accounts (id, plan, anchored_at, period_number, period_start, resets_at, allowance, allowance_available, bonus_available, held)
    select ${user}, 'free', app_now() - interval '10 days', 1, app_now() - interval '10 days', app_now() + interval '20 days',
           1000, 1000 - :calls, 50, 0
    from generate_series(1, :accounts) as n`;

const FIRST_ENTRIES = `
    insert into ledger_entries (account_id, kind, available_delta, held_delta, at)
    select ${user}, kind, credits, 0, app_now() - interval '10 days'
    from generate_series(1, :accounts) as n, (values ('grant', 1000), ('first_fetch', 50)) as first (kind, credits)`;

const calls = `
    generate_series(1, :calls) as c, generate_series(1, :accounts) as n,
    lateral (select app_now() - interval '9 days' + c * interval '10 minutes' as at) as moment`;

const HOLDS = `
    insert into holds (operation, account_id, user_id, workspace_id, key_id, site, endpoint, version_id, effect, amount, from_allowance,
                       from_bonus, units, period_number, state, created_at, expires_at, settled_at, charged)
    select ${operation}, ${user}, ${user}, ${workspace}, ${key}, 'grown' || n % 1000 || '.test', 'item', 1, 'read', 1, 1, 0, 1, 1,
           'charged', at, at + interval '30 seconds', at + interval '1 second', 1
    from ${calls} order by at`;

const ENTRIES = `
    insert into ledger_entries (account_id, operation, kind, available_delta, held_delta, at)
    select ${user}, ${operation}, kind, available, held, at
    from ${calls}, (values (1, 'hold', -1, 1), (2, 'charge', 0, -1)) as move (place, kind, available, held) order by at, n, place`;

/** The callers in turn, each with one site that it calls. */
const OWNERS = `
    create temporary table owners as
    select n, ${user} as account, ${workspace} as workspace, ${key} as key, 'grown' || n % 1000 || '.test' as site
    from generate_series(1, :accounts) as n`;

const USAGE = `
    insert into usage (at, kind, operation, account_id, workspace_id, user_id, key_id, site, registrable, endpoint, version, outcome,
                       credits, results, duration_ms, queue_ms, upstream_status, upstream_attempts, upstream_ms, upstream_bytes)
    select app_now() - interval '${DAYS} days' * (1 - r::float8 / :usageRows), 'fetch', 'op_' || lpad(r::text, 22, '0'), o.account, o.workspace,
           o.account, o.key, o.site, o.site, 'item', 1, case when r % 12 = 0 then 'UPSTREAM_STATUS' else 'success' end,
           case when r % 12 = 0 then 0 else 1 end, 1, 40 + r % 400, r % 20, 200, 1, 30 + r % 400, 1000
    from generate_series(cast(:from as bigint), cast(:until as bigint)) as r join owners o on o.n = r * 7919 % :accounts + 1 order by r`;

const HOURS = `
    insert into usage_hours (workspace_id, hour, user_id, account_id, key_id, site, endpoint, bucket, calls, credits)
    select ${workspace}, date_trunc('hour', app_now(), 'UTC') - h * ${hour}, ${user}, ${user}, ${key}, 'grown' || n % 1000 || '.test', 'item', 25, 10, 10
    from generate_series(1, :accounts) as n, generate_series(1, :hours) as h`;
