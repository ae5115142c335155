import { figuresFor } from '../../shared/domain/accounts/plans.ts';
import { EVERY_SCOPE, prepareScopes } from '../../shared/domain/accounts/scopes.ts';
import { isId } from '../../shared/domain/text/ids.ts';
import { findKeyHash, listedKeys } from '../../shared/store/accounts/api-keys.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import type { SignedIn } from '../../shared/store/accounts/user-sessions.ts';
import type { WorkspaceVisit } from './page.ts';

/** Pages may do everything that the visitor's role allows. */
const MEMBER_SCOPES = prepareScopes(EVERY_SCOPE);

/** The signed-in visitor as a caller without a key, for API calls of pages that cost no credits. */
export function memberCaller({ me, workspace }: Pick<WorkspaceVisit, 'me' | 'workspace'>): Caller {
    return {
        keyId: '',
        keyName: '',
        keyPrefix: '',
        keyExpiresAt: null,
        userId: me.userId,
        workspaceId: workspace.workspaceId,
        workspaceName: workspace.name,
        role: workspace.role,
        accountId: workspace.accountId,
        plan: workspace.plan,
        figures: figuresFor(workspace.plan),
        suspended: me.isSuspended,
        emailVerified: me.isVerified,
        isCapped: false,
        confirmAbove: null,
        resource: null,
        scopes: MEMBER_SCOPES,
    };
}

/** The same in the selected workspace. Undefined if nobody is signed in or the user has no workspace. */
export function visitorCaller(me: SignedIn | undefined): Caller | undefined {
    return me?.current && memberCaller({ me, workspace: me.current });
}

/** The visitor's own active keys in this workspace, as options of a form. Jobs from the dashboard run with one of them. */
export async function keysToActWith({ app, me, workspace }: WorkspaceVisit): Promise<{ value: string; label: string }[]> {
    const keys = await listedKeys(app.db, workspace.workspaceId, { userId: me.userId, ended: 0 });
    return keys
        .filter(({ state, isGrant }) => state === 'active' && !isGrant)
        .map(({ keyId, name, prefix }) => ({ value: keyId, label: `${name} (${prefix}…)` }));
}

/**
 * Returns the caller of the chosen key. The key must be the visitor's own in this workspace, since calls act and pay as the key's creator.
 */
export async function actingCaller({ app, fields, me, workspace }: WorkspaceVisit): Promise<Caller | undefined> {
    const keyId = fields.get('key') ?? '';
    if (!isId('key', keyId)) return undefined;
    const hash = await findKeyHash(app.db, { keyId, workspaceId: workspace.workspaceId, userId: me.userId });
    return hash === undefined ? undefined : app.keys.find(hash);
}

export const CHOOSE_KEY = 'Choose one of your active keys.';
