import { type Attempt, forgetAttempts, takeAttempts } from '../../../shared/store/attempts.ts';
import { credentialsOf } from '../../../shared/store/credentials.ts';
import type { Problems } from '../fields.ts';
import type { Visit } from '../page.ts';
import { waitText } from './fields.ts';

/** What is wrong with the password of a user who is known already. Counted like signing in: no page is a place to guess. */
export async function passwordFault(
    { app, client, passwords }: Visit,
    user: { userId: string; emailNormalised: string },
    password: string,
): Promise<Problems | undefined> {
    const attempts: Attempt[] = [
        ['sign-in by account and client', `${user.emailNormalised} ${client}`],
        ['sign-in by account', user.emailNormalised],
    ];
    const wait = await takeAttempts(app.db, attempts);
    if (wait > 0) return { password: `Too many attempts; try again in ${waitText(wait)}.` };
    const credentials = await credentialsOf(app.db, user.userId);
    if (!(await passwords.matches(password, credentials?.passwordHash))) return { password: 'This is not your password.' };
    await forgetAttempts(app.db, attempts);
    return undefined;
}
