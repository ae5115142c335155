import type { Db } from '../db.ts';
import type { PackageContent, PackageHead } from '../domain/package-content.ts';
import type { PackageChanges } from '../domain/package-diff.ts';
import { ownersOf } from './claims.ts';
import { earnOrOweContribution } from './credits.ts';
import { findLookAlikes, type LookAlike, rememberName } from './look-alikes.ts';
import { addVersion, type LatestPublication, lockDomain, type Publication, readPublication, workspaceOf } from './publication.ts';
import { guardPublishing } from './publishing-guard.ts';
import { fulfil } from './schema-requests.ts';
import { scheduleRun } from './verification.ts';
import { type By, recordAct } from './workspace-audit.ts';
import { tellOwners } from './workspace-news.ts';

/** Who publishes, and who pays for that workspace: the guard and the bonus belong to the account. */
export interface Publisher {
    workspaceId: string;
    userId: string;
    accountId: string;
    /** False for enterprise accounts. */
    isGuarded: boolean;
    /** Who is named in the audit of the workspace; absent: an operator's tool. */
    by?: By;
}

export interface PublishOrder {
    /** Checked by the package rules; `site` normalised. */
    document: PackageHead;
    /** The whole of it. It is kept exactly like this. */
    content: PackageContent;
    versionHash: string;
    registrable: string;
    /** Undefined for a package that the installation loads: no guard counts it and it earns nothing. */
    publisher: Publisher | undefined;
    /** Domain or host of it that needs the domain's proof or an operator's word (`reservedName`); undefined where none does. */
    needsProof?: string | undefined;
    /** For a package that the installation loads: the workspace that it belongs to. Routebook's by default. */
    loadedFor?: string | undefined;
    /** The hash in If-Match, or `*` for any version. */
    ifMatch?: string | undefined;
    /** Judges everything but the guard, and stores nothing. */
    isDryRun?: boolean;
}

export type PublishRefusal =
    | { ok: false; code: 'SITE_BLOCKED' }
    /** `isOperators`: Routebook itself is among the maintainers. */
    | { ok: false; code: 'NOT_MAINTAINER'; isOperators: boolean }
    /** `name`: what needs proof. */
    | { ok: false; code: 'CLAIM_REQUIRED'; name: string }
    /** `latestHash` null: there is no version. */
    | { ok: false; code: 'VERSION_CONFLICT'; latestHash: string | null }
    /** `retryAfter` in whole seconds. */
    | { ok: false; code: 'RATE_LIMITED'; window: 'versions_per_hour' | 'sites_per_day'; retryAfter: number };

export type Published =
    | PublishRefusal
    | {
          ok: true;
          /** False where the content equals the latest version, and for a dry run. */
          isCreated: boolean;
          /** Absent for a dry run of something new. */
          versionId?: number;
          version: number;
          versionHash: string;
          change: 'major' | 'minor' | 'patch';
          changes: PackageChanges;
          /** null for a dry run of something new. */
          publishedAt: Date | null;
          verifiedAt: Date | null;
          creditsEarned: number;
          /** The domain is new, but the account's bonuses of this month are used up. */
          isBonusUsedUp: boolean;
          /** The domain is new, and its bonus is paid when a verification run passed. */
          isBonusOwed: boolean;
          /** Registered domains that this one may be taken for; looked for while nothing was published on it yet. */
          lookAlikes: LookAlike[];
      };

/**
 * Publishes a package as the next version of its site, in one transaction (CONTRACT 3.2, `POST /v1/schemas`). Publishers of
 * one registrable domain follow one another, so that versions have no gaps and one workspace becomes its maintainer.
 */
export async function publish(db: Db, order: PublishOrder): Promise<Published> {
    return db.transaction(async (trx) => {
        if (order.isDryRun !== true) await lockDomain(trx, order.registrable, order.publisher?.accountId);
        const before = await readPublication(trx, order);
        const refusal = judgeRight(before, order);
        if (refusal !== undefined) return refusal;
        // Before If-Match: a publisher who lost the answer sends the same again, and there is nothing left to lose.
        if (before.latest?.versionHash === order.versionHash) return unchanged(before.latest);
        const conflict = judgeMatch(before, order);
        if (conflict !== undefined) return conflict;

        const { change, changes } = await order.content.compare(before.latest?.document);
        const version = before.versions + 1;
        const lookAlikes = before.isNewDomain ? await findLookAlikes(trx, order.registrable, workspaceOf(order)) : [];
        const next = { ok: true, version, versionHash: order.versionHash, change, changes, verifiedAt: null, lookAlikes } as const;
        if (order.isDryRun === true) return { ...next, isCreated: false, publishedAt: null, ...NO_BONUS };

        const full = await guardPublishing(trx, order.publisher, before.versions === 0);
        if (full !== undefined) return full;
        const { versionId, publishedAt } = await addVersion(trx, order, { version, change, changes });
        await scheduleRun(trx, order.document.site);
        if (before.isNewDomain) await rememberName(trx, order.registrable);
        await fulfil(trx, order.document.site, versionId);
        await recordVersion(trx, order, version, change);
        await tellOwnersOfVersion(trx, order, version);
        const bonus = await earnBonus(trx, order, before);
        return { ...next, isCreated: true, versionId, publishedAt, ...bonus };
    });
}

/** The proved owners of a domain learn of every version on it. */
async function tellOwnersOfVersion(db: Db, { document: { site }, registrable }: PublishOrder, version: number): Promise<void> {
    for (const workspaceId of await ownersOf(db, registrable)) {
        const line = `Version ${version} of ${site} was published.`;
        await tellOwners(db, { workspaceId, topic: `versions ${registrable}`, subject: `New versions on ${registrable}`, line });
    }
}

function unchanged({ document: _document, ...latest }: LatestPublication): Published {
    return { ok: true, isCreated: false, ...latest, ...NO_BONUS, lookAlikes: [] };
}

function judgeRight(before: Publication, { needsProof: name }: PublishOrder): PublishRefusal | undefined {
    const { isBlocked, isMaintained, isMaintainer, isOperators, isTrusted } = before;
    if (isBlocked) return { ok: false, code: 'SITE_BLOCKED' };
    if (isMaintained && !isMaintainer) return { ok: false, code: 'NOT_MAINTAINER', isOperators };
    if (name !== undefined && !isTrusted) return { ok: false, code: 'CLAIM_REQUIRED', name };
    return undefined;
}

function judgeMatch(before: Publication, { ifMatch }: PublishOrder): PublishRefusal | undefined {
    const latestHash = before.latest?.versionHash ?? null;
    const isMatch = ifMatch === undefined || (ifMatch === '*' ? latestHash !== null : ifMatch === latestHash);
    if (!isMatch) return { ok: false, code: 'VERSION_CONFLICT', latestHash };
    return undefined;
}

async function recordVersion(db: Db, { publisher, document, versionHash }: PublishOrder, version: number, change: string): Promise<void> {
    if (publisher === undefined) return;
    const { workspaceId, by = { actor: 'operator' } } = publisher;
    const details = { change, version_hash: versionHash };
    await recordAct(db, { ...by, workspaceId, action: 'version.published', target: `${document.site}@${version}`, details });
}

const NO_BONUS = { creditsEarned: 0, isBonusUsedUp: false, isBonusOwed: false } as const;

/** Only whoever brings the domain's very first version can earn; the account is locked from here to the commit. */
async function earnBonus(db: Db, { publisher, registrable }: PublishOrder, before: Publication) {
    if (publisher === undefined || !before.isNewDomain) return NO_BONUS;
    const earned = await earnOrOweContribution(db, publisher.accountId, registrable);
    if (earned === 'owed') return { ...NO_BONUS, isBonusOwed: true };
    return { ...NO_BONUS, creditsEarned: earned, isBonusUsedUp: earned === 0 };
}
