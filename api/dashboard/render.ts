import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { Eta } from 'eta';
import { LRUCache } from 'lru-cache';
import type { App } from '../../shared/app.ts';
import { perApp } from '../admission/per-app.ts';
import { type Bytes, sendBytes } from '../answers/etag.ts';
import { packed } from '../answers/packed.ts';
import { readTogether } from '../answers/read-together.ts';
import { cookiesOf, formToken, setFormCookie, signedInOf } from '../auth/session.ts';
import { assetUrl } from './assets.ts';
import { isOperator } from './authorize.ts';
import { formats } from './formats.ts';
import { dashboardMenu, personMenu, publicMenu } from './navigation.ts';
import { readNotice } from './notices.ts';
import type { Shown } from './page.ts';

/** Values are escaped, except in `<%~`. Views use that only for includes, layouts, `it.page.secrets()` and `it.page.large`. */
const eta = new Eta({
    views: fileURLToPath(new URL('views', import.meta.url)),
    cache: true,
    autoEscape: true,
    autoTrim: [false, 'nl'],
});

const NOTICE_COOKIE = 'routebook_notice';

export function show(app: App, request: Request, h: ResponseToolkit, shown: Shown, isPart = false): ResponseObject {
    const { large, formsLeadTo = [], retryAfter } = shown;
    const notice = isPart ? undefined : readNotice(cookiesOf(request)[NOTICE_COOKIE], app.config.mail.smtpUrl !== undefined);
    const html = withLarge(render(app, request, shown, { isPart, notice }), large);
    const response = toPage(app, packed(html, request, h), formsLeadTo).code(statusOf(shown));
    if (retryAfter !== undefined) response.header('retry-after', String(retryAfter));
    setFormCookie(app, request, response);
    if (notice !== undefined) response.header('set-cookie', noticeCookie('', 0), { append: true });
    return response;
}

function render(app: App, request: Request, shown: Shown, of: { isPart: boolean; notice: ReturnType<typeof readNotice> }): string {
    const { view, title, description, model, usesHtmx = false, actsIn } = shown;
    return eta.render(`/${view}`, { ...model, f: formats, page: frame(app, request, { ...of, title, description, usesHtmx, actsIn }) });
}

function toPage(app: App, response: ResponseObject, formsLeadTo: readonly string[]): ResponseObject {
    for (const [name, value] of securityHeaders(app, formsLeadTo)) response.header(name, value);
    return response.type('text/html; charset=utf-8');
}

/** Pages that are the same for all visitors who are not signed in: rendering one takes a quarter of its CPU, compressing it half. */
const keptOf = perApp(() => new LRUCache<string, Bytes>({ max: 100 }));

/** Whether a shared copy of the page fits this visitor: not signed in, no query, and no notice to show. */
export function getsSharedCopy(request: Request): boolean {
    return signedInOf(request) === undefined && request.url.search === '' && cookiesOf(request)[NOTICE_COOKIE] === undefined;
}

/** Sends a page to such a visitor. @param seconds how old it may be; 0: only visitors who ask at the same time share it */
export async function showKept(
    app: App,
    request: Request,
    h: ResponseToolkit,
    { seconds, show }: { seconds: number; show(): Promise<Shown> },
): Promise<ResponseObject> {
    const kept = keptOf(app);
    const key = app.publicUrl() + request.path;
    const make = async () => {
        const plain = Buffer.from(render(app, request, await show(), { isPart: false, notice: undefined }));
        const bytes = { plain, gzipped: await promisify(gzip)(plain) };
        if (seconds > 0) kept.set(key, bytes, { ttl: seconds * 1000 });
        return bytes;
    };
    return toPage(app, sendBytes(kept.get(key) ?? (await readTogether(app, key, make)), request, h), []);
}

function statusOf({ status, retryAfter, model }: Shown): number {
    if (status !== undefined) return status;
    if (retryAfter !== undefined) return 429;
    const { problems = {} } = model as { problems?: object };
    return Object.keys(problems).length === 0 ? 200 : 422;
}

/** The placeholder for HTML that was built in a thread. Values cannot contain it, since they are escaped. */
const LARGE = '<!--large-->';

/** Inserts the bytes at the placeholder. They stay bytes, since 16 MB of text would block the event loop for 0.3 s. */
function withLarge(html: string, large: Uint8Array | undefined): string | Buffer {
    if (large === undefined) return html;
    const [before = '', after = ''] = html.split(LARGE);
    return Buffer.concat([Buffer.from(before), large, Buffer.from(after)]);
}

/** The cookie that keeps a notice until the redirect's target page shows it. @param seconds its lifetime */
export function noticeCookie(notice: string, seconds = 60): string {
    return `${NOTICE_COOKIE}=${notice}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax`;
}

/** `it.page` of every view. */
function frame(
    app: App,
    request: Request,
    {
        actsIn,
        ...more
    }: {
        title: string;
        description: string | undefined;
        isPart: boolean;
        usesHtmx: boolean;
        actsIn: Shown['actsIn'] | undefined;
        notice: ReturnType<typeof readNotice>;
    },
) {
    const signedIn = signedInOf(request);
    const me = signedIn === undefined || actsIn === undefined ? signedIn : { ...signedIn, current: actsIn };
    const { path } = request;
    /** The hidden fields of every form: the only HTML outside of the views. The values have only base64url and an id. */
    const secretsIn = (workspaceId: string | undefined) => {
        const workspace = workspaceId === undefined ? '' : `<input type="hidden" name="_workspace" value="${workspaceId}">`;
        return `<input type="hidden" name="_form" value="${formToken(app, request)}">${workspace}`;
    };
    const isDashboard = me !== undefined && (path === '/dashboard' || path.startsWith('/dashboard/'));
    return {
        ...more,
        me,
        path,
        isDashboard,
        publicMenu: publicMenu(path),
        personMenu: personMenu(path),
        menu: isDashboard ? dashboardMenu(me, isOperator(app, me), path) : undefined,
        publicUrl: app.publicUrl(),
        now: app.clock.now(),
        needsVerifying: me !== undefined && !me.isVerified && app.config.mail.smtpUrl !== undefined,
        asset: assetUrl,
        large: LARGE,
        secrets: () => secretsIn(me?.current?.workspaceId),
        /** For a form that acts in another workspace than the page. */
        within: (workspaceId: string) => ({ secrets: () => secretsIn(workspaceId) }),
    };
}

function securityHeaders(app: App, formsLeadTo: readonly string[]): [string, string][] {
    const policy = [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        `form-action ${["'self'", ...formsLeadTo].join(' ')}`,
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ];
    return [
        ['content-security-policy', policy.join('; ')],
        ['x-frame-options', 'DENY'],
        ['referrer-policy', 'same-origin'],
        ['cross-origin-opener-policy', 'same-origin'],
        ['cross-origin-resource-policy', 'same-origin'],
        ['permissions-policy', 'camera=(), geolocation=(), microphone=(), payment=()'],
        // Pages say who is signed in and contain form tokens, so they must not be cached.
        ['cache-control', 'no-store'],
        ...(app.publicUrl().startsWith('https:') ? ([['strict-transport-security', 'max-age=31536000']] as [string, string][]) : []),
    ];
}
