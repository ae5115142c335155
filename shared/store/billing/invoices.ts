import type { PaidInvoice } from '../../domain/accounts/subscription.ts';
import { type Columns, columns, type Db, now, orNow, toColumns } from '../../platform/db.ts';

interface StoredInvoice extends PaidInvoice {
    workspaceId: string;
    isGranted: boolean;
    /** Whether its charge was refunded or disputed. */
    isRefunded: boolean;
}

/** Stores a paid invoice. Does not change an existing one. Another function decides what the invoice grants. */
export async function addInvoice(db: Db, workspaceId: string, invoice: PaidInvoice): Promise<void> {
    const { invoiceId, from, until, ...same } = invoice;
    const row = { ...toColumns(same), id: invoiceId, workspace_id: workspaceId, period_start: from, period_end: until };
    await db('paid_invoices').insert(row).onConflict().ignore();
}

export async function isInvoiceStored(db: Db, invoiceId: string): Promise<boolean> {
    return (await db('paid_invoices').where({ id: invoiceId }).first('id')) !== undefined;
}

/** The paid invoice of a subscription's latest period. If two have the same second, the one that has not been granted. */
export async function newestInvoice(db: Db, subscriptionId: string): Promise<StoredInvoice | undefined> {
    return db('paid_invoices')
        .where({ subscription_id: subscriptionId })
        .orderByRaw('period_end desc, period_start desc, paid_at desc, granted_at is null desc, id')
        .first(invoiceColumns(db));
}

/** Marks the allowance of an invoice as granted; false if it was granted before. */
export async function markGranted(db: Db, invoiceId: string): Promise<boolean> {
    const granted = await db('paid_invoices')
        .where({ id: invoiceId, granted_at: null })
        .update({ granted_at: now(db) });
    return granted === 1;
}

/** Marks an invoice whose charge was refunded or disputed, so that it grants nothing. Returns the invoice; undefined for an unknown one. */
export async function markRefunded(db: Db, invoiceId: string): Promise<StoredInvoice | undefined> {
    const invoice = db('paid_invoices').where({ id: invoiceId });
    await invoice.clone().update({ taken_back_at: orNow(db, 'taken_back_at') });
    return invoice.clone().first(invoiceColumns(db));
}

export async function listInvoices(db: Db, workspaceId: string, limit: number): Promise<StoredInvoice[]> {
    return db('paid_invoices')
        .where({ workspace_id: workspaceId })
        .orderBy([{ column: 'paid_at', order: 'desc' }, 'id'])
        .limit(limit)
        .select(invoiceColumns(db));
}

function invoiceColumns(db: Db): Columns<StoredInvoice> {
    return {
        invoiceId: 'id',
        ...columns('', 'workspace_id subscription_id plan number amount_cents currency link paid_at'),
        from: 'period_start',
        until: 'period_end',
        isGranted: db.raw('granted_at is not null'),
        isRefunded: db.raw('taken_back_at is not null'),
    };
}
