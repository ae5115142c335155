import { readEmail } from '../../../shared/domain/accounts/email.ts';
import type { Reader } from '../fields.ts';

/** An address as it was written, and as it is compared. */
export type Email = Extract<ReturnType<typeof readEmail>, { ok: true }>;

/** A mail address. */
export const address: Reader<Email> = (text) => {
    if (text.trim() === '') return { ok: false, problem: 'Fill this in.' };
    const email = readEmail(text);
    return email.ok ? { ok: true, value: email } : { ok: false, problem: email.message };
};

/** A wait as people say it: `2 minutes`. */
export function waitText(seconds: number): string {
    const minutes = Math.ceil(seconds / 60);
    if (minutes <= 1) return 'a minute';
    return minutes < 90 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
}
