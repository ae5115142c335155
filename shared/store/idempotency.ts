import type { Db } from '../db.ts';
import { type AnswerParts, joinParts, type KeptAnswer, writeParts } from '../domain/kept-answer.ts';
import type { Secrets } from '../secrets.ts';
import { type Batch, openBatch } from './batch.ts';
import { isOutage, persist } from './credits/outages.ts';
import { run, type Statement } from './statement.ts';

/** What a workspace may keep in all, in bytes (CONTRACT section 4, "Idempotency"). What is running when it is reached is still kept. */
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
    /** The call is over after so many milliseconds, whatever became of it. */
    lastsMs: number;
}

export type Begun =
    /** The key is this call's now; `store`, `forget` or a charge with an answer ends it. */
    | { verdict: 'new' }
    | { verdict: 'running' }
    /** The key was used with another body. */
    | { verdict: 'conflict' }
    | { verdict: 'replay' }
    /** The workspace keeps as much as it may. */
    | { verdict: 'full' }
    /** The time of the call that has the key is up, and nobody said how it ended; `holder` is its operation. */
    | { verdict: 'abandoned'; holder: string };

/** The keys of all workspaces. Every method rejects with the database's error where the outcome could not be learned in time. */
export interface Idempotency {
    /** Takes the key or says who has it. Whatever arrives in one tick is one statement, equal keys too. */
    begin(order: KeyOrder): Promise<Begun>;
    /** The answer under a key; undefined where it has just run out, `sealed` where no key of the ring opens it. */
    read(call: Omit<KeyedCall, 'operation'>): Promise<KeptAnswer | 'sealed' | undefined>;
    /** An answer as a charge keeps it. */
    seal(parts: AnswerParts): Promise<Buffer>;
    /** Keeps an answer for 24 h, if `call` still has the key. */
    store(call: KeyedCall, answer: KeptAnswer): Promise<void>;
    /** Gives the key back, if `call` still has it and nothing was kept under it. */
    forget(call: KeyedCall): Promise<void>;
    /** Milliseconds until the workspace may keep more; 0: now. */
    room(workspaceId: string): Promise<number>;
    /** Takes nothing more and waits for what was taken. */
    close(): Promise<void>;
}

/** How long a statement is tried again when the database is away, and how long one may take, in milliseconds. */
const PATIENCE = { begin: 300, end: 1000 };
const TIMEOUT_MS = 5000;
const PURPOSE = 'answer';

/** Opens the keys of `db`'s workspaces; close them before the pool. */
export function openIdempotency(db: Db, secrets: Secrets): Idempotency {
    const orders: Batch<KeyOrder, Begun> = openBatch<KeyOrder, Begun>({
        run: (batch) =>
            persist(PATIENCE.begin, () => beginAll(db, batch)).catch((error: unknown) => {
                // Nothing is done yet for those who wait, and they would wait for the same.
                if (isOutage(error)) orders.turnAway(() => true, error);
                throw error;
            }),
        keyOf: (order) => order.operation,
        isCommonFate: isOutage,
    });
    const forgotten = openBatch<KeyedCall, true>({
        run: (batch) => persist(PATIENCE.end, () => forgetAll(db, batch)),
        keyOf: (call) => call.operation,
        isCommonFate: isOutage,
    });
    return {
        begin: (order) => orders.add(order),
        read: (call) => readAnswer(db, secrets, call),
        seal: (parts) => secrets.seal(writeParts(parts), PURPOSE),
        async store(call, answer) {
            await persist(PATIENCE.end, () => keepAnswer(db, secrets, call, answer));
        },
        async forget(call) {
            await forgotten.add(call);
        },
        room: (workspaceId) => readRoom(db, workspaceId),
        async close() {
            await Promise.all([orders.close(), forgotten.close()]);
        },
    };
}

/** Deletes answers that ran out; how many. Safe to run anywhere, at once. */
export async function sweepAnswers(db: Db, limit = 2000): Promise<number> {
    const { rows } = await db.raw<{ rows: { count: number }[] }>('select idempotency_sweep(?) as count', [limit]);
    return rows[0]?.count ?? 0;
}

const BEGIN: Statement = {
    name: 'idempotency_take',
    text: 'select operation, verdict, holder from idempotency_take($1, $2, $3, $4, $5, $6, $7)',
};

const FORGET: Statement = {
    name: 'idempotency_forget',
    text: `delete from idempotency i using unnest($1::text[], $2::text[], $3::text[], $4::text[]) as g (workspace, route, key, operation)
        where i.workspace_id = g.workspace and i.route = g.route and i.idempotency_key = g.key
          and i.operation = g.operation and i.status is null`,
};

async function beginAll(db: Db, orders: readonly KeyOrder[]): Promise<Begun[]> {
    const rows = await run<{ operation: string; verdict: Begun['verdict']; holder: string }>(
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
    await run(db, FORGET, [...columns(calls), calls.map(({ operation }) => operation)], TIMEOUT_MS);
    return calls.map(() => true);
}

/**
 * Keeps an answer for 24 h; in the transaction that does what it tells, so that neither is there without the other. False where
 * `call` has the key no more: its time was up, and somebody else may have done it.
 */
export async function keepAnswer(db: Db, secrets: Secrets, call: KeyedCall, { status, headers, body }: KeptAnswer): Promise<boolean> {
    const sealed = await secrets.seal(writeParts({ headers, head: body }), PURPOSE);
    const { rows } = await db
        .raw<{ rows: { stored: number }[] }>(
            'select idempotency_keep(?::text[], ?::text[], ?::text[], ?::text[], ?::smallint[], ?::text[], array[null]::bigint[]) as stored',
            [...columns([call]), [call.operation], [status], [sealed.toString('base64')]],
        )
        .timeout(TIMEOUT_MS);
    return rows[0]?.stored === 1;
}

async function readAnswer(db: Db, secrets: Secrets, call: Omit<KeyedCall, 'operation'>): Promise<KeptAnswer | 'sealed' | undefined> {
    const { rows } = await db
        .raw<{ rows: AnswerRow[] }>(
            `select status, headers, body, sealed, remaining from idempotency
             where workspace_id = ? and route = ? and idempotency_key = ? and status is not null`,
            [call.workspaceId, call.route, call.key],
        )
        .timeout(TIMEOUT_MS);
    const [row] = rows;
    if (row === undefined) return undefined;
    const { status, headers, body, sealed, remaining } = row;
    // Of a release that did not encrypt.
    if (sealed === null) return { status, headers: headers ?? {}, body: body ?? '' };
    const text = await secrets.open(sealed, PURPOSE);
    return text === undefined ? 'sealed' : { status, ...joinParts(text.toString(), remaining) };
}

interface AnswerRow {
    status: number;
    headers: Record<string, string> | null;
    body: string | null;
    sealed: Buffer | null;
    remaining: number | null;
}

async function readRoom(db: Db, workspaceId: string): Promise<number> {
    const { rows } = await db.raw<{ rows: { wait: number }[] }>('select idempotency_room(?, ?) as wait', [workspaceId, KEPT_BYTES]);
    return rows[0]?.wait ?? 0;
}

function columns(calls: readonly Omit<KeyedCall, 'operation'>[]): [string[], string[], string[]] {
    return [calls.map(({ workspaceId }) => workspaceId), calls.map(({ route }) => route), calls.map(({ key }) => key)];
}
