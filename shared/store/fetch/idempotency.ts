import { type AnswerParts, joinParts, type StoredAnswer, writeParts } from '../../domain/fetch/stored-answer.ts';
import { openBatch } from '../../platform/batch.ts';
import type { Db } from '../../platform/db.ts';
import { isOutage, retryUntilKnown } from '../../platform/pg-errors.ts';
import { type PreparedQuery, runPrepared } from '../../platform/prepared-query.ts';
import type { Secrets } from '../../platform/secrets.ts';
import { textInTurns, toBase64InTurns } from '../../platform/turns.ts';

/** Storage limit of a workspace in bytes (docs/api.md, "Idempotency"). Calls that run when it is reached still store theirs. */
export const KEPT_BYTES = 256 * 1024 * 1024;

/** One call with an idempotency key. Keys are separate for each workspace and route. */
export interface KeyedCall {
    workspaceId: string;
    /** Name of the route's contract. */
    route: string;
    key: string;
    /** `op_…`: the operation of the call that owns the key. */
    operation: string;
}

export interface KeyOrder extends KeyedCall {
    /** SHA-256 of the canonical JSON of the body, in hex. */
    bodyHash: string;
    /** Maximum duration of the call, in milliseconds. */
    lastsMs: number;
}

type KeyVerdict =
    /** This call owns the key, until `store`, `forget` or a charge with an answer. */
    | { verdict: 'new' }
    | { verdict: 'running' }
    /** The key was used with a different body. */
    | { verdict: 'conflict' }
    | { verdict: 'replay' }
    /** The workspace has reached its storage limit. */
    | { verdict: 'full' }
    /** The call that owns the key has exceeded its time and its outcome is unknown; `holder` is its operation. */
    | { verdict: 'abandoned'; holder: string };

/** The idempotency keys of all workspaces. Every method rejects with the database's error if the outcome could not be learned in time. */
export interface Idempotency {
    /** Acquires the key or returns its owner. All calls of one tick share one query, including calls with equal keys. */
    begin(order: KeyOrder): Promise<KeyVerdict>;
    /** The answer that is stored for a key; undefined if it has just expired; `sealed` if no key of the ring decrypts it. */
    read(call: Omit<KeyedCall, 'operation'>): Promise<StoredAnswer | 'sealed' | undefined>;
    /** Encrypts an answer in the format in which a charge stores it, in base64. */
    seal(parts: AnswerParts): Promise<string>;
    /** Stores an answer for 24 h, if `call` still owns the key. */
    store(call: KeyedCall, answer: StoredAnswer): Promise<void>;
    /** Releases the key, if `call` still owns it and nothing is stored. */
    forget(call: KeyedCall): Promise<void>;
    /** Milliseconds until the workspace may store more answers; 0: it may now. */
    msUntilSpace(workspaceId: string): Promise<number>;
    /** Rejects new calls and waits for the pending ones. */
    close(): Promise<void>;
}

/** Maximum wait for a place in a batch, maximum time for retries of a statement, and timeout of a statement, in milliseconds. */
const MAX_WAIT_MS = 1000;
const PATIENCE = { begin: 300, end: 1000 };
const TIMEOUT_MS = 5000;
const PURPOSE = 'answer';

/** Opens the idempotency keys of the workspaces in `db`. Close them before the pool. */
export function createIdempotency(db: Db, secrets: Secrets): Idempotency {
    const orders = openBatch<KeyOrder, KeyVerdict>({
        run: (batch) => retryUntilKnown(PATIENCE.begin, () => beginAll(db, batch)),
        keyOf: (order) => order.operation,
        maxWaitMs: MAX_WAIT_MS,
        failsWholeBatch: isOutage,
    });
    const forgotten = openBatch<KeyedCall, true>({
        run: (batch) => retryUntilKnown(PATIENCE.end, () => forgetAll(db, batch)),
        keyOf: (call) => call.operation,
        maxWaitMs: MAX_WAIT_MS,
        failsWholeBatch: isOutage,
        failsWithBatch: () => false,
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

/** Deletes expired answers and returns their number. Any process may run it, also concurrently. */
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

/** Stores an answer for 24 h, in the transaction of the change. False if another call may own the key by now. */
export async function keepAnswer(db: Db, secrets: Secrets, call: KeyedCall, { status, headers, body }: StoredAnswer): Promise<boolean> {
    const sealed = await sealParts(secrets, { headers, head: body });
    const values = [...columns([call]), [call.operation], [status], [sealed]];
    const [kept] = await runPrepared<{ stored: number }>(db, KEEP, values, TIMEOUT_MS);
    return kept?.stored === 1;
}

/** Sets the hash of a body that was read only after its call acquired the key. Call it in the transaction that stores the answer. */
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
    /** Null in an upgraded database, if the answer was stored before answers were encrypted. That answer is lost. */
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
