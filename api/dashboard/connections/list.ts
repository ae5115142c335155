import type { ConnectionEntry } from '../../../shared/contracts/connections.ts';
import type { AuthorizeAnswer } from '../../../shared/contracts/oauth.ts';
import { hasEnded } from '../../../shared/domain/connections/connection.ts';
import { hostOf, MAX_REDIRECTS, redirectProblem } from '../../../shared/domain/connections/redirect-urls.ts';
import type { ErrorBody } from '../../../shared/refusals.ts';
import { redirectUrls, setRedirectUrls } from '../../../shared/store/connections/oauth.ts';
import { type Fields, line, type Problems, readFields } from '../fields.ts';
import type { ApiCall } from '../internal-api.ts';
import type { Notice } from '../notices.ts';
import { type Answer, MANAGERS, type Sent, type WorkspaceVisit } from '../page.ts';
import { change } from '../read-api.ts';
import { showNew } from './new.ts';

const PATH = '/dashboard/connections';

/** GET /dashboard/connections: the newest 100 connections that the visitor may use. */
export async function listConnections(visit: WorkspaceVisit, problems: Problems = {}): Promise<Answer> {
    const { app, fields, workspace } = visit;
    const answer = await visit.ask({ method: 'GET', path: '/v1/connections?limit=100' });
    const connections = answer.ok ? (answer.body['data'] as ConnectionEntry[]) : [];
    const mayManage = MANAGERS.includes(workspace.role);
    const redirects = fields.get('redirects') ?? (await redirectUrls(app.db, workspace.workspaceId)).join('\n');
    const model = {
        connections,
        mayManage,
        redirects,
        max: MAX_REDIRECTS,
        ended: connections.filter(({ status }) => hasEnded(status)).map((one) => one.connection_id),
        problems,
    };
    return { view: 'connections/list', title: 'Connections', model };
}

/** POST /dashboard/connections: stores a secret, after the test call that the schema defines. */
export async function connect(visit: WorkspaceVisit): Promise<Answer> {
    const { fields } = visit;
    const read = readFields(fields, { site: line({ maxLength: 253 }) });
    if (!read.ok) return showNew(visit, read.problems);
    const authId = fields.get('auth_id') ?? '';
    const body = {
        site: read.values.site,
        ...(authId === '' ? {} : { auth_id: authId }),
        ...(fields.get('shared') === 'on' ? { shared: true } : {}),
        secret: secretIn(fields),
    };
    const sent: Sent = { to: PATH, notice: 'connected' };
    return change(visit, { method: 'POST', path: '/v1/connections', body }, sent, (refused) => showNew(visit, problemsOf(refused)));
}

/** The secret in the API's form, from the fields that were filled in. */
export function secretIn(fields: Fields): object {
    const [value = '', username = '', clientId = ''] = ['secret', 'username', 'client_id'].map((name) => fields.get(name));
    if (clientId !== '') return { client_id: clientId, client_secret: value };
    return username === '' ? { value } : { username, password: value };
}

/** POST /dashboard/connections/consent: shows a link to the site, since our forms may not redirect to another origin. */
export async function beginConsent(visit: WorkspaceVisit): Promise<Answer> {
    const read = readFields(visit.fields, { site: line({ maxLength: 253 }) });
    if (!read.ok) return showNew(visit, read.problems);
    const { site } = read.values;
    const authId = visit.fields.get('auth_id') ?? '';
    const body = { site, ...(authId === '' ? {} : { auth_id: authId }) };
    const showLink = ({ authorize_url: url }: AuthorizeAnswer): Answer => {
        return { view: 'connections/consent', title: `Connect ${site}`, model: { site, url, host: hostOf(url) } };
    };
    const call = { method: 'POST', path: '/v1/connections/authorize', body } as const;
    return change(visit, call, showLink, (refused) => showNew(visit, problemsOf(refused)));
}

export function testConnection(visit: WorkspaceVisit): Promise<Answer> {
    return act(visit, { method: 'POST', path: '/test' }, 'connection-works');
}

export function deleteConnection(visit: WorkspaceVisit): Promise<Answer> {
    return act(visit, { method: 'DELETE', path: '' }, 'connection-deleted');
}

function act(visit: WorkspaceVisit, { method, path }: ApiCall, notice: Notice): Promise<Answer> {
    const call = { method, path: `/v1/connections/${encodeURIComponent(visit.params['connection_id'] ?? '')}${path}` };
    return change(visit, call, { to: PATH, notice }, ({ message }) => listConnections(visit, { '': message }));
}

/** POST …/redirects: sets the URLs to which people may return after a consent. */
export async function changeRedirects(visit: WorkspaceVisit): Promise<Answer> {
    const urls = [...new Set((visit.fields.get('redirects') ?? '').split(/\s+/).filter((url) => url !== ''))];
    const problem = redirectProblem(urls);
    if (problem !== undefined) return listConnections(visit, { redirects: problem });
    await setRedirectUrls(visit.app.db, visit.workspace.workspaceId, urls);
    return { to: PATH, notice: 'redirects-set' };
}

/** Maps the API's error to form fields. */
export function problemsOf({ message, details }: ErrorBody): Problems {
    const [first] = details ?? [];
    if (first === undefined) return { '': message };
    const field =
        { '/site': 'site', '/auth_id': 'auth_id', '/secret/username': 'username', '/secret/client_id': 'client_id' }[first.path] ??
        'secret';
    return { [field]: first.message };
}
