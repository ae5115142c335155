import { type AccountFigures, figuresFor, type Plan } from '../../domain/accounts/plans.ts';
import { type KeyScopes, prepareScopes, type Scopes } from '../../domain/accounts/scopes.ts';
import { openBatch, WaitedTooLong } from '../../platform/batch.ts';
import { openBatchWriter } from '../../platform/batch-writer.ts';
import { ago, type Db, now } from '../../platform/db.ts';
import { growingCache } from '../../platform/growing-cache.ts';
import { type PreparedQuery, runPrepared } from '../../platform/prepared-query.ts';
import { payerOf } from '../credits/credits.ts';
import type { Role } from './workspaces.ts';

/** Who calls: what the key says about the person, the workspace and the account that pays. */
export interface Caller {
    keyId: string;
    keyName: string;
    keyPrefix: string;
    keyExpiresAt: Date | null;
    userId: string;
    workspaceId: string;
    workspaceName: string;
    /** Of the user in the workspace. */
    role: Role;
    /** Who pays and whose limits count: the user while the workspace is on Free, otherwise the workspace. */
    accountId: string;
    plan: Plan;
    figures: AccountFigures;
    suspended: boolean;
    emailVerified: boolean;
    /** The account, or this key, has a cap on what it spends a day. */
    isCapped: boolean;
    /** What the key may do; never more than the role. */
    scopes: KeyScopes;
}

/** How long a found caller is believed, in milliseconds: revocation, suspension and plans take effect within a second. */
const KNOWN_MS = 700;
/** An unknown key stays unknown, since keys are random; the time only bounds what a flood of bad keys may ask. */
const UNKNOWN_MS = 500;
/** Nobody waits longer for a look-up, also where it is somebody else's that has a connection and no answer (goal R9). */
const ANSWER_MS = 1000;
/** Then its connection is given up. */
const LOOK_UP_MS = 5000;
/** A key that was valid within this time is no guess. It is still looked up every second. */
const FAMILIAR_MS = 600_000;
const MAX_KNOWN = 20_000;
const MAX_UNKNOWN = 20_000;
const USE_EVERY_MS = 1000;

export interface Keys {
    /** The caller behind the SHA-256 of a key; undefined where it is unknown, revoked, expired or its user left the workspace. */
    find(hash: Buffer): Promise<Caller | undefined>;
    /** Whether it is no guess: `find` would answer from memory, or it found a caller when it was last asked, at most ten minutes ago. */
    isFamiliar(hash: Buffer): boolean;
    /** Writes when keys were last used, as far as it is not written yet. */
    flush(): Promise<void>;
    close(): Promise<void>;
}

/** Look-ups of keys for one process: remembered for less than a second, and asked for together. */
export function openKeys(db: Db, options: { onError?: (error: unknown) => void } = {}): Keys {
    const known = growingCache<string, Caller>(MAX_KNOWN, KNOWN_MS);
    // A cache of its own, so that a flood of bad keys does not push good ones out.
    const unknown = growingCache<string, true>(MAX_UNKNOWN, UNKNOWN_MS);
    const familiar = growingCache<string, true>(MAX_KNOWN, FAMILIAR_MS);
    const asked = new Map<string, Promise<Caller | undefined>>();
    const { add: look } = openBatch({ run: (hashes: readonly Buffer[]) => findCallers(db, hashes) });
    const uses = openBatchWriter<string>({
        write: (keyIds) => writeUses(db, keyIds),
        everyMs: USE_EVERY_MS,
        maxRows: MAX_KNOWN,
        onError: options.onError,
    });

    async function lookUp(hash: Buffer, name: string): Promise<Caller | undefined> {
        // Counted from the question, not from the answer: a slow database must not make an answer live longer.
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
        async find(hash) {
            const name = hash.toString('latin1');
            const caller = known.get(name);
            if (caller !== undefined) return caller;
            if (unknown.has(name)) return undefined;
            let answer = asked.get(name);
            if (answer === undefined) {
                answer = lookUp(hash, name).finally(() => asked.delete(name));
                asked.set(name, answer);
            }
            return within(ANSWER_MS, answer);
        },
        isFamiliar(hash) {
            const name = hash.toString('latin1');
            return known.has(name) || familiar.has(name) || unknown.has(name);
        },
        flush: uses.flush,
        close: uses.close,
    };
}

/** Stops waiting after this time. The look-up continues for later callers. */
async function within<Answer>(ms: number, answer: Promise<Answer>): Promise<Answer> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new WaitedTooLong(`the key was not looked up within ${ms} ms`)), ms);
    });
    try {
        return await Promise.race([answer, late]);
    } finally {
        clearTimeout(timer);
    }
}

interface Found {
    caller: Caller;
    /** Milliseconds until the key expires; very large where it does not. */
    lastsMs: number;
}

const CALLERS: PreparedQuery = {
    name: 'callers',
    text: `select wanted.place::integer as place, k.id as key_id, k.name as key_name, k.prefix as key_prefix, k.expires_at,
                  (extract(epoch from k.expires_at - app_now()) * 1000)::double precision as lasts_ms,
                  u.id as user_id, u.suspended_at is not null as suspended, u.verified_at is not null as email_verified,
                  w.id as workspace_id, w.name as workspace_name, w.plan, m.role,
                  c.per_minute, c.per_hour, c.per_day, c.allowance_override, c.concurrency,
                  k.day_cap is not null or c.day_cap is not null as is_capped, k.scopes
           from unnest((select $1::bytea[])) with ordinality as wanted (hash, place)
           join api_keys k on k.hash = wanted.hash and k.revoked_at is null and (k.expires_at is null or k.expires_at > app_now())
           join memberships m on m.workspace_id = k.workspace_id and m.user_id = k.user_id
           join users u on u.id = k.user_id
           join workspaces w on w.id = k.workspace_id
           left join credit_accounts c on c.id = case w.plan when 'free' then u.id else w.id end`,
};

/** The callers of these hashes, each at its own place. */
async function findCallers(db: Db, hashes: readonly Buffer[]): Promise<(Found | undefined)[]> {
    const rows = await runPrepared<CallerColumns>(db, CALLERS, [[...hashes]], LOOK_UP_MS);
    const found = new Array<Found | undefined>(hashes.length).fill(undefined);
    for (const row of rows) found[row.place - 1] = toFound(row);
    return found;
}

/** Rows that somebody else is writing are left to them; ten seconds are fine enough for a person's eyes. */
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

interface CallerColumns {
    place: number;
    key_id: string;
    key_name: string;
    key_prefix: string;
    expires_at: Date | null;
    lasts_ms: number | null;
    user_id: string;
    suspended: boolean;
    email_verified: boolean;
    workspace_id: string;
    workspace_name: string;
    plan: Plan;
    role: Role;
    per_minute: number | null;
    per_hour: number | null;
    per_day: number | null;
    allowance_override: number | null;
    concurrency: number | null;
    is_capped: boolean;
    scopes: Scopes;
}

function toFound(row: CallerColumns): Found {
    return {
        lastsMs: row.lasts_ms ?? Number.MAX_SAFE_INTEGER,
        caller: {
            keyId: row.key_id,
            keyName: row.key_name,
            keyPrefix: row.key_prefix,
            keyExpiresAt: row.expires_at,
            userId: row.user_id,
            workspaceId: row.workspace_id,
            workspaceName: row.workspace_name,
            role: row.role,
            accountId: payerOf(row.plan, row.workspace_id, row.user_id),
            plan: row.plan,
            figures: figuresFor(row.plan, {
                perMinute: row.per_minute,
                perHour: row.per_hour,
                perDay: row.per_day,
                allowance: row.allowance_override,
                concurrency: row.concurrency,
            }),
            suspended: row.suspended,
            emailVerified: row.email_verified,
            isCapped: row.is_capped,
            scopes: prepareScopes(row.scopes),
        },
    };
}
