import { type AnswerParts, joinParts, type StoredAnswer, writeParts } from '../../domain/fetch/stored-answer.ts';
import { openBatch } from '../../platform/batch.ts';
import type { Db } from '../../platform/db.ts';
import { isOutage, retryUntilKnown } from '../../platform/pg-errors.ts';
import { type PreparedQuery, runPrepared } from '../../platform/prepared-query.ts';
import type { Secrets } from '../../platform/secrets.ts';
import { textInTurns, toBase64InTurns } from '../../platform/turns.ts';

/** Storage limit of a workspace in bytes (docs/api.md, "Idempotency"). Calls that are running when it is reached are still stored. */
export const KEPT_BYTES = 256 * 1024 * 1024;

/** One call under a key. Keys hold per workspace and route. */
export interface KeyedCall {
    workspaceId: string;
    /** Name of the route's contract. */
    route: string;
    key: string;
    /** `op_…` of the call that has the key. */
    operation: string;
}

export interface KeyOrder extends KeyedCall {
    /** SHA-256 of the canonical JSON of the body, in hex. */
    bodyHash: string;
    /** The call ends after this many milliseconds at the latest. */
    lastsMs: number;
}

type KeyVerdict =
    /** This call owns the key now, until `store`, `forget` or a charge with an answer. */
    | { verdict: 'new' }
    | { verdict: 'running' }
    /** The key was used with another body. */
    | { verdict: 'conflict' }
    | { verdict: 'replay' }
    /** The workspace has reached its storage limit. */
    | { verdict: 'full' }
    /** The time of the call that owns the key is over, and its outcome is unknown; `holder` is its operation. */
    | { verdict: 'abandoned'; holder: string };

/** The keys of all workspaces. Every method rejects with the database's error where the outcome could not be learned in time. */
export interface Idempotency {
    /** Acquires the key or returns its owner. The calls of one tick share one query, equal keys included. */
    begin(order: KeyOrder): Promise<KeyVerdict>;
    /** The answer under a key; undefined if it has just run out, `sealed` where no key of the ring opens it. */
    read(call: Omit<KeyedCall, 'operation'>): Promise<StoredAnswer | 'sealed' | undefined>;
    /** An answer as a charge keeps it, in base64. */
    seal(parts: AnswerParts): Promise<string>;
    /** Keeps an answer for 24 h, if `call` still has the key. */
    store(call: KeyedCall, answer: StoredAnswer): Promise<void>;
    /** Releases the key, if `call` still owns it and nothing is stored. */
    forget(call: KeyedCall): Promise<void>;
    /** Milliseconds until the workspace may keep more; 0: now. */
    msUntilSpace(workspaceId: string): Promise<number>;
    /** Accepts no more calls and waits for the pending ones. */
    close(): Promise<void>;
}

/** Longest wait for a place in a batch, how long a statement is tried again, and how long one may take, in milliseconds. */
const MAX_WAIT_MS = 1000;
const PATIENCE = { begin: 300, end: 1000 };
const TIMEOUT_MS = 5000;
const PURPOSE = 'answer';

/** Opens the keys of `db`'s workspaces; close them before the pool. */
export function createIdempotency(db: Db, secrets: Secrets): Idempotency {
    const orders = openBatch<KeyOrder, KeyVerdict>({
        run: (batch) => retryUntilKnown(PATIENCE.begin, () => beginAll(db, batch)),
        keyOf: (order) => order.operation,
        maxWaitMs: MAX_WAIT_MS,
        isCommonFate: isOutage,
    });
    const forgotten = openBatch<KeyedCall, true>({
        run: (batch) => retryUntilKnown(PATIENCE.end, () => forgetAll(db, batch)),
        keyOf: (call) => call.operation,
        maxWaitMs: MAX_WAIT_MS,
        isCommonFate: isOutage,
        sharesFate: () => false,
    });
    return {
        begin: (order) => orders.add(order),
        read: (call) => readAnswer(db, secrets, call),
        seal: (parts) => sealParts(secrets, parts),
        async store(call, answer) {
            await retryUntilKnown(PATIENCE.end, () => keepAnswer(db, secrets, call, answer));
        },
        async forget(call) {
            await forgotten.add(call);
        },
        msUntilSpace: (workspaceId) => readWait(db, workspaceId),
        async close() {
            await Promise.all([orders.close(), forgotten.close()]);
        },
    };
}

/** Deletes answers that ran out; how many. Safe to run anywhere, at once. */
export async function sweepAnswers(db: Db, limit = 2000): Promise<number> {
    const swept = await db.first(db.raw('idempotency_sweep(?) as count', [limit]));
    return swept.count;
}

const BEGIN: PreparedQuery = {
    name: 'idempotency_begin',
    text: 'select operation, verdict, holder from idempotency_begin($1, $2, $3, $4, $5, $6, $7)',
};

const FORGET: PreparedQuery = {
    name: 'idempotency_forget',
    text: `delete from idempotency i
        using (select * from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as g (workspace, route, key, operation)
               limit cardinality($1)) as g
        where i.workspace_id = g.workspace and i.route = g.route and i.idempotency_key = g.key
          and i.operation = g.operation and i.status is null`,
};

const KEEP: PreparedQuery = {
    name: 'idempotency_keep',
    text: 'select idempotency_keep($1::text[], $2::text[], $3::text[], $4::text[], $5::smallint[], $6::text[], array[null]::bigint[]) as stored',
};

async function beginAll(db: Db, orders: readonly KeyOrder[]): Promise<KeyVerdict[]> {
    const rows = await runPrepared<{ operation: string; verdict: KeyVerdict['verdict']; holder: string }>(
        db,
        BEGIN,
        [
            ...columns(orders),
            orders.map(({ bodyHash }) => bodyHash),
            orders.map(({ operation }) => operation),
            orders.map(({ lastsMs }) => Math.ceil(lastsMs)),
            KEPT_BYTES,
        ],
        TIMEOUT_MS,
    );
    const byOperation = new Map(rows.map(({ operation, verdict, holder }) => [operation, { verdict, holder }]));
    return orders.map(({ operation }) => byOperation.get(operation) ?? { verdict: 'running' });
}

async function forgetAll(db: Db, calls: readonly KeyedCall[]): Promise<true[]> {
    await runPrepared(db, FORGET, [...columns(calls), calls.map(({ operation }) => operation)], TIMEOUT_MS);
    return calls.map(() => true);
}

/**
 * Keeps an answer for 24 h; in the transaction that does what it tells, so that neither is there without the other. False where
 * `call` has the key no more: its time was up, and somebody else may have done it.
 */
export async function keepAnswer(db: Db, secrets: Secrets, call: KeyedCall, { status, headers, body }: StoredAnswer): Promise<boolean> {
    const sealed = await sealParts(secrets, { headers, head: body });
    const values = [...columns([call]), [call.operation], [status], [sealed]];
    const [kept] = await runPrepared<{ stored: number }>(db, KEEP, values, TIMEOUT_MS);
    return kept?.stored === 1;
}

/** The hash of a body that was read only after its call took the key; in the transaction that keeps the answer. */
export async function setHash(db: Db, { workspaceId, route, key, operation }: KeyedCall, hash: string): Promise<void> {
    await db('idempotency')
        .where({ workspace_id: workspaceId, route, idempotency_key: key, operation })
        .update({ body_hash: Buffer.from(hash, 'hex') });
}

async function sealParts(secrets: Secrets, parts: AnswerParts): Promise<string> {
    return toBase64InTurns(await secrets.seal(writeParts(parts), PURPOSE));
}

async function readAnswer(db: Db, secrets: Secrets, call: Omit<KeyedCall, 'operation'>): Promise<StoredAnswer | 'sealed' | undefined> {
    const row: AnswerRow | undefined = await db('idempotency')
        .where({ workspace_id: call.workspaceId, route: call.route, idempotency_key: call.key })
        .whereNotNull('status')
        .timeout(TIMEOUT_MS)
        .first('status', 'sealed', 'remaining');
    if (row === undefined) return undefined;
    const text = row.sealed && (await secrets.open(row.sealed, PURPOSE));
    return text ? { status: row.status, ...joinParts(await textInTurns(text), row.remaining) } : 'sealed';
}

interface AnswerRow {
    status: number;
    /** Null if it was kept in clear, before the baseline of migrations: that answer is gone. */
    sealed: Buffer | null;
    remaining: number | null;
}

async function readWait(db: Db, workspaceId: string): Promise<number> {
    const space = await db.first(db.raw('idempotency_room(?, ?) as wait', [workspaceId, KEPT_BYTES]));
    return space.wait;
}

function columns(calls: readonly Omit<KeyedCall, 'operation'>[]): [string[], string[], string[]] {
    return [calls.map(({ workspaceId }) => workspaceId), calls.map(({ route }) => route), calls.map(({ key }) => key)];
}
