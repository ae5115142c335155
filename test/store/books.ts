import { expect } from 'chai';
import { newId } from '../../shared/domain/text/ids.ts';
import { type Db, openDb } from '../../shared/platform/db.ts';
import { openAccount } from '../../shared/store/credits/accounts.ts';
import { grantBonus } from '../../shared/store/credits/bonuses.ts';
import { type Credits, openCredits } from '../../shared/store/credits/credits.ts';
import { checkLedger } from '../../shared/store/credits/ledger.ts';
import type { HoldOrder } from '../../shared/store/credits/moves.ts';
import { advanceClock, setClock } from '../support/clock.ts';
import { createTestDatabase } from '../support/postgres.ts';

/** A database with accounts, and credits as two processes use them. */
export interface Books {
    url: string;
    db: Db;
    credits: Credits;
    /** The credits of a second process. */
    others: Credits;
    /** Creates a user on Free with this allowance and bonus. Returns the id of account and user. */
    user(order: { allowance?: number; bonus?: number; invitedBy?: string }): Promise<string>;
    /** Creates a free workspace of this owner. */
    workspace(owner: string): Promise<string>;
    /** Sets the time of the database until it is set again. */
    setTime(iso: string): Promise<void>;
    advance(seconds: number): Promise<void>;
    /** Kinds and amounts of an account's ledger, oldest first: `grant 10`, `hold -3 +3`. */
    story(accountId: string): Promise<string[]>;
    /** Fails if a ledger does not sum, or a hold is open. */
    expectRightBooks(): Promise<void>;
    close(): Promise<void>;
}

export async function openBooks(): Promise<Books> {
    const { url, drop } = await createTestDatabase();
    const db = openDb({ url, acquireTimeoutMs: 10_000 });
    const otherDb = openDb({ url, acquireTimeoutMs: 10_000 });
    const [credits, others] = [openCredits(db), openCredits(otherDb)];
    return {
        url,
        db,
        credits,
        others,
        async user({ allowance = 0, bonus = 0, invitedBy }) {
            const id = newId('usr');
            await db.raw('insert into users (id, email, email_normalised, invited_by) values (?, ?, ?, ?)', [
                id,
                id,
                id,
                invitedBy ?? null,
            ]);
            await openAccount(db, { id, plan: 'free', planAllowance: allowance });
            if (bonus > 0) await grantBonus(db, id, bonus, 'test');
            return id;
        },
        async workspace(owner) {
            const id = newId('wsp');
            await db.raw('insert into workspaces (id, name) values (?, ?)', [id, id]);
            await db.raw("insert into memberships (workspace_id, user_id, role) values (?, ?, 'owner')", [id, owner]);
            return id;
        },
        async setTime(iso) {
            await setClock(db, iso);
        },
        async advance(seconds) {
            await advanceClock(db, seconds * 1000);
        },
        async story(accountId) {
            const { rows } = await db.raw<{ rows: { kind: string; available_delta: number; held_delta: number }[] }>(
                'select kind, available_delta, held_delta from ledger_entries where account_id = ? order by id',
                [accountId],
            );
            return rows.map(({ kind, available_delta, held_delta }) =>
                held_delta === 0 ? `${kind} ${signed(available_delta)}` : `${kind} ${signed(available_delta)} ${signed(held_delta)}`,
            );
        },
        async expectRightBooks() {
            expect(await checkLedger(db), 'accounts whose ledger does not sum').to.deep.equal([]);
            const { rows } = await db.raw<{ rows: unknown[] }>("select operation from holds where state in ('held', 'sent')");
            expect(rows, 'open holds').to.deep.equal([]);
        },
        async close() {
            await Promise.all([credits.close(), others.close()]);
            await Promise.all([db.destroy(), otherDb.destroy()]);
            await drop();
        },
    };
}

/** An order for one unit of one credit by default. */
export function orderFor(accountId: string, order: Partial<HoldOrder> = {}): HoldOrder {
    return {
        operation: newId('op'),
        accountId,
        userId: accountId,
        workspaceId: 'wsp_any',
        keyId: 'key_any',
        site: 'shop.example',
        endpoint: 'search',
        versionId: 1,
        effect: 'read',
        unit: 1,
        maxUnits: 1,
        expiresInMs: 30_000,
        ...order,
    };
}

function signed(credits: number): string {
    return credits > 0 ? `+${credits}` : String(credits);
}
