import { expect } from 'chai';
import { newApiKey } from '../../shared/domain/accounts/api-key.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import { createKey, revokeKey } from '../../shared/store/accounts/api-keys.ts';
import { CONNECTED, connectedPackage } from '../support/connections.ts';
import { type Answer, join, type Person, stranger, withKey } from '../support/people.ts';
import { dataOf, everyRoute, INTENT, placeholdersOf, type RouteCall } from '../support/routes.ts';
import { oneOf } from '../support/sample.ts';
import { aPackage } from '../support/schemas.ts';
import { useWorld } from '../support/world.ts';

/** An id of the other tenant, and one of the same form that does not exist. */
interface Id {
    what: string;
    foreign: string;
    absent: string;
}

describe('another tenant (I8)', () => {
    const world = useWorld({ config: { trustProxy: 1, egressAllow: [], egressHosts: new Map([['other.test', ['127.0.0.1']]]) } });
    let other: Person;
    let asking: Record<string, Person>;
    let ids: Id[];
    let secrets: string[];
    let requested: string;

    before(async () => {
        other = await join(world, { plan: 'pro', credits: 123_457 });
        dataOf(await other.publish(aPackage('other.test')));
        const look = await other.call('GET', `/v1/catalog/other.test?intent=${encodeURIComponent(INTENT)}`, {
            headers: { 'x-request-id': 'req_ofTheOther' },
        });
        const { key } = dataOf<{ key: { id: string } }>(await other.call('GET', '/v1/account'));
        const asked = { domain: 'wanted.test', task: 'Read what the other tenant wants to know.', requester_contact: 'ask@other.example' };
        requested = String(dataOf(await other.call('POST', '/v1/schema-requests', { body: asked }))['request_id']);
        const claimed = dataOf<{ claim_id: string; value: string }>(await other.call('POST', '/v1/sites/other.test/claims'));
        dataOf(await other.publish(connectedPackage()));
        const connection = { site: CONNECTED, secret: { value: 'of-the-other-tenant' }, shared: true };
        const connected = dataOf<{ connection_id: string }>(await other.call('POST', '/v1/connections', { body: connection }));
        const job = dataOf<{ job_id: string }>(
            await other.call('POST', '/v1/jobs', { body: { site: 'other.test', endpoint: 'product', params: { id: 1 } } }),
        );
        const webhook = dataOf<{ webhook_id: string; secret: string }>(
            await other.call('POST', '/v1/webhooks', { body: { url: 'https://127.0.0.1/hook', events: ['job.*'] } }),
        );
        const batch = dataOf<{ batch_id: string }>(
            await other.call('POST', '/v1/batches', { body: { items: [{ site: 'other.test', endpoint: 'product', params: { id: 1 } }] } }),
        );
        const watched = { site: 'other.test', endpoint: 'product', params: { id: 1 }, cron: '0 8 1 1 *' };
        const monitor = dataOf<{ monitor_id: string }>(await other.call('POST', '/v1/monitors', { body: watched }));
        const { rows } = await world.app.db.raw('select email from users where id = ?', [other.userId]);

        const me = await join(world, { plan: 'enterprise', overrides: { perMinute: 10_000, perHour: 10_000, perDay: 10_000 } });
        const revoked = await createKey(world.app.db, { workspaceId: me.workspaceId, userId: me.userId, name: 'old' });
        await revokeKey(world.app.db, revoked.keyId);
        asking = {
            somebody: me,
            'nobody in particular': stranger(world),
            'a wrong key': withKey(world, newApiKey()),
            'a revoked key': withKey(world, revoked.apiKey),
        };
        ids = [
            { what: 'user', foreign: other.userId, absent: newId('usr') },
            { what: 'workspace', foreign: other.workspaceId, absent: newId('wsp') },
            { what: 'key', foreign: key.id, absent: newId('key') },
            { what: 'session', foreign: String(look.body['session_id']), absent: newId('ses') },
            { what: 'request', foreign: 'req_ofTheOther', absent: 'req_ofNobodyAt' },
            { what: 'connection', foreign: connected.connection_id, absent: newId('con') },
            { what: 'claim', foreign: claimed.claim_id, absent: newId('clm') },
            { what: 'schema_request', foreign: requested, absent: newId('srq') },
            { what: 'job', foreign: job.job_id, absent: newId('job') },
            { what: 'monitor', foreign: monitor.monitor_id, absent: newId('mon') },
            { what: 'webhook', foreign: webhook.webhook_id, absent: newId('whk') },
            { what: 'batch', foreign: batch.batch_id, absent: newId('bat') },
        ];
        secrets = [
            other.userId,
            other.workspaceId,
            key.id,
            claimed.claim_id,
            job.job_id,
            monitor.monitor_id,
            webhook.webhook_id,
            webhook.secret,
            batch.batch_id,
            claimed.value,
            connected.connection_id,
            'of-the-other-tenant',
            rows[0].email,
            'ask@other.example',
            other.apiKey ?? '',
            other.apiKey?.slice(0, 12) ?? '',
            '123457',
            '183457',
        ];
    });

    let address = 0;
    const ask = (person: Person, method: string, path: string, body: object | undefined, headers: Record<string, string> = {}) =>
        person.call(method, path, {
            ...(body === undefined ? {} : { body }),
            headers: { 'x-forwarded-for': `10.${(address >> 8) % 256}.${address++ % 256}.1`, ...headers },
        });

    type Place = [string, (id: string) => Promise<Answer>];

    /** All places in a request for an id of this kind. */
    function placesFor(what: string, person: Person, route: RouteCall): Place[] {
        const { method, path, body } = route;
        if (what === 'session') return [['the session header', (id) => ask(person, method, path, body, { 'x-service-session': id })]];
        if (what === 'request') {
            return [
                ['the request id', (id) => ask(person, method, path, body, { 'x-request-id': id })],
                ['the replay key', (id) => ask(person, method, path, body, { 'idempotency-key': id })],
            ];
        }
        const glue = path.includes('?') ? '&' : '?';
        const places: Place[] = [['the query', (id) => ask(person, method, `${path}${glue}${what}_id=${id}`, body)]];
        for (const placeholder of placeholdersOf(route)) {
            // A schema request may be read by anyone who has its id.
            if (what === 'schema_request' && placeholder === 'request_id') continue;
            places.push([`{${placeholder}} of the path`, (id) => ask(person, method, route.pathWith(placeholder, id), body)]);
        }
        if (body === undefined) return places;
        if (what === 'connection' && route.contract.name === 'postFetch') {
            const call = { site: CONNECTED, endpoint: 'mine' };
            places.push(['the connection of a fetch', (id) => ask(person, method, path, { ...call, connection: id, dry_run: true })]);
        }
        const everyField = (id: string) => Object.fromEntries(Object.keys(body).map((field) => [field, id]));
        return [
            ...places,
            ['the body', (id) => ask(person, method, path, { ...body, [`${what}_id`]: id })],
            ['every field of the body', (id) => ask(person, method, path, everyField(id))],
        ];
    }

    /**
     * A response without what differs from call to call, and with the requested id masked. A site's health includes earlier calls of this
     * test after a short delay.
     */
    const saying = ({ status, body }: Answer, id: string) =>
        `${status} ${JSON.stringify(body)
            .replaceAll(id, 'ID')
            .replaceAll(/(req|ses|srq|clm|job|whk|bat|mon|rep)_[0-9A-Za-z]{10,}/g, '$1')
            .replaceAll(/whsec_[^"]+/g, 'whsec')
            .replaceAll(/routebook-claim=\w+/g, 'routebook-claim')
            .replaceAll(/"health":\{[^}]*\}/g, '"health"')
            .replaceAll(
                /"(resets_in|remaining|resets_at|retry_after|demand|created_at|updated_at|expires_at|next_run_at)":[^,}]+/g,
                '"$1"',
            )}`;

    it('is not visible in any response to others', async () => {
        for (const [who, person] of Object.entries(asking)) {
            for (const { method, path, body, contract } of everyRoute('other.test', { request_id: requested })) {
                const answer = await ask(person, method, path, body);
                const text = JSON.stringify([answer.body, [...answer.headers]]);
                // The maintainers of a site are public, with id and name of the workspace.
                const isPublic = ['getMaintainers', 'getSchema', 'getSchemas'].includes(contract.name);
                const hidden = isPublic ? secrets.filter((secret) => secret !== other.workspaceId) : secrets;
                for (const secret of hidden) expect(text, `${contract.name} for ${who}`).not.to.include(secret);
            }
        }
    });

    it('looks like one that does not exist, wherever its ids are used', async () => {
        const isTaken = oneOf(23);
        for (const [who, person] of Object.entries(asking)) {
            for (const route of everyRoute('other.test', { request_id: requested })) {
                for (const { what, foreign, absent } of ids) {
                    for (const [place, call] of placesFor(what, person, route)) {
                        if (!isTaken()) continue;
                        // An account may have ten open claims.
                        if (route.contract.name === 'postClaim')
                            await world.app.db.raw('delete from claims where workspace_id <> ?', [other.workspaceId]);
                        // A workspace may have twenty webhooks.
                        if (route.contract.name === 'postWebhook')
                            await world.app.db.raw('delete from webhooks where workspace_id <> ?', [other.workspaceId]);
                        // The monitors that were created here run meanwhile.
                        if (route.contract.name === 'postMonitor')
                            await world.app.db.raw('delete from monitors where workspace_id <> ?', [other.workspaceId]);
                        if (route.contract.name === 'getJobs')
                            await world.app.db.raw('delete from jobs where workspace_id <> ?', [other.workspaceId]);
                        if (route.contract.name === 'getBatches')
                            await world.app.db.raw('delete from batches where workspace_id <> ?', [other.workspaceId]);
                        // The first of the two calls deletes what was put here.
                        if (route.contract.name === 'deleteOAuthClient')
                            await world.app.db.raw('delete from oauth_clients where workspace_id <> ?', [other.workspaceId]);
                        // An account may create 60 batches an hour.
                        if (route.contract.name === 'postBatch') await world.clock.advance({ hours: 1 });
                        const [given, missing] = [saying(await call(foreign), foreign), saying(await call(absent), absent)];
                        expect(given, `${route.contract.name}, ${what} in ${place}, for ${who}`).to.equal(missing);
                    }
                }
            }
        }
    });

    it('keeps its balance, limits and version whatever others try', async () => {
        const account = dataOf<{ credits: { balance: number }; user_id: string }>(await other.call('GET', '/v1/account'));
        expect(account).to.deep.include({ user_id: other.userId });
        expect(account.credits.balance).to.equal(60_000 + 123_457 + 100);
        expect(dataOf(await other.call('GET', '/v1/schemas/other.test'))['version']).to.equal(1);
    });
});
