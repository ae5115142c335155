import type { App } from '../../shared/app.ts';
import type { SignedIn } from '../../shared/store/accounts/user-sessions.ts';
import { ownPath } from './authorize.ts';
import { type Fields, keepTyped } from './fields.ts';
import type { Sent, Visit } from './page.ts';

/** A form that waits for its sender's confirmation: the path that it was sent to, and what was typed. */
interface Typed {
    form: string;
    fields: Fields;
}

/**
 * Redirects to the page where a signed-in person confirms their identity. It leads back to the form at `path`, which then shows what was
 * typed; only a form too long for a URL comes back empty. A MAC binds it to the person, so that nobody else's link fills in the form.
 */
export async function confirmFirst(path: string, { app, form = '', fields }: Visit, { userId }: SignedIn): Promise<Sent> {
    const typed = Object.fromEntries(Object.entries(keepTyped(fields)).filter(([name]) => !name.startsWith('_')));
    if (Object.keys(typed).length === 0) return confirmThen(path);
    const sealed = await app.cursors.seal(typedBy(userId), { form, fields: typed });
    return confirmThen(ownPath(`${path}?typed=${sealed}`, path));
}

/** Redirects to the page where a signed-in person confirms their identity, which leads to `next`. */
export function confirmThen(next: string): Sent {
    return { to: `/dashboard/confirm?next=${encodeURIComponent(next)}` };
}

/** What the person typed before they had to confirm their identity, if this page leads back to it. */
export async function typedBefore(app: App, user: SignedIn | undefined, typed: unknown): Promise<Typed | undefined> {
    if (user === undefined || typeof typed !== 'string') return undefined;
    const opened = (await app.cursors.open(typedBy(user.userId), typed)) as { form: string; fields: Record<string, string> } | undefined;
    return opened && { form: opened.form, fields: new Map(Object.entries(opened.fields)) };
}

const typedBy = (userId: string) => ['typed', userId];
