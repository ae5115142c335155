import { listedKeys } from '../../../shared/store/accounts/api-keys.ts';
import type { UsageScope } from '../../../shared/store/usage/usage-report.ts';
import { MANAGERS, type WorkspaceVisit } from '../page.ts';

/** A choice in a list. */
export interface Choice {
    value: string;
    label: string;
}

/** Owners and admins see the calls of the whole workspace, members their own. */
export function seesAll({ workspace }: WorkspaceVisit): boolean {
    return MANAGERS.includes(workspace.role);
}

/** Whose calls this visitor may see, narrowed by what the address says; anything that is no clean short text does not narrow. */
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

/** How look-ups in the catalog, which have no endpoint, are named; no endpoint has such a name. */
export const LOOK_UPS = '-';

/** A filter of the address; an empty one counts as none. */
export function filterOf({ query }: WorkspaceVisit, name: string): string | undefined {
    const value = query(name)?.trim();
    return value === undefined || value === '' || value.length > 253 ? undefined : value;
}

/** Names of the keys that this visitor may see, by id. */
export async function keyNames(visit: WorkspaceVisit): Promise<Map<string, string>> {
    const { app, me, workspace } = visit;
    const keys = await listedKeys(app.db, workspace.workspaceId, seesAll(visit) ? undefined : me.userId);
    return new Map(keys.map(({ keyId, name }) => [keyId, name]));
}

/** The keys as a list to choose from. */
export function keyChoices(keys: ReadonlyMap<string, string>): Choice[] {
    return [{ value: '', label: 'all' }, ...[...keys].map(([value, label]) => ({ value, label }))];
}

/** An address of ours with these filters; undefined ones are left out. */
export function address(path: string, filters: Readonly<Record<string, string | undefined>>): string {
    const given = Object.entries(filters).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '');
    return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}
