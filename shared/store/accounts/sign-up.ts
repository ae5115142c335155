import { createHash } from 'node:crypto';
import type { Email } from '../../domain/accounts/email.ts';
import { PLANS } from '../../domain/accounts/plans.ts';
import { MAX_SIGN_UPS_A_DAY, signUpOrigins } from '../../domain/accounts/sign-up-origins.ts';
import { newId } from '../../domain/text/ids.ts';
import { type Db, now } from '../../platform/db.ts';
import { publicMailProviders } from '../../platform/reserved-names.ts';
import * as credits from '../credits/accounts.ts';
import { insertWorkspace } from './workspaces.ts';

interface SignUpOrder {
    email: Extract<Email, { ok: true }>;
    passwordHash: string;
    /** The existing user whose invitation link was used. */
    invitedBy?: string | undefined;
    address: string;
}

/**
 * Creates a user with an unverified address and a workspace on Free; undefined if the normalised address already has an account. If the
 * address had an account before, the new account gets the remaining allowance of the old one, no second first-fetch bonus, and no
 * inviter. An inviter earns nothing if too many people signed up from the same place on that day (`countSignUp`).
 */
export async function signUp(db: Db, { email, passwordHash, invitedBy, address }: SignUpOrder): Promise<string | undefined> {
    return db.transaction(async (trx) => {
        const [made] = await trx('users')
            .insert({
                id: newId('usr'),
                email: email.address,
                email_normalised: email.normalised,
                password_hash: passwordHash,
                invited_by: invitedBy,
            })
            .onConflict('email_normalised')
            .ignore()
            .returning('id');
        if (made === undefined) return undefined;
        const userId: string = made.id;
        // Read after the insert, which waits for a concurrent deletion or change of address.
        const former = await trx('former_users')
            .where({ address_hash: hashOf('address', email.normalised) })
            .first('allowance_left', 'first_charged_at', { is_over: trx.raw('resets_at <= app_now()') });
        if (former !== undefined) {
            await trx('users').where({ id: userId }).update({ invited_by: null, first_charged_at: former.first_charged_at });
        }
        const mailDomain = email.normalised.slice(email.normalised.lastIndexOf('@') + 1);
        if (!(await countSignUp(trx, { address, mailDomain }))) await trx('users').where({ id: userId }).update({ earns_inviter: false });
        await insertWorkspace(trx, userId);
        await credits.openAccount(trx, { id: userId, plan: 'free', planAllowance: PLANS.free.allowance });
        if (former !== undefined && !former.is_over) await trx.raw(TAKE_USED, [former.allowance_left, userId]);
        return userId;
    });
}

/**
 * Records what an address has used when its account is deleted or changes its address. No other data is kept. Nothing is kept if nobody
 * verified the address and nothing was used, because the address may belong to somebody who has not signed up yet.
 */
export async function rememberAddress(db: Db, userId: string, allowanceLeft: number): Promise<void> {
    const user = await db('users as u')
        .join('credit_accounts as c', 'c.id', 'u.id')
        .where({ 'u.id': userId })
        .where((is) =>
            is
                .whereNotNull('u.verified_at')
                .orWhereNotNull('u.first_charged_at')
                .orWhere('c.allowance_available', '<', PLANS.free.allowance),
        )
        .first('u.email_normalised', 'u.first_charged_at', 'c.resets_at');
    if (user === undefined) return;
    const { email_normalised, first_charged_at, resets_at } = user;
    await db('former_users')
        .insert({ address_hash: hashOf('address', email_normalised), allowance_left: allowanceLeft, resets_at, first_charged_at })
        .onConflict('address_hash')
        .merge({
            allowance_left: db.raw('least(former_users.allowance_left, excluded.allowance_left)'),
            resets_at: db.raw('greatest(former_users.resets_at, excluded.resets_at)'),
            first_charged_at: db.raw('coalesce(former_users.first_charged_at, excluded.first_charged_at)'),
            deleted_at: now(db),
        });
}

/** Raw: the first period begins with what the address had left. The same statement records that in the ledger. */
const TAKE_USED = `
    with taken as (
        update credit_accounts set allowance_available = least(allowance_available, ?) where id = ?
        returning id, allowance - allowance_available as used
    )
    insert into ledger_entries (account_id, kind, available_delta, held_delta, note, at)
    select id, 'expire', -used, 0, 'used by this address before', app_now() from taken where used > 0`;

/**
 * Counts a sign-up together with those of the day from the same range of addresses and the same mail domain. Returns whether its inviter
 * may earn a bonus. Each of several concurrent sign-ups gets a number of its own. Call it in the transaction of the sign-up.
 */
async function countSignUp(db: Db, from: { address: string; mailDomain: string }): Promise<boolean> {
    const origins = signUpOrigins(from, publicMailProviders()).map((origin) => hashOf('sign-up', origin));
    const day = db.raw("(app_now() at time zone 'UTC')::date");
    // Locks rows in a fixed order, so that two sign-ups never deadlock.
    const rows = origins.toSorted(Buffer.compare).map((origin) => ({ day, origin, sign_ups: 1 }));
    const counted: { sign_ups: number }[] = await db('sign_ups_of_a_day')
        .insert(rows)
        .onConflict(['day', 'origin'])
        .merge({ sign_ups: db.raw('sign_ups_of_a_day.sign_ups + 1') })
        .returning('sign_ups');
    return counted.every((row) => row.sign_ups <= MAX_SIGN_UPS_A_DAY);
}

function hashOf(kind: 'address' | 'sign-up', text: string): Buffer {
    return createHash('sha256').update(`routebook ${kind} ${text}`, 'utf8').digest();
}
