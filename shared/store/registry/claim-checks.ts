import type { Act } from '../../domain/accounts/acts.ts';
import { type ProofMethod, proofLine, proofName, proofUrl } from '../../domain/site/proof.ts';
import type { JsonObject } from '../../domain/types.ts';
import { type Db, fromNow, now, orNow } from '../../platform/db.ts';
import { recordAct } from '../accounts/workspace-audit.ts';
import { notifyOwners } from '../accounts/workspace-news.ts';
import { CLAIM, CLAIM_LASTS, type Claim, updateClaim, updateOwnership } from './claims.ts';
import { addMaintainer } from './maintainers.ts';
import { dropRemoval } from './removals.ts';
import { lockRegistrable } from './sites.ts';

export interface DueCheck extends Pick<Claim, 'claimId' | 'registrable' | 'token'> {
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

/** The first proof makes an owner and maintainer, and makes other proofs of the domain due. The third failure in a row ends a proof. */
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
        line: `A claim on ${registrable} was proved ${method === 'dns' ? 'by DNS' : 'by a file'}. Your workspace is now its owner here: it is notified of every version, and decides who maintains it and what may be called.

Leave the record or the file where it is: it is looked up again every month. If nobody of yours did this, somebody else can change your DNS or your web server.`,
    });
}

async function countFailure(db: Db, claim: Claim, failures: number, reason: string): Promise<void> {
    const { claimId, registrable, workspaceId, token } = claim;
    const isLost = failures >= MAX_FAILURES;
    await recordClaimAct(db, claim, isLost ? 'claim.lost' : 'claim.recheck_failed', { failures, reason });
    if (isLost) {
        const expires_at = fromNow(db, CLAIM_LASTS);
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
