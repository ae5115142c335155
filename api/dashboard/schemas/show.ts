import { findHistory, YANK_REASONS } from '../../../shared/store/registry/history.ts';
import { pageOfMaintainers } from '../../../shared/store/registry/maintainers.ts';
import { isOwner } from '../../../shared/store/registry/ownership.ts';
import { reportsOf } from '../../../shared/store/registry/problem-reports.ts';
import { removalOf } from '../../../shared/store/registry/removals.ts';
import { ownSites } from '../../../shared/store/registry/sites.ts';
import { readState } from '../../../shared/store/registry/verification.ts';
import { keepTyped, type Problems } from '../fields.ts';
import { MANAGERS, type Shown, type WorkspaceVisit } from '../page.ts';
import { findOwnSite } from './own-site.ts';

const SITES = 50;
const VERSIONS = 30;
const MAINTAINERS = 100;
const REPORTS = 20;

const REASON_LABELS: Readonly<Record<(typeof YANK_REASONS)[number], string>> = {
    broken: 'Broken (still callable if pinned)',
    security: 'Security (never callable again)',
    legal: 'Legal (neither callable nor readable)',
};

/** GET /dashboard/schemas: the sites that this workspace maintains, by name. */
export async function listOwn({ app, query, workspace }: WorkspaceVisit): Promise<Shown> {
    const sites = await ownSites(app.db, workspace.workspaceId, { limit: SITES + 1, after: query('after') });
    const shown = sites.slice(0, SITES);
    return {
        view: 'schemas/list',
        title: 'Schemas',
        model: { sites: shown, next: sites.length > SITES ? shown.at(-1)?.site : undefined, isFirst: query('after') === undefined },
    };
}

/** GET /dashboard/schemas/{site}: versions, verification, maintainers and actions. */
export async function showOwn(visit: WorkspaceVisit, problems: Problems = {}, about?: string): Promise<Shown> {
    const { app, form, fields, query, workspace } = visit;
    const { site, registrable, siteState } = await findOwnSite(visit);
    const before = /^[1-9]\d{0,8}$/.exec(query('before') ?? '')?.[0];
    const [{ versions, total }, maintained, own, isProvenOwner, state, reported] = await Promise.all([
        findHistory(app.db, site, { limit: VERSIONS, before: before === undefined ? undefined : Number(before) }),
        pageOfMaintainers(app.db, registrable, { limit: MAINTAINERS, after: undefined }),
        removalOf(app.db, registrable, workspace.workspaceId),
        isOwner(app.db, registrable, workspace.workspaceId),
        readState(app.db, site),
        reportsOf(app.db, site, { limit: REPORTS }),
    ]);
    const lowest = versions.at(-1)?.version ?? 1;
    return {
        view: 'schemas/one',
        title: site,
        model: {
            site,
            registrable,
            latest: siteState.version?.version,
            isBlocked: siteState.isBlocked,
            versions: versions.map((version) => ({
                ...version,
                isFinal: version.isYankedByOperator && version.yankReason !== 'broken',
            })),
            total,
            next: lowest > 1 ? lowest : undefined,
            maintainers: maintained.maintainers,
            maintainerCount: maintained.total,
            ownId: workspace.workspaceId,
            /** When this workspace will be removed, if a removal is pending. Until then it cannot change maintainers. */
            ownRemovalAt: own?.takesEffectAt,
            /** Whether the workspace is the proved owner. Its removals of others take effect at once. */
            isProvenOwner,
            /** Whether this person may yank versions and change maintainers. */
            isManager: MANAGERS.includes(workspace.role),
            state,
            /** Callers' reports from the last 90 days, newest first. */
            reports: reported.rows,
            reasons: YANK_REASONS.map((value) => ({ value, label: REASON_LABELS[value] })),
            problems,
            /** The form to which the problems and typed values belong. */
            about,
            typed: form?.endsWith('/maintainers') || form?.endsWith('/yank') ? keepTyped(fields) : {},
            /** The version whose reason for yanking was chosen. */
            yankTyped: /\/versions\/(\d+)\/yank$/.exec(form ?? '')?.[1],
        },
    };
}
