import { normaliseSite } from '../../../shared/domain/site/site-name.ts';
import { isMaintainer } from '../../../shared/store/registry/maintainers.ts';
import type { SiteState } from '../../../shared/store/registry/schemas.ts';
import { pageNotFound, type WorkspaceVisit } from '../page.ts';

interface OwnSiteFound {
    site: string;
    registrable: string;
    siteState: SiteState;
}

/** The site of the path. @throws Refusal NOT_FOUND if the workspace does not maintain it */
export async function findOwn({ app, params, workspace }: WorkspaceVisit): Promise<OwnSiteFound> {
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
