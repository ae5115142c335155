import type { Db } from '../../shared/platform/db.ts';
import { findWorkspace, type Workspace } from '../../shared/store/accounts/workspaces.ts';
import { AdminFault } from './operator.ts';

/** The workspace of this id. @throws AdminFault NOT_FOUND */
export async function workspaceOrFault(db: Db, workspaceId: string): Promise<Workspace> {
    const workspace = await findWorkspace(db, workspaceId);
    if (workspace === undefined) throw new AdminFault('NOT_FOUND', `There is no workspace ${workspaceId}.`);
    return workspace;
}
