import type { PackageChange } from '../../domain/package/diff.ts';
import type { Db } from '../../platform/db.ts';
import { recordAct } from '../accounts/workspace-audit.ts';
import { notifyOwners } from '../accounts/workspace-news.ts';
import { awaitCalls, earnOrOweContribution } from '../credits/bonuses.ts';
import { type NewEvent, recordEvent } from '../events/events.ts';
import { ownersOf } from './ownership.ts';
import { storePaces } from './paces.ts';
import {
    addVersion,
    checkPublishingLimits,
    type LatestPublication,
    lockDomain,
    type Publication,
    type Published,
    type PublishOrder,
    type PublishRefusal,
    readPublication,
    workspaceOf,
} from './publication.ts';
import { fulfil } from './schema-requests.ts';
import { findLookAlikes, storeSkeleton } from './site-warnings.ts';
import { scheduleRun } from './verification.ts';

/** Queues work on the database. @param locks whether the work locks the domain */
type InTurn = <Result>(locks: boolean, work: () => Promise<Result>) => Promise<Result>;

/** Number of times that a package is compared without a lock. After that it is compared once more with the domain locked. */
const COMPARED_FREELY = 3;

/**
 * Publishes a package as the next version of its site, in one transaction (docs/api.md, "The registry"). Publishes on one registrable domain
 * are serialised, so that versions have no gaps and only one workspace becomes the first maintainer. The package is compared with the
 * latest version before the transaction, because comparing two large packages takes long. If another version was published meanwhile, it is
 * compared again.
 */
export async function publishPackage(db: Db, order: PublishOrder, inTurn: InTurn = (_locks, work) => work()): Promise<Published> {
    for (let tries = 1; ; tries++) {
        const before = await inTurn(false, () => readPublication(db, order, { withDocument: true }));
        const known = check(before, order);
        if (known !== undefined) return known;
        const compared = await compare(before, order, false);
        if (order.isDryRun === true) return inTurn(false, () => previewPublish(db, order, { before, compared }));
        const isLast = tries > COMPARED_FREELY;
        const published = await inTurn(true, () => db.transaction((trx) => store(trx, order, compared, isLast)));
        if (published !== 'changed') return published;
    }
}

/** The changes of a package, and the version on which they are based; undefined for the first version. */
interface Compared extends PackageChange {
    of: string | undefined;
}

async function compare({ latest }: Publication, { content }: PublishOrder, isLocked: boolean): Promise<Compared> {
    return { ...(await content.compare(latest?.document, isLocked)), of: latest?.versionHash };
}

/** The answer that publishing would give. Nothing is stored. */
async function previewPublish(db: Db, order: PublishOrder, at: { before: Publication; compared: Compared }): Promise<Published> {
    return { ...(await nextVersion(db, order, at)), isCreated: false, publishedAt: null, ...NO_BONUS };
}

/** @returns `changed` if the latest version has changed since the comparison, unless this is the last attempt */
async function store(db: Db, order: PublishOrder, seen: Compared, isLast: boolean): Promise<Published | 'changed'> {
    await lockDomain(db, order.registrable, order.publisher?.accountId);
    const before = await readPublication(db, order, { withDocument: isLast });
    const known = check(before, order);
    if (known !== undefined) return known;
    const isSame = before.latest?.versionHash === seen.of;
    if (!isSame && !isLast) return 'changed';
    const compared = isSame ? seen : await compare(before, order, true);
    const next = await nextVersion(db, order, { before, compared });

    const full = await checkPublishingLimits(db, order.publisher, before.versions === 0);
    if (full !== undefined) return full;
    const { versionId, publishedAt } = await addVersion(db, order, next);
    if (before.hasPaces || order.document.pace !== undefined) await storePaces(db, order.registrable);
    await scheduleRun(db, order.document.site);
    if (before.isNewDomain) await storeSkeleton(db, order.registrable);
    await fulfil(db, order.document.site, versionId);
    await recordVersion(db, order, next.version, next.change);
    await recordEvent(db, publishedEvent(order, { ...next, publishedAt }));
    await notifyOwnersOfVersion(db, order, next.version);
    const bonus = await earnBonus(db, order, before);
    await awaitCalls(db, order.registrable, { site: order.document.site, isVerifiable: order.content.isVerifiable });
    return { ...next, isCreated: true, versionId, publishedAt, ...bonus };
}

async function nextVersion(db: Db, order: PublishOrder, { before, compared }: { before: Publication; compared: Compared }) {
    const { change, changes } = compared;
    const lookAlikes = before.isNewDomain ? await findLookAlikes(db, order.registrable, workspaceOf(order)) : [];
    const { versionHash } = order;
    return { ok: true, version: before.versions + 1, versionHash, change, changes, verifiedAt: null, lookAlikes } as const;
}

/** The answer of a publish that creates no new version; undefined if it creates one. */
function check(before: Publication, order: PublishOrder): Published | undefined {
    const refusal = checkRight(before, order);
    if (refusal !== undefined) return refusal;
    // This check precedes If-Match, because a publisher that lost the answer sends the same package again.
    if (before.latest?.versionHash === order.versionHash) return toUnchanged(before.latest);
    return checkMatch(before, order);
}

/** Mails the proven owners of a domain about each version. */
async function notifyOwnersOfVersion(db: Db, { document: { site }, registrable }: PublishOrder, version: number): Promise<void> {
    for (const workspaceId of await ownersOf(db, registrable)) {
        const line = `Version ${version} of ${site} was published.`;
        await notifyOwners(db, { workspaceId, domain: registrable, subject: `New versions on ${registrable}`, line });
    }
}

function toUnchanged({ document: _document, ...latest }: LatestPublication): Published {
    return { ok: true, isCreated: false, ...latest, ...NO_BONUS, lookAlikes: [] };
}

function checkRight(before: Publication, { needsProof: name }: PublishOrder): PublishRefusal | undefined {
    const { isBlocked, isMaintained, isMaintainer, isOperators, isTrusted } = before;
    if (isBlocked) return { ok: false, code: 'SITE_BLOCKED' };
    if (isMaintained && !isMaintainer) return { ok: false, code: 'NOT_MAINTAINER', isOperators };
    if (name !== undefined && !isTrusted) return { ok: false, code: 'CLAIM_REQUIRED', name };
    return undefined;
}

function checkMatch(before: Publication, { ifMatch }: PublishOrder): PublishRefusal | undefined {
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

function publishedEvent(
    { document: { site }, versionHash }: PublishOrder,
    { version, change, publishedAt }: { version: number; change: string; publishedAt: Date },
): NewEvent {
    const data = { site, version, version_hash: versionHash, change, published_at: publishedAt.toISOString() };
    return { type: 'schema.published', site, data };
}

const NO_BONUS = { creditsEarned: 0, isBonusUsedUp: false } as const;

/** Only the publisher of the domain's very first version can earn the bonus. The account is locked from here until the commit. */
async function earnBonus(db: Db, { publisher, registrable, content }: PublishOrder, before: Publication) {
    if (publisher === undefined || !before.isNewDomain) return NO_BONUS;
    const earned = await earnOrOweContribution(db, publisher, registrable);
    if (earned === 'owed') return { ...NO_BONUS, bonusOwed: content.isVerifiable ? 'verification' : 'call' } as const;
    return { ...NO_BONUS, creditsEarned: earned, isBonusUsedUp: earned === 0 };
}
