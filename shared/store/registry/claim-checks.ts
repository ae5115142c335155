import type { Act } from '../../domain/accounts/acts.ts';
import { type ProofMethod, proofLine, proofName, proofUrl } from '../../domain/site/proof.ts';
import type { JsonObject } from '../../domain/types.ts';
import type { Db } from '../../platform/db.ts';
import { recordAct } from '../accounts/workspace-audit.ts';
import { tellOwners } from '../accounts/workspace-news.ts';
import { type Claim, type ClaimColumns, settleOwner, toClaim } from './claims.ts';
import { lockRegistrable } from './domain-lock.ts';
import { addMaintainer } from './maintainers.ts';
import { dropRemoval } from './removals.ts';

/** `undecided`: the check had no result, for example because the file was unreadable. */
export type ProofFound = { result: 'proven'; method: ProofMethod } | { result: 'failed' | 'undecided'; reason: string };

const RECHECK_DAYS = 30;
/** A failed proof is checked again this many times, a day apart, before the claim is lost. */
const MOST_FAILURES = 3;

/**
 * Records the result of a check. The first proof makes the workspace an owner and a maintainer, and schedules checks of the domain's other
 * proofs. The third failure in a row ends a proof.
 */
export async function endCheck(db: Db, claimId: string, found: ProofFound): Promise<void> {
    await db.transaction(async (trx) => {
        const { rows: named } = await trx.raw<{ rows: { registrable: string }[] }>('select registrable from claims where id = ?', [
            claimId,
        ]);
        if (named[0] === undefined) return;
        // Locks the domain first, as every other change of it does.
        await lockRegistrable(trx, named[0].registrable);
        const { rows } = await trx.raw<{ rows: (ClaimColumns & { failures: number })[] }>('select * from claims where id = ? for update', [
            claimId,
        ]);
        const row = rows[0];
        if (row === undefined) return;
        await trx.raw('update claims set began_at = null, due_at = null, checks = checks + 1, checked_at = app_now() where id = ?', [
            claimId,
        ]);
        const claim = toClaim(row);
        if (found.result === 'proven') await prove(trx, claim, found.method);
        else if (claim.status !== 'proven')
            await trx.raw("update claims set status = 'failed', reason = ? where id = ?", [found.reason, claimId]);
        else if (found.result === 'undecided') await lookAgain(trx, claimId, 1);
        else await countFailure(trx, claim, row.failures + 1, found.reason);
    });
}

async function prove(db: Db, claim: Claim, method: ProofMethod): Promise<void> {
    const { claimId, registrable, workspaceId, status } = claim;
    await db.raw(
        `update claims set status = 'proven', reason = null, method = ?, failures = 0, proven_at = coalesce(proven_at, app_now())
         where id = ?`,
        [method, claimId],
    );
    await lookAgain(db, claimId, RECHECK_DAYS);
    if (status === 'proven') return;
    await record(db, claim, 'claim.proved', { method });
    await addMaintainer(db, registrable, workspaceId);
    await settleOwner(db, registrable, workspaceId);
    // Only operators remove a proved owner.
    await dropRemoval(db, { registrable, workspaceId, reason: 'the workspace proved that the domain is its own', actor: 'system' });
    await db.raw("update claims set due_at = app_now() where registrable = ? and status = 'proven' and workspace_id <> ?", [
        registrable,
        workspaceId,
    ]);
    await tellOwners(db, {
        workspaceId,
        domain: registrable,
        subject: `Your workspace is proved as the owner of ${registrable}`,
        line: `A claim on ${registrable} was proved ${method === 'dns' ? 'by DNS' : 'by a file'}. Your workspace is now its owner here: it is told of every version, and decides who maintains it and what may be called.

Leave the record or the file where it is: it is looked up again every month. If nobody of yours did this, somebody else can change your DNS or your web server.`,
    });
}

async function countFailure(db: Db, claim: Claim, failures: number, reason: string): Promise<void> {
    const { claimId, registrable, workspaceId, token } = claim;
    const isLost = failures >= MOST_FAILURES;
    await record(db, claim, isLost ? 'claim.lost' : 'claim.recheck_failed', { failures, reason });
    if (isLost) {
        await db.raw(
            `update claims set status = 'failed', reason = ?, method = null, failures = 0, proven_at = null,
                    expires_at = app_now() + interval '7 days' where id = ?`,
            [reason, claimId],
        );
        await settleOwner(db, registrable, workspaceId);
    } else {
        await db.raw('update claims set failures = ?, reason = ? where id = ?', [failures, reason, claimId]);
        await lookAgain(db, claimId, 1);
    }
    const what = isLost
        ? 'That was the third time in a row: the domain counts as unproven. Your workspace still maintains it.'
        : `It is looked up again tomorrow; the domain counts as unproven after ${MOST_FAILURES} failures in a row, and this was number ${failures}.`;
    await tellOwners(db, {
        workspaceId,
        domain: registrable,
        subject: isLost ? `${registrable} is no longer proved as yours` : `The proof of ${registrable} was not found`,
        line: `The proof that ${registrable} belongs to your workspace was not found: ${reason} ${what}

Put it back as the TXT record ${proofName(registrable)} or as a line of ${proofUrl(registrable)}: ${proofLine(token)}`,
    });
}

async function record(db: Db, { claimId, registrable, workspaceId }: Claim, action: Act, details: JsonObject): Promise<void> {
    const target = registrable;
    await recordAct(db, { actor: 'system', workspaceId, action, target, details: { claim_id: claimId, ...details } });
}

async function lookAgain(db: Db, claimId: string, days: number): Promise<void> {
    await db.raw("update claims set due_at = app_now() + ? * interval '1 day' where id = ?", [days, claimId]);
}
