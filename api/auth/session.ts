import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Request, ResponseObject } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import { isWebToken, newWebToken } from '../../shared/domain/accounts/web-token.ts';
import { within } from '../../shared/platform/within.ts';
import { Refusal } from '../../shared/refusals.ts';
import { findSignedIn, SESSION_DAYS, type SignedIn } from '../../shared/store/accounts/user-sessions.ts';
import type { AppPlugin } from '../plugins/plugin.ts';

declare module '@hapi/hapi' {
    interface UserCredentials extends SignedIn {}
    interface RequestApplicationState {
        /** The new CSRF secret of a browser without a session. The answer sets its cookie. */
        newFormSecret: string | undefined;
    }
}

const SESSION_SECONDS = SESSION_DAYS * 86_400;
/** The longest lifetime that browsers give a cookie. */
const BROWSER_SECONDS = 400 * 86_400;

/** Who is signed in. Only pages know; the routes of the API ignore cookies. */
export function signedInOf({ auth }: Request): SignedIn | undefined {
    // hapi sets null if nobody is authenticated.
    return (auth.credentials as Request['auth']['credentials'] | null)?.user;
}

/** The strategy `session`: finds the signed-in user by the cookie. */
export const session: AppPlugin = {
    name: 'session',
    register(server, { app }) {
        server.auth.scheme('session', () => ({
            async authenticate(request, h) {
                const user = await visitorOf(app, request);
                // Pages decide who may open them. Without credentials hapi would make an error for each visitor, which takes 50 µs.
                return h.authenticated({ credentials: user === undefined ? {} : { user } });
            },
        }));
        server.auth.strategy('session', 'session');
    },
};

/** How long a page waits for the look-up of its session. */
const SESSION_LOOKUP_MS = 2000;

/** Public pages, such as the status of this service, are readable while the database is down. They then treat the visitor as signed out. */
function visitorOf(app: App, request: Request): Promise<SignedIn | undefined> {
    const found = within(SESSION_LOOKUP_MS, whoIsSignedIn(app, request), () => {
        throw new Refusal('SERVICE_UNAVAILABLE', undefined, { retryAfter: 5 });
    });
    return request.route.settings.app?.isPublic === true ? found.catch(() => undefined) : found;
}

/** Reads the signed-in user from the database. */
export async function whoIsSignedIn(app: App, request: Request): Promise<SignedIn | undefined> {
    const token = cookieOf(app, request, 'session');
    return token === undefined ? undefined : findSignedIn(app.db, token, request.app.clientAddress);
}

export function setSessionCookie(app: App, response: ResponseObject, token: string): void {
    response.header('set-cookie', cookie(app, 'session', token, SESSION_SECONDS), { append: true });
}

/** A permanent cookie that identifies this browser, so that a sign-in from a new browser triggers a mail. */
export function browserTokenOf(app: App, request: Request): string | undefined {
    return cookieOf(app, request, 'browser');
}

export function setBrowserCookie(app: App, response: ResponseObject, token: string): void {
    response.header('set-cookie', cookie(app, 'browser', token, BROWSER_SECONDS), { append: true });
}

/** Sets the cookie of the form secret if a form on this page created one. */
export function setFormCookie(app: App, request: Request, response: ResponseObject): void {
    const { newFormSecret } = request.app;
    if (newFormSecret !== undefined) response.header('set-cookie', cookie(app, 'visit', newFormSecret, SESSION_SECONDS), { append: true });
}

export function clearSessionCookie(app: App, response: ResponseObject): void {
    response.header('set-cookie', cookie(app, 'session', '', 0), { append: true });
}

/** The CSRF token of a form: an HMAC of the secret of the session or visit. A fresh mask hides it from compression attacks (BREACH). */
export function formToken(app: App, request: Request): string {
    const secret = cookieOf(app, request, 'session') ?? cookieOf(app, request, 'visit') ?? createFormSecret(request);
    const mask = randomBytes(TAG_BYTES);
    return Buffer.concat([mask, xor(mask, tagOf(secret))]).toString('base64url');
}

/** Rejects a form that does not come from our page in this browser. @throws Refusal FORBIDDEN */
export function requireOwnForm(app: App, request: Request, token: string | undefined): void {
    if (isOwnForm(app, request, token)) return;
    throw new Refusal('FORBIDDEN', 'This form is out of date: go back, reload the page and send it again.');
}

export function isOwnForm(app: App, request: Request, token: string | undefined): boolean {
    const site = request.raw.req.headers['sec-fetch-site'];
    const isForeign = site === 'cross-site' || site === 'same-site';
    const given = Buffer.from(token ?? '', 'base64url');
    const [mask, masked] = [given.subarray(0, TAG_BYTES), given.subarray(TAG_BYTES)];
    // Accepts a form that another tab showed before the sign-in.
    const secrets = [cookieOf(app, request, 'session'), cookieOf(app, request, 'visit')].filter((secret) => secret !== undefined);
    return !isForeign && masked.length === TAG_BYTES && secrets.some((secret) => timingSafeEqual(xor(mask, masked), tagOf(secret)));
}

const TAG_BYTES = 16;

function tagOf(secret: string): Buffer {
    return createHmac('sha256', secret).update('form').digest().subarray(0, TAG_BYTES);
}

function xor(mask: Buffer, bytes: Buffer): Buffer {
    return Buffer.from(bytes.map((byte, index) => byte ^ (mask[index] ?? 0)));
}

function createFormSecret(request: Request): string {
    request.app.newFormSecret ??= newWebToken();
    return request.app.newFormSecret;
}

type CookieName = 'session' | 'visit' | 'browser';

/** With https the name has the `__Host-` prefix: browsers then accept the cookie from this host only. */
function nameOf(app: App, name: CookieName): string {
    return isSecure(app) ? `__Host-routebook_${name}` : `routebook_${name}`;
}

function isSecure(app: App): boolean {
    return app.publicUrl().startsWith('https:');
}

function cookie(app: App, name: CookieName, value: string, seconds: number): string {
    return `${nameOf(app, name)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure(app) ? '; Secure' : ''}`;
}

/** Finds the signed-in user for the 404 page, where hapi does not parse cookies. */
export async function recogniseVisitor(app: App, request: Request): Promise<void> {
    const state: object | null = request.state;
    if (state !== null) return;
    // hapi's types name another result. If a cookie is malformed, hapi's error contains the valid ones.
    const parsed: object = await request.server.states.parse(request.raw.req.headers.cookie ?? '').catch((error: object) => error);
    Object.assign(request, { state: 'states' in parsed ? parsed.states : {} });
    const user = await visitorOf(app, request).catch(() => undefined);
    if (user !== undefined) Object.assign(request.auth, { credentials: { user } });
}

/** The parsed Cookie header. hapi does not parse it for unknown paths; `recogniseVisitor` does. */
export function cookiesOf(request: Request): Readonly<Record<string, unknown>> {
    const state: Readonly<Record<string, unknown>> | null = request.state;
    return state ?? {};
}

/** A well-formed cookie of ours; duplicates count as absent. */
function cookieOf(app: App, request: Request, name: CookieName): string | undefined {
    const value: unknown = cookiesOf(request)[nameOf(app, name)];
    return typeof value === 'string' && isWebToken(value) ? value : undefined;
}
