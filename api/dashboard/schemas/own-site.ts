import { normaliseSite } from '../../../shared/domain/site/site-name.ts';
import { isMaintainer } from '../../../shared/store/registry/maintainers.ts';
import { pageNotFound, type WorkspaceVisit } from '../page.ts';
import type { FoundSite } from '../registry/find-site.ts';

/** The site of the path. @throws Refusal NOT_FOUND if the workspace does not maintain it */
export async function findOwnSite({ app, params, workspace }: WorkspaceVisit): Promise<FoundSite> {
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
