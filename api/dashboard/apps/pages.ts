import { AGENT_SCOPES, EFFECTS, type Scopes } from '../../../shared/domain/accounts/scopes.ts';
import { placeOf, sourceOf } from '../../../shared/domain/apps/redirect-uri.ts';
import { EVERY_TOOL } from '../../../shared/domain/apps/resource.ts';
import { setConfirmAbove } from '../../../shared/store/accounts/api-keys.ts';
import type { Membership } from '../../../shared/store/accounts/user-sessions.ts';
import { whileSignedIn } from '../../../shared/store/accounts/user-sessions.ts';
import { addGrant, MAX_GRANTS } from '../../../shared/store/apps/grants.ts';
import { isLocked } from '../authorize.ts';
import { AGENT_CAP, dayCap } from '../billing/caps.ts';
import { keepTyped, type Problems, readFields } from '../fields.ts';
import { scopeDetails } from '../keys/scope-fields.ts';
import { type Answer, type PersonalVisit, pageNotFound, personalPage, type Shown, USERS } from '../page.ts';
import { recordVisit } from '../record-act.ts';
import { type AppRequest, PARAMETERS, readRequest } from './read-request.ts';

/** The OAuth consent page. The other steps of the flow are in api/apps. */
export const appPages = [
    personalPage({ method: 'GET', path: '/oauth/authorize', respond: showConsent }),
    personalPage({ method: 'POST', path: '/oauth/authorize', respond: decide }),
];

async function showConsent(visit: PersonalVisit): Promise<Answer> {
    // After a sign-in in the middle of the consent, the request is in the fields.
    const read = await readRequest(visit, (name) => visit.query(name) ?? (visit.fields.get(name) || undefined));
    return 'request' in read ? ask(visit, read.request, {}) : refuse(visit, read);
}

/** Handles the form. It validates every parameter again, since a form can be changed. */
async function decide(visit: PersonalVisit): Promise<Answer> {
    const { app, fields, me } = visit;
    const read = await readRequest(visit, (name) => fields.get(name) || undefined);
    if (!('request' in read)) return refuse(visit, read);
    const { request } = read;
    if (fields.get('decision') !== 'allow') return back(visit, request, { error: 'access_denied' });
    const form = readFields(fields, { cap: dayCap, confirm_above: dayCap });
    if (!form.ok) return ask(visit, request, form.problems);
    if (form.values.cap === null) return ask(visit, request, { cap: 'Enter how many credits a day the app may spend.' });
    const membership = membershipsOf(visit).find(({ workspaceId }) => workspaceId === fields.get('workspace_id'));
    if (membership === undefined) throw pageNotFound();
    const order = {
        appId: request.client.appId,
        name: nameOf(request),
        workspaceId: membership.workspaceId,
        userId: me.userId,
        scopes: scopesOf(request, fields.has('effect_write')),
        dayCap: form.values.cap,
        resource: request.resource,
        redirectUri: request.redirectUri,
        challenge: request.challenge,
    };
    const { confirm_above: confirmAbove } = form.values;
    const made = await whileSignedIn(app.db, me, async (trx) => {
        const grant = await addGrant(trx, order);
        if (grant === undefined) return undefined;
        if (confirmAbove !== null) await setConfirmAbove(trx, grant.keyId, confirmAbove);
        const { workspaceId, name, scopes, dayCap: cap } = order;
        const details = { name, app: order.appId, cap, confirm_above: confirmAbove, scopes: scopeDetails(scopes) };
        await recordVisit(trx, visit, { workspaceId, action: 'app.granted', target: grant.keyId, details });
        return grant;
    });
    if (made === undefined) {
        return ask(visit, request, { '': `You can let at most ${MAX_GRANTS} apps act for you. Revoke one under Keys first.` });
    }
    return back(visit, request, { code: made.code });
}

function back(visit: PersonalVisit, request: Pick<AppRequest, 'redirectUri' | 'state'>, answer: Record<string, string>): Answer {
    return { to: returnUrl(visit, request, answer) };
}

/** The redirect URI of the app with the parameters of `answer`. */
function returnUrl(
    { app }: PersonalVisit,
    { redirectUri, state }: Pick<AppRequest, 'redirectUri' | 'state'>,
    answer: Record<string, string>,
): string {
    const url = new URL(redirectUri);
    // With `iss`, an app that uses several authorization servers can tell them apart (RFC 9207).
    for (const [name, value] of Object.entries({ ...answer, state, iss: app.publicUrl() })) {
        if (value !== undefined) url.searchParams.append(name, value);
    }
    return url.href;
}

/**
 * Shows the problem of the request. It never redirects to the app automatically, since anybody can register an app (RFC 9700, section
 * 4.11.2). The person sees the target of the link and decides.
 */
function refuse(visit: PersonalVisit, read: Exclude<Awaited<ReturnType<typeof readRequest>>, { request: AppRequest }>): Answer {
    const shown = { view: 'apps/refused', title: 'The app cannot be connected' };
    if ('error' in read) {
        const { client, redirectUri, state, error, message } = read;
        const link = returnUrl(visit, { redirectUri, state }, { error, error_description: message });
        const app = { name: nameOf({ client, redirectUri }), place: placeOf(redirectUri), link };
        return { ...shown, status: 400, model: { problem: message, app } };
    }
    const { problem, retryAfter } = read;
    return { ...shown, status: retryAfter === undefined ? 400 : 429, model: { problem, app: undefined }, retryAfter };
}

function ask(visit: PersonalVisit, request: AppRequest, problems: Problems): Shown {
    const { fields, me } = visit;
    const { client, redirectUri, resource, effects } = request;
    const memberships = membershipsOf(visit);
    const sent: Record<string, string | undefined> = {
        client_id: client.appId,
        redirect_uri: redirectUri,
        response_type: 'code',
        code_challenge: request.challenge,
        code_challenge_method: 'S256',
        resource: `${visit.app.publicUrl()}${resource}`,
        scope: effects.join(' '),
        state: request.state,
    };
    const membership = memberships.find(({ workspaceId }) => workspaceId === me.current?.workspaceId) ?? memberships[0];
    return {
        view: 'apps/ask',
        title: `Connect ${nameOf(request)}`,
        model: {
            name: nameOf(request),
            place: placeOf(redirectUri),
            document: client.appId.startsWith('app_') ? undefined : client.appId,
            site: resource === EVERY_TOOL ? undefined : resource.slice(EVERY_TOOL.length + 1),
            sent: PARAMETERS.flatMap((name) => (sent[name] === undefined ? [] : [{ name, value: sent[name] }])),
            mayWrite: effects.includes('write'),
            workspaces: memberships.map(({ workspaceId, name }) => ({ value: workspaceId, label: name })),
            workspaceId: membership?.workspaceId,
            cap: String(AGENT_CAP),
            problems,
            typed: keepTyped(fields),
        },
        formsLeadTo: [sourceOf(redirectUri)],
    };
}

/** The workspaces in which the person may let an app act. */
function membershipsOf({ me }: PersonalVisit): Membership[] {
    return me.workspaces.filter((membership) => USERS.includes(membership.role) && !isLocked(me, membership));
}

/** The scopes of a granted app: those of an agent's key, with the effects and the site that the person consented to. */
function scopesOf({ resource, effects }: AppRequest, mayWrite: boolean): Scopes {
    return {
        ...AGENT_SCOPES,
        effects: EFFECTS.filter((effect) => effect === 'read' || (mayWrite && effects.includes('write'))),
        sites: resource === EVERY_TOOL ? null : [resource.slice(EVERY_TOOL.length + 1)],
    };
}

function nameOf({ client, redirectUri }: Pick<AppRequest, 'client' | 'redirectUri'>): string {
    return client.name === '' ? placeOf(redirectUri) : client.name.slice(0, 60).toWellFormed();
}
