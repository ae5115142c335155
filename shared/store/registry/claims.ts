import { type ClaimStatus, newClaimToken, type ProofMethod } from '../../domain/site/proof.ts';
import { newId } from '../../domain/text/ids.ts';
import type { Db } from '../../platform/db.ts';
import { type By, recordAct } from '../accounts/workspace-audit.ts';
import { lockRegistrable } from './domain-lock.ts';

/** A workspace's claim to own a registrable domain, and its state. */
export interface Claim {
    claimId: string;
    registrable: string;
    workspaceId: string;
    token: string;
    status: ClaimStatus;
    /** Why the last check failed. */
    reason: string | null;
    /** Where the proof was found. */
    method: ProofMethod | null;
    /** Lookups that ended. */
    checks: number;
    createdAt: Date;
    checkedAt: Date | null;
    provenAt: Date | null;
    /** An unproven claim is gone from then on. */
    expiresAt: Date;
}

/** Unproven claims that an account may have at once, and how long one lasts. */
export const OPEN_CLAIMS = 10;
const LASTS_DAYS = 7;

/** An older `began_at` is void: its worker died. A check ends long before. */
const LEASE = "interval '20 seconds'";

export interface NewClaim {
    registrable: string;
    workspaceId: string;
    accountId: string;
    by: By;
}

/** Creates a claim. Returns the seconds to wait where the account has too many open claims. */
export async function createClaim(
    db: Db,
    { registrable, workspaceId, accountId, by }: NewClaim,
): Promise<{ ok: true; claim: Claim } | { ok: false; retryAfter: number }> {
    return db.transaction(async (trx) => {
        await trx.raw("select pg_advisory_xact_lock(hashtextextended('claims ' || ?, 0))", [accountId]);
        const { rows: open } = await trx.raw<{ rows: [{ count: number; wait: number | null }] }>(
            `select count(*), ceil(extract(epoch from min(expires_at) - app_now()))::integer as wait
             from claims where account_id = ? and status <> 'proven' and expires_at > app_now()`,
            [accountId],
        );
        if (open[0].count >= OPEN_CLAIMS) return { ok: false, retryAfter: Math.max(1, open[0].wait ?? 1) };
        const { rows } = await trx.raw<{ rows: [ClaimColumns] }>(
            `insert into claims (id, registrable, workspace_id, account_id, token, expires_at)
             values (?, ?, ?, ?, ?, app_now() + ? * interval '1 day') returning *`,
            [newId('clm'), registrable, workspaceId, accountId, newClaimToken(), LASTS_DAYS],
        );
        const claim = toClaim(rows[0]);
        await recordAct(trx, { ...by, workspaceId, action: 'claim.created', target: registrable, details: { claim_id: claim.claimId } });
        return { ok: true, claim };
    });
}

/** Identifies a claim. */
export interface ClaimName {
    claimId: string;
    registrable: string;
    workspaceId: string;
}

/** A claim of this workspace on this domain; undefined where there is none, or it expired unproven. */
export async function findClaim(db: Db, { claimId, registrable, workspaceId }: ClaimName): Promise<Claim | undefined> {
    // A path may contain NUL, which the database rejects.
    if (!/^clm_[0-9A-Za-z]{1,64}$/.test(claimId)) return undefined;
    const { rows } = await db.raw<{ rows: ClaimColumns[] }>(
        `select * from claims where id = ? and registrable = ? and workspace_id = ? and ${LIVE}`,
        [claimId, registrable, workspaceId],
    );
    return rows[0] && toClaim(rows[0]);
}

/** Where a page of claims begins: behind this one. */
export interface ClaimPlace {
    createdAt: string;
    claimId: string;
}

/** A page of a workspace's claims on a domain, the oldest first, and how many there are in all. */
export async function listClaims(
    db: Db,
    { registrable, workspaceId }: { registrable: string; workspaceId: string },
    { limit, after }: { limit: number; after: ClaimPlace | undefined },
): Promise<{ claims: Claim[]; next: ClaimPlace | undefined; total: number }> {
    const { rows } = await db.raw<{ rows: (ClaimColumns & { created_text: string })[] }>(
        `select *, created_at::text as created_text from claims
         where workspace_id = :workspaceId and registrable = :registrable and ${LIVE}
           and (created_at, id) > (:createdAt::timestamptz, :claimId)
         order by created_at, id limit :rows`,
        { workspaceId, registrable, createdAt: after?.createdAt ?? '-infinity', claimId: after?.claimId ?? '', rows: limit + 1 },
    );
    const { rows: counted } = await db.raw<{ rows: [{ count: number }] }>(
        `select count(*) from claims where workspace_id = ? and registrable = ? and ${LIVE}`,
        [workspaceId, registrable],
    );
    const shown = rows.slice(0, limit);
    const last = rows.length > limit ? shown.at(-1) : undefined;
    return {
        claims: shown.map(toClaim),
        next: last && { createdAt: last.created_text, claimId: last.id },
        total: counted[0].count,
    };
}

/** Ends a claim, also a proved one. False where there is none. */
export async function deleteClaim(db: Db, name: ClaimName, by: By): Promise<boolean> {
    return db.transaction(async (trx) => {
        await lockRegistrable(trx, name.registrable);
        const claim = await findClaim(trx, name);
        if (claim === undefined) return false;
        await trx.raw('delete from claims where id = ?', [claim.claimId]);
        const { registrable, workspaceId } = name;
        await settleOwner(trx, registrable, workspaceId);
        const details = { claim_id: claim.claimId, was_proven: claim.status === 'proven' };
        await recordAct(trx, { ...by, workspaceId, action: 'claim.deleted', target: registrable, details });
        return true;
    });
}

/** Makes a claim due for a check now. */
export async function askForCheck(db: Db, claimId: string): Promise<void> {
    await db.raw('update claims set due_at = app_now() where id = ?', [claimId]);
}

/** What a worker looks up. */
export interface DueCheck {
    claimId: string;
    registrable: string;
    token: string;
    /** An operator blocked the domain: only its name servers may be queried. */
    isBlocked: boolean;
}

/**
 * Takes the claim that has been due longest; undefined where none is due. An account has one check at a time, so that slow name servers of
 * one account delay nobody else.
 */
export async function takeDueCheck(db: Db): Promise<DueCheck | undefined> {
    const { rows } = await db.raw<{ rows: { id: string; registrable: string; token: string; is_blocked: boolean }[] }>(
        `update claims c set began_at = app_now() where c.id = (
             select due.id from claims due
             where due.due_at <= app_now() and (due.began_at is null or due.began_at < app_now() - ${LEASE})
               and not exists (select from claims running where running.account_id = due.account_id
                               and running.began_at >= app_now() - ${LEASE})
             order by due.due_at, due.id limit 1 for update skip locked)
         returning c.id, c.registrable, c.token,
                   exists (select from domains d where d.registrable = c.registrable and d.blocked_at is not null) as is_blocked`,
    );
    const row = rows[0];
    return row && { claimId: row.id, registrable: row.registrable, token: row.token, isBlocked: row.is_blocked };
}

/** Deletes claims that expired unproved. */
export async function forgetClaims(db: Db): Promise<void> {
    await db.raw(`delete from claims where not ${LIVE}`);
}

/** Whether this workspace has proved the domain. */
export async function isOwner(db: Db, registrable: string, workspaceId: string): Promise<boolean> {
    return (await ownersOf(db, registrable)).includes(workspaceId);
}

/** The workspaces that have proved the domain. */
export async function ownersOf(db: Db, registrable: string): Promise<string[]> {
    const { rows } = await db.raw<{ rows: { workspace_id: string }[] }>(
        'select workspace_id from maintainers where registrable = ? and proven_at is not null order by proven_at, workspace_id',
        [registrable],
    );
    return rows.map(({ workspace_id }) => workspace_id);
}

/** Has a maintainer be an owner exactly as long as one of its claims is proven; call it after every change of these. */
export async function settleOwner(db: Db, registrable: string, workspaceId: string): Promise<void> {
    await db.raw(
        `update maintainers m set proven_at = (select min(c.proven_at) from claims c
             where c.registrable = m.registrable and c.workspace_id = m.workspace_id and c.status = 'proven')
         where m.registrable = ? and m.workspace_id = ?`,
        [registrable, workspaceId],
    );
}

const LIVE = "(status = 'proven' or expires_at > app_now())";

export interface ClaimColumns {
    id: string;
    registrable: string;
    workspace_id: string;
    token: string;
    status: ClaimStatus;
    reason: string | null;
    method: ProofMethod | null;
    checks: number;
    created_at: Date;
    checked_at: Date | null;
    proven_at: Date | null;
    expires_at: Date;
}

/** A row as a claim. */
export function toClaim(row: ClaimColumns): Claim {
    return {
        claimId: row.id,
        registrable: row.registrable,
        workspaceId: row.workspace_id,
        token: row.token,
        status: row.status,
        reason: row.reason,
        method: row.method,
        checks: row.checks,
        createdAt: row.created_at,
        checkedAt: row.checked_at,
        provenAt: row.proven_at,
        expiresAt: row.expires_at,
    };
}
