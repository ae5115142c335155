import { type Detail, Refusal } from '../../refusals.ts';
import { counted } from '../text/counted.ts';

/** The 403 for a write that costs more than the owner of the key allows without a confirmation. */
export function unconfirmed(above: number, credits: number): Refusal {
    const message = `This changes something at the site and may cost ${counted(credits, 'credit')}. The key requires a person to confirm writes above ${counted(above, 'credit')} (confirm_above).`;
    const detail: Detail = { path: '', code: 'CONFIRMATION_REQUIRED', message: `credits: ${credits}` };
    return new Refusal('FORBIDDEN', message, { details: [detail] });
}

/** Checks that writes of this price need no confirmation by a person. @throws Refusal FORBIDDEN with the detail CONFIRMATION_REQUIRED */
export function checkConfirmed({ confirmAbove }: { confirmAbove: number | null }, credits: number): void {
    if (confirmAbove !== null && credits > confirmAbove) throw unconfirmed(confirmAbove, credits);
}

/** The credits that a person has to confirm, if a missing confirmation is the reason for the refusal. */
export function creditsToConfirm({
    details = [],
}: {
    details?: readonly { code: string; message: string }[] | undefined;
}): number | undefined {
    const detail = details.find(({ code }) => code === 'CONFIRMATION_REQUIRED');
    const [, credits] = /^credits: (\d{1,15})$/.exec(detail?.message ?? '') ?? [];
    return credits === undefined ? undefined : Number(credits);
}
