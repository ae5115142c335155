import { MAX_CAP, setAccountCap } from '../../../shared/store/credits/spending.ts';
import { type Reader, readFields } from '../fields.ts';
import type { Answer, WorkspaceVisit } from '../page.ts';
import { changeRecorded } from '../record-act.ts';
import { showBilling } from './show.ts';

/** The suggested daily cap for an agent's key and for an app, in credits. */
export const AGENT_CAP = 100;

/** Reads a daily cap in credits. An empty field means no cap. */
export const dayCap: Reader<number | null> = (text) => {
    const value = text.trim().replaceAll(',', '');
    if (value === '') return { ok: true, value: null };
    const credits = /^\d{1,8}$/.test(value) ? Number(value) : Number.NaN;
    if (credits <= MAX_CAP) return { ok: true, value: credits };
    return { ok: false, problem: `Use a whole number up to ${MAX_CAP.toLocaleString('en-US')}, or leave it empty.` };
};

/** Sets the daily spending cap of the paying account. */
export async function setCapByForm(visit: WorkspaceVisit): Promise<Answer> {
    const read = readFields(visit.fields, { cap: dayCap });
    if (!read.ok) return showBilling(visit, read.problems);
    const { accountId } = visit.workspace;
    const { cap } = read.values;
    const act = { action: 'cap.changed', target: accountId, details: { cap } } as const;
    await changeRecorded(visit, act, (trx) => setAccountCap(trx, accountId, cap));
    return { to: '/dashboard/billing', notice: cap === null ? 'cap-gone' : 'cap-set' };
}
