import { isId } from '../../../shared/domain/text/ids.ts';
import { removalOf } from '../../../shared/store/registry/removals.ts';
import { line, readFields } from '../fields.ts';
import type { Answer, Sent, WorkspaceVisit } from '../page.ts';
import { change } from '../read-api.ts';
import { findOwnSite } from './own-site.ts';
import { showOwn } from './show.ts';

const FORM = 'maintainers';

/** POST …/maintainers: lets another workspace publish on the domain. */
export async function addMaintainer(visit: WorkspaceVisit): Promise<Answer> {
    const asked = await read(visit);
    if ('problem' in asked) return showOwn(visit, { maintainer: asked.problem }, FORM);
    const sent: Sent = { to: `/dashboard/schemas/${asked.site}`, notice: 'maintainer-added' };
    return change(visit, { method: 'PUT', path: asked.path }, sent, ({ message }) => showOwn(visit, { maintainer: message }, FORM));
}

/** POST …/maintainers/remove: removes the own workspace at once, another one usually after 24 hours, and never the last maintainer. */
export async function removeMaintainer(visit: WorkspaceVisit): Promise<Answer> {
    const asked = await read(visit);
    if ('problem' in asked) return showOwn(visit, { '': asked.problem }, FORM);
    const answer = await visit.ask({ method: 'DELETE', path: asked.path });
    if (!answer.ok) return showOwn(visit, { '': answer.refused.message }, FORM);
    const isOwn = asked.workspaceId === visit.workspace.workspaceId;
    if (isOwn) return { to: '/dashboard/schemas', notice: 'maintainer-removed' };
    const isPending = (await removalOf(visit.app.db, asked.registrable, asked.workspaceId)) !== undefined;
    return { to: `/dashboard/schemas/${asked.site}`, notice: isPending ? 'removal-requested' : 'maintainer-removed' };
}

async function read(
    visit: WorkspaceVisit,
): Promise<{ site: string; registrable: string; workspaceId: string; path: string } | { problem: string }> {
    const { site, registrable } = await findOwnSite(visit);
    const fields = readFields(visit.fields, { maintainer: line({ maxLength: 100 }) });
    if (!fields.ok) return { problem: fields.problems['maintainer'] ?? 'Fill this in.' };
    const { maintainer: workspaceId } = fields.values;
    if (!isId('wsp', workspaceId)) return { problem: 'A workspace ID starts with wsp_. Find it on that workspace’s Schemas page.' };
    return { site, registrable, workspaceId, path: `/v1/schemas/${site}/maintainers/${workspaceId}` };
}
