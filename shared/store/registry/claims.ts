import { type ClaimStatus, newClaimToken, type ProofMethod } from '../../domain/site/proof.ts';
import { isId, newId } from '../../domain/text/ids.ts';
import { type Columns, columns, type Db, fromNow, lockName, now } from '../../platform/db.ts';
import { type FoundPage, type RowPage, readRowPage } from '../../platform/row-page.ts';
import { type By, recordAct } from '../accounts/workspace-audit.ts';
import { lockRegistrable } from './sites.ts';

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
    /** Number of completed look-ups. */
    checks: number;
    createdAt: Date;
    checkedAt: Date | null;
    provenAt: Date | null;
    /** When the claim is deleted if it is still unproven. */
    expiresAt: Date;
}

export const CLAIM: Columns<Claim> = {
    claimId: 'id',
    ...columns('', 'registrable workspace_id token status reason method checks created_at checked_at proven_at expires_at'),
};

/** Maximum number of unproven claims of an account at a time, and the lifetime of such a claim. */
export const OPEN_CLAIMS = 10;
export const CLAIM_LASTS = '7 days';

/** Creates a claim. Returns the number of seconds to wait if the account has too many open claims. */
export async function createClaim(
    db: Db,
    { registrable, workspaceId, accountId, by }: { registrable: string; workspaceId: string; accountId: string; by: By },
): Promise<{ ok: true; claim: Claim } | { ok: false; retryAfter: number }> {
    return db.transaction(async (trx) => {
        await lockName(trx, `claims ${accountId}`);
        const open = await trx('claims')
            .where({ account_id: accountId })
            .whereNot({ status: 'proven' })
            .where('expires_at', '>', now(trx))
            .first({ count: trx.raw('count(*)'), wait: trx.raw('ceil(extract(epoch from min(expires_at) - app_now()))::integer') });
        if (open.count >= OPEN_CLAIMS) return { ok: false, retryAfter: Math.max(1, open.wait ?? 1) };
        const name = { claimId: newId('clm'), registrable, workspaceId };
        await trx('claims').insert({
            id: name.claimId,
            registrable,
            workspace_id: workspaceId,
            account_id: accountId,
            token: newClaimToken(),
            expires_at: fromNow(trx, CLAIM_LASTS),
        });
        await recordAct(trx, { ...by, workspaceId, action: 'claim.created', target: registrable, details: { claim_id: name.claimId } });
        return { ok: true, claim: await queryClaim(trx, name).first(CLAIM) };
    });
}

type ClaimName = Pick<Claim, 'claimId' | 'registrable' | 'workspaceId'>;

/** The claim of this workspace on this domain; undefined if there is none, or it expired unproven. */
export async function findClaim(db: Db, { claimId, registrable, workspaceId }: ClaimName): Promise<Claim | undefined> {
    if (!isId('clm', claimId)) return undefined;
    return queryClaim(db, { claimId, registrable, workspaceId }).first(CLAIM);
}

function queryClaim(db: Db, { claimId, registrable, workspaceId }: ClaimName) {
    return queryLive(db).where({ id: claimId, registrable, workspace_id: workspaceId });
}

function queryLive(db: Db) {
    return db('claims').where((is) => is.where({ status: 'proven' }).orWhere('expires_at', '>', now(db)));
}

/** A page of a workspace's claims on a domain, oldest first, and their total number. */
export function listClaims(
    db: Db,
    { registrable, workspaceId }: { registrable: string; workspaceId: string },
    page: RowPage,
): Promise<FoundPage<Claim>> {
    const claims = queryLive(db).where({ registrable, workspace_id: workspaceId });
    return readRowPage<Claim>(db, claims, CLAIM, page, { isOldestFirst: true });
}

interface ClaimedDomain {
    registrable: string;
    claims: number;
    provenAt: Date | null;
    /** Whether a look-up of an unproven claim found no proof. */
    hasFailed: boolean;
    /** When the last unproven claim expires; null if there is none. */
    expiresAt: Date | null;
}

/** Domains that a workspace claims or owns, ordered by name. @param after the last name of the previous page */
export async function claimedDomains(
    db: Db,
    workspaceId: string,
    { limit, after = '' }: { limit: number; after: string | undefined },
): Promise<ClaimedDomain[]> {
    const domain: Columns<ClaimedDomain> = {
        registrable: 'registrable',
        claims: db.raw('count(*)'),
        provenAt: db.raw('min(proven_at)'),
        hasFailed: db.raw("bool_or(status = 'failed')"),
        expiresAt: db.raw("max(expires_at) filter (where status <> 'proven')"),
    };
    return queryLive(db)
        .where({ workspace_id: workspaceId })
        .where('registrable', '>', after)
        .groupBy('registrable')
        .orderBy('registrable')
        .limit(limit)
        .select(domain);
}

/** Ends a claim, even a proven one. False if there is none. */
export async function deleteClaim(db: Db, name: ClaimName, by: By): Promise<boolean> {
    return db.transaction(async (trx) => {
        await lockRegistrable(trx, name.registrable);
        const claim = await findClaim(trx, name);
        if (claim === undefined) return false;
        await trx('claims').where({ id: claim.claimId }).delete();
        const { registrable, workspaceId } = name;
        await updateOwnership(trx, registrable, workspaceId);
        const details = { claim_id: claim.claimId, was_proven: claim.status === 'proven' };
        await recordAct(trx, { ...by, workspaceId, action: 'claim.deleted', target: registrable, details });
        return true;
    });
}

export async function askForCheck(db: Db, claimId: string): Promise<void> {
    await updateClaim(db, claimId, { due_at: now(db) });
}

/** A maintainer is an owner while one of its claims is proven. Call it after every change of claims. */
export async function updateOwnership(db: Db, registrable: string, workspaceId: string): Promise<void> {
    const ofOwner = { registrable, workspace_id: workspaceId };
    const proven = db('claims').where(ofOwner).where({ status: 'proven' });
    await db('maintainers')
        .where(ofOwner)
        .update({ proven_at: proven.min('proven_at') });
}

export async function updateClaim(db: Db, claimId: string, columns: Record<string, unknown>): Promise<void> {
    await db('claims').where({ id: claimId }).update(columns);
}
