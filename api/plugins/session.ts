import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Request, ResponseObject, Server } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import { isWebToken, newWebToken } from '../../shared/domain/web-token.ts';
import { Refusal } from '../../shared/refusals.ts';
import { findSignedIn, SESSION_DAYS, type SignedIn } from '../../shared/store/web-sessions.ts';

declare module '@hapi/hapi' {
    interface RequestApplicationState {
        /** Who is signed in; only pages look at it, the routes of the API ignore cookies. */
        signedIn: SignedIn | undefined;
        /** A visit's secret that the answer has to set. */
        newVisit: string | undefined;
    }
    interface RouteOptionsApp {
        /** The route is a page: it reads cookies. */
        isPage?: boolean;
    }
}

const SESSION_SECONDS = SESSION_DAYS * 86_400;
/** Browsers keep no cookie for longer. */
const BROWSER_SECONDS = 400 * 86_400;

/** Finds who is signed in, by the cookie, for pages alone. */
export function session(server: Server, app: App): void {
    server.ext('onPreAuth', async (request, h) => {
        if (request.route.settings.app?.isPage !== true) return h.continue;
        const token = cookieOf(app, request, 'session');
        if (token !== undefined) request.app.signedIn = await findSignedIn(app.db, token, request.app.clientAddress);
        return h.continue;
    });
    server.ext('onPreResponse', (request, h) => {
        const { response } = request;
        if (request.app.newVisit !== undefined && !('isBoom' in response)) {
            response.header('set-cookie', cookie(app, 'visit', request.app.newVisit, SESSION_SECONDS), { append: true });
        }
        return h.continue;
    });
}

/** Puts a new session into the browser. */
export function signIn(app: App, response: ResponseObject, token: string): void {
    response.header('set-cookie', cookie(app, 'session', token, SESSION_SECONDS), { append: true });
}

/** What names this browser for as long as it keeps cookies, so that a sign-in from another one is news. */
export function browserTokenOf(app: App, request: Request): string | undefined {
    return cookieOf(app, request, 'browser');
}

/** Names the browser. */
export function nameBrowser(app: App, response: ResponseObject, token: string): void {
    response.header('set-cookie', cookie(app, 'browser', token, BROWSER_SECONDS), { append: true });
}

/** Takes the session out of the browser. */
export function signOut(app: App, response: ResponseObject): void {
    response.header('set-cookie', cookie(app, 'session', '', 0), { append: true });
}

/**
 * What a form carries to show that one of our pages made it: a tag of the session's secret, or of the visit's for somebody who
 * is not signed in, under a mask that is new each time (a compressed page must not tell it bit by bit).
 */
export function formToken(app: App, request: Request): string {
    const secret = cookieOf(app, request, 'session') ?? cookieOf(app, request, 'visit') ?? beginVisit(request);
    const mask = randomBytes(TAG_BYTES);
    return Buffer.concat([mask, xor(mask, tagOf(secret))]).toString('base64url');
}

/**
 * Refuses a form that did not come from a page of ours in this browser.
 * @throws Refusal FORBIDDEN
 */
export function requireOwnForm(app: App, request: Request, token: string | undefined): void {
    const site = request.raw.req.headers['sec-fetch-site'];
    const isForeign = site === 'cross-site' || site === 'same-site';
    const given = Buffer.from(token ?? '', 'base64url');
    const [mask, masked] = [given.subarray(0, TAG_BYTES), given.subarray(TAG_BYTES)];
    // A form that was shown before signing in, in another tab, is still ours.
    const secrets = [cookieOf(app, request, 'session'), cookieOf(app, request, 'visit')].filter((secret) => secret !== undefined);
    const isOurs = masked.length === TAG_BYTES && secrets.some((secret) => timingSafeEqual(xor(mask, masked), tagOf(secret)));
    if (isForeign || !isOurs) {
        throw new Refusal('FORBIDDEN', 'This form is out of date: go back, reload the page and send it again.');
    }
}

const TAG_BYTES = 16;

function tagOf(secret: string): Buffer {
    return createHmac('sha256', secret).update('form').digest().subarray(0, TAG_BYTES);
}

function xor(mask: Buffer, bytes: Buffer): Buffer {
    return Buffer.from(bytes.map((byte, index) => byte ^ (mask[index] ?? 0)));
}

function beginVisit(request: Request): string {
    request.app.newVisit ??= newWebToken();
    return request.app.newVisit;
}

type CookieName = 'session' | 'visit' | 'browser';

/** With https the name has a prefix under which browsers take a cookie from this very host alone. */
function nameOf(app: App, name: CookieName): string {
    return isSecure(app) ? `__Host-routebook_${name}` : `routebook_${name}`;
}

function isSecure(app: App): boolean {
    return app.publicUrl().startsWith('https:');
}

function cookie(app: App, name: CookieName, value: string, seconds: number): string {
    return `${nameOf(app, name)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure(app) ? '; Secure' : ''}`;
}

/** What hapi read of the Cookie header; nothing for a path that does not exist, where it does not look. */
export function cookiesOf(request: Request): Readonly<Record<string, unknown>> {
    const state: Readonly<Record<string, unknown>> | null = request.state;
    return state ?? {};
}

/** A cookie that could be one of ours; two of one name are nobody's. */
function cookieOf(app: App, request: Request, name: CookieName): string | undefined {
    const value: unknown = cookiesOf(request)[nameOf(app, name)];
    return typeof value === 'string' && isWebToken(value) ? value : undefined;
}
