import { readStopToken } from '../../../shared/mail/news.ts';
import { actorOfUser, type By } from '../../../shared/store/accounts/workspace-audit.ts';
import { findRemoval, type Removal, removalOf, stopRemoval } from '../../../shared/store/registry/removals.ts';
import { type Answer, type Shown, type Visit, type WorkspaceVisit, words } from '../page.ts';
import { findOwnSite } from './own-site.ts';
import { showOwn } from './show.ts';

/** GET /maintainers/stop: the page that the mailed link opens. It changes nothing, since mail programs also open links. */
export async function showStop(visit: Visit): Promise<Shown> {
    const removal = await removalOfToken(visit, visit.query('token'));
    if (removal === undefined) return over();
    return { view: 'schemas/stop', title: 'Stop a removal', model: { removal, token: visit.query('token') } };
}

/** POST /maintainers/stop: stops the removal. It needs no sign-in, since the link was mailed only to the owners of the workspace. */
export async function stopByLink(visit: Visit): Promise<Shown> {
    const removal = await removalOfToken(visit, visit.fields.get('token'));
    if (removal === undefined || !(await stopRemoval(visit.app.db, removal, byHolder(visit, removal)))) return over();
    visit.hurryMail();
    const { name, registrable } = removal;
    return words('Removal stopped', `${name} still maintains ${registrable}. Its audit log shows who asked for the removal.`, SCHEMAS);
}

/** POST …/maintainers/stop: the same on the page of the workspace that is being removed. */
export async function stopOwnRemoval(visit: WorkspaceVisit): Promise<Answer> {
    const { app, me, address, workspace } = visit;
    const { site, registrable } = await findOwnSite(visit);
    const removal = await removalOf(app.db, registrable, workspace.workspaceId);
    const by = { actor: actorOfUser(me.userId), ip: address };
    if (removal === undefined || !(await stopRemoval(app.db, removal, by)))
        return showOwn(visit, { '': 'No removal of this workspace is pending.' }, 'maintainers');
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

function over(): Shown {
    const message = 'There is nothing to stop: the removal was already stopped, withdrawn or completed.';
    return { ...words('This link no longer works', message, SCHEMAS), status: 410 };
}

const SCHEMAS = ['/dashboard/schemas', 'Go to your schemas'] as const;
