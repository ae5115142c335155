import { expect } from 'chai';
import type { DeliveryEntry, WebhookEntry } from '../../shared/contracts/webhooks.ts';
import { mailNews } from '../../shared/mail/news.ts';
import { deleteAccount } from '../../shared/store/accounts/delete-account.ts';
import { deleteRests } from '../../shared/store/accounts/delete-rests.ts';
import { blockDomain } from '../../shared/store/registry/sites.ts';
import { inTurn } from '../support/in-turn.ts';
import { holdMails, mailsTo } from '../support/mails.ts';
import { type Answer, join, type Person } from '../support/people.ts';
import { codeOf, dataOf, paginationOf } from '../support/routes.ts';
import { lackOf, scopedKey } from '../support/scopes.ts';
import { useWorld } from '../support/world.ts';

const URL_OK = 'https://receiver.example/hook?token=abc';

describe('webhooks', () => {
    const world = useWorld({ workers: 0, config: { egressAllow: [], publicUrl: 'https://routebook.example' } });
    before(async () => {
        await holdMails(world.app);
    });

    const add = (person: Person, more: object = {}) =>
        person.call('POST', '/v1/webhooks', { body: { url: URL_OK, events: ['job.*', 'credits.low'], ...more } });
    const added = async (person: Person, more: object = {}) => dataOf<WebhookEntry>(await add(person, more));
    const emailOf = async ({ userId }: Person): Promise<string> => (await world.app.db('users').where({ id: userId }).first('email')).email;
    const detailsOf = ({ body }: Answer) => (body['error'] as { details: { path: string; message: string }[] }).details;

    it('are made with a secret that is shown once', async () => {
        const ada = await join(world);
        const answer = await add(ada, { description: 'Orders' });
        expect(answer.status).to.equal(201);
        const { secret = '', ...webhook } = dataOf<WebhookEntry>(answer);
        expect(Buffer.from(secret.replace(/^whsec_/, ''), 'base64')).to.have.length(32);
        expect(answer.headers.get('location')).to.equal(`/v1/webhooks/${webhook.webhook_id}`);
        expect(webhook).to.include({ url: URL_OK, description: 'Orders', enabled: true, disabled_reason: null, failing_since: null });
        expect(webhook.events).to.deep.equal(['job.*', 'credits.low']);
        expect(dataOf(await ada.call('GET', `/v1/webhooks/${webhook.webhook_id}`))).to.deep.equal(webhook);
        expect(dataOf(await ada.call('GET', '/v1/webhooks'))).to.deep.equal([webhook]);
    });

    it('keep their secrets encrypted', async () => {
        const ada = await join(world);
        const { secret = '', webhook_id } = await added(ada);
        const row = await world.app.db('webhooks').where({ id: webhook_id }).first();
        expect(JSON.stringify(row)).not.to.contain(secret);
        expect(row.sealed.toString('latin1')).not.to.contain(secret);
    });

    it('are reported to the owners of the workspace and in its audit, without the query of the URL', async () => {
        const ada = await join(world);
        await world.app
            .db('users')
            .where({ id: ada.userId })
            .update({ verified_at: world.app.db.raw('app_now()') });
        const { webhook_id } = await added(ada);
        await mailNews(world.app.db, world.app.secrets, world.app.publicUrl());
        const [mail] = await mailsTo(world.app, await emailOf(ada));
        expect(mail?.subject).to.equal('A webhook was added to your workspace');
        expect(mail?.body)
            .to.contain('/dashboard/audit')
            .and.contain('to https://receiver.example/hook.')
            .and.contain(webhook_id)
            .and.not.contain('token=abc');
        await world.clock.advance({ hours: 2 });
        await ada.call('PATCH', `/v1/webhooks/${webhook_id}`, {
            body: { enabled: false, url: 'https://elsewhere.example/hook?token=abc' },
        });
        await mailNews(world.app.db, world.app.secrets, world.app.publicUrl());
        const [, moved] = await mailsTo(world.app, await emailOf(ada));
        expect(moved?.subject).to.equal('The URL of a webhook was changed');
        expect(moved?.body).to.contain('https://elsewhere.example/hook').and.not.contain('token=abc');
        await ada.call('POST', `/v1/webhooks/${webhook_id}/rotate`);
        await ada.call('DELETE', `/v1/webhooks/${webhook_id}`);
        const acts = dataOf<{ action: string; target: string }[]>(await ada.call('GET', '/v1/audit'));
        const own = acts.filter(({ target }) => target === webhook_id);
        expect(own.map(({ action }) => action)).to.deep.equal(['webhook.deleted', 'webhook.rotated', 'webhook.changed', 'webhook.created']);
        expect(JSON.stringify(acts)).not.to.contain('token=abc');
        expect(JSON.stringify(world.logged)).not.to.contain('token=abc');
    });

    it('are changed field by field', async () => {
        const ada = await join(world);
        const { webhook_id } = await added(ada, { description: 'Orders' });
        const change = async (body: object) => dataOf<WebhookEntry>(await ada.call('PATCH', `/v1/webhooks/${webhook_id}`, { body }));
        expect(await change({ enabled: false })).to.include({ enabled: false, disabled_reason: 'caller', description: 'Orders' });
        expect(await change({ enabled: true })).to.include({ enabled: true, disabled_reason: null });
        expect((await change({ events: ['batch.*'], url: 'https://other.example/' })).events).to.deep.equal(['batch.*']);
        expect(await change({ description: null })).to.include({ url: 'https://other.example/', description: null });
    });

    it('have a description of several lines, and a URL of one', async () => {
        const ada = await join(world);
        const { webhook_id, description } = await added(ada, { description: 'Orders\r\n\tof Überlingen 😀' });
        expect(description).to.equal('Orders\n\tof Überlingen 😀');
        const changed = await ada.call('PATCH', `/v1/webhooks/${webhook_id}`, { body: { description: 'a\r\nb' } });
        expect(dataOf<WebhookEntry>(changed).description).to.equal('a\nb');
        const refused = await add(ada, { url: 'https://receiver.example/ho\nok', description: 'a\u0007' });
        expect(detailsOf(refused).map(({ path }) => path)).to.deep.equal(['/description']);
        expect(detailsOf(await add(ada, { url: 'https://receiver.example/ho\nok' })).map(({ path }) => path)).to.deep.equal(['/url']);
    });

    it('are deleted with 200, and do not exist afterwards', async () => {
        const ada = await join(world);
        const { webhook_id } = await added(ada);
        const answer = await ada.call('DELETE', `/v1/webhooks/${webhook_id}`);
        expect(answer.status).to.equal(200);
        expect(dataOf(answer)).to.deep.equal({ webhook_id, deleted: true });
        for (const [method, path] of [
            ['GET', ''],
            ['PATCH', ''],
            ['DELETE', ''],
            ['POST', '/rotate'],
            ['POST', '/test'],
            ['GET', '/deliveries'],
            ['POST', '/deliveries/dlv_0000000000000000000000/redeliver'],
        ] as const) {
            const again = await ada.call(method, `/v1/webhooks/${webhook_id}${path}`, method === 'PATCH' ? { body: {} } : {});
            expect(codeOf(again), `${method} ${path}`).to.equal('WEBHOOK_NOT_FOUND');
        }
    });

    it('get another secret, and keep their id', async () => {
        const ada = await join(world);
        const { webhook_id, secret } = await added(ada);
        const rotated = dataOf<WebhookEntry>(await ada.call('POST', `/v1/webhooks/${webhook_id}/rotate`));
        expect(rotated.webhook_id).to.equal(webhook_id);
        expect(rotated.secret)
            .to.match(/^whsec_/)
            .and.not.equal(secret);
    });

    it('are visible to their workspace only', async () => {
        const [ada, other] = [await join(world), await join(world)];
        const { webhook_id } = await added(ada);
        expect(codeOf(await other.call('GET', `/v1/webhooks/${webhook_id}`))).to.equal('WEBHOOK_NOT_FOUND');
        expect(codeOf(await other.call('DELETE', `/v1/webhooks/${webhook_id}`))).to.equal('WEBHOOK_NOT_FOUND');
        expect(dataOf(await other.call('GET', '/v1/webhooks'))).to.deep.equal([]);
    });

    it('need a key with the scopes account and jobs, and without limits of sites, endpoints, effects and connections', async () => {
        const ada = await join(world);
        const lack = async (scopes: Parameters<typeof scopedKey>[2]) =>
            lackOf(await (await scopedKey(world, ada, scopes)).call('POST', '/v1/webhooks', { body: { url: URL_OK, events: ['job.*'] } }));
        expect(await lack({ routes: ['jobs'] })).to.equal('routes: account');
        expect(await lack({ routes: ['account'] })).to.equal('routes: jobs');
        expect(await lack({ sites: ['shop.test'] })).to.equal('sites: all');
        expect(await lack({ endpoints: ['product'] })).to.equal('endpoints: all');
        expect(await lack({ effects: ['read'] })).to.equal('effects: write');
        expect(await lack({ connections: [] })).to.equal('connections: all');
    });

    const wrong: [name: string, url: string][] = [
        ['http', 'http://receiver.example/'],
        ['another port', 'https://receiver.example:8443/'],
        ['a user', 'https://ada@receiver.example/'],
        ['a password', 'https://ada:secret@receiver.example/'],
        ['a fragment', 'https://receiver.example/#a'],
        ['an empty fragment', 'https://receiver.example/#'],
        ['another scheme', 'ftp://receiver.example/'],
        ['no URL', 'receiver.example'],
        ['2,049 characters', `https://receiver.example/${'x'.repeat(2049 - 25)}`],
        ['this service itself', 'https://routebook.example/v1/fetch'],
    ];
    for (const [name, url] of wrong) {
        it(`take no URL with ${name}`, async () => {
            const ada = await join(world);
            const answer = await add(ada, { url });
            expect(codeOf(answer)).to.equal('VALIDATION_ERROR');
            expect(detailsOf(answer).map(({ path }) => path)).to.deep.equal(['/url']);
        });
    }

    it('take a URL of 2,048 characters', async () => {
        const url = `https://receiver.example/${'x'.repeat(2048 - 25)}`;
        expect((await add(await join(world), { url })).status).to.equal(201);
    });

    it('take no URL of a blocked site, when they are created and when they are changed', async () => {
        const ada = await join(world);
        await blockDomain(world.app.db, 'blocked.example', 'its owner asked');
        expect(codeOf(await add(ada, { url: 'https://www.blocked.example/' }))).to.equal('SITE_BLOCKED');
        const { webhook_id } = await added(ada);
        const changed = await ada.call('PATCH', `/v1/webhooks/${webhook_id}`, { body: { url: 'https://www.blocked.example/' } });
        expect(codeOf(changed)).to.equal('SITE_BLOCKED');
    });

    it('need at least one known event', async () => {
        const ada = await join(world);
        for (const events of [[], ['job.done'], ['proposal.opened'], ['webhook.test'], ['*'], 'job.*']) {
            expect(codeOf(await add(ada, { events })), JSON.stringify(events)).to.equal('VALIDATION_ERROR');
        }
        expect((await add(ada, { events: ['monitor.changed', 'schema.*', 'job.cancelled', 'key.revoked'] })).status).to.equal(201);
    });

    it('are limited to 20 a workspace; the error for the next one names the larger plan', async () => {
        const ada = await join(world);
        const answers = await Promise.all(Array.from({ length: 22 }, () => inTurn(() => add(ada))));
        expect(answers.filter(({ status }) => status === 201)).to.have.length(20);
        const refused = answers.find(({ status }) => status !== 201) as Answer;
        expect(refused.status).to.equal(403);
        expect(codeOf(refused)).to.equal('PLAN_LIMIT');
        const error = refused.body['error'] as Record<string, unknown>;
        expect(error).to.include({ fault: 'caller', retryable: false, upgrade_to: 'starter' });
        expect(error['upgrade_url']).to.contain('/upgrade?plan=starter');
    });

    it('are listed in pages, the newest first', async () => {
        const ada = await join(world);
        const ids: string[] = [];
        for (let index = 0; index < 3; index++) ids.unshift((await added(ada)).webhook_id);
        const page = await ada.call('GET', '/v1/webhooks?limit=2');
        const { next_cursor, total } = paginationOf(page);
        const rest = await ada.call('GET', `/v1/webhooks?limit=2&cursor=${encodeURIComponent(next_cursor ?? '')}`);
        const idsOf = (answer: Answer) => dataOf<WebhookEntry[]>(answer).map(({ webhook_id }) => webhook_id);
        expect([...idsOf(page), ...idsOf(rest)]).to.deep.equal(ids);
        expect(total).to.equal(3);
        expect(codeOf(await ada.call('GET', '/v1/webhooks?cursor=nonsense'))).to.equal('INVALID_CURSOR');
    });

    it('are tested and redelivered at most 10 times a minute in all', async () => {
        const ada = await join(world);
        const { webhook_id } = await added(ada);
        const test = () => ada.call('POST', `/v1/webhooks/${webhook_id}/test`);
        const first = await test();
        expect(first.status).to.equal(202);
        const delivery = dataOf<DeliveryEntry>(first);
        expect(delivery).to.include({ type: 'webhook.test', status: 'pending', attempts: 0, code: null, answer: null });
        expect(delivery.delivery_id).to.match(/^dlv_/);
        expect(delivery.event_id).to.match(/^evt_/);
        const again = await ada.call('POST', `/v1/webhooks/${webhook_id}/deliveries/${delivery.delivery_id}/redeliver`);
        expect(again.status).to.equal(202);
        for (let index = 0; index < 8; index++) expect((await test()).status).to.equal(202);
        const refused = await test();
        expect(codeOf(refused)).to.equal('RATE_LIMITED');
        expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 60);
        expect((await ada.call('POST', `/v1/webhooks/${(await added(ada)).webhook_id}/test`)).status).to.equal(202);
    });

    it('have no delivery of another webhook', async () => {
        const ada = await join(world);
        const [one, other] = [await added(ada), await added(ada)];
        const { delivery_id } = dataOf<DeliveryEntry>(await ada.call('POST', `/v1/webhooks/${one.webhook_id}/test`));
        const answer = await ada.call('POST', `/v1/webhooks/${other.webhook_id}/deliveries/${delivery_id}/redeliver`);
        expect(codeOf(answer)).to.equal('NOT_FOUND');
        expect(dataOf(await ada.call('GET', `/v1/webhooks/${other.webhook_id}/deliveries`))).to.deep.equal([]);
    });

    it('list their deliveries in pages, the newest first, also by status', async () => {
        const ada = await join(world);
        const { webhook_id } = await added(ada);
        const made: string[] = [];
        for (let index = 0; index < 3; index++)
            made.unshift(dataOf<DeliveryEntry>(await ada.call('POST', `/v1/webhooks/${webhook_id}/test`)).delivery_id);
        const list = (query: string) => ada.call('GET', `/v1/webhooks/${webhook_id}/deliveries?${query}`);
        const idsOf = (answer: Answer) => dataOf<DeliveryEntry[]>(answer).map(({ delivery_id }) => delivery_id);
        const page = await list('limit=2');
        const { next_cursor, total } = paginationOf(page);
        expect([...idsOf(page), ...idsOf(await list(`limit=2&cursor=${encodeURIComponent(next_cursor ?? '')}`))]).to.deep.equal(made);
        expect(total).to.equal(3);
        expect(idsOf(await list('status=pending'))).to.deep.equal(made);
        expect(idsOf(await list('status=delivered'))).to.deep.equal([]);
        expect(codeOf(await list('status=lost'))).to.equal('VALIDATION_ERROR');
        expect(codeOf(await list('cursor=nonsense'))).to.equal('INVALID_CURSOR');
    });

    it('are deleted with the workspace of a user who deletes the account', async () => {
        const ada = await join(world);
        const { webhook_id } = await added(ada);
        await ada.call('POST', `/v1/webhooks/${webhook_id}/test`);
        expect(await deleteAccount(world.app.db, ada.userId)).to.equal(true);
        await deleteRests(world.app.db);
        expect(await world.app.db('webhooks').where({ id: webhook_id })).to.deep.equal([]);
        expect(await world.app.db('webhook_deliveries').where({ webhook_id })).to.deep.equal([]);
    });
});
