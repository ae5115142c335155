import { readEmail } from '../../../shared/domain/accounts/email.ts';
import type { Problems, Reader } from '../fields.ts';

/** An email address, as it was typed and in the normalised form that is compared. */
export type Email = Extract<ReturnType<typeof readEmail>, { ok: true }>;

export const address: Reader<Email> = (text) => {
    if (text.trim() === '') return { ok: false, problem: 'Fill this in.' };
    const email = readEmail(text);
    return email.ok ? { ok: true, value: email } : { ok: false, problem: email.message };
};

/** The problem of a form that was sent too often. @param wait seconds */
export function tooManyAttempts(wait: number): Problems {
    return { '': `Too many attempts; try again in ${waitText(wait)}.` };
}

/** Formats a waiting time for people, for example `2 minutes`. */
export function waitText(seconds: number): string {
    const minutes = Math.ceil(seconds / 60);
    if (minutes <= 1) return 'a minute';
    return minutes < 90 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
}
