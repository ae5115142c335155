import { type Attempt, forgetAttempts, takeAttempts } from '../../../shared/store/attempts.ts';
import { credentialsOf } from '../../../shared/store/credentials.ts';
import type { Problems } from '../fields.ts';
import type { PersonalVisit } from '../page.ts';
import { waitText } from './fields.ts';

/** What is wrong with the password of somebody who is signed in. Counted like signing in: a session left open is no place to guess. */
export async function passwordFault({ app, me, client, passwords }: PersonalVisit, password: string): Promise<Problems | undefined> {
    const attempts: Attempt[] = [
        ['sign-in by account and client', `${me.emailNormalised} ${client}`],
        ['sign-in by account', me.emailNormalised],
    ];
    const wait = await takeAttempts(app.db, attempts);
    if (wait > 0) return { password: `Too many attempts; try again in ${waitText(wait)}.` };
    const credentials = await credentialsOf(app.db, me.userId);
    if (!(await passwords.matches(password, credentials?.passwordHash))) return { password: 'This is not your password.' };
    await forgetAttempts(app.db, attempts);
    return undefined;
}
