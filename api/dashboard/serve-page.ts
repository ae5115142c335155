import type { Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import { textProblem } from '../../shared/domain/text/text-rule.ts';
import { createCounts } from '../../shared/platform/counts.ts';
import type { Passwords } from '../../shared/platform/passwords/passwords.ts';
import { Refusal } from '../../shared/refusals.ts';
import { SessionEnded, type SignedIn } from '../../shared/store/accounts/user-sessions.ts';
import { limitIdentity } from '../admission/client-address.ts';
import { KeyedQueue } from '../admission/keyed-queue.ts';
import { perApp } from '../admission/per-app.ts';
import { inClientTurn } from '../admission/streamed-parts.ts';
import {
    browserTokenOf,
    clearSessionCookie,
    isOwnForm,
    requireOwnForm,
    setBrowserCookie,
    setSessionCookie,
    signedInOf,
    whoIsSignedIn,
} from '../auth/session.ts';
import { readBytes } from '../bodies/read-body.ts';
import { goneSignal } from '../call.ts';
import { workOnPackage } from '../packages/work.ts';
import { authorize, isOperator } from './authorize.ts';
import { visitorCaller } from './callers.ts';
import { sendFile } from './download.ts';
import { type Fields, FORM_BYTES, fieldsOf, parseFields } from './fields.ts';
import { askFor } from './internal-api.ts';
import { type Answer, type Page, pageNotFound, type Sent, type Visit } from './page.ts';
import { getsSharedCopy, noticeCookie, show, showKept } from './render.ts';
import { confirmFirst, confirmThen, signInFirst, typedBefore, WORKSPACE_FIELD } from './typed-before.ts';

interface PageParts {
    app: App;
    passwords: Passwords;
    hurryMail(): void;
    later(work: () => Promise<void>): void;
}

type Entry = Pick<Visit, 'form' | 'fields' | 'gone'> & { page: Page };

/** Builds a hapi route from a row of the table of pages. */
export function servePage(parts: PageParts, page: Page): ServerRoute {
    const { app } = parts;
    return {
        method: page.method,
        path: page.path,
        options: {
            app: { isOpen: false, isPublic: page.audience === 'anyone' && page.method === 'GET' },
            auth: { strategy: 'session', mode: 'optional' },
            handler: async (request, h) => {
                if (page.kept !== undefined && getsSharedCopy(request)) {
                    const { seconds, respond } = page.kept;
                    const visit = visitOf(parts, request, { page, ...NOTHING_TYPED, me: undefined, gone: goneSignal(request) });
                    return showKept(app, request, h, { seconds, show: () => respond(visit) });
                }
                const sent =
                    page.method === 'GET' ? await typedIn(app, request) : { form: request.path, fields: await readForm(request, page) };
                const form = { page, ...sent, gone: request.app.gone ?? goneSignal(request) };
                const first = await enter(parts, request, form);
                if ('sent' in first) return redirect(app, h, first.sent);
                const answer = await inTurn(page, first.visit, async () => {
                    if (page.method === 'GET' || first.visit.me === undefined) return respond(page, first.visit);
                    // Check again: the user may have been signed out or removed while the form arrived or waited in the queue.
                    setSignedIn(request, await whoIsSignedIn(app, request));
                    const now = await enter(parts, request, form);
                    return 'sent' in now ? now.sent : respond(page, now.visit);
                });
                if ('lines' in answer) {
                    const lines = whileAllowed(parts, request, { ...form, visit: first.visit }, answer.lines);
                    return await sendFile(h, { ...answer, lines: inClientTurn({ app, request, gone: form.gone }, lines) });
                }
                if ('to' in answer) return redirect(app, h, answer);
                const response = show(app, request, h, answer, page.isPart);
                if (answer.browserToken !== undefined) setBrowserCookie(app, response, answer.browserToken);
                return response;
            },
        },
    };
}

/** Returns the visit if the visitor may open the page, or else a redirect to the page that must be visited first. */
async function enter(parts: PageParts, request: Request, form: Entry): Promise<{ visit: Visit } | { sent: Sent }> {
    const { app } = parts;
    const { page, fields } = form;
    const me = inWorkspace(signedInOf(request), fields.get(WORKSPACE_FIELD));
    setSignedIn(request, me);
    const visit = visitOf(parts, request, { ...form, me });
    const elsewhere = authorize(page, visit);
    const isForm = page.method === 'POST';
    if (elsewhere !== undefined) {
        return { sent: isForm && me === undefined ? await signInFirst(visit, isOwnForm(app, request, fields.get('_form'))) : elsewhere };
    }
    if (isForm) requireOwnForm(app, request, fields.get('_form'));
    if (page.needsRecentSignIn !== true || me === undefined || me.isRecent) return { visit };
    return { sent: page.method === 'GET' ? confirmThen(visit.path) : await confirmFirst(request.path, visit, me) };
}

/** How often a download checks that the visitor may still open its page. */
const CHECK_MS = 1000;

/** The lines of a file, which ends early for a visitor who may not open its page any more: a download may take minutes. */
async function* whileAllowed(
    parts: PageParts,
    request: Request,
    { visit, ...form }: Entry & { visit: Visit },
    lines: AsyncIterable<string>,
): AsyncGenerator<string> {
    const workspaceId = visit.me?.current?.workspaceId;
    const fields = workspaceId === undefined ? form.fields : new Map(form.fields).set(WORKSPACE_FIELD, workspaceId);
    let checkedAt = performance.now();
    for await (const line of lines) {
        if (performance.now() - checkedAt > CHECK_MS) {
            setSignedIn(request, await whoIsSignedIn(parts.app, request));
            if ('sent' in (await enter(parts, request, { ...form, fields }))) throw new SessionEnded();
            checkedAt = performance.now();
        }
        yield line;
    }
}

/** A GET has no form, unless it leads back to one that had to wait for a confirmation or a sign-in. */
async function typedIn(app: App, request: Request): Promise<Pick<Visit, 'form' | 'fields'>> {
    const sender = { app, me: signedInOf(request), browserToken: browserTokenOf(app, request) };
    return (await typedBefore(sender, request.query['typed'])) ?? NOTHING_TYPED;
}

function setSignedIn(request: Request, user: SignedIn | undefined): void {
    request.auth.credentials = user === undefined ? {} : { user };
}

/** Redirects to the sign-in page if the session ended during the work. Then nothing was changed. */
async function respond(page: Page, visit: Visit): Promise<Answer> {
    try {
        return await page.respond(visit);
    } catch (error) {
        if (!(error instanceof SessionEnded)) throw error;
        return visit.me === undefined ? { to: '/login', notice: 'ended-meanwhile' } : signInFirst(visit, true);
    }
}

const NOTHING_TYPED = { form: undefined, fields: new Map<string, string>() };

/** How many forms of one person, and of all people in one process, may wait for running ones. */
const FORMS_WAITING = 4;
const FORMS_WAITING_IN_ALL = 256;

const formsOf = perApp(() => new KeyedQueue({ waitingPerKey: FORMS_WAITING, room: { places: FORMS_WAITING_IN_ALL, taken: 0 } }));

/** Reads a form. Only signed-in users may send large ones, to bound the memory that strangers can take. */
async function readForm(request: Request, { formBytes = FORM_BYTES }: Page): Promise<Fields> {
    const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.raw.req.headers;
    const isForm = /^application\/x-www-form-urlencoded\s*(;\s*charset\s*=\s*"?utf-?8"?\s*)?$/i.test(type.trim());
    if (!isForm || encoding.toLowerCase() !== 'identity') {
        throw new Refusal('UNSUPPORTED_MEDIA_TYPE', 'Pages take forms: application/x-www-form-urlencoded.');
    }
    if (formBytes <= FORM_BYTES) return parseFields(await readBytes(request, FORM_BYTES));
    const signedIn = signedInOf(request);
    return signedIn === undefined ? readUnlessLarge(request) : readLargeForm(request, { userId: signedIn.userId, formBytes });
}

/** The form of a visitor who will be asked to sign in first, without the fields of a large one. */
async function readUnlessLarge(request: Request): Promise<Fields> {
    try {
        return parseFields(await readBytes(request, FORM_BYTES));
    } catch (error) {
        if (error instanceof Refusal && error.code === 'PAYLOAD_TOO_LARGE') return NOTHING_TYPED.fields;
        throw error;
    }
}

/** The number of large forms that are arriving, by user. Each may take 12 MiB of memory before it waits in the queue. */
const arriving = createCounts();

async function readLargeForm(request: Request, { userId, formBytes }: { userId: string; formBytes: number }): Promise<Fields> {
    if (arriving.of(userId) > FORMS_WAITING) throw formsFull('key');
    arriving.add(userId, 1);
    try {
        const bytes = await readBytes(request, formBytes);
        if (bytes.length <= FORM_BYTES) return parseFields(bytes);
        return fieldsOf((await workOnPackage('form', userId, { bytes })).answer);
    } finally {
        arriving.add(userId, -1);
    }
}

/**
 * Selects the workspace for which the form was shown, even if another tab has switched to another one since.
 * @throws Refusal NOT_FOUND if the visitor is not (or no longer) a member of the workspace
 */
function inWorkspace(me: SignedIn | undefined, workspaceId: string | undefined): SignedIn | undefined {
    if (me === undefined || workspaceId === undefined) return me;
    const current = me.workspaces.find((membership) => membership.workspaceId === workspaceId);
    if (current === undefined) throw pageNotFound();
    return { ...me, current };
}

function visitOf(parts: PageParts, request: Request, { page, form, fields, me, gone }: Entry & Pick<Visit, 'me'>): Visit {
    const params = request.params as Record<string, string>;
    // No id contains such characters, and PostgreSQL rejects some of them, such as NUL.
    if (Object.values(params).some((value) => textProblem(value) !== undefined)) throw pageNotFound();
    const visitorAgain = async () => {
        const now = await whoIsSignedIn(parts.app, request);
        if (now === undefined || now.isSuspended) return undefined;
        return visitorCaller({ ...now, current: now.workspaces.find(({ workspaceId }) => workspaceId === me?.current?.workspaceId) });
    };
    return {
        ...parts,
        params,
        query: (name) => {
            const value: unknown = Object.hasOwn(request.query, name) ? request.query[name] : undefined;
            return typeof value === 'string' && textProblem(value) === undefined ? value : undefined;
        },
        form,
        fields,
        path: request.path + request.url.search,
        isOpenedByPerson: isOpenedByPerson(request),
        client: limitIdentity(request.app.clientAddress),
        browser: (request.raw.req.headers['user-agent'] ?? '').replaceAll(/[^\x20-\x7e]/g, ''),
        browserToken: browserTokenOf(parts.app, request),
        address: request.app.clientAddress,
        me,
        gone,
        ask: askFor(request, page.audience === 'anyone' ? undefined : visitorCaller(me), { gone, visitorAgain }),
        isOperator: isOperator(parts.app, me),
    };
}

/** Handles the forms of one person, or of one client without a session, one after another, since they would wait for each other's locks. */
function inTurn(page: Page, { app, me, client, gone }: Visit, work: () => Promise<Answer>): Promise<Answer> {
    if (page.method === 'GET' || page.queuesElsewhere === true) return work();
    return formsOf(app).run({ keys: [me?.userId ?? client], gone, full: formsFull }, work);
}

function formsFull(where: 'key' | 'room' | 'time'): Refusal {
    if (where !== 'key') return new Refusal('OVERLOADED', 'Too many requests right now. Try again in a moment.', { retryAfter: 1 });
    return new Refusal('RATE_LIMITED', 'You have too many requests in progress. Try again in a moment.', { retryAfter: 1 });
}

function redirect(app: App, h: ResponseToolkit, sent: Sent): ResponseObject {
    const response = h.redirect(sent.to).code(303).header('cache-control', 'no-store').header('referrer-policy', 'same-origin');
    if (sent.notice !== undefined) response.header('set-cookie', noticeCookie(sent.notice), { append: true });
    if (sent.signIn !== undefined) setSessionCookie(app, response, sent.signIn);
    if (sent.browserToken !== undefined) setBrowserCookie(app, response, sent.browserToken);
    if (sent.signOut === true) clearSessionCookie(app, response);
    return response;
}

/** Headers that mark prefetches, in current and older browsers. */
const PREFETCH_HEADERS = ['sec-purpose', 'purpose', 'x-moz'];

/**
 * Whether a person may have opened this page in a tab. False if another page embeds it, a script fetches it, a foreign page opens it
 * without a click, a browser prefetches or prerenders it, or for a HEAD request.
 */
function isOpenedByPerson({ method, raw }: Request): boolean {
    const { headers } = raw.req;
    const isPrefetch = PREFETCH_HEADERS.some((name) => /prefetch|prerender/i.test(String(headers[name] ?? '')));
    // Older browsers do not send these headers. Their requests count as opened by a person.
    const { 'sec-fetch-dest': purpose = 'document', 'sec-fetch-site': from = 'none', 'sec-fetch-user': user } = headers;
    const isForeign = from === 'cross-site' || from === 'same-site';
    return method === 'get' && !isPrefetch && purpose === 'document' && (!isForeign || user === '?1');
}
