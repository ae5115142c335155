import type { Act } from '../../domain/accounts/acts.ts';
import { type ClaimStatus, newClaimToken, type ProofMethod, proofLine, proofName, proofUrl } from '../../domain/site/proof.ts';
import { isId, newId } from '../../domain/text/ids.ts';
import type { JsonObject } from '../../domain/types.ts';
import { type Columns, columns, type Db, fromNow, lockName, now, orNow } from '../../platform/db.ts';
import { type FoundPage, type RowPage, readRowPage } from '../../platform/row-page.ts';
import { type By, recordAct } from '../accounts/workspace-audit.ts';
import { notifyOwners } from '../accounts/workspace-news.ts';
import { addMaintainer } from './maintainers.ts';
import { dropRemoval } from './removals.ts';
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

const CLAIM: Columns<Claim> = {
    claimId: 'id',
    ...columns('', 'registrable workspace_id token status reason method checks created_at checked_at proven_at expires_at'),
};

/** Maximum number of unproven claims of an account at a time, and the lifetime of such a claim. */
export const OPEN_CLAIMS = 10;
const LASTS = '7 days';

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
            .first({
                count: trx.raw('count(*)'),
                wait: trx.raw('ceil(extract(epoch from min(expires_at) - app_now()))::integer'),
            });
        if (open.count >= OPEN_CLAIMS) return { ok: false, retryAfter: Math.max(1, open.wait ?? 1) };
        const name = { claimId: newId('clm'), registrable, workspaceId };
        await trx('claims').insert({
            id: name.claimId,
            registrable,
            workspace_id: workspaceId,
            account_id: accountId,
            token: newClaimToken(),
            expires_at: fromNow(trx, LASTS),
        });
        await recordAct(trx, { ...by, workspaceId, action: 'claim.created', target: registrable, details: { claim_id: name.claimId } });
        return { ok: true, claim: await queryClaim(trx, name).first(CLAIM) };
    });
}

interface ClaimName {
    claimId: string;
    registrable: string;
    workspaceId: string;
}

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

export async function forgetClaims(db: Db): Promise<void> {
    await db('claims').whereNot({ status: 'proven' }).where('expires_at', '<=', now(db)).delete();
}

export interface DueCheck {
    claimId: string;
    registrable: string;
    token: string;
    /** Whether an operator blocked the domain. Then only its name servers may be queried. */
    isBlocked: boolean;
}

/** An older `began_at` is void, because its worker died. A check takes much less time. */
const LEASE = "interval '20 seconds'";

/** Raw: due claims of accounts without a running check. */
const DUE = `from claims due
        where due.due_at <= app_now() and (due.began_at is null or due.began_at < app_now() - ${LEASE})
          and not exists (select from claims running where running.account_id = due.account_id and running.began_at >= app_now() - ${LEASE})`;

/** Raw: whether a check is due. */
export const CHECK_IS_DUE = `select true ${DUE} order by due.due_at limit 1`;

/** Raw: takes the lease of a check in one statement, which skips rows that another worker takes. */
const TAKE_DUE = `
    update claims c set began_at = app_now() where c.id = (
        select due.id ${DUE}
        order by due.due_at, due.id limit 1 for update skip locked)
    returning c.id as "claimId", c.registrable, c.token,
              exists (select from domains d where d.registrable = c.registrable and d.blocked_at is not null) as "isBlocked"`;

/** Takes the claim that has been due longest. An account has one check at a time, so that its slow name servers delay no others. */
export async function takeDueCheck(db: Db): Promise<DueCheck | undefined> {
    const { rows } = await db.raw<{ rows: DueCheck[] }>(TAKE_DUE);
    return rows[0];
}

/** `undecided`: the check had no result, for example because the file was unreadable. */
export type ProofFound = { result: 'proven'; method: ProofMethod } | { result: 'failed' | 'undecided'; reason: string };

const RECHECK = '30 days';
/** Number of times that a failed proof is checked again, a day apart, before the claim is lost. */
const MAX_FAILURES = 3;

/** The first proof makes an owner and maintainer, and has other proofs of the domain checked. The third failure ends a proof. */
export async function endCheck(db: Db, claimId: string, found: ProofFound): Promise<void> {
    await db.transaction(async (trx) => {
        const domain = await trx('claims').where({ id: claimId }).first('registrable');
        if (domain === undefined) return;
        // Locks the domain first, like all other changes of it.
        await lockRegistrable(trx, domain.registrable);
        const claim: CheckedClaim | undefined = await trx('claims')
            .where({ id: claimId })
            .forUpdate()
            .first({ ...CLAIM, failures: 'failures' });
        if (claim === undefined) return;
        await updateClaim(trx, claimId, { began_at: null, due_at: null, checks: claim.checks + 1, checked_at: now(trx) });
        if (found.result === 'proven') await prove(trx, claim, found.method);
        else if (claim.status !== 'proven') await updateClaim(trx, claimId, { status: 'failed', reason: found.reason });
        else if (found.result === 'undecided') await updateClaim(trx, claimId, { due_at: fromNow(trx, '1 days') });
        else await countFailure(trx, claim, claim.failures + 1, found.reason);
    });
}

type CheckedClaim = Claim & { failures: number };

async function prove(db: Db, claim: Claim, method: ProofMethod): Promise<void> {
    const { claimId, registrable, workspaceId, status } = claim;
    await updateClaim(db, claimId, {
        status: 'proven',
        reason: null,
        method,
        failures: 0,
        proven_at: orNow(db, 'proven_at'),
        due_at: fromNow(db, RECHECK),
    });
    if (status === 'proven') return;
    await recordClaimAct(db, claim, 'claim.proved', { method });
    await addMaintainer(db, registrable, workspaceId);
    await updateOwnership(db, registrable, workspaceId);
    // Only operators can remove a proven owner.
    await dropRemoval(db, { registrable, workspaceId, reason: 'the workspace proved that the domain is its own', actor: 'system' });
    await db('claims')
        .where({ registrable, status: 'proven' })
        .whereNot({ workspace_id: workspaceId })
        .update({ due_at: now(db) });
    await notifyOwners(db, {
        workspaceId,
        domain: registrable,
        subject: `Your workspace is proved as the owner of ${registrable}`,
        line: `A claim on ${registrable} was proved ${method === 'dns' ? 'by DNS' : 'by a file'}. Your workspace is now its owner here: it is told of every version, and decides who maintains it and what may be called.

Leave the record or the file where it is: it is looked up again every month. If nobody of yours did this, somebody else can change your DNS or your web server.`,
    });
}

async function countFailure(db: Db, claim: Claim, failures: number, reason: string): Promise<void> {
    const { claimId, registrable, workspaceId, token } = claim;
    const isLost = failures >= MAX_FAILURES;
    await recordClaimAct(db, claim, isLost ? 'claim.lost' : 'claim.recheck_failed', { failures, reason });
    if (isLost) {
        const expires_at = fromNow(db, LASTS);
        await updateClaim(db, claimId, { status: 'failed', reason, method: null, failures: 0, proven_at: null, expires_at });
        await updateOwnership(db, registrable, workspaceId);
    } else {
        await updateClaim(db, claimId, { failures, reason, due_at: fromNow(db, '1 days') });
    }
    const what = isLost
        ? 'That was the third time in a row: the domain counts as unproven. Your workspace still maintains it.'
        : `It is looked up again tomorrow; the domain counts as unproven after ${MAX_FAILURES} failures in a row, and this was number ${failures}.`;
    await notifyOwners(db, {
        workspaceId,
        domain: registrable,
        subject: isLost ? `${registrable} is no longer proved as yours` : `The proof of ${registrable} was not found`,
        line: `The proof that ${registrable} belongs to your workspace was not found: ${reason} ${what}

Put it back as the TXT record ${proofName(registrable)} or as a line of ${proofUrl(registrable)}: ${proofLine(token)}`,
    });
}

async function recordClaimAct(db: Db, { claimId, registrable, workspaceId }: Claim, action: Act, details: JsonObject): Promise<void> {
    const target = registrable;
    await recordAct(db, { actor: 'system', workspaceId, action, target, details: { claim_id: claimId, ...details } });
}

/** A maintainer is an owner while one of its claims is proven. Call it after every change of claims. */
export async function updateOwnership(db: Db, registrable: string, workspaceId: string): Promise<void> {
    const ofOwner = { registrable, workspace_id: workspaceId };
    const proven = db('claims').where(ofOwner).where({ status: 'proven' });
    await db('maintainers')
        .where(ofOwner)
        .update({ proven_at: proven.min('proven_at') });
}

async function updateClaim(db: Db, claimId: string, columns: Record<string, unknown>): Promise<void> {
    await db('claims').where({ id: claimId }).update(columns);
}
