import type { AnyContract } from '../../shared/contracts/contract.ts';
import { CONTRACTS } from '../../shared/contracts/index.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import type { Db } from '../../shared/platform/db.ts';
import { updateOwnership } from '../../shared/store/registry/claims.ts';
import { addMaintainer } from '../../shared/store/registry/maintainers.ts';
import type { Answer, Person } from './people.ts';
import { aPackage } from './schemas.ts';
import type { World } from './world.ts';

export const INTENT = 'find one product together with its price';

/** The values of the placeholders in paths. */
interface Places {
    /** A site's version and maintainer, a schema request, a claim, and a job. They do not exist unless a test sets them. */
    version: string;
    workspace_id: string;
    request_id: string;
    claim_id: string;
    connection_id: string;
    /** A site that accepts connections. */
    connected: string;
    /** A site with an OAuth client. */
    consented: string;
    job_id: string;
    webhook_id: string;
    monitor_id: string;
    delivery_id: string;
    batch_id: string;
}

/** Creates a person's claim on a domain, marks it as proven, and returns its id. */
export async function aProvenClaim({ app }: World, person: Person, domain: string): Promise<string> {
    const { claim_id: id } = dataOf<{ claim_id: string }>(await person.call('POST', `/v1/sites/${domain}/claims`));
    await app.db.raw("update claims set status = 'proven', method = 'dns', proven_at = app_now() where id = ?", [id]);
    await makeOwner(app.db, domain, person.workspaceId);
    return id;
}

/** Makes a workspace the owner of a domain by a claim that is already proven. */
export async function makeOwner(db: Db, domain: string, workspaceId: string): Promise<void> {
    await addMaintainer(db, domain, workspaceId);
    await updateOwnership(db, domain, workspaceId);
}

/** A well-formed request of a route, built from the table of contracts. The test chooses `site` and `body`. */
export interface RouteCall {
    contract: AnyContract;
    method: AnyContract['method'];
    path: string;
    body: object | undefined;
    /** The same path with another value of one placeholder, in every spelling that a URL allows. */
    pathWith(placeholder: string, value: string): string;
}

/** One call for every contract. Throws for a route that it cannot call, so that no new route is forgotten. */
export function everyRoute(site = 'shop.test', places: Partial<Places> = {}, contracts: readonly AnyContract[] = CONTRACTS): RouteCall[] {
    const bodies: Readonly<Record<string, object>> = {
        postFetch: { site, endpoint: 'product', params: { id: 1 } },
        postConnection: { site: places.connected ?? site, secret: { value: 'a-key-of-my-own' } },
        patchConnection: { name: 'Mine' },
        authorizeConnection: { site: places.consented ?? site },
        putOAuthClient: { client_id: 'routebook', client_secret: 'a-secret-of-my-own' },
        postMonitor: { site, endpoint: 'product', params: { id: 1 }, cron: '0 8 1 1 *' },
        patchMonitor: { name: 'Lamp' },
        postJob: { site, endpoint: 'product', params: { id: 1 } },
        postBatch: { defaults: { site, endpoint: 'product' }, items: [{ params: { id: 1 } }] },
        postBatchResume: {},
        postBatchRetry: {},
        postSchema: aPackage(site),
        postReport: { kind: 'broken', text: 'Nothing comes back.' },
        postYank: { reason: 'broken' },
        postWebhook: { url: 'https://127.0.0.1/hook', events: ['job.*'] },
        patchWebhook: { description: 'changed' },
        postKeyReport: { keys: ['rb_live_of_nobody'] },
        putPolicy: { requests_per_minute: 6000 },
        postSchemaRequest: { domain: site, task: 'Read the price of every product once a day.' },
    };
    const values = new Map<string, string>(
        Object.entries({
            site,
            domain: site,
            version: '1',
            workspace_id: newId('wsp'),
            request_id: newId('srq'),
            claim_id: newId('clm'),
            connection_id: newId('con'),
            job_id: newId('job'),
            monitor_id: newId('mon'),
            webhook_id: newId('whk'),
            delivery_id: newId('dlv'),
            batch_id: newId('bat'),
            ...places,
        }),
    );
    return contracts.map((contract) => {
        const body = bodies[contract.name];
        if ((body !== undefined) !== (contract.body !== undefined))
            throw new Error(`test/support/routes.ts has no body for ${contract.name}`);
        const pathWith = (placeholder: string, value: string) => {
            const path = contract.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
                const known = name === placeholder ? value : values.get(name);
                if (known === undefined) throw new Error(`test/support/routes.ts has no value for ${contract.path}`);
                return known;
            });
            return contract.counted && body === undefined ? `${path}?intent=${encodeURIComponent(INTENT)}` : path;
        };
        return { contract, method: contract.method, path: pathWith('', ''), body, pathWith };
    });
}

/** The names of the placeholders in a route's path. */
export function placeholdersOf({ contract }: Pick<RouteCall, 'contract'>): string[] {
    return [...contract.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

/** Calls a route as this person. */
export function callRoute(person: Person, { method, path, body }: RouteCall, headers: Record<string, string> = {}): Promise<Answer> {
    return person.call(method, path, { ...(body === undefined ? {} : { body }), headers });
}

/** The code of a refusal; undefined for a success. */
export function codeOf({ body }: Answer): string | undefined {
    return (body['error'] as { code: string } | undefined)?.code;
}

/** The `details` of an answer in order, as `path code`. */
export function detailsOf({ body }: Answer): string[] {
    const { details = [] } = body['error'] as { details?: { path: string; code: string }[] };
    return details.map(({ path, code }) => `${path} ${code}`);
}

/** The `data` of a successful answer. @throws if it is not a success */
export function dataOf<T = Record<string, unknown>>({ status, body }: Answer): T {
    if (body['success'] !== true) throw new Error(`expected a success, got ${status} ${JSON.stringify(body)}`);
    return body['data'] as T;
}

/** `meta.pagination` of a list. */
export function paginationOf({ body }: Answer): { limit: number; next_cursor: string | null; total: number } {
    return (body['meta'] as { pagination: ReturnType<typeof paginationOf> }).pagination;
}
