import type { App } from '../../shared/app.ts';
import type { PublishAnswer } from '../../shared/contracts/schemas.ts';
import { offDomainAuthHosts } from '../../shared/domain/package/auth.ts';
import type { PackageContent } from '../../shared/domain/package/content.ts';
import { holdsName } from '../../shared/domain/site/name-list.ts';
import { notMaintainer } from '../../shared/domain/site/read-site.ts';
import { registrableDomain } from '../../shared/domain/site/site-name.ts';
import type { JsonObject, PackageAuth } from '../../shared/domain/types.ts';
import { userContentHosts } from '../../shared/platform/reserved-names.ts';
import { type Detail, invalidField, Refusal } from '../../shared/refusals.ts';
import type { PublishOrder, PublishRefusal } from '../../shared/store/registry/publication.ts';
import { publishPackage } from '../../shared/store/registry/publish.ts';
import type { LookAlike } from '../../shared/store/registry/site-warnings.ts';
import { findAuthHosts } from '../../shared/store/registry/sites.ts';
import { inAccountTurn, inDomainTurn } from '../admission/writes.ts';
import { byCall } from '../auth/caller.ts';
import { checkSite } from '../auth/key-scopes.ts';
import { emptyBody } from '../bodies/json-body.ts';
import type { Call, Reply } from '../call.ts';
import type { CheckedPackage } from '../packages/tasks.ts';
import { checkInTurn, compareInTurn, guardChecks } from './guard-checks.ts';

type PublishCall = Call<object, { dry_run?: boolean }, JsonObject>;

/** POST /v1/schemas (docs/api.md, "The registry"). The packages of an account are handled one after another. */
export function publishSchema(call: PublishCall): Promise<Reply<PublishAnswer>> {
    return inAccountTurn(call, () => publish(call));
}

async function publish(call: PublishCall): Promise<Reply<PublishAnswer>> {
    const { app, bodyBytes, query, caller } = call;
    const ifMatch = readIfMatch(call.header('if-match'));
    await guardChecks(app, caller);
    if (bodyBytes.length === 0) throw emptyBody();
    const found = await checkInTurn(call, bodyBytes);
    if (!found.ok) throw toBodyRefusal(found);
    const { document, warnings } = found;
    // The site is known only after a thread has parsed the body.
    const checkKeysSites = (by: PublishCall) => checkSite(by.caller.scopes.listed.sites, document.site);
    checkKeysSites(call);
    const registrable = registrableDomain(document.site);
    if (registrable === undefined) throw new Error('a checked package has a registrable domain');

    await checkAuthHosts(app, document.auth ?? [], registrable);
    const order: PublishOrder = {
        document,
        content: contentIn(call, found),
        versionHash: found.hash,
        needsProof: reservedName(app, document.site, found.hosts),
        registrable,
        publisher: {
            workspaceId: caller.workspaceId,
            userId: caller.userId,
            accountId: caller.accountId,
            isLimited: caller.plan !== 'enterprise',
            by: byCall(call),
        },
        ifMatch,
        isDryRun: query.dry_run ?? false,
    };
    const published = await publishPackage(app.db, order, (locks, work) =>
        inDomainTurn(call, locks ? registrable : undefined, (now) => {
            checkKeysSites(now);
            return work();
        }),
    );
    if (!published.ok) {
        if (published.code === 'RATE_LIMITED') app.metrics.rateLimited.inc({ plan: caller.plan, window: published.window });
        throw toRefusal(published, registrable);
    }
    return {
        status: published.isCreated ? 201 : 200,
        headers: published.isCreated ? { location: `/v1/schemas/${document.site}/package?version=${published.version}` } : {},
        answer: {
            site: document.site,
            version: published.version,
            version_hash: published.versionHash,
            created: published.isCreated,
            change: published.change,
            changes: published.changes,
            published_at: published.publishedAt?.toISOString() ?? null,
            verified: published.verifiedAt !== null,
            warnings: [...warnings, ...lookAlikeWarnings(published), ...bonusWarnings(published, registrable)],
            credits_earned: published.creditsEarned,
        },
    };
}

/** OAuth URLs must be on the package's domain, or on hosts allowed by an operator (`site set --auth-host`). @throws Refusal SCHEMA_INVALID */
async function checkAuthHosts({ db }: App, auth: readonly PackageAuth[], registrable: string): Promise<void> {
    const foreign = offDomainAuthHosts(auth, registrable);
    if (foreign.length === 0) return;
    const allowed = await findAuthHosts(db, registrable);
    const details = foreign
        .filter((host) => !allowed.includes(host))
        .map((host): Detail => {
            const message = `${host} is not on ${registrable}. An operator can allow it as an OAuth host of this domain.`;
            return { path: '/auth', code: 'HOST_NOT_IN_SITE', message };
        });
    if (details.length > 0) throw new Refusal('SCHEMA_INVALID', undefined, { details });
}

/** The name in a package that only a proved owner or an operator may publish: a reserved domain or a host with user content. */
function reservedName({ config }: App, site: string, hosts: readonly string[]): string | undefined {
    if (holdsName(config.reservedDomains, site)) return site;
    return hosts.find((host) => holdsName(userContentHosts(), host));
}

/** The content of a checked package. It compares itself with another version in a thread. */
function contentIn(call: PublishCall, found: Extract<CheckedPackage, { ok: true }>): PackageContent {
    const { text, summary, hosts, isVerifiable } = found;
    const compare: PackageContent['compare'] = (before, isUrgent) => compareInTurn(call, { before, after: text }, { isUrgent });
    return { text, summary, hosts, isVerifiable, compare };
}

function toBodyRefusal(found: Extract<CheckedPackage, { ok: false }>): Refusal {
    if (found.fault === 'INVALID_JSON') return new Refusal('INVALID_JSON');
    if (found.fault === 'SCHEMA_INVALID') return new Refusal('SCHEMA_INVALID', undefined, { details: found.problems });
    return invalidField('', 'The body must be a JSON object.', 'INVALID_TYPE');
}

/** Reads one strong entity tag, or `*` for any version. Undefined if there is no header. A tag that is not a hash matches no version. */
function readIfMatch(header: string | undefined): string | undefined {
    if (header === undefined) return undefined;
    const tag = header.trim();
    if (tag === '*' || ENTITY_TAG.test(tag)) return /^"([0-9a-f]{64})"$/.exec(tag)?.[1] ?? tag;
    const message = 'If-Match takes the hash of one version in double quotes.';
    throw new Refusal('VALIDATION_ERROR', message, { details: [{ path: '/If-Match', code: 'INVALID_VALUE', message }] });
}

const ENTITY_TAG = /^"[!#-~]+"$/;

function toRefusal(refusal: PublishRefusal, registrable: string): Refusal {
    switch (refusal.code) {
        case 'VERSION_CONFLICT':
            return new Refusal('VERSION_CONFLICT', `The latest version is ${refusal.latestHash ?? 'none'}. Review it, then publish again.`);
        case 'NOT_MAINTAINER':
            return refusal.isOperators
                ? new Refusal(
                      'NOT_MAINTAINER',
                      'Routebook maintains this domain itself. Ask for changes with POST /v1/schema-requests. An operator can add your workspace with "maintainer add".',
                  )
                : notMaintainer(registrable);
        case 'CLAIM_REQUIRED':
            return new Refusal(
                'CLAIM_REQUIRED',
                `${refusal.name} needs proof of ownership. Claim ${registrable} with POST /v1/sites/${registrable}/claims and publish again, or ask the operator of this service to add your workspace.`,
            );
        case 'RATE_LIMITED': {
            return new Refusal('RATE_LIMITED', `This account has reached its limit of ${PUBLISHING_LIMITS[refusal.window]}.`, {
                retryAfter: refusal.retryAfter,
            });
        }
        default:
            return new Refusal(refusal.code);
    }
}

const PUBLISHING_LIMITS = {
    versions_per_hour: '60 new versions an hour',
    sites_per_day: '20 new sites a day',
    bytes_per_day: '64 MiB of packages a day, compressed',
} as const;

function lookAlikeWarnings({ lookAlikes }: { lookAlikes: readonly LookAlike[] }): PublishAnswer['warnings'] {
    return lookAlikes.map(({ registrable, by }) => ({
        code: 'LOOK_ALIKE_SITE',
        path: '/site',
        message: `This name differs from ${registrable}, which is registered here, by ${by}. Callers may confuse the two.`,
    }));
}

const OWED = {
    verification: 'after a verification run passes',
    call: 'after the first charged call of another account, since no endpoint of this package can be verified',
} as const;

function bonusWarnings(
    { isBonusUsedUp, bonusOwed }: { isBonusUsedUp: boolean; bonusOwed?: keyof typeof OWED },
    registrable: string,
): PublishAnswer['warnings'] {
    if (bonusOwed !== undefined) {
        const message = `No credits yet for ${registrable}: they are paid ${OWED[bonusOwed]}. Publishing earns at once for an account's first two domains.`;
        return [{ code: 'BONUS_OWED', path: '', message }];
    }
    if (!isBonusUsedUp) return [];
    return [{ code: 'BONUS_USED_UP', path: '', message: `No credits for ${registrable}: the bonuses of this month are used up.` }];
}
