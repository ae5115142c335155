import { figuresFor } from '../../shared/domain/accounts/plans.ts';
import { EVERY_SCOPE, prepareScopes } from '../../shared/domain/accounts/scopes.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import type { Visit, WorkspaceVisit } from './page.ts';

/** A page acts with all that the role of its visitor allows. */
const MEMBER_SCOPES = prepareScopes(EVERY_SCOPE);

/** Anyone who is signed in, as a caller without a key: for what is done on pages and costs nothing. */
export function memberCaller({ me, workspace }: WorkspaceVisit): Caller {
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

/** The same on pages for everybody; undefined for strangers, and for people without a workspace. */
export function visitorCaller(visit: Visit): Caller | undefined {
    const { me } = visit;
    return me?.current === undefined ? undefined : memberCaller({ ...visit, me, workspace: me.current });
}
