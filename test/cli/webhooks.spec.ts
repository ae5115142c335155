import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { Routebook, verifyWebhook, WebhookVerificationError } from '../../cli/client/index.ts';
import { recordEvent } from '../../shared/store/events/events.ts';
import { type CommandLine, openCommandLine } from '../support/command-line.ts';
import { eventually } from '../support/eventually.ts';
import { join, type Person } from '../support/people.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { openWorld, type World } from '../support/world.ts';

describe('webhooks on the command line and in the client', () => {
    let world: World;
    let ada: Person;
    let shell: CommandLine;
    let client: Routebook;
    let receiver: Receiver;

    before(async () => {
        world = await openWorld();
        receiver = await openReceiver();
        ada = await join(world);
        shell = openCommandLine({ ROUTEBOOK_URL: world.base, ROUTEBOOK_API_KEY: ada.apiKey ?? '' });
        client = new Routebook({ baseUrl: world.base, apiKey: ada.apiKey ?? '' });
    });
    after(async () => {
        shell.close();
        await world.close();
        await receiver.close();
    });

    const tell = (name: string) => recordEvent(world.app.db, { type: 'key.revoked', workspaceId: ada.workspaceId, data: { name } });
    const run = async (...args: string[]) => {
        const ran = await shell.run(['webhook', ...args]);
        expect(ran.code, ran.stderr).to.equal(0);
        return ran.stdout;
    };

    it('are added with a secret, listed, shown, tested and deleted', async () => {
        expect(await run('list')).to.include('routebook webhook add');
        const added = await run('add', receiver.url(), '--events', 'key.*,job.succeeded', '--description', 'Orders');
        const [secret = ''] = /whsec_\S+/.exec(added) ?? [];
        const [id = ''] = /whk_\w+/.exec(added) ?? [];
        expect(await run('list'))
            .to.include(id)
            .and.include('enabled')
            .and.include(receiver.url());
        expect(await run('show', id))
            .to.include('Orders')
            .and.include('key.*, job.succeeded')
            .and.not.include('whsec_');
        expect(await run('test', id)).to.include('the receiver answered 204');
        expect(receiver.told(secret).at(-1)?.type).to.equal('webhook.test');
        receiver.answer((response) => void response.writeHead(503).end());
        const failed = await shell.run(['webhook', 'test', id, '--json']);
        expect([failed.code, failed.json['code']]).to.deep.equal([1, 503]);
        receiver.answer((response) => void response.writeHead(204).end());
        const sent = await run('deliveries', id);
        expect(sent).to.include('webhook.test').and.include('delivered').and.include('pending').and.include('503');
        expect(await run('deliveries', id, '--status', 'delivered')).not.to.include('503');
        const [delivery = ''] = /dlv_\w+/.exec(sent) ?? [];
        expect(await run('redeliver', id, delivery)).to.include('the receiver answered 204');
        expect(await run('disable', id)).to.match(/disabled$/m);
        expect(await run('enable', id)).to.include('enabled');
        expect(await run('change', id, '--events', 'batch.*', '--description', 'Batches'))
            .to.include('batch.*')
            .and.include('Batches');
        expect(await run('rotate', id))
            .to.match(/whsec_/)
            .and.not.include(secret);
        expect((await shell.run(['webhook', 'change', id])).code).to.equal(2);
        expect(await run('delete', id)).to.include('is deleted');
        const gone = await shell.run(['webhook', 'show', id, '--json']);
        expect([gone.code, gone.error['code']]).to.deep.equal([1, 'WEBHOOK_NOT_FOUND']);
        const wrong = await shell.run(['webhook', 'add', receiver.url(), '--events', 'everything', '--json']);
        expect([wrong.code, wrong.error['code']]).to.deep.equal([2, 'WRONG_USAGE']);
    });

    it('are listened to without a URL: the events from then on, until Ctrl-C', async () => {
        for (const name of ['before', 'long before']) await tell(name);
        await eventually(
            async () => (await client.events.read()).events.length,
            (count) => count >= 2,
        );
        const reads = async () => {
            const text = await world.app.metrics.registry.getSingleMetricAsString('routebook_http_requests_total');
            return Number(/route="\/v1\/events".* (\d+)$/m.exec(text)?.[1] ?? 0);
        };
        const known = await reads();
        const end = Promise.withResolvers<void>();
        const listening = shell.run(['webhook', 'listen', '--events', 'key.*', '--json'], { interrupt: end.promise });
        const told: Promise<unknown>[] = [];
        const telling = setInterval(() => told.push(tell(`event ${told.length + 1}`)), 200);
        // The first read finds the end of the feed. Each later one prints something.
        await eventually(reads, (count) => count >= known + 5, 20_000);
        clearInterval(telling);
        end.resolve();
        await Promise.all(told);
        const { stdout } = await listening;
        const names = stdout
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line).data.name);
        expect(names.length).to.be.above(1);
        for (const name of names) expect(name).to.match(/^event \d+$/);
        expect(new Set(names).size).to.equal(names.length);
    });

    it('are managed by the client, and their events are read', async () => {
        // No event of this type occurs here. Events of keys may still arrive.
        const made = await client.webhooks.create({ url: receiver.url('/client'), events: ['batch.*'] });
        expect((await client.webhooks.update(made.webhook_id, { enabled: false })).enabled).to.equal(false);
        expect((await client.webhooks.get(made.webhook_id)).disabled_reason).to.equal('caller');
        expect((await client.webhooks.rotate(made.webhook_id)).secret).not.to.equal(made.secret);
        const { delivery_id } = await client.webhooks.test(made.webhook_id);
        expect((await client.webhooks.redeliver(made.webhook_id, delivery_id)).status).to.equal('pending');
        const known: string[] = [];
        for await (const delivery of client.webhooks.deliveries(made.webhook_id)) known.push(delivery.delivery_id);
        expect(known).to.deep.equal([delivery_id]);
        const listed: string[] = [];
        for await (const { webhook_id } of client.webhooks.list()) listed.push(webhook_id);
        expect(listed).to.deep.equal([made.webhook_id]);
        expect(await client.webhooks.delete(made.webhook_id)).to.deep.equal({ webhook_id: made.webhook_id, deleted: true });
    });

    it('are verified by the client when they arrive', async () => {
        const { secret, webhook_id } = await client.webhooks.create({ url: receiver.url('/verified'), events: ['batch.paused'] });
        await client.webhooks.test(webhook_id);
        await eventually(
            async () => receiver.told(undefined, '/verified').length,
            (count) => count === 1,
        );
        const { headers, path: _path, id, ...body } = receiver.told(secret, '/verified')[0] ?? expect.fail('nothing came');
        const text = JSON.stringify(body);
        const event = await verifyWebhook(headers, text, secret);
        expect(event).to.deep.equal({ id, ...body });
        expect(event.type).to.equal('webhook.test');
        const asFetch = new Headers(Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]));
        expect(await verifyWebhook(asFetch, new TextEncoder().encode(text), secret)).to.deep.equal(event);
    });

    it('are refused if they were changed, late, or from another sender, as by the published library', async () => {
        const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
        const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
        const body = '{"type":"webhook.test","timestamp":"2026-11-02T09:30:00.000Z","data":{"text":"ü"}}';
        const signed = (at: Date, by = [secret]) => ({
            'webhook-id': 'evt_1',
            'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
            'webhook-signature': by.map((one) => new Webhook(one).sign('evt_1', at, body)).join(' '),
        });
        const fresh = signed(new Date());
        expect((await verifyWebhook(fresh, body, secret)).data).to.deep.equal({ text: 'ü' });
        const asOtherServersNameThem = Object.fromEntries(Object.entries(fresh).map(([name, value]) => [name.toUpperCase(), value]));
        expect((await verifyWebhook(asOtherServersNameThem, body, secret)).id).to.equal('evt_1');
        expect((await verifyWebhook(signed(new Date(), [other, secret]), body, secret)).id).to.equal('evt_1');
        const wrong: [string, Record<string, string>, string, string][] = [
            ['another body', fresh, body.replace('ü', 'u'), secret],
            ['another secret', fresh, body, other],
            ['another id', { ...fresh, 'webhook-id': 'evt_2' }, body, secret],
            ['an old one', signed(new Date(Date.now() - 310_000)), body, secret],
            ['one of the future', signed(new Date(Date.now() + 310_000)), body, secret],
            ['no signature', { ...fresh, 'webhook-signature': '' }, body, secret],
            ['another version', { ...fresh, 'webhook-signature': fresh['webhook-signature'].replace('v1,', 'v2,') }, body, secret],
            ['no base64', { ...fresh, 'webhook-signature': 'v1,?' }, body, secret],
            ['no secret', fresh, body, 'whsec_?'],
        ];
        for (const [name, headers, text, by] of wrong) {
            const error = await verifyWebhook(headers, text, by).catch((thrown: unknown) => thrown);
            expect(error, name).to.be.instanceOf(WebhookVerificationError);
            expect(() => new Webhook(by).verify(text, headers), name).to.throw();
        }
    });
});
