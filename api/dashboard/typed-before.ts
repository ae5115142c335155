import type { SignedIn } from '../../shared/store/accounts/user-sessions.ts';
import { ownPath } from './authorize.ts';
import { type Fields, keepTyped } from './fields.ts';
import type { Sent, Visit } from './page.ts';

const PURPOSE = 'typed form';
/** How long a form may wait for the confirmation. */
const WAITS_MS = 3_600_000;
/** Proofs of a second factor, secrets of connections, and the token of the page. */
const DROPPED = ['code', 'credential', 'secret', '_form'];
/** The hidden field of each form that names the workspace it was shown in (render.ts). */
export const WORKSPACE_FIELD = '_workspace';

/** A form that waits until its sender has confirmed their identity or signed in: the path that it was sent to, and what was typed. */
interface Typed {
    form: string;
    fields: Fields;
}

/** The form in the URL. Only its sender may open it, so that nobody else's link fills in a form. */
interface Waiting {
    /** The sender's id, or the token of their browser if their session had ended. */
    sender: string;
    until: number;
    form: string;
    fields: Record<string, string>;
}

/** Redirects to the page where a signed-in person confirms their identity. It leads back to the form at `path`, with what was typed. */
export async function confirmFirst(path: string, visit: Visit, { userId }: SignedIn): Promise<Sent> {
    return confirmThen(await withTyped(path, visit, userId));
}

/** Redirects a person whose session has ended to the sign-in page. It leads back to the form, with what was typed if that is `isOwn`. */
export async function signInFirst(visit: Visit, isOwn: boolean): Promise<Sent> {
    const { path, browserToken } = visit;
    const next = isOwn && browserToken !== undefined ? await withTyped(path, visit, browserToken) : path;
    return { to: `/login?next=${encodeURIComponent(next)}`, notice: 'ended-meanwhile' };
}

/**
 * The path with what was typed; only a form too long for a URL comes back empty. The form is encrypted, since proxies and browsers keep
 * URLs.
 */
async function withTyped(path: string, { app, form = '', fields }: Visit, sender: string): Promise<string> {
    const typed = keepTyped(fields, DROPPED);
    if (Object.keys(typed).every((name) => name === WORKSPACE_FIELD)) return path;
    const waiting: Waiting = { sender, until: app.clock.now() + WAITS_MS, form, fields: typed };
    const sealed = await app.secrets.seal(JSON.stringify(waiting), PURPOSE);
    return ownPath(`${path}${path.includes('?') ? '&' : '?'}typed=${sealed.toString('base64url')}`, path);
}

/** Redirects to the page where a signed-in person confirms their identity, which leads to `next`. */
export function confirmThen(next: string): Sent {
    return { to: `/dashboard/confirm?next=${encodeURIComponent(next)}` };
}

/** What the person typed before they had to confirm their identity or sign in, if this page leads back to it. */
export async function typedBefore(
    { app, me, browserToken }: Pick<Visit, 'app' | 'me' | 'browserToken'>,
    typed: unknown,
): Promise<Typed | undefined> {
    if (me === undefined || typeof typed !== 'string') return undefined;
    const opened = await app.secrets.open(Buffer.from(typed, 'base64url'), PURPOSE);
    if (opened === undefined) return undefined;
    const { sender, until, form, fields } = JSON.parse(opened.toString()) as Waiting;
    if (until <= app.clock.now() || (sender !== me.userId && sender !== browserToken)) return undefined;
    // Somebody else may have signed in in this browser.
    const isMember = me.workspaces.some(({ workspaceId }) => workspaceId === fields[WORKSPACE_FIELD]);
    return isMember || fields[WORKSPACE_FIELD] === undefined ? { form, fields: new Map(Object.entries(fields)) } : undefined;
}
