import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { openWorld, type World } from '../support/world.ts';
import { signUp, type Visitor, wordsOf } from './support/visitor.ts';

describe('the webhooks of a workspace on the dashboard', () => {
    let world: World;
    let receiver: Receiver;
    before(async () => {
        world = await openWorld({ config: { trustProxy: 1 } });
        receiver = await openReceiver();
    });
    after(async () => {
        await world.close();
        await receiver.close();
    });

    const add = async (person: Visitor, path = '/hook') => {
        const made = await person.send('/dashboard/webhooks', {
            url: receiver.url(path),
            events: 'job.*, key.revoked',
            description: 'Orders',
        });
        expect(made.status, wordsOf(made.html)).to.equal(200);
        const [id = ''] = /whk_[0-9A-Za-z]+/.exec(made.html) ?? [];
        const [secret = ''] = /whsec_[0-9A-Za-z+/=]+/.exec(made.html) ?? [];
        return { id, secret, at: `/dashboard/webhooks/${id}` };
    };

    it('are added with a secret that is shown once, and listed', async () => {
        const person = await signUp(world);
        expect(wordsOf((await person.get('/dashboard/webhooks')).html)).to.include('No webhooks yet');
        const { at, secret } = await add(person);
        expect(Buffer.from(secret.replace('whsec_', ''), 'base64')).to.have.length(32);
        const list = await person.get('/dashboard/webhooks');
        expect(list.html).to.include(receiver.url()).and.include('job.*, key.revoked').and.not.include(secret);
        const one = await person.get(at);
        expect(wordsOf(one.html)).to.include('Orders').and.include('enabled').and.include('Nothing was sent in the last 14 days.');
        expect(one.html).not.to.include(secret);
    });

    it('are refused with an error at each field, and keep what was typed', async () => {
        const person = await signUp(world);
        const wrong = await person.send('/dashboard/webhooks', { url: 'ftp://app.example/', events: 'job.*', description: 'Kept' });
        expect(wrong.status).to.equal(422);
        expect(wrong.html).to.include('id="field-url-problem"').and.include('value="Kept"');
        expect(wordsOf(wrong.html)).to.include('This must be a URL that begins with https://');
        const unknown = await person.send('/dashboard/webhooks', { url: receiver.url(), events: 'nonsense' });
        expect(unknown.html).to.include('id="field-events-problem"');
    });

    it('send a test event, show the receiver’s response, and send it again', async () => {
        const person = await signUp(world);
        const { at, secret } = await add(person, '/tested');
        receiver.answer((response) => void response.writeHead(500).end('out of <b>order</b>'));
        expect((await person.send(`${at}/test`)).to).to.equal(at);
        const shown = async () => (await person.get(at)).html;
        await eventually(shown, (html) => html.includes('out of &lt;b&gt;order&lt;/b&gt;'), 20_000);
        expect(wordsOf(await shown()))
            .to.include('webhook.test')
            .and.include('500')
            .and.include('again in');
        receiver.answer((response) => void response.writeHead(204).end());
        const [delivery = ''] = /dlv_[0-9A-Za-z]+/.exec(await shown()) ?? [];
        expect((await person.send(`${at}/deliveries/${delivery}/redeliver`)).to).to.equal(at);
        await eventually(shown, (html) => wordsOf(html).includes('delivered'), 20_000);
        expect(new Set(receiver.told(secret, '/tested').map(({ id }) => id)).size).to.equal(1);
    });

    it('are edited, with an error at each field, and keep their secret', async () => {
        const person = await signUp(world);
        const { at, secret } = await add(person, '/before');
        const wrong = await person.send(`${at}/edit`, { url: receiver.url(), events: 'nonsense', description: 'Kept' }, { from: at });
        expect(wrong.status).to.equal(422);
        expect(wrong.html).to.include('id="field-events-problem"').and.include('value="Kept"');
        expect(wordsOf(wrong.html)).to.include('Each must be an event type');
        expect((await person.get(`${at}/edit`)).to).to.equal(at);
        const fields = { url: receiver.url('/after'), events: 'monitor.*, batch.finished', description: '' };
        const saved = await person.send(`${at}/edit`, fields, { from: at });
        expect(saved.to, wordsOf(saved.html)).to.equal(at);
        const words = wordsOf((await person.get(at)).html);
        expect(words).to.include('Webhook saved.').and.include('monitor.*').and.include('/after').and.not.include('Orders');
        await person.send(`${at}/test`);
        await eventually(
            async () => receiver.told(secret, '/after'),
            (told) => told.length === 1,
        );
    });

    it('are disabled, enabled, given another secret, and deleted', async () => {
        const person = await signUp(world);
        const { at, secret } = await add(person);
        await person.send(`${at}/disable`);
        expect(wordsOf((await person.get(at)).html))
            .to.include('disabled')
            .and.include(
                'It was disabled here or by the API, or the person who last chose its URL or enabled it may no longer have keys in this workspace.',
            );
        await person.send(`${at}/enable`);
        expect(wordsOf((await person.get(at)).html)).to.include('enabled');
        const rotated = await person.send(`${at}/rotate`);
        expect(rotated.html)
            .to.match(/whsec_/)
            .and.not.include(secret);
        expect((await person.send(`${at}/delete`)).to).to.equal('/dashboard/webhooks');
        expect((await person.get(at)).status).to.equal(404);
    });

    it('say when they were tested too often', async () => {
        const person = await signUp(world);
        const { at } = await add(person);
        for (let index = 0; index < 10; index++) expect((await person.send(`${at}/test`)).status).to.equal(303);
        const refused = await person.send(`${at}/test`);
        expect(refused.status).to.equal(429);
        expect(wordsOf(refused.html)).to.include('10 tests and redeliveries a minute');
    });
});
