import { allChangesOfTerms, termsOf } from '../../../shared/domain/package/auth.ts';
import { readSite } from '../../../shared/domain/site/read-site.ts';
import { offerOf } from '../../../shared/fetch/latest-offer.ts';
import { type Connection, findConnection } from '../../../shared/store/connections/connections.ts';
import { memberCaller } from '../callers.ts';
import { type Problems, typed } from '../fields.ts';
import { type Answer, absent, MANAGERS, type WorkspaceVisit } from '../page.ts';
import { hasEnded } from './has-ended.ts';
import { problemsOf, secretIn } from './list.ts';
import { waysOf } from './ways.ts';

/** GET /dashboard/connections/{connection_id}: connects again, with another secret or by consent, and agrees to a changed schema. */
export async function showConnection(visit: WorkspaceVisit, problems: Problems = {}): Promise<Answer> {
    const { app, fields, workspace } = visit;
    const connection = await findMine(visit);
    const { site, authId, entry, hosts, status, shared } = connection;
    const offer = await offerOf(app, readSite(site, '/site'));
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
            problems,
            typed: typed(fields, ['secret']),
        },
        ...(Object.keys(problems).length > 0 && { status: 422 }),
    };
}

/** POST …/{connection_id}: gives it another secret. */
export function changeSecret(visit: WorkspaceVisit): Promise<Answer> {
    return change(visit, { secret: secretIn(visit.fields) });
}

/** POST …/{connection_id}/agree: its owner agrees to how the latest version uses it. */
export function agree(visit: WorkspaceVisit): Promise<Answer> {
    return change(visit, { agree: true });
}

async function change(visit: WorkspaceVisit, body: { secret: object } | { agree: true }): Promise<Answer> {
    const { connectionId } = await findMine(visit);
    const answer = await visit.ask({ method: 'PATCH', path: `/v1/connections/${connectionId}`, body, as: memberCaller(visit) });
    return answer.ok ? { to: '/dashboard/connections', notice: 'connected' } : showConnection(visit, problemsOf(answer.refused));
}

/** @throws Refusal NOT_FOUND */
async function findMine({ app, me, workspace, params }: WorkspaceVisit): Promise<Connection> {
    const viewer = { workspaceId: workspace.workspaceId, userId: me.userId };
    const connection = await findConnection(app.db, viewer, params['connection_id'] ?? '');
    if (connection === undefined) throw absent();
    return connection;
}
