import { isId } from '../../../shared/domain/text/ids.ts';
import * as schemaRequests from '../../../shared/store/registry/schema-requests.ts';
import { openPage, pageNotFound, type Shown, type Visit } from '../page.ts';
import { ask, askForm } from './ask-for-schema.ts';

/** Pages of requested schemas: which ones are in demand, and the state of each request. */
export const requestPages = [
    openPage({ method: 'GET', path: '/requests', respond: listWanted }),
    openPage({ method: 'GET', path: '/requests/new', respond: askForm }),
    openPage({ method: 'POST', path: '/requests/new', respond: ask }),
    openPage({ method: 'GET', path: '/requests/{request_id}', respond: showRequest }),
];

const WANTED = 20;
const OWN = 50;

/** GET /requests: the most requested domains, and the requests of the visitor's workspace. */
async function listWanted({ app, me }: Visit): Promise<Shown> {
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
async function showRequest({ app, params }: Visit): Promise<Shown> {
    const id = params['request_id'] ?? '';
    const request = isId('srq', id) ? await schemaRequests.find(app.browse, id) : undefined;
    if (request === undefined) throw pageNotFound();
    return { view: 'requests/one', title: `A schema for ${request.domain}`, model: { request } };
}
