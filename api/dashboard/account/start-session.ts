import { newWebToken } from '../../../shared/domain/accounts/web-token.ts';
import { queueMail } from '../../../shared/store/accounts/mails.ts';
import { type How, recordSignIn } from '../../../shared/store/accounts/sign-ins.ts';
import { beginSession, endSession, holdRevision } from '../../../shared/store/accounts/user-sessions.ts';
import { credentialsOf } from '../../../shared/store/accounts/users.ts';
import type { Notice } from '../notices.ts';
import type { Answer, Visit } from '../page.ts';
import { newBrowserMail } from './mails.ts';

export interface Entrance {
    userId: string;
    /** The sign-in revision at the time of the proof. */
    revision: number;
    /** The path to go to afterwards, on this site. */
    next: string;
    notice?: Notice;
}

/** Sign-ins that prove that the user reads the mailbox. They cause no mail about a new browser. */
const PROVES_ADDRESS: readonly How[] = ['sign-up', 'mailed link'];

/**
 * Starts a session after a user has proved their identity, and mails the user if the browser is new. Ends the session that this browser had
 * before.
 * @throws SessionEnded if all sessions of the user were ended after the proof was checked
 */
export async function startSession(visit: Visit, { userId, revision, next, notice }: Entrance, how: How): Promise<Answer> {
    const { app, me, browser, address } = visit;
    const browserToken = visit.browserToken ?? newWebToken();
    const signIn = await app.db.transaction(async (trx) => {
        await holdRevision(trx, userId, revision);
        if (me !== undefined) await endSession(trx, me.sessionId);
        const { isKnown } = await recordSignIn(trx, { userId, how, browser, address, browserToken });
        const credentials = isKnown || PROVES_ADDRESS.includes(how) ? undefined : await credentialsOf(trx, userId);
        // An unconfirmed address may belong to a stranger.
        if (credentials?.isVerified === true) {
            const at = new Date(app.clock.now());
            const mail = newBrowserMail(credentials.email, app.publicUrl(), { browser: browserName(browser), address, at });
            await queueMail(trx, app.secrets, mail);
        }
        return beginSession(trx, { userId, browser, address });
    });
    visit.hurryMail();
    return { to: next, signIn, browserToken, ...(notice && { notice }) };
}

const BROWSERS: readonly (readonly [RegExp, string])[] = [
    [/\bEdg\//, 'Edge'],
    [/\bOPR\//, 'Opera'],
    [/\bFirefox\//, 'Firefox'],
    [/\b(Chrome|Chromium|HeadlessChrome)\//, 'Chrome'],
    [/\bSafari\//, 'Safari'],
];

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
    [/\b(iPhone|iPad)\b/, 'iOS'],
    [/\bAndroid\b/, 'Android'],
    [/\bWindows\b/, 'Windows'],
    [/\bMac OS X\b/, 'macOS'],
    [/\bLinux\b/, 'Linux'],
];

/** A short name such as `Firefox on Linux`, from a User-Agent header. */
export function browserName(userAgent: string): string {
    const find = (table: typeof BROWSERS) => table.find(([pattern]) => pattern.test(userAgent))?.[1];
    const [browser, system] = [find(BROWSERS) ?? 'A browser', find(SYSTEMS)];
    return system === undefined ? browser : `${browser} on ${system}`;
}
