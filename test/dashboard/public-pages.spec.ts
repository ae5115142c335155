import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { expect } from 'chai';
import { readConfig } from '../../shared/platform/config.ts';
import { ConfigFault } from '../../shared/platform/settings-reader.ts';
import { rollUpTrending } from '../../shared/store/registry/trending.ts';
import { STARTERS } from '../starter/packages.ts';
import { join, type Person } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { SHOP, SHOP_HOSTS, shopPackage, useShop } from '../support/shop.ts';
import { useWorld } from '../support/world.ts';
import { signUp, visitor, wordsOf } from './support/visitor.ts';

describe('a first-time visitor', () => {
    const legal = { terms: undefined as string | undefined, privacy: undefined as string | undefined };
    const world = useWorld({ config: { egressHosts: SHOP_HOSTS, legal } });
    const shop = useShop();
    let maker: Person;

    before(async () => {
        maker = await join(world, { plan: 'enterprise' });
        dataOf(await maker.publish(shopPackage(shop.port)));
    });

    async function read(path: string): Promise<string> {
        const answer = await fetch(new URL(path, world.base));
        expect(answer.status, path).to.equal(200);
        return answer.text();
    }

    it('sees the current sites of the registry, a command to try, and a button for each plan', async () => {
        const html = await read('/');
        expect(html).to.include(`href="/registry/${SHOP}"`).and.include('npx routebook find').and.include('All 1 site');
        for (const [path, label] of [
            ['/signup', 'Start free'],
            ['/upgrade', 'Choose Starter'],
            ['/upgrade', 'Choose Pro'],
        ])
            expect(html).to.match(new RegExp(`href="${path}"[^>]*>${label}<`));
        expect(html, 'no example of a site that is not in the registry').not.to.include('Example call and response');
    });

    it('shares a page with its title and description', async () => {
        const html = await read('/trending');
        expect(html)
            .to.include('<meta property="og:title" content="Trending sites">')
            .and.include(`<meta property="og:url" content="${world.app.publicUrl()}/trending">`)
            .and.match(/<meta property="og:description" content="[^"]+">/);
    });

    it('sees the most used sites of a day, a week and a month', async () => {
        const empty = await read('/trending');
        expect(empty).to.include('Nothing was called in this time');
        const caller = await join(world, { plan: 'pro' });
        dataOf(await caller.call('POST', '/v1/fetch', { body: { site: SHOP, endpoint: 'product', params: { id: 7 } } }));
        await world.app.usage.flush();
        await world.clock.advance({ hours: 1 });
        await rollUpTrending(world.app.db);
        for (const path of ['/trending', '/trending?window=24h', '/trending?window=30d', '/trending?window=nonsense']) {
            const html = await read(path);
            expect(html, path).to.include(`href="/registry/${SHOP}"`).and.include('1 fetch');
        }
    });

    it('sees the status of the service, part by part', async () => {
        expect(await read('/status'))
            .to.include('Everything works.')
            .and.match(/Workers[\s\S]*?works/);
    });

    it('sees the status of the service even if the database does not say who is signed in', async () => {
        const person = await signUp(world);
        await world.app.db.transaction(async (trx) => {
            await trx.raw('lock table web_sessions in access exclusive mode');
            const { status, html } = await person.get('/status');
            expect(status).to.equal(200);
            expect(wordsOf(html)).to.include('Everything works.').and.include('Sign in');
            // Pages of an account say soon that they cannot be shown.
            expect((await person.get('/dashboard')).status).to.equal(503);
        });
        expect(wordsOf((await person.get('/status')).html)).to.include('Dashboard');
    });

    it('reads the terms and the privacy notice: the operator’s, or the default ones', async () => {
        expect(await read('/terms')).to.include('<h1>Terms of service</h1>');
        expect(await read('/privacy')).to.include('A hash of your password'.toLowerCase());
        Object.assign(legal, { terms: '# House rules\n\nBe **kind**. <script>alert(1)</script>', privacy: '# What we keep\n\nLittle.' });
        expect(await read('/terms'))
            .to.include('<h1>House rules</h1>')
            .and.include('<strong>kind</strong>')
            .and.not.include('<script>alert(1)');
        expect(await read('/privacy')).to.include('<h1>What we keep</h1>');
    });
});

describe('an operator with terms', () => {
    const folder = mkdtempSync(joinPath(tmpdir(), 'routebook-terms-'));
    after(() => rmSync(folder, { recursive: true }));

    it('names a Markdown file, and gets an error if it is wrong', () => {
        const file = joinPath(folder, 'terms.md');
        writeFileSync(file, '# Rules\n\nNone.\n');
        expect(readConfig({ TERMS_FILE: file }).legal).to.deep.equal({ terms: '# Rules\n\nNone.\n', privacy: undefined });
        writeFileSync(file, 'no title');
        expect(() => readConfig({ TERMS_FILE: file })).to.throw(ConfigFault, 'TERMS_FILE: must be Markdown whose first line is its title');
        expect(() => readConfig({ PRIVACY_FILE: joinPath(folder, 'gone.md') })).to.throw(
            ConfigFault,
            'PRIVACY_FILE: must be a readable file',
        );
    });
});

describe('the example of the home page', () => {
    const world = useWorld({ workers: 0 });

    it('is a call of a site of the registry, with the response that the site documents', async () => {
        const starter = STARTERS.find(({ document }) => document.site === 'frankfurter.dev');
        const [sample] = starter?.fixture.answers ?? [];
        dataOf(await (await join(world, { plan: 'enterprise' })).publish(starter?.document ?? {}));
        const { html } = await visitor(world).get('/');
        const [, code = ''] = /<pre[^>]*aria-label="Example call and response"><code>(.*?)<\/code>/s.exec(html) ?? [];
        const [request = '', response = ''] = code
            .replaceAll(/<[^>]*>/g, '')
            .replace('POST /v1/fetch', '')
            .split('200\n');
        expect(JSON.parse(request)).to.deep.equal({ site: 'frankfurter.dev', endpoint: sample?.endpoint, params: sample?.params });
        const { success, data, meta } = JSON.parse(response);
        expect({ success, data }).to.deep.equal({ success: true, data: sample?.expect });
        expect(meta).to.deep.equal({ credits_used: 1 });
        expect(html).to.include(`href="/registry/frankfurter.dev#${sample?.endpoint}"`);
    });
});
