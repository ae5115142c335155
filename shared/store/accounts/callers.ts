import { type AccountFigures, figuresFor, type Plan } from '../../domain/accounts/plans.ts';
import type { Role } from '../../domain/accounts/roles.ts';
import { type KeyScopes, prepareScopes, type Scopes } from '../../domain/accounts/scopes.ts';
import { getOrMake } from '../../domain/get-or-make.ts';
import { openBatch, WaitedTooLong } from '../../platform/batch.ts';
import { openBatchWriter } from '../../platform/batch-writer.ts';
import { ago, columnList, columns, type Db, now } from '../../platform/db.ts';
import { growingCache } from '../../platform/growing-cache.ts';
import { type PreparedQuery, runPrepared } from '../../platform/prepared-query.ts';
import { within } from '../../platform/within.ts';
import { payerOf } from '../credits/accounts.ts';

/** The caller that a key identifies: the person, the workspace and the paying account. */
export interface Caller {
    keyId: string;
    keyName: string;
    keyPrefix: string;
    keyExpiresAt: Date | null;
    userId: string;
    workspaceId: string;
    workspaceName: string;
    role: Role;
    /** The account that pays and whose limits apply: the user's while the workspace is on Free, otherwise the workspace's. */
    accountId: string;
    plan: Plan;
    figures: AccountFigures;
    suspended: boolean;
    emailVerified: boolean;
    /** Whether the account or this key has a daily spending cap. */
    isCapped: boolean;
    /** The price of a write in credits above which a person has to confirm; null: no confirmation. */
    confirmAbove: number | null;
    /** At most what the role allows. */
    scopes: KeyScopes;
    /** The only path that an app's access token opens, `/mcp` or `/mcp/{site}`; null for a key. */
    resource: string | null;
}

/** How long a found caller is cached, in milliseconds. So revocations, suspensions and changes of plan take effect within a second. */
const KNOWN_MS = 700;
/** How long an unknown key is cached, in milliseconds. Keys are random, so this only limits the queries of a flood of invalid ones. */
const UNKNOWN_MS = 500;
/** Maximum wait for a look-up in milliseconds, including one that another call has started (goal R9). */
const ANSWER_MS = 1000;
/** Timeout of a look-up in milliseconds. After it, the connection is closed. */
const LOOK_UP_MS = 5000;
/** A key that was valid within this time, in milliseconds, does not count as a guess. It is still looked up every second. */
const FAMILIAR_MS = 600_000;
const MAX_KNOWN = 20_000;
const MAX_UNKNOWN = 20_000;
const USE_EVERY_MS = 1000;

export type Keys = ReturnType<typeof openKeys>;

/** Opens the key look-ups of one process. Results are cached for less than a second, and look-ups are batched. */
export function openKeys(db: Db, options: { log?: { warn(fields: object, message: string): void } } = {}) {
    const known = growingCache<string, Caller>(MAX_KNOWN, KNOWN_MS);
    // Unknown keys have a separate cache, so that a flood of invalid keys does not evict valid ones.
    const unknown = growingCache<string, true>(MAX_UNKNOWN, UNKNOWN_MS);
    const familiar = growingCache<string, true>(MAX_KNOWN, FAMILIAR_MS);
    const asked = new Map<string, Promise<Caller | undefined>>();
    const { add: look } = openBatch({ run: (hashes: readonly Buffer[]) => findCallers(db, hashes) });
    const uses = openBatchWriter<string>({
        write: (keyIds) => writeUses(db, keyIds),
        everyMs: USE_EVERY_MS,
        maxRows: MAX_KNOWN,
        onError: (error) => options.log?.warn({ part: 'keys', err: error }, 'the times of use of keys could not be written'),
    });

    async function lookUp(hash: Buffer, name: string): Promise<Caller | undefined> {
        // The lifetime starts with the query, not with its answer, so that a slow database does not extend it.
        const start = performance.now();
        const found = await look(hash);
        if (found === undefined) {
            unknown.set(name, true, { start });
            familiar.delete(name);
            return undefined;
        }
        familiar.set(name, true);
        uses.record(found.caller.keyId);
        known.set(name, found.caller, { start, ttl: Math.max(1, Math.min(KNOWN_MS, Math.floor(found.lastsMs))) });
        return found.caller;
    }

    return {
        /** Finds the caller by the SHA-256 of a key; undefined if the key is unknown, revoked or expired, or its user left the workspace. */
        async find(hash: Buffer): Promise<Caller | undefined> {
            const name = hash.toString('latin1');
            const caller = known.get(name);
            if (caller !== undefined) return caller;
            if (unknown.has(name)) return undefined;
            const answer = getOrMake(asked, name, () => lookUp(hash, name).finally(() => asked.delete(name)));
            // The look-up continues for later callers.
            return within(ANSWER_MS, answer, () => {
                throw new WaitedTooLong(`the key was not looked up within ${ANSWER_MS} ms`);
            });
        },
        /** Whether the key is no guess: `find` has cached its answer, or found a caller within the last ten minutes. */
        isFamiliar(hash: Buffer): boolean {
            const name = hash.toString('latin1');
            return known.has(name) || familiar.has(name) || unknown.has(name);
        },
        /** Writes the pending times of when keys were last used. */
        flush: uses.flush,
        close: uses.close,
    };
}

interface Found {
    caller: Caller;
    /** Milliseconds until the key expires; very large if it does not expire. */
    lastsMs: number;
}

const COLUMNS: Record<keyof CallerColumns, string> = {
    place: 'wanted.place::integer',
    lastsMs: '(extract(epoch from least(k.expires_at, k.token_expires_at) - app_now()) * 1000)::double precision',
    keyId: 'k.id',
    keyName: 'k.name',
    keyPrefix: 'k.prefix',
    keyExpiresAt: 'k.expires_at',
    scopes: 'k.scopes',
    userId: 'u.id',
    suspended: 'u.suspended_at is not null',
    emailVerified: 'u.verified_at is not null',
    workspaceId: 'w.id',
    workspaceName: 'w.name',
    plan: 'w.plan',
    role: 'm.role',
    ...columns('c', 'per_minute per_hour per_day concurrency monitors'),
    allowance: 'c.allowance_override',
    isCapped: 'k.day_cap is not null or c.day_cap is not null',
    confirmAbove: 'k.confirm_above',
    resource: 'k.resource',
};

const JOINED = `
           join memberships m on m.workspace_id = k.workspace_id and m.user_id = k.user_id
           join users u on u.id = k.user_id
           join workspaces w on w.id = k.workspace_id
           left join credit_accounts c on c.id = case w.plan when 'free' then u.id else w.id end`;
const VALID = 'k.revoked_at is null and (k.expires_at is null or k.expires_at > app_now())';

const CALLERS: PreparedQuery = {
    name: 'callers',
    text: `select ${columnList(COLUMNS)}
           from unnest((select $1::bytea[])) with ordinality as wanted (hash, place)
           join api_keys k on k.hash = wanted.hash and ${VALID}
                and (k.token_expires_at is null or k.token_expires_at > app_now())${JOINED}`,
};

const CALLER_BY_ID: PreparedQuery = {
    name: 'caller_by_id',
    text: `select ${columnList({ ...COLUMNS, place: '1' })} from api_keys k${JOINED} where k.id = $1 and ${VALID}`,
};

/** The current caller of a key; undefined if the key is gone. The expiry of an app's access token is not checked. */
export async function findCallerById(db: Db, keyId: string): Promise<Caller | undefined> {
    const [row] = await runPrepared<CallerColumns>(db, CALLER_BY_ID, [keyId], LOOK_UP_MS);
    return row && toFound(row).caller;
}

/** The callers of these hashes, at the same indices. */
async function findCallers(db: Db, hashes: readonly Buffer[]): Promise<(Found | undefined)[]> {
    const rows = await runPrepared<CallerColumns>(db, CALLERS, [[...hashes]], LOOK_UP_MS);
    const found = new Array<Found | undefined>(hashes.length).fill(undefined);
    for (const row of rows) found[row.place - 1] = toFound(row);
    return found;
}

/** Skips rows that another process is writing. A precision of ten seconds is sufficient for a page. */
async function writeUses(db: Db, keyIds: string[]): Promise<void> {
    const stale = db('api_keys')
        .whereIn('id', [...new Set(keyIds)])
        .where((is) => is.whereNull('last_used_at').orWhere('last_used_at', '<', ago(db, '10 seconds')))
        .orderBy('id')
        .forUpdate()
        .skipLocked();
    await db('api_keys')
        .whereIn('id', stale.select('id'))
        .update({ last_used_at: now(db) });
}

interface CallerColumns extends Omit<Caller, 'accountId' | 'figures' | 'scopes'> {
    place: number;
    lastsMs: number | null;
    scopes: Scopes;
    perMinute: number | null;
    perHour: number | null;
    perDay: number | null;
    allowance: number | null;
    concurrency: number | null;
    monitors: number | null;
}

function toFound(row: CallerColumns): Found {
    const { place: _place, lastsMs, scopes, perMinute, perHour, perDay, allowance, concurrency, monitors, ...caller } = row;
    return {
        lastsMs: lastsMs ?? Number.MAX_SAFE_INTEGER,
        caller: {
            ...caller,
            accountId: payerOf(row.plan, row.workspaceId, row.userId),
            figures: figuresFor(row.plan, { perMinute, perHour, perDay, allowance, concurrency, monitors }),
            scopes: prepareScopes(scopes),
        },
    };
}
