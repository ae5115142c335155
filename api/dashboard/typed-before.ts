import type { App } from '../../shared/app.ts';
import type { SignedIn } from '../../shared/store/accounts/user-sessions.ts';
import { ownPath } from './authorize.ts';
import { type Fields, keepTyped } from './fields.ts';
import type { Sent, Visit } from './page.ts';

const PURPOSE = 'typed form';
/** How long a form may wait for the confirmation, in milliseconds. */
const WAITS_MS = 3_600_000;
/** Proofs of a second factor. */
const PROOFS = ['code', 'credential'];

/** A form that waits for its sender's confirmation: the path that it was sent to, and what was typed. */
interface Typed {
    form: string;
    fields: Fields;
}

/** The form in the URL. Only its sender may open it, so that nobody else's link fills in a form. */
interface Waiting {
    userId: string;
    until: number;
    form: string;
    fields: Record<string, string>;
}

/**
 * Redirects to the page where a signed-in person confirms their identity. It leads back to the form at `path`, which then shows what was
 * typed; only a form too long for a URL comes back empty. The form is encrypted, since proxies and browsers keep URLs.
 */
export async function confirmFirst(path: string, { app, form = '', fields }: Visit, { userId }: SignedIn): Promise<Sent> {
    const typed = Object.fromEntries(Object.entries(keepTyped(fields, PROOFS)).filter(([name]) => !name.startsWith('_')));
    if (Object.keys(typed).length === 0) return confirmThen(path);
    const waiting: Waiting = { userId, until: app.clock.now() + WAITS_MS, form, fields: typed };
    const sealed = await app.secrets.seal(JSON.stringify(waiting), PURPOSE);
    return confirmThen(ownPath(`${path}?typed=${sealed.toString('base64url')}`, path));
}

/** Redirects to the page where a signed-in person confirms their identity, which leads to `next`. */
export function confirmThen(next: string): Sent {
    return { to: `/dashboard/confirm?next=${encodeURIComponent(next)}` };
}

/** What the person typed before they had to confirm their identity, if this page leads back to it. */
export async function typedBefore(app: App, user: SignedIn | undefined, typed: unknown): Promise<Typed | undefined> {
    if (user === undefined || typeof typed !== 'string') return undefined;
    const opened = await app.secrets.open(Buffer.from(typed, 'base64url'), PURPOSE);
    if (opened === undefined) return undefined;
    const { userId, until, form, fields } = JSON.parse(opened.toString()) as Waiting;
    return userId === user.userId && until > app.clock.now() ? { form, fields: new Map(Object.entries(fields)) } : undefined;
}
