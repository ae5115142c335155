import * as schemaRequests from '../../../shared/store/registry/schema-requests.ts';
import { pageNotFound, type Shown, type Visit } from '../page.ts';

const WANTED = 20;
const OWN = 50;

/** GET /requests: the most requested domains, and the requests of the visitor's workspace. */
export async function listWanted({ app, me }: Visit): Promise<Shown> {
    const workspaceId = me?.current?.workspaceId;
    const [wanted, own] = await Promise.all([
        schemaRequests.mostRequested(app.browse, WANTED),
        workspaceId === undefined ? [] : schemaRequests.madeBy(app.browse, workspaceId, OWN),
    ]);
    return {
        view: 'requests/list',
        title: 'Wanted schemas',
        description: 'Sites that people need a schema for, most requested first. Publish the first one and earn credits.',
        model: { wanted, own, max: wanted[0]?.requests ?? 1 },
    };
}

/** GET /requests/{request_id}: for anyone who has the id. It never shows who sent the request. */
export async function showRequest({ app, params }: Visit): Promise<Shown> {
    const id = params['request_id'] ?? '';
    const request = /^srq_[0-9A-Za-z]{1,64}$/.test(id) ? await schemaRequests.find(app.browse, id) : undefined;
    if (request === undefined) throw pageNotFound();
    return { view: 'requests/one', title: `A schema for ${request.domain}`, model: { request } };
}
