import type { Email } from '../../../shared/domain/accounts/email.ts';
import type { Attempt } from '../../../shared/store/accounts/attempts.ts';

/**
 * The counter of the links that are mailed to an address as it was typed. Of an unconfirmed account, the spelling that signed up and the one
 * without a tag have counters of their own: a stranger could otherwise use up its links with other tags, which are other mailboxes.
 */
export function linkAttempt(
    { address, normalised }: Pick<Extract<Email, { ok: true }>, 'address' | 'normalised'>,
    known: { email: string; isVerified: boolean } | undefined,
): Attempt {
    const typed = address.toLowerCase();
    if (known?.isVerified === true || typed === normalised) return ['link by address', normalised];
    return ['link by address', typed === known?.email.toLowerCase() ? typed : `${normalised}, other spellings`];
}
