import { PACKAGE_BYTES } from '../../../shared/contracts/body-bytes.ts';
import { YANK_REASONS, type YankReason } from '../../../shared/domain/package/registry-choices.ts';
import { normaliseSite } from '../../../shared/domain/site/site-name.ts';
import { isId } from '../../../shared/domain/text/ids.ts';
import { readStopToken } from '../../../shared/mail/news.ts';
import { cutPage } from '../../../shared/platform/db.ts';
import { actorOfUser, type By } from '../../../shared/store/accounts/workspace-audit.ts';
import { findHistory } from '../../../shared/store/registry/history.ts';
import { isMaintainer, pageOfMaintainers } from '../../../shared/store/registry/maintainers.ts';
import { isOwner } from '../../../shared/store/registry/ownership.ts';
import { reportsOf } from '../../../shared/store/registry/problem-reports.ts';
import { findRemoval, type Removal, removalOf, stopRemoval } from '../../../shared/store/registry/removals.ts';
import { ownSites } from '../../../shared/store/registry/sites.ts';
import { readState } from '../../../shared/store/registry/verification.ts';
import { keepTyped, line, oneOf, type Problems, readFields } from '../fields.ts';
import type { ApiCall } from '../internal-api.ts';
import type { Notice } from '../notices.ts';
import {
    type Answer,
    MANAGERS,
    openPage,
    pageNotFound,
    type Sent,
    type Shown,
    USERS,
    type Visit,
    type WorkspaceVisit,
    words,
    workspacePage,
} from '../page.ts';
import { change } from '../read-api.ts';
import type { FoundSite } from '../registry/find-site.ts';
import { publishForm, sendPackage } from './publish.ts';

/** The form's encoding may need three bytes for each byte of a package. */
const FORM_BYTES = 3 * PACKAGE_BYTES;

const ONE = '/dashboard/schemas/{site}';
const SCHEMAS = ['/dashboard/schemas', 'Go to your schemas'] as const;
/** The form for maintainers, to which problems belong. */
const MAINTAINERS_FORM = 'maintainers';
const CONFIRMED = { method: 'POST', audience: MANAGERS, needsRecentSignIn: true } as const;

/** Pages of a workspace's own schemas. Members who may make calls may publish. Owners and admins yank versions and change maintainers. */
export const schemaPages = [
    workspacePage({ method: 'GET', path: '/dashboard/schemas', audience: USERS, respond: listOwn }),
    workspacePage({ method: 'GET', path: '/dashboard/schemas/new', audience: USERS, respond: publishForm }),
    workspacePage({ method: 'POST', path: '/dashboard/schemas/new', audience: USERS, formBytes: FORM_BYTES, respond: sendPackage }),
    workspacePage({ method: 'GET', path: ONE, audience: USERS, respond: (visit) => showOwn(visit) }),
    workspacePage({ method: 'GET', path: `${ONE}/verification`, audience: USERS, isPart: true, respond: showVerification }),
    workspacePage({ ...CONFIRMED, path: `${ONE}/versions/{version}/yank`, respond: yankVersion }),
    workspacePage({ ...CONFIRMED, path: `${ONE}/versions/{version}/restore`, respond: restoreVersion }),
    workspacePage({ ...CONFIRMED, path: `${ONE}/maintainers`, respond: addMaintainer }),
    workspacePage({ ...CONFIRMED, path: `${ONE}/maintainers/remove`, respond: removeMaintainer }),
    workspacePage({ ...CONFIRMED, path: `${ONE}/maintainers/stop`, respond: stopOwnRemoval }),
    openPage({ method: 'GET', path: '/maintainers/stop', worksWithoutFactor: true, respond: showStop }),
    openPage({ method: 'POST', path: '/maintainers/stop', worksWithoutFactor: true, respond: stopByLink }),
];

const SITES = 14;
const VERSIONS = 30;
const MAINTAINERS = 100;
const REPORTS = 20;

const REASON_LABELS: Readonly<Record<YankReason, string>> = {
    broken: 'Broken (still callable if pinned)',
    security: 'Security (never callable again)',
    legal: 'Legal (neither callable nor readable)',
};

/** GET /dashboard/schemas: the sites that this workspace maintains, by name. */
async function listOwn({ app, query, workspace }: WorkspaceVisit): Promise<Shown> {
    const sites = await ownSites(app.db, workspace.workspaceId, { limit: SITES + 1, after: query('after') });
    const { shown, last } = cutPage(sites, SITES);
    return {
        view: 'schemas/list',
        title: 'Schemas',
        model: { sites: shown, next: last?.site, isFirst: query('after') === undefined },
    };
}

/** The result of the last verification run. The page of the site reads it again until a run has ended. */
async function showVerification(visit: WorkspaceVisit): Promise<Shown> {
    const { site } = await findOwnSite(visit);
    return { view: 'schemas/verification', title: site, model: { site, state: await readState(visit.app.db, site) } };
}

/** GET /dashboard/schemas/{site}: versions, verification, maintainers and actions. */
async function showOwn(visit: WorkspaceVisit, problems: Problems = {}, about?: string): Promise<Shown> {
    const { app, form, fields, query, workspace } = visit;
    const { site, registrable, siteState } = await findOwnSite(visit);
    const before = /^[1-9]\d{0,8}$/.exec(query('before') ?? '')?.[0];
    const [{ rows: versions, next, total }, maintained, own, isProvenOwner, state, reported] = await Promise.all([
        findHistory(app.db, site, { limit: VERSIONS, after: before === undefined ? undefined : Number(before) }),
        pageOfMaintainers(app.db, registrable, { limit: MAINTAINERS }),
        removalOf(app.db, registrable, workspace.workspaceId),
        isOwner(app.db, registrable, workspace.workspaceId),
        readState(app.db, site),
        reportsOf(app.db, site, { limit: REPORTS }),
    ]);
    return {
        view: 'schemas/one',
        title: site,
        usesHtmx: state.endedAt === null,
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
            next,
            maintainers: maintained.rows,
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

/** POST …/versions/{version}/yank: yanks a version, so that calls no longer use it. */
async function yankVersion(visit: WorkspaceVisit): Promise<Answer> {
    const { site, path } = await readVersion(visit);
    const read = readFields(visit.fields, { reason: oneOf(YANK_REASONS) });
    if (!read.ok) return showOwn(visit, read.problems, visit.params['version']);
    return send(visit, site, { method: 'POST', path, body: read.values }, 'version-yanked');
}

/** POST …/versions/{version}/restore: allows calls to use the version again. */
async function restoreVersion(visit: WorkspaceVisit): Promise<Answer> {
    const { site, path } = await readVersion(visit);
    return send(visit, site, { method: 'DELETE', path }, 'version-restored');
}

async function readVersion(visit: WorkspaceVisit) {
    const { site } = await findOwnSite(visit);
    const version = visit.params['version'] ?? '';
    if (!/^[1-9]\d{0,8}$/.test(version)) throw pageNotFound();
    return { site, path: `/v1/schemas/${site}/versions/${version}/yank` };
}

function send(visit: WorkspaceVisit, site: string, call: ApiCall, notice: Notice): Promise<Answer> {
    const sent = { to: `/dashboard/schemas/${site}`, notice };
    return change(visit, call, sent, ({ message }) => showOwn(visit, { '': message }, visit.params['version']));
}

/** POST …/maintainers: lets another workspace publish on the domain. */
async function addMaintainer(visit: WorkspaceVisit): Promise<Answer> {
    const asked = await readMaintainer(visit);
    if ('problem' in asked) return showOwn(visit, { maintainer: asked.problem }, MAINTAINERS_FORM);
    const sent: Sent = { to: `/dashboard/schemas/${asked.site}`, notice: 'maintainer-added' };
    return change(visit, { method: 'PUT', path: asked.path }, sent, ({ message }) =>
        showOwn(visit, { maintainer: message }, MAINTAINERS_FORM),
    );
}

/** POST …/maintainers/remove: removes the own workspace at once, another one usually after 24 hours, and never the last maintainer. */
async function removeMaintainer(visit: WorkspaceVisit): Promise<Answer> {
    const asked = await readMaintainer(visit);
    if ('problem' in asked) return showOwn(visit, { '': asked.problem }, MAINTAINERS_FORM);
    const answer = await visit.ask({ method: 'DELETE', path: asked.path });
    if (!answer.ok) return showOwn(visit, { '': answer.refused.message }, MAINTAINERS_FORM);
    const isOwn = asked.workspaceId === visit.workspace.workspaceId;
    if (isOwn) return { to: '/dashboard/schemas', notice: 'maintainer-removed' };
    const isPending = (await removalOf(visit.app.db, asked.registrable, asked.workspaceId)) !== undefined;
    return { to: `/dashboard/schemas/${asked.site}`, notice: isPending ? 'removal-requested' : 'maintainer-removed' };
}

async function readMaintainer(
    visit: WorkspaceVisit,
): Promise<{ site: string; registrable: string; workspaceId: string; path: string } | { problem: string }> {
    const { site, registrable } = await findOwnSite(visit);
    const fields = readFields(visit.fields, { maintainer: line({ maxLength: 100 }) });
    if (!fields.ok) return { problem: fields.problems['maintainer'] ?? 'Fill this in.' };
    const { maintainer: workspaceId } = fields.values;
    if (!isId('wsp', workspaceId)) return { problem: 'A workspace ID starts with wsp_. Find it on that workspace’s Schemas page.' };
    return { site, registrable, workspaceId, path: `/v1/schemas/${site}/maintainers/${workspaceId}` };
}

/** GET /maintainers/stop: the page that the mailed link opens. It changes nothing, since mail programs also open links. */
async function showStop(visit: Visit): Promise<Shown> {
    const removal = await removalOfToken(visit, visit.query('token'));
    if (removal === undefined) return nothingToStop();
    return { view: 'schemas/stop', title: 'Stop a removal', model: { removal, token: visit.query('token') } };
}

/** POST /maintainers/stop: stops the removal. It needs no sign-in, since the link was mailed only to the owners of the workspace. */
async function stopByLink(visit: Visit): Promise<Shown> {
    const removal = await removalOfToken(visit, visit.fields.get('token'));
    if (removal === undefined || !(await stopRemoval(visit.app.db, removal, byHolder(visit, removal)))) return nothingToStop();
    visit.hurryMail();
    const { name, registrable } = removal;
    return words('Removal stopped', `${name} still maintains ${registrable}. Its audit log shows who asked for the removal.`, SCHEMAS);
}

/** POST …/maintainers/stop: the same on the page of the workspace that is being removed. */
async function stopOwnRemoval(visit: WorkspaceVisit): Promise<Answer> {
    const { app, me, address, workspace } = visit;
    const { site, registrable } = await findOwnSite(visit);
    const removal = await removalOf(app.db, registrable, workspace.workspaceId);
    const by = { actor: actorOfUser(me.userId), ip: address };
    if (removal === undefined || !(await stopRemoval(app.db, removal, by)))
        return showOwn(visit, { '': 'No removal of this workspace is pending.' }, MAINTAINERS_FORM);
    visit.hurryMail();
    return { to: `/dashboard/schemas/${site}`, notice: 'removal-stopped' };
}

async function removalOfToken({ app }: Visit, token = ''): Promise<Removal | undefined> {
    const removalId = await readStopToken(app.secrets, token);
    return removalId === undefined ? undefined : findRemoval(app.db, removalId);
}

/** The actor for the audit log: the signed-in member, or else `system`, since any owner may have opened the link. */
function byHolder({ me, address }: Visit, { workspaceId }: Removal): By {
    const isMember = me?.workspaces.some((membership) => membership.workspaceId === workspaceId) ?? false;
    return { actor: me !== undefined && isMember ? actorOfUser(me.userId) : 'system', ip: address };
}

function nothingToStop(): Shown {
    const message = 'There is nothing to stop: the removal was already stopped, withdrawn or completed.';
    return { ...words('This link no longer works', message, SCHEMAS), status: 410 };
}

/** The site of the path. @throws Refusal NOT_FOUND if the workspace does not maintain it */
async function findOwnSite({ app, params, workspace }: WorkspaceVisit): Promise<FoundSite> {
    const name = normaliseSite(params['site'] ?? '');
    if (!name.ok || name.site !== params['site']) throw pageNotFound();
    const { site, registrable } = name;
    const [siteState, isOwn] = await Promise.all([
        app.latest.find({ site, registrable }),
        isMaintainer(app.db, registrable, workspace.workspaceId),
    ]);
    if (!siteState.isKnown || !isOwn) throw pageNotFound();
    return { site, registrable, siteState };
}
