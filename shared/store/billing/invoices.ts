import type { PaidInvoice, SoldPlan } from '../../domain/accounts/subscription.ts';
import type { Db } from '../../platform/db.ts';

export interface KeptInvoice extends PaidInvoice {
    workspaceId: string;
    isGranted: boolean;
    isTakenBack: boolean;
}

/** Stores a paid invoice; an existing one stays as it is. Another function decides what it grants. */
export async function addInvoice(db: Db, workspaceId: string, invoice: PaidInvoice): Promise<void> {
    await db.raw(
        `insert into paid_invoices (id, workspace_id, subscription_id, plan, period_start, period_end, number, amount_cents, currency, link, paid_at)
         values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
        [
            invoice.invoiceId,
            workspaceId,
            invoice.subscriptionId,
            invoice.plan,
            invoice.from,
            invoice.until,
            invoice.number ?? null,
            invoice.amountCents,
            invoice.currency,
            invoice.link ?? null,
            invoice.paidAt,
        ],
    );
}

/** Whether an invoice is stored. */
export async function isKept(db: Db, invoiceId: string): Promise<boolean> {
    const { rows } = await db.raw<{ rows: unknown[] }>('select from paid_invoices where id = ?', [invoiceId]);
    return rows.length > 0;
}

/** The paid invoice of a subscription's latest period; of two within a second, the one that waits. */
export async function newestInvoice(db: Db, subscriptionId: string): Promise<KeptInvoice | undefined> {
    const { rows } = await db.raw<{ rows: InvoiceRow[] }>(
        `select * from paid_invoices where subscription_id = ?
         order by period_end desc, period_start desc, paid_at desc, granted_at is null desc, id limit 1`,
        [subscriptionId],
    );
    return rows[0] && toInvoice(rows[0]);
}

/** Marks an invoice as the one whose allowance was granted; false where it was granted before. */
export async function markGranted(db: Db, invoiceId: string): Promise<boolean> {
    const { rowCount } = await db.raw<{ rowCount: number }>(
        'update paid_invoices set granted_at = app_now() where id = ? and granted_at is null',
        [invoiceId],
    );
    return rowCount === 1;
}

/** Marks an invoice as refunded, so that it grants nothing. Returns the invoice as it was; undefined for an unknown one. */
export async function takeInvoiceBack(db: Db, invoiceId: string): Promise<KeptInvoice | undefined> {
    const { rows } = await db.raw<{ rows: InvoiceRow[] }>(
        'update paid_invoices set taken_back_at = coalesce(taken_back_at, app_now()) where id = ? returning *',
        [invoiceId],
    );
    return rows[0] && toInvoice(rows[0]);
}

/** A workspace's invoices, the latest first. */
export async function listInvoices(db: Db, workspaceId: string, limit: number): Promise<KeptInvoice[]> {
    const { rows } = await db.raw<{ rows: InvoiceRow[] }>(
        'select * from paid_invoices where workspace_id = ? order by paid_at desc, id limit ?',
        [workspaceId, limit],
    );
    return rows.map(toInvoice);
}

interface InvoiceRow {
    id: string;
    workspace_id: string;
    subscription_id: string;
    plan: SoldPlan;
    period_start: Date;
    period_end: Date;
    number: string | null;
    amount_cents: number;
    currency: string;
    link: string | null;
    paid_at: Date;
    granted_at: Date | null;
    taken_back_at: Date | null;
}

function toInvoice(row: InvoiceRow): KeptInvoice {
    return {
        invoiceId: row.id,
        workspaceId: row.workspace_id,
        subscriptionId: row.subscription_id,
        plan: row.plan,
        from: row.period_start,
        until: row.period_end,
        number: row.number ?? undefined,
        amountCents: row.amount_cents,
        currency: row.currency,
        link: row.link ?? undefined,
        paidAt: row.paid_at,
        isGranted: row.granted_at !== null,
        isTakenBack: row.taken_back_at !== null,
    };
}
