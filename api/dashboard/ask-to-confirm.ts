import type { Request } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import { ownPath } from './authorize.ts';
import type { Page, Sent, Visit } from './page.ts';

/** Redirects visitors to the confirmation page if this page needs a recent sign-in and theirs is too old. Undefined for all others. */
export function askToConfirm(app: App, page: Page, { me, path }: Visit, request: Request): Sent | undefined {
    if (page.needsRecentSignIn !== true || me === undefined || me.isRecent) return undefined;
    const next = page.method === 'GET' ? path : formPage(app, request);
    return { to: `/dashboard/confirm?next=${encodeURIComponent(next)}` };
}

function formPage(app: App, request: Request): string {
    const { referer = '' } = request.raw.req.headers;
    const url = URL.canParse(referer) ? new URL(referer) : undefined;
    const isOurs = url !== undefined && [new URL(app.publicUrl()).host, request.raw.req.headers.host].includes(url.host);
    return isOurs ? ownPath(url.pathname + url.search, '/dashboard') : '/dashboard';
}
