import pg from 'pg';
import { rssMb } from '../stack/processes.ts';
import type { Redis } from '../stack/servers.ts';
import { type Inspected, openSockets } from './inspect.ts';

interface Looked {
    name: string;
    what: string;
    unit: string;
    value: number;
}

/** The tables that keep rows for each call by design. */
const KEPT = ['usage', 'ledger_entries', 'holds'] as const;

/** Measures everything that must not grow. */
export async function look(
    processes: readonly { name: string; pid: number; inspected: Inspected }[],
    redis: Redis,
    databaseUrl: string,
): Promise<Looked[]> {
    const looked: Looked[] = [];
    for (const { name, pid, inspected } of processes) {
        const listeners = await inspected.listeners();
        const heap = await inspected.heapMb();
        looked.push(
            { name: `${name}_heap`, what: `heap of the ${name} after collection`, unit: 'MB', value: heap },
            { name: `${name}_rss`, what: `resident memory of the ${name}`, unit: 'MB', value: rssMb(pid) },
            { name: `${name}_sockets`, what: `open sockets of the ${name}`, unit: '', value: openSockets(pid) },
            { name: `${name}_listeners`, what: `listeners in the ${name}`, unit: '', value: listeners },
        );
    }
    const { kept, others } = await tables(databaseUrl);
    return [
        ...looked,
        { name: 'redis', what: 'memory of Redis', unit: 'MB', value: await redis.memoryMb() },
        { name: 'kept', what: 'a row of request log, ledger and holds', unit: 'bytes', value: kept },
        { name: 'tables', what: 'all other tables', unit: 'MB', value: others / 2 ** 20 },
    ];
}

/** Bytes including indexes: per row of the tables that keep them, and of all other tables together. */
async function tables(url: string): Promise<{ kept: number; others: number }> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
        const { rows } = await client.query<{ name: string; bytes: number }>(
            `select coalesce(pg_partition_root(relid), relid::regclass)::text as name, sum(pg_total_relation_size(relid))::float8 as bytes
             from pg_stat_user_tables group by 1`,
        );
        const counts = KEPT.map((table) => `(select count(*) from ${table})`);
        const counted = await client.query<{ count: number }>(`select (${counts.join(' + ')})::float8 as count`);
        const isKept = (name: string) => (KEPT as readonly string[]).includes(name);
        const sum = (some: typeof rows) => some.reduce((bytes, row) => bytes + row.bytes, 0);
        return {
            kept: sum(rows.filter(({ name }) => isKept(name))) / (counted.rows[0]?.count ?? 0),
            others: sum(rows.filter(({ name }) => !isKept(name))),
        };
    } finally {
        await client.end();
    }
}
