import { YANK_REASONS } from '../../../shared/store/registry/history.ts';
import { oneOf, readFields } from '../fields.ts';
import { type Answer, pageNotFound, type WorkspaceVisit } from '../page.ts';
import { findOwnSite } from './own-site.ts';
import { showOwn } from './show.ts';

/** POST …/versions/{version}/yank: yanks a version, so that calls no longer use it. */
export async function yankVersion(visit: WorkspaceVisit): Promise<Answer> {
    const { site, path } = await place(visit);
    const read = readFields(visit.fields, { reason: oneOf(YANK_REASONS) });
    if (!read.ok) return showOwn(visit, read.problems, visit.params['version']);
    const answer = await visit.ask({ method: 'POST', path, body: read.values });
    return after(visit, site, answer, 'version-yanked');
}

/** POST …/versions/{version}/restore: allows calls to use the version again. */
export async function restoreVersion(visit: WorkspaceVisit): Promise<Answer> {
    const { site, path } = await place(visit);
    const answer = await visit.ask({ method: 'DELETE', path });
    return after(visit, site, answer, 'version-restored');
}

async function place(visit: WorkspaceVisit) {
    const { site } = await findOwnSite(visit);
    const version = visit.params['version'] ?? '';
    if (!/^[1-9]\d{0,8}$/.test(version)) throw pageNotFound();
    return { site, path: `/v1/schemas/${site}/versions/${version}/yank` };
}

async function after(
    visit: WorkspaceVisit,
    site: string,
    answer: Awaited<ReturnType<WorkspaceVisit['ask']>>,
    notice: 'version-yanked' | 'version-restored',
): Promise<Answer> {
    if (answer.ok) return { to: `/dashboard/schemas/${site}`, notice };
    if (answer.refused.code === 'VERSION_NOT_FOUND') throw pageNotFound();
    return showOwn(visit, { '': answer.refused.message }, visit.params['version']);
}
