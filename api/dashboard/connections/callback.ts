import { pollUntil } from '../../../shared/platform/poll-until.ts';
import { Refusal } from '../../../shared/refusals.ts';
import { CALLBACK_PATH, dropFlow, type Flow, findFlow, hashOfState, submitFlow } from '../../../shared/store/connections/oauth.ts';
import { openWithDataKey, sealSecret } from '../../../shared/store/connections/sealing.ts';
import type { Answer, PersonalVisit, Shown } from '../page.ts';

/** How long the page waits until a worker has exchanged the code. */
const LOOKS = { everyMs: 150, maxMs: 15_000 };

/** GET /connections/callback, after the consent at the site. Nothing is stored until the person confirms the site and the workspace. */
export async function showCallback(visit: PersonalVisit): Promise<Answer> {
    if (visit.query('state') === undefined) {
        const model = { site: 'a site', problem: 'Sites redirect here after you consent. Start from your connections.' };
        return { view: 'connections/callback', title: 'Connect a site', model };
    }
    const flow = await findMine(visit, visit.query('state'));
    if (flow.status !== 'open') return showEnded(visit, flow);
    const [code, error] = [visit.query('code'), visit.query('error')];
    if (code === undefined) {
        await dropFlow(visit.app.db, flow.stateHash);
        return leave(flow, { error: error ?? 'no_code' }, `${flow.site} did not give its consent.`);
    }
    const membership = visit.me.workspaces.find(({ workspaceId }) => workspaceId === flow.workspaceId);
    const model = {
        site: flow.site,
        workspace: membership?.name,
        scopes: flow.scopes,
        state: visit.query('state'),
        code,
        problem: undefined,
    };
    const leads = flow.redirectUrl === null ? {} : { formsLeadTo: [new URL(flow.redirectUrl).origin] };
    return { view: 'connections/callback', title: `Connect ${flow.site}`, model, ...leads };
}

/** POST /connections/callback: the person confirms. The state works once. A worker exchanges the code. */
export async function confirmCallback(visit: PersonalVisit): Promise<Answer> {
    const { app, fields } = visit;
    const [state, code] = [fields.get('state'), fields.get('code')];
    const flow = await findMine(visit, state);
    const kept = await openWithDataKey(app.db, app.secrets, flow, flow.sealed);
    if (flow.status !== 'open' || kept === undefined || !('value' in kept) || code === undefined) return showEnded(visit, flow);
    const url = new URL(`${app.publicUrl()}${CALLBACK_PATH}`);
    url.searchParams.set('code', code);
    url.searchParams.set('state', state ?? '');
    const value = JSON.stringify({ ...(JSON.parse(kept.value) as object), callbackUrl: url.href });
    const isFirst = await submitFlow(app.db, flow.stateHash, await sealSecret(app.db, app.secrets, flow, { value }));
    if (!isFirst) return showEnded(visit, flow);
    return showEnded(visit, await untilEnded(visit, flow));
}

/** Finds the visitor's consent, also one that has ended. @throws Refusal NOT_FOUND */
async function findMine({ app, me }: PersonalVisit, state: string | undefined): Promise<Flow> {
    const flow = state === undefined ? undefined : await findFlow(app.db, hashOfState(state));
    const isMine = flow?.userId === me.userId && me.workspaces.some(({ workspaceId }) => workspaceId === flow.workspaceId);
    if (flow === undefined || !isMine)
        throw new Refusal(
            'NOT_FOUND',
            'This consent does not exist or has expired: it lasts 10 minutes. Start again from your connections.',
        );
    return flow;
}

async function untilEnded({ app }: PersonalVisit, flow: Flow): Promise<Flow> {
    const look = () => findFlow(app.db, flow.stateHash);
    return (await pollUntil(LOOKS, look, (now) => now === undefined || now.status === 'done' || now.status === 'failed')) ?? flow;
}

function showEnded(visit: PersonalVisit, flow: Flow): Answer {
    if (flow.status === 'done') {
        visit.app.vault.forget(flow.workspaceId, flow.site);
        if (flow.redirectUrl === null) return { to: '/dashboard/connections', notice: 'connected' };
        return { to: withQuery(flow.redirectUrl, { connection_id: flow.connectionId }) };
    }
    const problem =
        flow.status === 'failed'
            ? (flow.problem ?? '')
            : 'This consent was already used, or the site did not answer in time. Check your connections.';
    return leave(flow, { error: 'no_token' }, problem);
}

function leave({ redirectUrl, site }: Flow, query: Record<string, string>, problem: string): Answer {
    if (redirectUrl !== null) return { to: withQuery(redirectUrl, query) };
    const shown: Shown = { view: 'connections/callback', title: `Connect ${site}`, model: { site, problem }, status: 422 };
    return shown;
}

function withQuery(text: string, query: Record<string, string>): string {
    const url = new URL(text);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url.href;
}
