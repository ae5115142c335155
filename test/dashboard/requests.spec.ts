import { expect } from 'chai';
import { join } from '../support/people.ts';
import { aPackage } from '../support/schemas.ts';
import { useWorld } from '../support/world.ts';
import { hiddenOf, signUp, visitor, wordsOf } from './support/visitor.ts';

const TASK = 'Read the departures of one harbour every morning; today a browser clicks through four pages.';

describe('schema requests on the dashboard', () => {
    const world = useWorld({ workers: 0, config: { trustProxy: 1 } });

    it('are made by strangers, five an hour from one address, with a status page', async () => {
        const person = visitor(world);
        for (let number = 1; number <= 5; number++) {
            const { status, to } = await person.send('/requests/new', { domain: 'Ferries.example', task: TASK }, { from: '/requests/new' });
            expect([status, to?.startsWith('/requests/srq_')]).to.deep.equal([303, true]);
            const { html } = await person.get(to ?? '');
            expect(wordsOf(html)).to.include('ferries.example open').and.include(TASK).and.include('Request received');
        }
        const sixth = await person.send('/requests/new', { domain: 'ferries.example', task: TASK }, { from: '/requests/new' });
        expect(sixth.status).to.equal(429);
        expect(wordsOf(sixth.html)).to.include('5 schema requests per hour').and.include(TASK);
    });

    it('have an error at each wrong field, keep what was typed, and refuse secrets', async () => {
        const person = visitor(world);
        const send = (fields: Record<string, string>) => person.send('/requests/new', fields, { from: '/requests/new' });
        const short = await send({ domain: 'not a domain', task: 'too short', source_url: 'x'.repeat(3000) });
        expect(short.status).to.equal(422);
        for (const name of ['domain', 'task', 'source_url']) expect(short.html).to.include(`id="field-${name}-problem"`);
        expect(short.html).to.include('too short').and.include('value="not a domain"');
        expect(wordsOf(short.html)).to.include('This must have 20 to 4000 characters.');
        const odd = await send({ domain: 'localhost', task: TASK });
        expect(odd.html).to.include('id="field-domain-problem"');
        expect(wordsOf((await send({})).html).match(/Fill this in\./g)).to.have.length(2);
        const half = await send({ task: TASK, source_url: 'no address' });
        expect(wordsOf(half.html)).to.include('Fill this in.');
        expect(half.html).to.include('id="field-source_url-problem"');
        const token = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`;
        const secret = await send({ domain: 'ferries.example', task: `${TASK} Use ${token} for it.` });
        expect(secret.status).to.equal(422);
        expect(wordsOf(secret.html)).to.match(/looks like [^.]*leave it out/);
    });

    it('of the same form are one for a signed-in user, and are listed only to the user’s workspace', async () => {
        const person = await signUp(world);
        const once = hiddenOf((await person.get('/requests/new')).html, 'once') ?? '';
        const fields = { domain: 'trams.example', task: TASK, frequency: 'daily', read_or_write: 'read', once };
        const [first, second] = [await person.send('/requests/new', fields), await person.send('/requests/new', fields)];
        expect(first.to)
            .to.match(/^\/requests\/srq_/)
            .and.to.equal(second.to);
        expect((await person.get('/requests')).html).to.include(`href="${first.to}"`);
        for (const other of [await signUp(world), visitor(world)]) {
            const { html } = await other.get('/requests');
            expect(html)
                .to.include('trams.example')
                .and.not.include(first.to ?? '?');
        }
        expect(wordsOf((await visitor(world).get(first.to ?? '')).html)).to.include('How often daily');
    });

    it('are listed by the number of requests for a site', async () => {
        const ada = await join(world);
        for (const [domain, count] of [
            ['buses.example', 3],
            ['bikes.example', 9],
        ] as const) {
            for (let number = 0; number < count; number++) await ada.call('POST', '/v1/schema-requests', { body: { domain, task: TASK } });
        }
        const words = wordsOf((await visitor(world).get('/requests')).html);
        expect(words).to.match(/bikes\.example 9.*ferries\.example 5.*buses\.example 3/);
        expect((await visitor(world).get('/requests/new?domain=bikes.example')).html).to.include('value="bikes.example"');
        const { html } = await visitor(world).get('/requests/new?task=rent+a+bike');
        expect(html).to.match(/<textarea[^>]*>\s*rent a bike</);
        expect(html).to.include(`href="/login?next=${encodeURIComponent('/requests/new?domain=&task=rent+a+bike')}"`);
    });

    it('show when they were fulfilled, and by which version', async () => {
        const person = visitor(world);
        const { to = '' } = await person.send('/requests/new', { domain: 'planes.example', task: TASK }, { from: '/requests/new' });
        await (await join(world)).publish(aPackage('planes.example'));
        const { html } = await person.get(to);
        expect(wordsOf(html))
            .to.include('fulfilled')
            .and.include('version 1')
            .and.match(/History open .* fulfilled/);
        expect(html).to.include('href="/registry/planes.example"');
    });

    it('show what strangers wrote as text', async () => {
        const evil = '<img src=x onerror=alert(1)><script>alert(1)</script> and some more words';
        const { to = '' } = await visitor(world).send(
            '/requests/new',
            { domain: 'evil.example', task: evil, output_shape: evil, failure_mode: evil },
            { from: '/requests/new' },
        );
        const { html } = await visitor(world).get(to);
        expect(html).not.to.match(/<img|<script>/);
        expect(wordsOf(html)).to.include(evil);
        for (const path of ['/requests/srq_0', '/requests/new%00', '/requests/srq_%27']) {
            expect((await visitor(world).get(path)).status, path).to.equal(404);
        }
    });
});
