import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import type { AuditEntry } from '../../shared/contracts/audit.ts';
import type { DeliveryEntry, WebhookEntry } from '../../shared/contracts/webhooks.ts';
import { RETRY_SECONDS } from '../../shared/domain/events/delivery-schedule.ts';
import { MAX_WAITING } from '../../shared/domain/events/webhook-bounds.ts';
import { mailNews } from '../../shared/mail/news.ts';
import { addMember, removeMember } from '../../shared/store/accounts/workspaces.ts';
import { disableWebhooks, findBacklogs, stopDisabled } from '../../shared/store/events/disable-webhooks.ts';
import { recordEvent } from '../../shared/store/events/events.ts';
import { blockSpreading } from '../../shared/store/events/spread.ts';
import { sealResult } from '../../shared/store/jobs/sealed.ts';
import { blockDomain } from '../../shared/store/registry/sites.ts';
import { eventually } from '../support/eventually.ts';
import { holdMails, mailsTo } from '../support/mails.ts';
import { deleteOldRows } from '../support/old-rows.ts';
import { join, type Person } from '../support/people.ts';
import { openReceiver, type Receiver, type ToldEvent } from '../support/receiver.ts';
import { dataOf } from '../support/routes.ts';
import { scopedKey } from '../support/scopes.ts';
import { SHOP, SHOP_HOSTS, shopPackage, useShop } from '../support/shop.ts';
import { openRawSite, openSite } from '../support/sites.ts';
import { useWorld } from '../support/world.ts';

const LATEST = 20_000;

describe('an event is delivered to webhooks', () => {
    const world = useWorld({
        config: { egressHosts: new Map([...SHOP_HOSTS, ['hooks.blocked.example', ['127.0.0.1']], ['inside.example', ['10.0.0.1']]]) },
    });
    const shop = useShop();
    let receiver: Receiver;
    let maintainer: Person;
    before(async () => {
        await holdMails(world.app);
        maintainer = await join(world);
        dataOf(await maintainer.publish(shopPackage(shop.port)));
    });
    beforeEach(async () => {
        receiver = await openReceiver();
    });
    afterEach(() => receiver.close());

    const add = async (person: Person, more: object = {}) =>
        dataOf<WebhookEntry & { secret: string }>(
            await person.call('POST', '/v1/webhooks', { body: { url: receiver.url(), events: ['key.revoked'], ...more } }),
        );
    const tell = ({ workspaceId }: Person, name = 'leaked') =>
        recordEvent(world.app.db, { type: 'key.revoked', workspaceId, data: { name } });
    const deliveriesOf = async (person: Person, { webhook_id }: WebhookEntry) =>
        dataOf<DeliveryEntry[]>(await person.call('GET', `/v1/webhooks/${webhook_id}/deliveries?limit=100`));
    const read = async (person: Person, { webhook_id }: WebhookEntry) =>
        dataOf<WebhookEntry>(await person.call('GET', `/v1/webhooks/${webhook_id}`));
    const untilTold = async (count: number, from = receiver): Promise<ToldEvent[]> => {
        await eventually(
            async () => from.told().length,
            (received) => received >= count,
            LATEST,
        );
        return from.told();
    };
    /** Waits for the expected state of the newest delivery. */
    const untilDelivery = async (person: Person, webhook: WebhookEntry, wanted: (delivery: DeliveryEntry) => boolean) => {
        let newest: DeliveryEntry | undefined;
        const look = async () => {
            [newest] = await deliveriesOf(person, webhook);
            return newest;
        };
        await eventually(look, (first) => first !== undefined && wanted(first), LATEST);
        return newest as DeliveryEntry;
    };

    it('in the form of Standard Webhooks, and its published library accepts it', async () => {
        const ada = await join(world);
        const webhook = await add(ada);
        await tell(ada);
        await untilTold(1);
        const [event] = receiver.told(webhook.secret);
        expect(event?.type).to.equal('key.revoked');
        expect(event?.data).to.deep.equal({ name: 'leaked' });
        expect(event?.id).to.match(/^evt_/);
        expect(Date.parse(event?.timestamp ?? '')).to.be.closeTo(Date.now(), 60_000);
        expect(event?.headers['content-type']).to.match(/^application\/json/);
        expect(event?.headers['user-agent']).to.match(/^Routebook\//);
        const delivery = await untilDelivery(ada, webhook, ({ status }) => status === 'delivered');
        expect(delivery).to.include({ event_id: event?.id, type: 'key.revoked', code: 204, attempts: 1, next_attempt_at: null });
    });

    it('to nobody else, and of no other type', async () => {
        const [ada, other] = [await join(world), await join(world)];
        await add(ada, { events: ['batch.*'], url: receiver.url('/batches') });
        await add(other, { url: receiver.url('/other') });
        await add(ada, { enabled: false, url: receiver.url('/disabled') });
        await add(ada, { events: ['key.*'] });
        await tell(ada);
        expect((await untilTold(1)).map(({ path }) => path)).to.deep.equal(['/hook']);
    });

    it('to no webhook that was created or enabled after it, even if it is still being delivered', async () => {
        const ada = await join(world);
        const enabled = await add(ada, { enabled: false, url: receiver.url('/enabled') });
        const created = await world.app.db.transaction(async (trx) => {
            await blockSpreading(trx);
            await tell(ada, 'earlier');
            await ada.call('PATCH', `/v1/webhooks/${enabled.webhook_id}`, { body: { enabled: true } });
            return add(ada, { url: receiver.url('/created') });
        });
        await tell(ada, 'later');
        const received = await untilTold(2);
        expect(received.map(({ path, data }) => `${path} ${data['name']}`).toSorted()).to.deep.equal(['/created later', '/enabled later']);
        for (const webhook of [enabled, created]) expect(await deliveriesOf(ada, webhook)).to.have.length(1);
    });

    it('with the job as the API returns it, and its result', async () => {
        const ada = await join(world);
        await add(ada, { events: ['job.*'] });
        const body = { site: SHOP, endpoint: 'product', params: { id: 1 }, metadata: { order: '7' } };
        const { job_id } = dataOf<{ job_id: string }>(await ada.call('POST', '/v1/jobs', { body }));
        const [event] = await untilTold(1);
        expect(event?.type).to.equal('job.succeeded');
        const { params: _params, ...job } = dataOf<Record<string, unknown>>(await ada.call('GET', `/v1/jobs/${job_id}`));
        expect(event?.data).to.deep.equal(job);
        expect(job['result']).to.have.property('data');
    });

    it('without a result of more than 256 KiB, but with its URL', async () => {
        const ada = await join(world);
        const body = { site: SHOP, endpoint: 'product', params: { id: 1 } };
        const { job_id: about } = dataOf<{ job_id: string }>(await ada.call('POST', '/v1/jobs', { body }));
        await ada.call('GET', `/v1/jobs/${about}?wait=30`);
        await add(ada, { events: ['job.succeeded'] });
        const tellOf = async (characters: number) => {
            const result = await sealResult(world.app.secrets, { head: `{"data":"${'x'.repeat(characters)}","meta":{"left":`, tail: '}}' });
            await world.app.db('jobs').where({ job_id: about }).update({ result, remaining: 1 });
            const known = receiver.told().length;
            await recordEvent(world.app.db, { type: 'job.succeeded', workspaceId: ada.workspaceId, data: {}, about });
            return (await untilTold(known + 1)).at(-1)?.data ?? {};
        };
        const around = '{"data":"","meta":{"left":1}}'.length;
        const whole = await tellOf(256 * 1024 - around);
        expect(whole).to.have.property('result');
        expect(whole).not.to.have.property('result_url');
        const cut = await tellOf(256 * 1024 - around + 1);
        expect(cut).not.to.have.property('result');
        expect(cut['result_url']).to.equal(`${world.app.publicUrl()}/v1/jobs/${about}`);
        await world.app.db('jobs').where({ job_id: about }).update({ owner_id: ada.userId });
        const own = await tellOf(10);
        expect(own, 'a job of a connection that is not shared').not.to.have.any.keys('result', 'result_url');
        await ada.call('DELETE', `/v1/jobs/${about}/result`);
    });

    it('signed by the new secret, and for a day by the previous one, and by no older one', async () => {
        const ada = await join(world);
        const webhook = await add(ada);
        const rotate = async () => dataOf<{ secret: string }>(await ada.call('POST', `/v1/webhooks/${webhook.webhook_id}/rotate`)).secret;
        const signers = async (secrets: readonly string[]) => {
            const known = receiver.told().length;
            await tell(ada);
            const { headers, id: _id, path: _path, ...body } = (await untilTold(known + 1)).at(-1) ?? expect.fail('nothing came');
            const fits = (secret: string) => {
                try {
                    new Webhook(secret).verify(JSON.stringify(body), headers as Record<string, string>);
                    return true;
                } catch {
                    return false;
                }
            };
            return secrets.map(fits);
        };
        const first = webhook.secret;
        const second = await rotate();
        expect(await signers([first, second])).to.deep.equal([true, true]);
        const third = await rotate();
        expect(await signers([first, second, third])).to.deep.equal([false, true, true]);
        await world.clock.advance({ hours: 25 });
        expect(await signers([first, second, third])).to.deep.equal([false, false, true]);
    });

    it('again after each failure, with growing waits and the same id, until it arrives', async () => {
        const ada = await join(world);
        const webhook = await add(ada);
        receiver.answer((response) => void response.writeHead(500).end('out of order'));
        await tell(ada);
        let delivery = await untilDelivery(ada, webhook, ({ attempts }) => attempts === 1);
        expect(delivery).to.include({ status: 'pending', code: 500, answer: 'out of order' });
        for (const [index, seconds] of RETRY_SECONDS.slice(0, 4).entries()) {
            const wait = (Date.parse(delivery.next_attempt_at ?? '') - Date.parse(delivery.attempted_at ?? '')) / 1000;
            expect(wait, `wait ${index + 1}`).to.be.within(seconds * 0.89, seconds * 1.11);
            await world.clock.advance({ seconds: seconds * 1.11 });
            delivery = await untilDelivery(ada, webhook, ({ attempts }) => attempts === index + 2);
        }
        receiver.answer((response) => void response.writeHead(200).end('thanks'));
        await world.clock.advance({ seconds: (RETRY_SECONDS[4] ?? 0) * 1.11 });
        delivery = await untilDelivery(ada, webhook, ({ status }) => status === 'delivered');
        expect(delivery).to.include({ attempts: 6, code: 200, answer: 'thanks' });
        expect(new Set(receiver.told(webhook.secret).map(({ id }) => id)).size).to.equal(1);
        expect((await read(ada, webhook)).failing_since).to.equal(null);
    });

    it('ten times at most, with waits of 5 s, 5 and 30 min, 2, 5, 10, 14, 20 and 24 h', async () => {
        expect(RETRY_SECONDS).to.deep.equal([5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]);
        const ada = await join(world);
        const webhook = await add(ada);
        receiver.answer((response) => void response.writeHead(503).end());
        await tell(ada);
        for (const [index, seconds] of RETRY_SECONDS.entries()) {
            await untilDelivery(ada, webhook, ({ attempts }) => attempts === index + 1);
            await world.clock.advance({ seconds: seconds * 1.11 });
        }
        const delivery = await untilDelivery(ada, webhook, ({ status }) => status === 'failed');
        expect(delivery).to.include({ attempts: 10, next_attempt_at: null });
        expect(receiver.told()).to.have.length(10);
    });

    it('and no redirect is followed', async () => {
        const ada = await join(world);
        const elsewhere = await openReceiver();
        const webhook = await add(ada);
        receiver.answer((response) => void response.writeHead(307, { location: elsewhere.url() }).end());
        await tell(ada);
        const delivery = await untilDelivery(ada, webhook, ({ attempts }) => attempts === 1);
        expect(delivery).to.include({ status: 'pending', code: 307 });
        expect(elsewhere.told()).to.deep.equal([]);
        await elsewhere.close();
    });

    it('and a receiver that switches to another protocol has failed', async () => {
        const ada = await join(world);
        const site = await openRawSite((socket) =>
            socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n'),
        );
        const webhook = await add(ada, { url: `http://127.0.0.1:${site.port}/` });
        await tell(ada);
        const delivery = await untilDelivery(ada, webhook, ({ attempts }) => attempts === 1);
        expect(delivery).to.include({
            status: 'pending',
            code: 101,
            problem: 'The receiver switched to another protocol without being asked.',
        });
        await ada.call('DELETE', `/v1/webhooks/${webhook.webhook_id}`);
        await site.close();
    });

    it('within 10 seconds, or it counts as failed; others do not wait for one that hangs', async () => {
        const [ada, bob] = [await join(world), await join(world)];
        const quick = await openReceiver();
        const hanging = await add(ada);
        const [mine, theirs] = [await add(ada, { url: quick.url('/ada') }), await add(bob, { url: quick.url('/bob') })];
        receiver.answer(() => {});
        for (let index = 0; index < 30; index++) await tell(ada, `event ${index}`);
        await untilTold(4);
        await tell(bob);
        await eventually(
            async () => quick.told().length,
            (count) => count >= 31,
            9000,
        );
        expect(quick.told(mine.secret, '/ada')).to.have.length(30);
        expect(quick.told(theirs.secret, '/bob')).to.have.length(1);
        expect(receiver.told(), 'as many at once as a webhook may have').to.have.length(4);
        const ofHanging = async () => (await deliveriesOf(ada, hanging)).find(({ attempts }) => attempts > 0);
        await eventually(ofHanging, (delivery) => delivery !== undefined, LATEST);
        const failed = await ofHanging();
        expect(failed).to.include({ status: 'pending', code: null, problem: 'The receiver did not answer within 10 seconds.' });
        expect(failed?.duration_ms).to.be.within(9900, 13_000);
        await ada.call('DELETE', `/v1/webhooks/${hanging.webhook_id}`);
        await quick.close();
    });

    it('with 32 requests at once to a host, over all its webhooks', async () => {
        const people = await Promise.all(Array.from({ length: 10 }, () => join(world)));
        const webhooks = await Promise.all(people.map((person) => add(person)));
        let open = 0;
        let peak = 0;
        const waiting: (() => void)[] = [];
        receiver.answer((response) => {
            peak = Math.max(peak, ++open);
            waiting.push(() => {
                open -= 1;
                response.writeHead(204).end();
            });
        });
        for (const person of people) await Promise.all(Array.from({ length: 6 }, (_, index) => tell(person, `event ${index}`)));
        await untilTold(32);
        const release = setInterval(() => waiting.splice(0).forEach((end) => void end()), 50);
        await untilTold(60);
        clearInterval(release);
        for (const end of waiting.splice(0)) end();
        expect(peak).to.equal(32);
        for (const webhook of webhooks) expect(webhook.secret).to.match(/^whsec_/);
    });

    it('120 times a minute to one host for a free account, however many webhooks it has, and at once for others', async () => {
        const [ada, bob] = [await join(world), await join(world, { plan: 'starter' })];
        for (let count = 1; count <= 20; count++) await add(ada, { url: receiver.url(`/ada?${count}`) });
        await add(bob, { url: receiver.url('/bob') });
        await Promise.all(Array.from({ length: 7 }, (_, index) => tell(ada, `event ${index}`)));
        await untilTold(120);
        await Promise.all(Array.from({ length: 130 }, (_, index) => tell(bob, `event ${index}`)));
        await untilTold(250);
        expect(receiver.told(undefined, '/bob')).to.have.length(130);
        const waiting = async () => {
            const { rows } = await world.app.db.raw<{ rows: [{ count: number }] }>(
                "select count(*)::int from webhook_deliveries d join webhooks w on w.id = d.webhook_id where w.workspace_id = ? and d.status = 'pending'",
                [ada.workspaceId],
            );
            return rows[0].count;
        };
        await eventually(waiting, (count) => count === 20, LATEST);
    });

    it('4 at once to a host with failing webhooks, while working ones continue and nothing is lost', async () => {
        const [strangers, good] = [await Promise.all([1, 2, 3].map(() => join(world))), await join(world)];
        for (const stranger of strangers) await add(stranger);
        const delivering = await openReceiver();
        await add(good, { url: delivering.url() });
        await tell(good, 'first');
        await untilTold(1, delivering);
        receiver.answer((response) => void response.writeHead(500).end());
        for (const stranger of strangers) await Promise.all([1, 2, 3, 4].map((index) => tell(stranger, `event ${index}`)));
        await untilTold(12);
        const held: ServerResponse[] = [];
        receiver.answer((response) => void held.push(response));
        const areTried = async (status: DeliveryEntry['status']) => {
            const { rows } = await world.app.db.raw<{ rows: [{ count: number }] }>(
                `select count(*)::int from webhook_deliveries d join webhooks w on w.id = d.webhook_id
                 where w.url = ? and d.status = ? and d.attempts > 0`,
                [receiver.url(), status],
            );
            return rows[0].count;
        };
        await eventually(
            () => areTried('pending'),
            (count) => count === 12,
            LATEST,
        );
        await world.clock.advance({ seconds: 6 });
        await untilTold(16);
        await tell(good, 'second');
        await untilTold(2, delivering);
        expect(receiver.told(), 'retries that are on their way').to.have.length(16);
        receiver.answer((response) => void response.writeHead(204).end());
        for (const response of held) response.writeHead(204).end();
        await eventually(
            () => areTried('delivered'),
            (count) => count === 12,
            LATEST,
        );
        await delivering.close();
    });

    it('and stores the first 1,024 bytes of the response', async () => {
        const ada = await join(world);
        const webhook = await add(ada);
        receiver.answer((response) => void response.writeHead(200).end(`a\u0000b${'ü'.repeat(5000)}`));
        await tell(ada);
        const { answer } = await untilDelivery(ada, webhook, ({ status }) => status === 'delivered');
        expect(answer).to.match(/^abü+$/);
        expect(Buffer.byteLength(answer ?? '')).to.be.within(1015, 1024);
    });

    it('no more once the receiver answered 410: the webhook is disabled, and its owners get a mail', async () => {
        const ada = await join(world);
        await verify(ada);
        const webhook = await add(ada);
        expect(await subjects(ada)).to.deep.equal(['A webhook was added to your workspace']);
        receiver.answer((response) => void response.writeHead(410).end());
        await tell(ada);
        await eventually(
            () => read(ada, webhook),
            ({ enabled }) => !enabled,
            LATEST,
        );
        expect((await read(ada, webhook)).disabled_reason).to.equal('gone');
        expect(await untilDelivery(ada, webhook, ({ attempts }) => attempts === 1)).to.include({ status: 'failed', code: 410 });
        await tell(ada, 'another');
        await world.clock.advance({ hours: 2 });
        expect(await subjects(ada)).to.include('A webhook was disabled');
        expect(await deliveriesOf(ada, webhook)).to.have.length(1);
    });

    it('no more after five days without a success, with a mail before and one after', async () => {
        const ada = await join(world);
        await verify(ada);
        const webhook = await add(ada);
        receiver.answer((response) => void response.writeHead(500).end());
        const mails: string[][] = [];
        for (let day = 0; day < 5; day++) {
            expect(await read(ada, webhook), `day ${day}`).to.include({ enabled: true });
            await tell(ada, `event of day ${day}`);
            const all = () => deliveriesOf(ada, webhook);
            const isTried = ({ attempts, next_attempt_at: next }: DeliveryEntry) => attempts > 0 && Date.parse(`${next}`) > 0;
            await eventually(all, (known) => known.length === day + 1 && known.every(isTried), LATEST);
            mails.push(await subjects(ada));
            await world.clock.advance({ hours: 24.1 });
        }
        await eventually(
            () => read(ada, webhook),
            ({ enabled }) => !enabled,
            LATEST,
        );
        expect((await read(ada, webhook)).disabled_reason).to.equal('failing');
        expect(mails[0]).not.to.include('A webhook is failing');
        expect(mails[4]).to.include('A webhook is failing').and.not.include('A webhook was disabled');
        await world.clock.advance({ hours: 2 });
        expect(await subjects(ada)).to.include('A webhook was disabled');
        await stopDisabled(world.app.db);
        const stopped = (await deliveriesOf(ada, webhook)).filter(({ status }) => status === 'stopped');
        expect(stopped).not.to.deep.equal([]);
        receiver.answer((response) => void response.writeHead(204).end());
        const { delivery_id } = stopped[0] as DeliveryEntry;
        await ada.call('PATCH', `/v1/webhooks/${webhook.webhook_id}`, { body: { enabled: true } });
        expect((await read(ada, webhook)).failing_since).to.equal(null);
        await ada.call('POST', `/v1/webhooks/${webhook.webhook_id}/deliveries/${delivery_id}/redeliver`);
        await eventually(
            async () => (await deliveriesOf(ada, webhook)).find((one) => one.delivery_id === delivery_id)?.status,
            (status) => status === 'delivered',
            LATEST,
        );
    });

    it('not while the webhook is disabled, except for a test and a redelivery', async () => {
        const ada = await join(world);
        const webhook = await add(ada);
        receiver.answer((response) => void response.writeHead(500).end());
        await tell(ada);
        const { delivery_id, event_id } = await untilDelivery(ada, webhook, ({ attempts }) => attempts === 1);
        await ada.call('PATCH', `/v1/webhooks/${webhook.webhook_id}`, { body: { enabled: false } });
        expect((await deliveriesOf(ada, webhook))[0]).to.include({ status: 'stopped', next_attempt_at: null });
        await tell(ada, 'meanwhile');
        receiver.answer((response) => void response.writeHead(204).end());
        const known = receiver.told().length;
        const again = await ada.call('POST', `/v1/webhooks/${webhook.webhook_id}/deliveries/${delivery_id}/redeliver`);
        expect(dataOf<DeliveryEntry>(again)).to.include({ status: 'pending', delivery_id, event_id });
        expect((await untilTold(known + 1)).at(-1)?.id).to.equal(event_id);
        await ada.call('POST', `/v1/webhooks/${webhook.webhook_id}/test`);
        const test = (await untilTold(known + 2)).at(-1);
        expect(test).to.include({ type: 'webhook.test' });
        await ada.call('PATCH', `/v1/webhooks/${webhook.webhook_id}`, { body: { enabled: true } });
        await tell(ada, 'afterwards');
        expect((await untilTold(known + 3)).at(-1)?.data).to.deep.equal({ name: 'afterwards' });
    });

    it('to the new URL if that was changed while it waited', async () => {
        const ada = await join(world);
        const webhook = await add(ada);
        receiver.answer((response) => void response.writeHead(500).end());
        await tell(ada);
        await untilDelivery(ada, webhook, ({ attempts }) => attempts === 1);
        const other = await openReceiver();
        await ada.call('PATCH', `/v1/webhooks/${webhook.webhook_id}`, { body: { url: other.url() } });
        await world.clock.advance({ seconds: 6 });
        await untilTold(1, other);
        await other.close();
    });

    /** Runs work that has to wait for these rows, and meanwhile expects an event of somebody else to arrive. */
    async function expectOthersTold(rows: string, of: string, work: () => Promise<unknown>): Promise<void> {
        const { db } = world.app;
        const bob = await join(world);
        const other = await openReceiver();
        await add(bob, { url: other.url() });
        let done: Promise<unknown> = Promise.resolve();
        await db.transaction(async (trx) => {
            await trx.raw(rows, [of]);
            done = work();
            const waiting = () => db('pg_stat_activity').where({ wait_event_type: 'Lock', datname: db.raw('current_database()') });
            await eventually(
                () => waiting().pluck('pid'),
                (pids) => pids.length === 1,
                LATEST,
            );
            await tell(bob);
            await untilTold(1, other);
        });
        await done;
        await other.close();
    }

    it('of others, while deliveries that wait move to a new URL', async () => {
        const ada = await join(world);
        const webhook = await add(ada);
        receiver.answer((response) => void response.writeHead(500).end());
        await tell(ada);
        await untilDelivery(ada, webhook, ({ attempts }) => attempts === 1);
        const deliveries = 'select from webhook_deliveries where webhook_id = ? for update';
        await expectOthersTold(deliveries, webhook.webhook_id, async () => {
            const body = { url: `http://localhost:${receiver.port}/elsewhere` };
            dataOf(await ada.call('PATCH', `/v1/webhooks/${webhook.webhook_id}`, { body }));
        });
    });

    for (const { does, end } of [
        { does: 'is disabled', end: (person: Person, path: string) => person.call('PATCH', path, { body: { enabled: false } }) },
        { does: 'is deleted', end: (person: Person, path: string) => person.call('DELETE', path) },
    ]) {
        it(`of others, while a webhook with waiting deliveries ${does}`, async () => {
            const ada = await join(world);
            const webhook = await add(ada);
            receiver.answer((response) => void response.writeHead(500).end());
            await tell(ada);
            await untilDelivery(ada, webhook, ({ attempts }) => attempts === 1);
            const deliveries = 'select from webhook_deliveries where webhook_id = ? for update';
            await expectOthersTold(deliveries, webhook.webhook_id, async () => {
                dataOf(await end(ada, `/v1/webhooks/${webhook.webhook_id}`));
            });
            const left = await world.app.db('webhook_deliveries').where({ webhook_id: webhook.webhook_id }).pluck('status');
            expect(left).to.deep.equal(['stopped']);
        });
    }

    it('no more after the process died that disabled it, nor once it is enabled again', async () => {
        const ada = await join(world);
        const webhook = await add(ada);
        receiver.answer((response) => void response.writeHead(500).end());
        await tell(ada);
        await untilDelivery(ada, webhook, ({ attempts }) => attempts === 1);
        const stopped = () => world.app.db('webhook_deliveries').where({ webhook_id: webhook.webhook_id }).pluck('status');
        await world.app.db.transaction(async (trx) => {
            await trx.raw('select from webhook_deliveries where webhook_id = ? for update', [webhook.webhook_id]);
            await disableWebhooks(world.app.db, [webhook.webhook_id], 'failing');
        });
        const known = receiver.told().length;
        await world.clock.advance({ seconds: 6 });
        const bob = await join(world);
        await add(bob, { url: receiver.url('/bob') });
        await tell(bob);
        expect((await untilTold(known + 1)).at(-1)?.path).to.equal('/bob');
        expect(await stopped()).to.deep.equal(['pending']);
        await ada.call('PATCH', `/v1/webhooks/${webhook.webhook_id}`, { body: { enabled: true } });
        expect(await stopped()).to.deep.equal(['stopped']);
    });

    it('to no forbidden address, nor to a site that was blocked since', async () => {
        const ada = await join(world);
        const inside = await add(ada, { url: 'https://inside.example/hook' });
        const blocked = await add(ada, { url: `http://hooks.blocked.example:${receiver.port}/` });
        await blockDomain(world.app.db, 'blocked.example', 'its owner asked');
        await tell(ada);
        expect(await untilDelivery(ada, inside, ({ attempts }) => attempts === 1)).to.include({
            code: null,
            problem: 'Routebook may not call the address of the receiver.',
        });
        expect(await untilDelivery(ada, blocked, ({ attempts }) => attempts === 1)).to.include({
            code: null,
            problem: "The receiver's domain is blocked in Routebook.",
        });
        expect(receiver.told()).to.deep.equal([]);
    });

    it('no more if over 100,000 wait: they can be redelivered once it is enabled', async () => {
        const ada = await join(world);
        const webhook = await add(ada, { url: 'https://inside.example/hook' });
        const fill = (count: number) =>
            world.app.db.raw(
                `insert into webhook_deliveries (id, webhook_id, event_id, host, due_at)
                 select 'dlv_' || ? || i, ?, 'evt_none', 'inside.example', app_now() + interval '1 hour' from generate_series(1, ?) i`,
                [count, webhook.webhook_id, count],
            );
        await fill(MAX_WAITING);
        expect(await findBacklogs(world.app.db)).to.deep.equal([]);
        await fill(1);
        expect(await findBacklogs(world.app.db)).to.deep.equal([webhook.webhook_id]);
        await disableWebhooks(world.app.db, [webhook.webhook_id], 'backlog');
        await stopDisabled(world.app.db);
        expect(await read(ada, webhook)).to.include({ enabled: false, disabled_reason: 'backlog' });
        expect(await findBacklogs(world.app.db)).to.deep.equal([]);
        const stopped = await world.app.db('webhook_deliveries').where({ webhook_id: webhook.webhook_id, status: 'stopped' }).count();
        expect(stopped).to.deep.equal([{ count: MAX_WAITING + 1 }]);
        await world.app.db('webhook_deliveries').where({ webhook_id: webhook.webhook_id }).delete();
    });

    it('of a site to those who maintain or fetched it, and of credits on Free to the webhooks that their owner created', async () => {
        const [caller, stranger] = [await join(world), await join(world)];
        dataOf(await caller.fetch(SHOP, 'product', { id: 1 }));
        await world.app.usage.flush();
        const events = ['schema.*', 'credits.*'];
        for (const [name, person] of Object.entries({ owner: maintainer, caller, stranger }))
            await add(person, { events, url: receiver.url(`/${name}`) });
        dataOf(await maintainer.publish(shopPackage(shop.port, { title: 'Second edition' })));
        await recordEvent(world.app.db, { type: 'credits.low', accountId: stranger.userId, data: {} });
        const received = await untilTold(3);
        expect(received.map(({ path, type }) => `${path} ${type}`).toSorted()).to.deep.equal([
            '/caller schema.published',
            '/owner schema.published',
            '/stranger credits.low',
        ]);
    });

    it('of credits on Free to no URL that another member gave the webhook', async () => {
        const [owner, other] = [await join(world), await join(world)];
        await addMember(world.app.db, { workspaceId: owner.workspaceId, userId: other.userId, role: 'member' });
        const ofOther = await scopedKey(world, { ...other, workspaceId: owner.workspaceId }, {});
        const webhook = await add(owner, { events: ['credits.*', 'key.revoked'], url: receiver.url('/owner') });
        await ofOther.call('PATCH', `/v1/webhooks/${webhook.webhook_id}`, { body: { url: receiver.url('/other') } });
        await recordEvent(world.app.db, { type: 'credits.low', accountId: owner.userId, data: {} });
        await recordEvent(world.app.db, { type: 'credits.exhausted', accountId: other.userId, data: {} });
        const received = await untilTold(1);
        expect(received.map(({ path, type }) => `${path} ${type}`)).to.deep.equal(['/other credits.exhausted']);
        const all = await deliveriesOf(owner, webhook);
        expect(all.map(({ type }) => type)).to.deep.equal(['credits.exhausted']);
    });

    it('of credits on Free to no URL that another member gave the webhook while they waited, nor again', async () => {
        const [owner, other] = [await join(world), await join(world)];
        await addMember(world.app.db, { workspaceId: owner.workspaceId, userId: other.userId, role: 'member' });
        const ofOther = await scopedKey(world, { ...other, workspaceId: owner.workspaceId }, {});
        const webhook = await add(owner, { events: ['credits.low', 'key.revoked'] });
        receiver.answer((response) => void response.writeHead(500).end());
        await recordEvent(world.app.db, { type: 'credits.low', accountId: owner.userId, data: {} });
        const { delivery_id } = await untilDelivery(owner, webhook, ({ attempts }) => attempts === 1);
        await tell(owner);
        await untilDelivery(owner, webhook, ({ type, attempts }) => type === 'key.revoked' && attempts === 1);
        receiver.answer((response) => void response.writeHead(204).end());
        await ofOther.call('PATCH', `/v1/webhooks/${webhook.webhook_id}`, { body: { url: receiver.url('/other') } });
        const again = await ofOther.call('POST', `/v1/webhooks/${webhook.webhook_id}/deliveries/${delivery_id}/redeliver`);
        expect(again.status).to.equal(404);
        await world.clock.advance({ seconds: 6 });
        await untilDelivery(owner, webhook, ({ status }) => status === 'delivered');
        const received = receiver.told().filter(({ path }) => path === '/other');
        expect(received.map(({ type }) => type)).to.deep.equal(['key.revoked']);
        expect((await deliveriesOf(owner, webhook)).map(({ type }) => type)).to.deep.equal(['key.revoked']);
    });

    it('of credits on Free to the person who added the webhook, after another member changed what it already was', async () => {
        const [owner, other] = [await join(world), await join(world)];
        await addMember(world.app.db, { workspaceId: owner.workspaceId, userId: other.userId, role: 'member' });
        const ofOther = await scopedKey(world, { ...other, workspaceId: owner.workspaceId }, {});
        const webhook = await add(owner, { events: ['credits.*'] });
        await recordEvent(world.app.db, { type: 'credits.low', accountId: owner.userId, data: {} });
        await untilDelivery(owner, webhook, ({ status }) => status === 'delivered');
        for (const body of [{ enabled: true }, { url: webhook.url }, { url: webhook.url, enabled: true, description: 'ours' }])
            dataOf(await ofOther.call('PATCH', `/v1/webhooks/${webhook.webhook_id}`, { body }));
        await recordEvent(world.app.db, { type: 'credits.exhausted', accountId: owner.userId, data: {} });
        await untilDelivery(owner, webhook, ({ type, status }) => type === 'credits.exhausted' && status === 'delivered');
        expect((await deliveriesOf(owner, webhook)).map(({ type }) => type)).to.deep.equal(['credits.exhausted', 'credits.low']);
    });

    it('of the person who took it over, which the audit log says', async () => {
        const [owner, other] = [await join(world), await join(world)];
        await addMember(world.app.db, { workspaceId: owner.workspaceId, userId: other.userId, role: 'member' });
        const ofOther = await scopedKey(world, { ...other, workspaceId: owner.workspaceId }, {});
        const webhook = await add(owner);
        const change = async (by: Person, body: object) => dataOf(await by.call('PATCH', `/v1/webhooks/${webhook.webhook_id}`, { body }));
        await change(ofOther, { enabled: true });
        await change(ofOther, { url: receiver.url('/other') });
        await change(owner, { enabled: false });
        await change(owner, { enabled: true });
        const acts = dataOf<AuditEntry[]>(await owner.call('GET', '/v1/audit?limit=100'));
        const changes = acts.filter(({ action }) => action === 'webhook.changed').toReversed();
        const [{ userId: first }, { userId: second }] = [owner, other];
        expect(changes.map(({ details }) => details['taken_over_from'])).to.deep.equal([undefined, first, undefined, second]);
    });

    it('of a person who left once another member enabled the webhook, whatever happens to that person', async () => {
        const [owner, other] = [await join(world), await join(world)];
        const { workspaceId } = owner;
        const member = { workspaceId, userId: other.userId };
        await addMember(world.app.db, { ...member, role: 'member' });
        const webhook = await add(await scopedKey(world, { ...other, workspaceId }, {}));
        const goAway = () => removeMember(world.app.db, { ...member, by: owner.userId });
        expect(await goAway()).to.deep.equal({ ok: true });
        expect((await read(owner, webhook)).enabled).to.equal(false);
        await owner.call('PATCH', `/v1/webhooks/${webhook.webhook_id}`, { body: { enabled: true } });
        await addMember(world.app.db, { ...member, role: 'member' });
        expect(await goAway()).to.deep.equal({ ok: true });
        await world.app
            .db('users')
            .where({ id: other.userId })
            .update({ suspended_at: world.app.db.raw('app_now()') });
        await tell(owner, 'afterwards');
        expect((await untilTold(1)).map(({ data }) => data)).to.deep.equal([{ name: 'afterwards' }]);
    });

    it('of no person who is not a member, or may have no keys', async () => {
        const owner = await join(world);
        const { workspaceId } = owner;
        const webhooks: WebhookEntry[] = [];
        for (const goes of ['away', 'billing']) {
            const person = await join(world);
            const member = { workspaceId, userId: person.userId };
            await addMember(world.app.db, { ...member, role: 'member' });
            webhooks.push(await add(await scopedKey(world, { ...person, workspaceId }, {}), { url: receiver.url(`/${goes}`) }));
            // Not by the product, which would disable the webhook.
            const membership = world.app.db('memberships').where({ workspace_id: workspaceId, user_id: person.userId });
            await (goes === 'away' ? membership.delete() : membership.update({ role: 'billing' }));
        }
        await add(owner, { url: receiver.url('/owner') });
        await tell(owner);
        expect((await untilTold(1)).map(({ path }) => path)).to.deep.equal(['/owner']);
        for (const webhook of webhooks) expect(await deliveriesOf(owner, webhook)).to.deep.equal([]);
    });

    it('and its deliveries are stored for 14 days', async () => {
        const ada = await join(world);
        const webhook = await add(ada);
        await tell(ada);
        await untilDelivery(ada, webhook, ({ status }) => status === 'delivered');
        await world.clock.advance({ days: 13.9 });
        await deleteOldRows(world.app.db);
        expect(await deliveriesOf(ada, webhook)).to.have.length(1);
        await world.clock.advance({ days: 0.2 });
        expect(await deliveriesOf(ada, webhook)).to.deep.equal([]);
        await deleteOldRows(world.app.db);
        expect(await world.app.db('webhook_deliveries').where({ webhook_id: webhook.webhook_id })).to.deep.equal([]);
    });

    it('over one connection after the other, also if the receiver closes it after each response', async () => {
        const ada = await join(world);
        const site = await openSite((_request, response) => void response.writeHead(204, { connection: 'close' }).end());
        const webhook = await add(ada, { url: `http://127.0.0.1:${site.port}/` });
        for (let index = 0; index < 20; index++) await tell(ada, `event ${index}`);
        await eventually(
            () => deliveriesOf(ada, webhook),
            (all) => all.length === 20 && all.every(({ status, attempts }) => status === 'delivered' && attempts === 1),
            LATEST,
        );
        await site.close();
    });

    async function verify({ userId }: Person): Promise<void> {
        await world.app
            .db('users')
            .where({ id: userId })
            .update({ verified_at: world.app.db.raw('app_now()') });
    }

    /** Subjects of all mails to a user. */
    async function subjects({ userId }: Person): Promise<string[]> {
        await mailNews(world.app.db, world.app.secrets, world.app.publicUrl());
        const { email } = await world.app.db('users').where({ id: userId }).first('email');
        return (await mailsTo(world.app, email)).map(({ subject }) => subject);
    }
});
