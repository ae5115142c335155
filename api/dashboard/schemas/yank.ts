import { YANK_REASONS } from '../../../shared/store/registry/history.ts';
import { oneOf, readFields } from '../fields.ts';
import type { ApiCall } from '../internal-api.ts';
import type { Notice } from '../notices.ts';
import { type Answer, pageNotFound, type WorkspaceVisit } from '../page.ts';
import { change } from '../read-api.ts';
import { findOwnSite } from './own-site.ts';
import { showOwn } from './show.ts';

/** POST …/versions/{version}/yank: yanks a version, so that calls no longer use it. */
export async function yankVersion(visit: WorkspaceVisit): Promise<Answer> {
    const { site, path } = await place(visit);
    const read = readFields(visit.fields, { reason: oneOf(YANK_REASONS) });
    if (!read.ok) return showOwn(visit, read.problems, visit.params['version']);
    return send(visit, site, { method: 'POST', path, body: read.values }, 'version-yanked');
}

/** POST …/versions/{version}/restore: allows calls to use the version again. */
export async function restoreVersion(visit: WorkspaceVisit): Promise<Answer> {
    const { site, path } = await place(visit);
    return send(visit, site, { method: 'DELETE', path }, 'version-restored');
}

async function place(visit: WorkspaceVisit) {
    const { site } = await findOwnSite(visit);
    const version = visit.params['version'] ?? '';
    if (!/^[1-9]\d{0,8}$/.test(version)) throw pageNotFound();
    return { site, path: `/v1/schemas/${site}/versions/${version}/yank` };
}

function send(visit: WorkspaceVisit, site: string, call: ApiCall, notice: Notice): Promise<Answer> {
    const sent = { to: `/dashboard/schemas/${site}`, notice };
    return change(visit, call, sent, ({ message }) => showOwn(visit, { '': message }, visit.params['version']));
}
