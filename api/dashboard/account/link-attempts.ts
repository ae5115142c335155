import type { Email } from '../../../shared/domain/accounts/email.ts';
import type { Attempt } from '../../../shared/store/accounts/attempts.ts';

/**
 * The rate limit for links that are mailed to an address. For an unconfirmed account, the spelling that signed up and the one without a tag
 * have limits of their own: otherwise a stranger could use up its links with other tags, which may be other mailboxes.
 */
export function linkAttempt(
    { address, normalised }: Pick<Extract<Email, { ok: true }>, 'address' | 'normalised'>,
    known: { email: string; isVerified: boolean } | undefined,
): Attempt {
    const typed = address.toLowerCase();
    if (known?.isVerified === true || typed === normalised) return ['link by address', normalised];
    return ['link by address', typed === known?.email.toLowerCase() ? typed : `${normalised}, other spellings`];
}
