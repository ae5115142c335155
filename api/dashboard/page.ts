import type { App } from '../../shared/app.ts';
import { ROLES, type Role } from '../../shared/domain/accounts/roles.ts';
import type { Passwords } from '../../shared/platform/passwords/passwords.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Membership, SignedIn } from '../../shared/store/accounts/user-sessions.ts';
import type { Download } from './download.ts';
import type { Fields } from './fields.ts';
import type { Ask } from './internal-api.ts';
import type { Notice } from './notices.ts';

/** Who may open a page: anyone, signed-in users, operators, or these roles of the workspace. */
export type Audience = 'anyone' | 'signed-in' | 'operator' | readonly Role[];

/** Groups of roles, by what they may do. */
export const MEMBERS: readonly Role[] = ROLES;
export const USERS: readonly Role[] = ['owner', 'admin', 'member'];
export const MANAGERS: readonly Role[] = ['owner', 'admin'];
export const PAYERS: readonly Role[] = ['owner', 'billing'];
export const BILLING_VIEWERS: readonly Role[] = ['owner', 'admin', 'billing'];

/** One row of the table of pages. Routes, tests of tenant isolation and screenshots are generated from it. */
export interface Page {
    method: 'GET' | 'POST';
    /** May contain `{placeholders}`. */
    path: `/${string}`;
    audience: Audience;
    /** A part of a page for htmx. It is sent without the layout. */
    isPart?: true;
    /** Requires that the visitor signed in or confirmed their identity within the last 15 minutes. */
    needsRecentSignIn?: true;
    /** Also open to users who have not set up a required second factor yet. */
    worksWithoutFactor?: true;
    /** Maximum number of bytes of its form, for signed-in users. Otherwise the limit is `FORM_BYTES`. */
    formBytes?: number;
    /** Its form does not wait in the queue of forms, since it calls the API or has its own queue. */
    queuesElsewhere?: true;
    /** The page without a query is the same for all visitors who are not signed in. They may get one that is `seconds` old. */
    kept?: { seconds: number; respond: KeptPage };
    respond(visit: Visit): Promise<Answer>;
}

export interface Visit {
    app: App;
    passwords: Passwords;
    /** Path parameters. They are well-formed text, but not validated otherwise. */
    params: Readonly<Record<string, string>>;
    /** A query parameter. Undefined if it is missing, repeated or contains invalid characters. */
    query(name: string): string | undefined;
    /** The path to which the form was sent, or would have been if its sender had not had to confirm their identity or sign in first. */
    form: string | undefined;
    /** The fields of the form. For GET, what was typed before a confirmation or a sign-in that leads back here; usually empty. */
    fields: Fields;
    path: string;
    /** Whether a person may have opened the page in a tab, and not a script or a prefetch. */
    isOpenedByPerson: boolean;
    /** The client as rate limits count it. */
    client: string;
    /** The User-Agent header. */
    browser: string;
    /** The cookie that identifies this browser across sessions. */
    browserToken: string | undefined;
    /** The client's complete address. */
    address: string;
    me: SignedIn | undefined;
    isOperator: boolean;
    /** Calls a route of the API. */
    ask: Ask;
    /** Aborted when the visitor disconnects. */
    gone: AbortSignal;
    /** Makes the mailer send queued mails at once. */
    hurryMail(): void;
    /** Runs work after the answer, so that the response time does not reveal it. */
    later(work: () => Promise<void>): void;
}

export interface PersonalVisit extends Visit {
    me: SignedIn;
}

export interface WorkspaceVisit extends PersonalVisit {
    /** The workspace of the page: the one that the form was shown for, or else the selected one. */
    workspace: Membership;
}

export type Answer = Shown | Sent | Download;

export interface Shown {
    /** A file in `views/`, without its extension. */
    view: string;
    title: string;
    /** A description in one line, for search engines. */
    description?: string;
    /** The properties of the view's `it`, in addition to `it.page`. */
    model: object;
    /** HTML rendered in a thread. The view inserts it as `it.page.large`. */
    large?: Uint8Array | undefined;
    /** The HTTP status; by default 429 with `retryAfter`, 422 if the model has `problems`, and otherwise 200. */
    status?: number | undefined;
    usesHtmx?: boolean;
    /** The workspace in which the forms of this page act, if it is not the selected one. */
    actsIn?: Membership;
    /** Other origins to which a form of this page may redirect. */
    formsLeadTo?: readonly string[];
    retryAfter?: number | undefined;
    /** The new identifier of this browser. */
    browserToken?: string;
}

/** A redirect (303), with a notice that the next page shows once. */
export interface Sent {
    to: string;
    notice?: Notice;
    /** The token of a new session. */
    signIn?: string;
    /** The new identifier of this browser. */
    browserToken?: string;
    signOut?: boolean;
}

export function openPage(page: Omit<Page, 'audience'>): Page {
    return { ...page, audience: 'anyone' };
}

type PersonalRow = Omit<Page, 'audience' | 'respond'> & { respond(visit: PersonalVisit): Promise<Answer> };

/** What a page needs that is the same for all visitors who are not signed in. */
type KeptPage = (
    visit: Pick<Visit, 'app' | 'params' | 'query' | 'ask'>,
) => Promise<Pick<Shown, 'view' | 'title' | 'description' | 'model'>>;

/** @param seconds how old the page may be for visitors who are not signed in; 0: those who ask at the same time share it */
export function keptPage(path: Page['path'], respond: KeptPage, seconds = 3600): Page {
    return openPage({ method: 'GET', path, kept: { seconds, respond }, respond });
}

/** A page about the signed-in user, in any workspace. */
export function personalPage(page: PersonalRow): Page {
    return { ...page, audience: 'signed-in', respond: (visit) => page.respond(personal(visit)) };
}

/** A page for operators. Everybody else gets 404. */
export function operatorPage(page: PersonalRow): Page {
    return { ...page, audience: 'operator', respond: (visit) => page.respond(personal(visit)) };
}

/** A page about one workspace, for some of its roles. */
export function workspacePage(
    page: Omit<Page, 'respond'> & { audience: readonly Role[]; respond(visit: WorkspaceVisit): Promise<Answer> },
): Page {
    return {
        ...page,
        respond: (visit) => {
            const { me } = personal(visit);
            if (me.current === undefined) throw new Error('authorize() redirects visitors without a workspace');
            return page.respond({ ...visit, me, workspace: me.current });
        },
    };
}

function personal(visit: Visit): PersonalVisit {
    if (visit.me === undefined) throw new Error('authorize() redirects visitors who are not signed in');
    return { ...visit, me: visit.me };
}

/** A page with only a message and a link. */
export function words(title: string, message: string, [link, label]: readonly [link: string, label: string]): Shown {
    return { view: 'account/words', title, model: { message, link, label } };
}

/** The refusal for a page that does not exist and for one that the visitor may not know about. Both look the same. */
export function pageNotFound(): Refusal {
    return new Refusal('NOT_FOUND');
}
