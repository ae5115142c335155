import { ownPath } from '../authorize.ts';
import { originsBehind } from '../billing/upgrade.ts';
import type { Shown, Visit } from '../page.ts';

/** The path that the visitor wanted to open, or else `fallback`. */
export function nextOf({ fields, query }: Visit, fallback = '/dashboard'): string {
    return ownPath(fields.get('next') ?? query('next'), fallback);
}

/** A page with forms that lead to `next` in the end. */
export function withNext({ app }: Visit, next: string, shown: Shown): Shown {
    return { ...shown, formsLeadTo: originsBehind(app, next), model: { ...shown.model, next } };
}
