import { beginSession, endSession } from '../../../shared/store/web-sessions.ts';
import type { Notice } from '../notices.ts';
import type { Answer, Visit } from '../page.ts';

export interface Entrance {
    userId: string;
    /** A path of ours. */
    next: string;
    notice?: Notice;
}

/** How somebody proved who they are. */
export type How = 'password' | 'password and code' | 'password and recovery code' | 'passkey';

/** Begins a session of somebody who proved who they are; who was signed in in this browser before is signed out. */
export async function begin({ app, me, browser }: Visit, { userId, next, notice }: Entrance, _how: How): Promise<Answer> {
    if (me !== undefined) await endSession(app.db, me.sessionId);
    const token = await beginSession(app.db, { userId, browser });
    return { to: next, signIn: token, ...(notice && { notice }) };
}
