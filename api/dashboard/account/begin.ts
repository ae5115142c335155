import { newWebToken } from '../../../shared/domain/accounts/web-token.ts';
import { queueMail } from '../../../shared/store/accounts/mails.ts';
import { type How, recordSignIn } from '../../../shared/store/accounts/sign-ins.ts';
import { beginSession, endSession, holdRevision } from '../../../shared/store/accounts/user-sessions.ts';
import { credentialsOf } from '../../../shared/store/accounts/users.ts';
import type { Notice } from '../notices.ts';
import type { Answer, Visit } from '../page.ts';
import { browserName } from './browser-name.ts';
import { newBrowserMail } from './mails.ts';

export interface Entrance {
    userId: string;
    /** The sign-in revision at the time of the proof. */
    revision: number;
    /** A path of ours. */
    next: string;
    notice?: Notice;
}

/** Sign-ins that prove the mailbox. No mail about a new browser is sent to it. */
const PROVES_ADDRESS: readonly How[] = ['sign-up', 'mailed link'];

/**
 * Begins a session of somebody who proved who they are, and mails it where the browser is new; who was signed in in this browser
 * before is signed out.
 * @throws SessionEnded if all sessions were ended since the proof was checked
 */
export async function begin(visit: Visit, { userId, revision, next, notice }: Entrance, how: How): Promise<Answer> {
    const { app, me, browser, address } = visit;
    const browserToken = visit.browserToken ?? newWebToken();
    const signIn = await app.db.transaction(async (trx) => {
        await holdRevision(trx, userId, revision);
        if (me !== undefined) await endSession(trx, me.sessionId);
        const { isKnown } = await recordSignIn(trx, { userId, how, browser, address, browserToken });
        const credentials = isKnown || PROVES_ADDRESS.includes(how) ? undefined : await credentialsOf(trx, userId);
        // An address that nobody confirmed may be a stranger's.
        if (credentials?.isVerified === true) {
            const mail = newBrowserMail(credentials.email, { browser: browserName(browser), address, at: new Date(app.clock.now()) });
            await queueMail(trx, app.secrets, mail);
        }
        return beginSession(trx, { userId, browser, address });
    });
    visit.hurryMail();
    return { to: next, signIn, browserToken, ...(notice && { notice }) };
}
