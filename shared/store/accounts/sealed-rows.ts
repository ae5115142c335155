import type { Db } from '../../platform/db.ts';
import type { Secrets } from '../../platform/secrets.ts';
import { CONNECTION_KEY_PURPOSE } from '../connections/sealing.ts';
import { WEBHOOK_PURPOSE } from '../events/webhooks.ts';
import { JOB_PURPOSES } from '../jobs/sealed.ts';
import { MONITOR_COLUMNS } from '../monitors/sealed.ts';
import { TOTP_PURPOSE } from './totp.ts';

/** An encrypted column that key rotation must re-encrypt: values may live longer than 25 h, the least time that an old key stays set. */
interface SealedColumn {
    table: string;
    /** The primary key, a single text column. */
    id: string;
    column: string;
    purpose: string;
}

/** Excluded: values encrypted with a workspace's data key, and values kept for a day or less. */
const SEALED_COLUMNS: readonly SealedColumn[] = [
    { table: 'totp_secrets', id: 'user_id', column: 'sealed', purpose: TOTP_PURPOSE },
    { table: 'connection_keys', id: 'workspace_id', column: 'sealed', purpose: CONNECTION_KEY_PURPOSE },
    { table: 'webhooks', id: 'id', column: 'sealed', purpose: WEBHOOK_PURPOSE },
    { table: 'webhooks', id: 'id', column: 'former_sealed', purpose: WEBHOOK_PURPOSE },
    ...Object.entries(JOB_PURPOSES).map(([column, purpose]): SealedColumn => ({ table: 'jobs', id: 'job_id', column, purpose })),
    ...MONITOR_COLUMNS,
    // A failed run contains the error of its job.
    { table: 'monitor_runs', id: 'run_id', column: 'error', purpose: JOB_PURPOSES.error },
];

/** Tables with few rows. A process that starts looks for lost keys in them. */
const CHECKED_AT_START: readonly string[] = ['totp_secrets', 'connection_keys', 'webhooks'];

/** Tries one row per key id. @returns names of tables with a row that no key of the ring decrypts */
export async function findUnreadable(db: Db, secrets: Secrets): Promise<string[]> {
    const found = new Set<string>();
    for (const { table, column, purpose } of SEALED_COLUMNS) {
        if (!CHECKED_AT_START.includes(table)) continue;
        // The id of the key follows the version and its length.
        const samples: { sealed: Buffer }[] = await db(table)
            .whereNotNull(column)
            .distinctOn('key_id')
            .select({ sealed: column }, db.raw('substring(?? from 3 for get_byte(??, 1)) as key_id', [column, column]));
        for (const { sealed } of samples) if ((await secrets.open(sealed, purpose)) === undefined) found.add(table);
    }
    return [...found];
}

interface Rewrapped {
    table: string;
    /** Rows that were encrypted again with the first key of the ring. */
    rewrapped: number;
    /** Rows that were already encrypted with the first key. */
    current: number;
    /** Rows that no key of the ring decrypts. They are not changed. */
    unreadable: number;
}

const BATCH = 500;

/** Encrypts all long-lived secrets with the first key. Safe to repeat and to run concurrently. */
export async function rewrapAll(db: Db, secrets: Secrets): Promise<Rewrapped[]> {
    const done: Rewrapped[] = [];
    for (const column of SEALED_COLUMNS) done.push(await rewrapTable(db, secrets, column));
    return done;
}

async function rewrapTable(db: Db, secrets: Secrets, { table, id, column, purpose }: SealedColumn): Promise<Rewrapped> {
    const isAlone = SEALED_COLUMNS.filter((other) => other.table === table).length === 1;
    const name = isAlone ? table : `${table}.${column}`;
    const counts: Rewrapped = { table: name, rewrapped: 0, current: 0, unreadable: 0 };
    let after = '';
    for (;;) {
        const rows: { id: string; sealed: Buffer }[] = await db(table)
            .where(id, '>', after)
            .whereNotNull(column)
            .orderBy(id)
            .limit(BATCH)
            .select({ id, sealed: column });
        const last = rows.at(-1);
        if (last === undefined) return counts;
        after = last.id;
        for (const row of rows) {
            if (await secrets.isCurrent(row.sealed)) {
                counts.current++;
                continue;
            }
            const plain = await secrets.open(row.sealed, purpose);
            if (plain === undefined) {
                counts.unreadable++;
                continue;
            }
            // Skips a row that somebody has changed since it was read.
            const unchanged = db(table).where({ [id]: row.id, [column]: row.sealed });
            counts.rewrapped += await unchanged.update({ [column]: await secrets.seal(plain, purpose) });
        }
    }
}
