import { createHash } from 'node:crypto';
import type { Email } from '../../domain/accounts/email.ts';
import { PLANS } from '../../domain/accounts/plans.ts';
import { newId } from '../../domain/text/ids.ts';
import type { Db } from '../../platform/db.ts';
import * as credits from '../credits/credits.ts';
import { countSignUp } from './sign-up-origins.ts';
import { createWorkspace } from './workspaces.ts';

export interface SignUpOrder {
    email: Extract<Email, { ok: true }>;
    passwordHash: string;
    /** Whose link it was, who exists. */
    invitedBy?: string | undefined;
    /** From which address. */
    address: string;
}

/**
 * Makes a user who has not verified the address yet, with a workspace on Free; undefined where the normalised address has an
 * account. An address that had one before gets what that account had left, no second first-fetch bonus, and earns no inviter anything.
 * Nor does one of too many sign-ups of a day.
 */
export async function signUp(db: Db, { email, passwordHash, invitedBy, address }: SignUpOrder): Promise<string | undefined> {
    return db.transaction(async (trx) => {
        const former = await findFormer(trx, email.normalised);
        const { rows } = await trx.raw<{ rows: { id: string }[] }>(
            `insert into users (id, email, email_normalised, password_hash, invited_by, first_charged_at)
             values (?, ?, ?, ?, ?, ?) on conflict (email_normalised) do nothing returning id`,
            [
                newId('usr'),
                email.address,
                email.normalised,
                passwordHash,
                former === undefined ? (invitedBy ?? null) : null,
                former?.first_charged_at ?? null,
            ],
        );
        const userId = rows[0]?.id;
        if (userId === undefined) return undefined;
        const mailDomain = email.normalised.slice(email.normalised.lastIndexOf('@') + 1);
        if (!(await countSignUp(trx, { address, mailDomain })))
            await trx.raw('update users set earns_inviter = false where id = ?', [userId]);
        await createWorkspace(trx, userId);
        await credits.openAccount(trx, { id: userId, plan: 'free', planAllowance: PLANS.free.allowance });
        if (former !== undefined && !former.is_over) await takeUsed(trx, userId, former.allowance_left);
        return userId;
    });
}

/**
 * Keeps what an address has used up, when its account is deleted or gets another address. Nothing else of it is kept, and nothing at
 * all where nobody proved to read it and nothing was used: it may be somebody else's, who has yet to come.
 */
export async function rememberAddress(db: Db, userId: string, allowanceLeft: number): Promise<void> {
    const { rows } = await db.raw<{ rows: { email_normalised: string }[] }>('select email_normalised from users where id = ?', [userId]);
    await db.raw(
        `insert into former_users (address_hash, allowance_left, resets_at, first_charged_at)
         select ?, ?, c.resets_at, u.first_charged_at from users u join credit_accounts c on c.id = u.id
         where u.id = ? and (u.verified_at is not null or u.first_charged_at is not null or c.allowance_available < ?)
         on conflict (address_hash) do update
         set allowance_left = least(former_users.allowance_left, excluded.allowance_left),
             resets_at = greatest(former_users.resets_at, excluded.resets_at),
             first_charged_at = coalesce(former_users.first_charged_at, excluded.first_charged_at), deleted_at = app_now()`,
        [addressHash(rows[0]?.email_normalised ?? ''), allowanceLeft, userId, PLANS.free.allowance],
    );
}

async function findFormer(db: Db, normalised: string): Promise<FormerColumns | undefined> {
    const { rows } = await db.raw<{ rows: FormerColumns[] }>(
        'select allowance_left, first_charged_at, resets_at <= app_now() as is_over from former_users where address_hash = ?',
        [addressHash(normalised)],
    );
    return rows[0];
}

/** The first period begins with what the address had left of its last one. */
async function takeUsed(db: Db, accountId: string, left: number): Promise<void> {
    await db.raw(
        `with taken as (
             update credit_accounts set allowance_available = least(allowance_available, ?) where id = ?
             returning id, allowance - allowance_available as used
         )
         insert into ledger_entries (account_id, kind, available_delta, held_delta, note, at)
         select id, 'expire', -used, 0, 'used by this address before', app_now() from taken where used > 0`,
        [left, accountId],
    );
}

function addressHash(normalised: string): Buffer {
    return createHash('sha256').update(`routebook address ${normalised}`, 'utf8').digest();
}

interface FormerColumns {
    allowance_left: number;
    first_charged_at: Date | null;
    is_over: boolean;
}
