import type { Db } from '../../platform/db.ts';
import type { Secrets } from '../../platform/secrets.ts';
import { linkHash, linkHashOf, newLinkId } from './link-tokens.ts';

/** The action of a link: confirm the address, reset the password, or change the address. */
export type LinkPurpose = 'verify' | 'reset' | 'change';

export interface MailLink {
    purpose: LinkPurpose;
    userId: string;
    /** The address that the link proves. */
    address: string;
}

const LASTS_SECONDS: Readonly<Record<LinkPurpose, number>> = { verify: 7 * 86_400, reset: 3600, change: 86_400 };

/**
 * Makes a link and resolves with its id, of which the table keeps a hash; those of the same purpose that the user got before end.
 * Its token is made when the mail is sent.
 */
export async function makeLink(db: Db, { purpose, userId, address }: MailLink): Promise<string> {
    const id = newLinkId();
    await db.raw('delete from mail_links where user_id = ? and purpose = ?', [userId, purpose]);
    await db.raw(
        `insert into mail_links (token_hash, purpose, user_id, address, expires_at)
         values (?, ?, ?, ?, app_now() + ? * interval '1 second')`,
        [linkHash(id), purpose, userId, address, LASTS_SECONDS[purpose]],
    );
    return id;
}

/** What a link is for, without using it up; undefined where it is unknown, used or too old. */
export async function findLink(db: Db, secrets: Secrets, token: string | undefined): Promise<MailLink | undefined> {
    const key = await linkHashOf(secrets, token);
    if (key === undefined) return undefined;
    const { rows } = await db.raw<{ rows: LinkColumns[] }>(
        'select purpose, user_id, address from mail_links where token_hash = ? and expires_at > app_now()',
        [key],
    );
    return rows[0] && { purpose: rows[0].purpose, userId: rows[0].user_id, address: rows[0].address };
}

/** Uses a link up: of two at once, one gets it. */
export async function useLink(db: Db, secrets: Secrets, token: string): Promise<MailLink | undefined> {
    const key = await linkHashOf(secrets, token);
    if (key === undefined) return undefined;
    const { rows } = await db.raw<{ rows: LinkColumns[] }>(
        'delete from mail_links where token_hash = ? and expires_at > app_now() returning purpose, user_id, address',
        [key],
    );
    return rows[0] && { purpose: rows[0].purpose, userId: rows[0].user_id, address: rows[0].address };
}

interface LinkColumns {
    purpose: LinkPurpose;
    user_id: string;
    address: string;
}
