import type { ConnectionEntry } from '../../../shared/contracts/connections.ts';
import type { AuthorizeAnswer } from '../../../shared/contracts/oauth.ts';
import { hasEnded } from '../../../shared/domain/connections/connection.ts';
import { hostOf, MAX_REDIRECTS, redirectProblem } from '../../../shared/domain/connections/redirect-urls.ts';
import { defined } from '../../../shared/domain/defined.ts';
import { allChangesOfTerms, termsOf } from '../../../shared/domain/package/auth.ts';
import { readSite } from '../../../shared/domain/site/read-site.ts';
import { normaliseSite } from '../../../shared/domain/site/site-name.ts';
import { findLatestOffer } from '../../../shared/fetch/latest-offer.ts';
import type { ErrorBody } from '../../../shared/refusals.ts';
import { type Connection, findConnection } from '../../../shared/store/connections/connections.ts';
import { redirectUrls, setRedirectUrls } from '../../../shared/store/connections/oauth.ts';
import { isMaintainer } from '../../../shared/store/registry/maintainers.ts';
import { type Fields, keepTyped, line, type Problems, readFields } from '../fields.ts';
import { noSchemaOf } from '../find-endpoint.ts';
import type { ApiCall } from '../internal-api.ts';
import type { Notice } from '../notices.ts';
import {
    type Answer,
    MANAGERS,
    pageNotFound,
    personalPage,
    type Sent,
    type Shown,
    USERS,
    type WorkspaceVisit,
    workspacePage,
} from '../page.ts';
import { change, pagerOf, readList } from '../read-api.ts';
import { confirmCallback, showCallback } from './callback.ts';
import { type Way, waysOf } from './ways.ts';

const PATH = '/dashboard/connections';
const ONE = `${PATH}/{connection_id}` as const;
const SHOWN = { method: 'GET', audience: USERS } as const;
const FORM = { method: 'POST', audience: USERS } as const;

export const connectionPages = [
    workspacePage({ ...SHOWN, path: PATH, respond: (visit) => listConnections(visit) }),
    workspacePage({ ...FORM, path: PATH, respond: connect }),
    workspacePage({ ...SHOWN, path: `${PATH}/new`, respond: (visit) => showNew(visit) }),
    workspacePage({ ...FORM, path: `${PATH}/consent`, respond: beginConsent }),
    workspacePage({ method: 'POST', path: `${PATH}/redirects`, audience: MANAGERS, respond: changeRedirects }),
    workspacePage({ ...SHOWN, path: ONE, respond: (visit) => showConnection(visit) }),
    workspacePage({ ...FORM, path: ONE, respond: (visit) => patch(visit, { secret: secretIn(visit.fields) }) }),
    // The owner agrees to how the latest version uses the connection.
    workspacePage({ ...FORM, path: `${ONE}/agree`, respond: (visit) => patch(visit, { agree: true }) }),
    workspacePage({ ...FORM, path: `${ONE}/lend`, respond: lend }),
    workspacePage({ ...FORM, path: `${ONE}/test`, respond: (visit) => act(visit, { method: 'POST', path: '/test' }, 'connection-works') }),
    workspacePage({ ...FORM, path: `${ONE}/delete`, respond: (visit) => act(visit, { method: 'DELETE', path: '' }, 'connection-deleted') }),
    personalPage({ method: 'GET', path: '/connections/callback', respond: showCallback }),
    personalPage({ method: 'POST', path: '/connections/callback', respond: confirmCallback }),
];

/** The number of connections on one page. */
const ROWS = '6';

/** GET /dashboard/connections: connections that the visitor may use, newest first. */
async function listConnections(visit: WorkspaceVisit, problems: Problems = {}): Promise<Answer> {
    const { app, fields, workspace } = visit;
    const cursor = visit.query('cursor');
    const { items: connections, next } = await readList<ConnectionEntry>(visit, '/v1/connections', { cursor, limit: ROWS });
    const mayManage = MANAGERS.includes(workspace.role);
    const redirects = fields.get('redirects') ?? (await redirectUrls(app.db, workspace.workspaceId)).join('\n');
    const model = {
        connections,
        ...pagerOf(PATH, {}, { cursor, next }),
        mayManage,
        redirects,
        max: MAX_REDIRECTS,
        ended: connections.filter(({ status }) => hasEnded(status)).map((one) => one.connection_id),
        problems,
    };
    return { view: 'connections/list', title: 'Connections', model };
}

/** POST /dashboard/connections: stores a secret, after the test call that the schema defines. */
async function connect(visit: WorkspaceVisit): Promise<Answer> {
    const { fields } = visit;
    const read = readFields(fields, { site: line({ maxLength: 253 }) });
    if (!read.ok) return showNew(visit, read.problems);
    const authId = fields.get('auth_id') || undefined;
    const shared = fields.get('shared') === 'on' || undefined;
    const body = defined({ site: read.values.site, auth_id: authId, shared, secret: secretIn(fields) });
    const sent: Sent = { to: PATH, notice: 'connected' };
    return change(visit, { method: 'POST', path: '/v1/connections', body }, sent, (refused) => showNew(visit, problemsOf(refused)));
}

/** The secret in the API's form, from the fields that were filled in. */
function secretIn(fields: Fields): object {
    const [value = '', username = '', clientId = ''] = ['secret', 'username', 'client_id'].map((name) => fields.get(name));
    if (clientId !== '') return { client_id: clientId, client_secret: value };
    return username === '' ? { value } : { username, password: value };
}

/** POST /dashboard/connections/consent: shows a link to the site, since our forms may not redirect to another origin. */
async function beginConsent(visit: WorkspaceVisit): Promise<Answer> {
    const read = readFields(visit.fields, { site: line({ maxLength: 253 }) });
    if (!read.ok) return showNew(visit, read.problems);
    const { site } = read.values;
    const body = defined({ site, auth_id: visit.fields.get('auth_id') || undefined });
    const showLink = ({ authorize_url: url }: AuthorizeAnswer): Answer => {
        return { view: 'connections/consent', title: `Connect ${site}`, model: { site, url, host: hostOf(url) } };
    };
    const call = { method: 'POST', path: '/v1/connections/authorize', body } as const;
    return change(visit, call, showLink, (refused) => showNew(visit, problemsOf(refused)));
}

/** Sends a test or a deletion of the connection of the path. */
function act(visit: WorkspaceVisit, { method, path }: ApiCall, notice: Notice): Promise<Answer> {
    const call = { method, path: `/v1/connections/${encodeURIComponent(visit.params['connection_id'] ?? '')}${path}` };
    return change(visit, call, { to: PATH, notice }, ({ message }) => listConnections(visit, { '': message }));
}

/** POST …/redirects: sets the URLs to which people may return after a consent. */
async function changeRedirects(visit: WorkspaceVisit): Promise<Answer> {
    const urls = [...new Set((visit.fields.get('redirects') ?? '').split(/\s+/).filter((url) => url !== ''))];
    const problem = redirectProblem(urls);
    if (problem !== undefined) return listConnections(visit, { redirects: problem });
    await setRedirectUrls(visit.app.db, visit.workspace.workspaceId, urls);
    return { to: PATH, notice: 'redirects-set' };
}

/** Maps the API's error to form fields. */
function problemsOf({ message, details }: ErrorBody): Problems {
    const [first] = details ?? [];
    if (first === undefined) return { '': message };
    const field =
        { '/site': 'site', '/auth_id': 'auth_id', '/secret/username': 'username', '/secret/client_id': 'client_id' }[first.path] ??
        'secret';
    return { [field]: first.message };
}

/** GET /dashboard/connections/new: asks for the credentials that the site accepts, as its schema describes them. */
async function showNew(visit: WorkspaceVisit, problems: Problems = {}): Promise<Shown> {
    const { app, fields, query } = visit;
    const written = fields.get('site') ?? query('site') ?? '';
    const name = normaliseSite(written);
    const offer = name.ok ? await findLatestOffer(app, name) : undefined;
    const absent = written !== '' && offer === undefined ? { site: await noSchemaOf(app, name.ok ? name.site : written) } : {};
    const all = { ...absent, ...problems };
    const ways: readonly Way[] = offer === undefined ? [] : waysOf(offer.auth);
    return {
        view: 'connections/new',
        title: name.ok ? `Connect ${name.site}` : 'Connect a site',
        model: {
            site: offer === undefined || !name.ok ? undefined : name.site,
            written,
            ways,
            problems: all,
            // The page has one form for each way to authenticate. It shows the problems at the form that was sent.
            sent: fields.get('auth_id') ?? ways[0]?.id,
            typed: keepTyped(fields, ['secret']),
        },
    };
}

/**
 * GET /dashboard/connections/{connection_id}: forms to connect again, with another secret or by consent, and to agree to a changed schema.
 */
async function showConnection(visit: WorkspaceVisit, problems: Problems = {}): Promise<Answer> {
    const { app, fields, me, workspace } = visit;
    const connection = await findMine(visit);
    const { site, authId, entry, hosts, status, shared, ownerId, verifies } = connection;
    const name = readSite(site, '/site');
    const offer = await findLatestOffer(app, name);
    const maintains = ownerId === me.userId && (await isMaintainer(app.db, name.registrable, workspace.workspaceId));
    const offered = offer && termsOf(offer, authId);
    const changes = allChangesOfTerms({ entry, hosts }, offered);
    return {
        view: 'connections/one',
        title: `${connection.name} at ${site}`,
        model: {
            connection,
            hasEnded: hasEnded(status),
            changes,
            mayAgree: offered !== undefined,
            ways: offered === undefined ? [] : waysOf([offered.entry]),
            mayChange: !shared || MANAGERS.includes(workspace.role),
            mayLend: maintains && !verifies,
            problems,
            typed: keepTyped(fields, ['secret']),
        },
    };
}

/**
 * POST …/{connection_id}/lend: the owner allows or forbids verification runs to use the connection. The workspace must maintain the site.
 */
function lend(visit: WorkspaceVisit): Promise<Answer> {
    const lends = visit.fields.get('lend') === 'yes';
    return patch(visit, { verify_with: lends }, lends ? 'connection-lent' : 'connection-not-lent');
}

type Change = { secret: object } | { agree: true } | { verify_with: boolean };

async function patch(visit: WorkspaceVisit, body: Change, notice: Notice = 'connected'): Promise<Answer> {
    const { connectionId } = await findMine(visit);
    const call = { method: 'PATCH', path: `/v1/connections/${connectionId}`, body } as const;
    return change(visit, call, { to: PATH, notice }, (refused) => showConnection(visit, problemsOf(refused)));
}

async function findMine({ app, me, workspace, params }: WorkspaceVisit): Promise<Connection> {
    const viewer = { workspaceId: workspace.workspaceId, userId: me.userId };
    const connection = await findConnection(app.db, viewer, params['connection_id'] ?? '');
    if (connection === undefined) throw pageNotFound();
    return connection;
}
