import { beginSession, endSession } from '../../../shared/store/web-sessions.ts';
import type { Notice } from '../notices.ts';
import type { Answer, Visit } from '../page.ts';

export interface Entrance {
    userId: string;
    /** A path of ours. */
    next: string;
    notice?: Notice;
}

/** Signs somebody in who gave the right password, and signs out who was signed in in this browser before. */
export async function enter({ app, me, browser }: Visit, { userId, next, notice }: Entrance): Promise<Answer> {
    if (me !== undefined) await endSession(app.db, me.sessionId);
    const token = await beginSession(app.db, { userId, browser });
    return { to: next, signIn: token, ...(notice && { notice }) };
}
