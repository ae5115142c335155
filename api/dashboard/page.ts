import type { App } from '../../shared/app.ts';
import { ROLES, type Role } from '../../shared/domain/accounts/roles.ts';
import type { Passwords } from '../../shared/platform/passwords/passwords.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Membership, SignedIn } from '../../shared/store/accounts/user-sessions.ts';
import type { Download } from './download.ts';
import type { Fields } from './fields.ts';
import type { Ask } from './internal-api.ts';
import type { Notice } from './notices.ts';

/** Who may see a page: everybody; anyone who is signed in; these roles of the workspace; operators. */
export type Audience = 'anyone' | 'signed-in' | 'operator' | readonly Role[];

/** Roles by what they may do. */
export const MEMBERS: readonly Role[] = ROLES;
export const USERS: readonly Role[] = ['owner', 'admin', 'member'];
export const MANAGERS: readonly Role[] = ['owner', 'admin'];
export const PAYERS: readonly Role[] = ['owner', 'billing'];
/** Who sees what is paid. */
export const BILLING_VIEWERS: readonly Role[] = ['owner', 'admin', 'billing'];

/** One row of the table of pages: routes, tenant tests and screenshots are made from it. */
export interface Page {
    method: 'GET' | 'POST';
    /** With `{placeholders}`. */
    path: `/${string}`;
    audience: Audience;
    /** A part of a page, for htmx: no layout around it. */
    isPart?: true;
    /** Demands that the visitor signed in, or confirmed it, within the last 15 minutes. */
    needsRecentSignIn?: true;
    /** Somebody sees it who has yet to set up a second factor that is demanded. */
    worksWithoutFactor?: true;
    /** Bytes of its form at most, for anyone who is signed in; a few thousand letters otherwise. */
    formBytes?: number;
    /** Its form is not queued here: it calls the API, or runs its own queue. */
    queuesElsewhere?: true;
    respond(visit: Visit): Promise<Answer>;
}

/** One request for a page. */
export interface Visit {
    app: App;
    passwords: Passwords;
    /** Path parameters; well-formed text, of any content. */
    params: Readonly<Record<string, string>>;
    /** A query parameter that appears once and is clean text; otherwise undefined. */
    query(name: string): string | undefined;
    /** Submitted form fields; empty for GET. */
    fields: Fields;
    /** The path and query asked for. */
    path: string;
    /** A tab goes to this page, now; neither another page nor a program ahead of its reader (`opened-by-person.ts`). */
    isOpenedByPerson: boolean;
    /** As limits count it. */
    client: string;
    /** A User-Agent header. */
    browser: string;
    /** The cookie that names this browser beyond sessions. */
    browserToken: string | undefined;
    /** The client's whole address. */
    address: string;
    me: SignedIn | undefined;
    isOperator: boolean;
    /** Calls a route of the API. */
    ask: Ask;
    /** Aborted when the visitor hangs up. */
    gone: AbortSignal;
    /** Sends soon what was put into the box of mails. */
    hurryMail(): void;
    /** Runs work after the answer, so that the time of the answer does not reveal it. */
    later(work: () => Promise<void>): void;
}

export interface PersonalVisit extends Visit {
    me: SignedIn;
}

export interface WorkspaceVisit extends PersonalVisit {
    /** The workspace that the page is about: the form's own, or the one looked at last. */
    workspace: Membership;
}

export type Answer = Shown | Sent | Download;

/** A page that is shown. */
export interface Shown {
    /** A file in `views/`, without its ending. */
    view: string;
    title: string;
    /** Description for search engines, one line. */
    description?: string;
    /** The fields of the view's `it`, beside `it.page`. */
    model: object;
    /** HTML rendered in a thread. The view inserts it as `it.page.large`. */
    large?: Uint8Array;
    /** 200 unless said otherwise. */
    status?: number;
    /** Whether the page uses htmx. */
    usesHtmx?: boolean;
    /** The workspace that the forms of this page act in, where it is another than the one looked at last. */
    actsIn?: Membership;
    /** Other origins that a form of this page may lead to, by redirect. */
    formsLeadTo?: readonly string[];
    retryAfter?: number;
    /** The new identifier of this browser. */
    browserToken?: string;
}

/** A redirect (303), with a line that the next page shows once. */
export interface Sent {
    to: string;
    notice?: Notice;
    /** The token of a session that begins. */
    signIn?: string;
    /** The new identifier of this browser. */
    browserToken?: string;
    signOut?: boolean;
}

/** A page for everybody. */
export function openPage(page: Omit<Page, 'audience'>): Page {
    return { ...page, audience: 'anyone' };
}

interface PersonalRow {
    method: Page['method'];
    path: Page['path'];
    needsRecentSignIn?: true;
    worksWithoutFactor?: true;
    respond(visit: PersonalVisit): Promise<Answer>;
}

/** A page about the person who is signed in, in whatever workspace. */
export function personalPage(page: PersonalRow): Page {
    return { ...page, audience: 'signed-in', respond: (visit) => page.respond(personal(visit)) };
}

/** A page for operators; for everybody else it does not exist. */
export function operatorPage(page: PersonalRow): Page {
    return { ...page, audience: 'operator', respond: (visit) => page.respond(personal(visit)) };
}

/** A page about one workspace, for these roles there. */
export function workspacePage(page: {
    method: Page['method'];
    path: Page['path'];
    audience: readonly Role[];
    isPart?: true;
    needsRecentSignIn?: true;
    formBytes?: number;
    queuesElsewhere?: true;
    respond(visit: WorkspaceVisit): Promise<Answer>;
}): Page {
    return {
        ...page,
        respond: (visit) => {
            const { me } = personal(visit);
            if (me.current === undefined) throw new Error('let-in sends people without a workspace elsewhere');
            return page.respond({ ...visit, me, workspace: me.current });
        },
    };
}

function personal(visit: Visit): PersonalVisit {
    if (visit.me === undefined) throw new Error('let-in sends people who are not signed in elsewhere');
    return { ...visit, me: visit.me };
}

/** The refusal for a page that does not exist or is not for this visitor: both look the same. */
export function pageNotFound(): Refusal {
    return new Refusal('NOT_FOUND');
}
