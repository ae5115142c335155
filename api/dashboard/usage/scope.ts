import { LISTED_KEYS, listedKeys } from '../../../shared/store/accounts/api-keys.ts';
import type { UsageScope } from '../../../shared/store/usage/usage-report.ts';
import { MANAGERS, type WorkspaceVisit } from '../page.ts';

interface Choice {
    value: string;
    label: string;
}

/** Owners and admins see the calls of the whole workspace, members their own. */
export function seesAll({ workspace }: WorkspaceVisit): boolean {
    return MANAGERS.includes(workspace.role);
}

/** The calls that this visitor may see, narrowed by the filters in the query. Empty and too long filters are ignored. */
export function scopeOf(visit: WorkspaceVisit): UsageScope {
    const { me, workspace } = visit;
    const endpoint = filterOf(visit, 'endpoint');
    return {
        workspaceId: workspace.workspaceId,
        userId: seesAll(visit) ? undefined : me.userId,
        site: filterOf(visit, 'site')?.toLowerCase(),
        endpoint: endpoint === LOOK_UPS ? '' : endpoint,
        keyId: filterOf(visit, 'key'),
    };
}

/** The filter value for catalog look-ups, which have no endpoint. No endpoint can have this name. */
export const LOOK_UPS = '-';

export function filterOf({ query }: WorkspaceVisit, name: string): string | undefined {
    const value = query(name)?.trim();
    return value === undefined || value === '' || value.length > 253 ? undefined : value;
}

export async function keyNames(visit: WorkspaceVisit): Promise<Map<string, string>> {
    const { app, me, workspace } = visit;
    const keys = await listedKeys(app.db, workspace.workspaceId, { userId: seesAll(visit) ? undefined : me.userId });
    return new Map(keys.map(({ keyId, name }) => [keyId, name]));
}

export function keyChoices(keys: ReadonlyMap<string, string>): Choice[] {
    const all = keys.size < LISTED_KEYS ? 'all' : 'all (only the newest 1,000 are listed)';
    return [{ value: '', label: all }, ...[...keys].map(([value, label]) => ({ value, label }))];
}
