import { figuresFor } from '../../shared/domain/accounts/plans.ts';
import { EVERY_SCOPE, prepareScopes } from '../../shared/domain/accounts/scopes.ts';
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
