import { columns, type Db } from '../../shared/platform/db.ts';

interface LedgerEntry {
    operation: string | null;
    kind: string;
    availableDelta: number;
    heldDelta: number;
}

/** The movements of an account, oldest first. */
export function ledgerEntries(db: Db, accountId: string): Promise<LedgerEntry[]> {
    return db('ledger_entries')
        .where({ account_id: accountId })
        .orderBy('id')
        .select(columns('', 'operation kind available_delta held_delta'));
}
