import { hasEnded } from '../../../shared/domain/connections/connection.ts';
import { allChangesOfTerms, termsOf } from '../../../shared/domain/package/auth.ts';
import { readSite } from '../../../shared/domain/site/read-site.ts';
import { offerOf } from '../../../shared/fetch/latest-offer.ts';
import { type Connection, findConnection } from '../../../shared/store/connections/connections.ts';
import { isMaintainer } from '../../../shared/store/registry/maintainers.ts';
import { keepTyped, type Problems } from '../fields.ts';
import type { Notice } from '../notices.ts';
import { type Answer, MANAGERS, pageNotFound, type WorkspaceVisit } from '../page.ts';
import { change } from '../read-api.ts';
import { problemsOf, secretIn } from './list.ts';
import { waysOf } from './ways.ts';

/**
 * GET /dashboard/connections/{connection_id}: forms to connect again, with another secret or by consent, and to agree to a changed schema.
 */
export async function showConnection(visit: WorkspaceVisit, problems: Problems = {}): Promise<Answer> {
    const { app, fields, me, workspace } = visit;
    const connection = await findMine(visit);
    const { site, authId, entry, hosts, status, shared, ownerId, verifies } = connection;
    const name = readSite(site, '/site');
    const offer = await offerOf(app, name);
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

/** POST …/{connection_id}: replaces the secret. */
export function changeSecret(visit: WorkspaceVisit): Promise<Answer> {
    return patch(visit, { secret: secretIn(visit.fields) });
}

/** POST …/{connection_id}/agree: the owner agrees to how the latest version uses the connection. */
export function agree(visit: WorkspaceVisit): Promise<Answer> {
    return patch(visit, { agree: true });
}

/**
 * POST …/{connection_id}/lend: the owner allows or forbids verification runs to use the connection. The workspace must maintain the site.
 */
export function lend(visit: WorkspaceVisit): Promise<Answer> {
    const lends = visit.fields.get('lend') === 'yes';
    return patch(visit, { verify_with: lends }, lends ? 'connection-lent' : 'connection-not-lent');
}

type Change = { secret: object } | { agree: true } | { verify_with: boolean };

async function patch(visit: WorkspaceVisit, body: Change, notice: Notice = 'connected'): Promise<Answer> {
    const { connectionId } = await findMine(visit);
    const call = { method: 'PATCH', path: `/v1/connections/${connectionId}`, body } as const;
    return change(visit, call, { to: '/dashboard/connections', notice }, (refused) => showConnection(visit, problemsOf(refused)));
}

async function findMine({ app, me, workspace, params }: WorkspaceVisit): Promise<Connection> {
    const viewer = { workspaceId: workspace.workspaceId, userId: me.userId };
    const connection = await findConnection(app.db, viewer, params['connection_id'] ?? '');
    if (connection === undefined) throw pageNotFound();
    return connection;
}
