import { expect } from 'chai';
import { publishAsStarter } from '../../bin/demo/starter-registry.ts';
import { createKey, revokeKey } from '../../shared/store/accounts/api-keys.ts';
import { eventually } from '../support/eventually.ts';
import { join } from '../support/people.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { SHOP_HOSTS, shopPackage, useShop } from '../support/shop.ts';
import { useWorld } from '../support/world.ts';
import { openBrowser, openTab } from './support/browser.ts';
import { settle, userOf } from './support/settled.ts';
import { freshAddress, hiddenOf, signUp, type Visitor, visitor, wordsOf } from './support/visitor.ts';

describe('trying an endpoint on its page', () => {
    const world = useWorld({ config: { trustProxy: 1, egressHosts: SHOP_HOSTS } });
    const shop = useShop();

    before(async () => {
        await publishAsStarter(world.app, shopPackage(shop.port));
    });

    const at = (endpoint: string) => `/registry/shop.test/try/${endpoint}`;

    /** A user with a key in a workspace of their own. */
    async function newcomer() {
        const email = freshAddress();
        const person = await signUp(world, email);
        const userId = await userOf(world, email);
        // The bonus for a first fetch would hide its cost.
        await world.app.db.raw('update users set first_charged_at = app_now() where id = ?', [userId]);
        const { rows } = await world.app.db.raw<{ rows: { id: string }[] }>(
            'select workspace_id as id from memberships where user_id = ?',
            [userId],
        );
        const workspaceId = rows[0]?.id ?? '';
        const { keyId } = await createKey(world.app.db, { workspaceId, userId, name: 'laptop' });
        return { person, email, userId, workspaceId, keyId };
    }

    const left = async (userId: string) => (await world.app.credits.balance(userId))?.available ?? 0;
    const asked = (path: string) => shop.seen.filter((one) => one.path.startsWith(path)).length;

    /** The form of the second step, from the page of the first one. */
    function offered(html: string): Record<string, string> {
        return Object.fromEntries(
            ['step', 'once', 'version', 'key', 'max_results', 'param-0', 'param-1', 'param-2'].flatMap((name) => {
                const value = hiddenOf(html, name);
                return value === undefined ? [] : [[name, value]];
            }),
        );
    }

    it('shows the price first, then charges one credit for a read, and is in the log', async () => {
        const { person, userId, keyId } = await newcomer();
        const before = await left(userId);
        const sent = asked('/products/31');
        const priced = await person.send(at('product'), { step: 'price', key: keyId, 'param-0': '31' });
        expect(wordsOf(priced.html)).to.include('Review the call').and.include('/products/31').and.include('up to 1 credit');
        expect([await left(userId), asked('/products/31') - sent]).to.deep.equal([before, 0]);

        const done = await person.send(at('product'), offered(priced.html));
        expect(wordsOf(done.html)).to.include('"title": "Product 31"').and.include('Charged 1 credit');
        // The same call, to copy into a program.
        expect(wordsOf(done.html))
            .to.include(`call = {"site": "shop.test", "endpoint": "product", "params": {"id": 31}}`)
            .and.include(`-d '{"site":"shop.test","endpoint":"product","params":{"id":31}}'`);
        expect([before - (await left(userId)), asked('/products/31') - sent]).to.deep.equal([1, 1]);
        await eventually(
            async () => wordsOf((await person.get('/dashboard')).html),
            (words) => words.includes('shop.test product success 1'),
        );

        const again = await person.send(at('product'), offered(priced.html));
        expect(wordsOf(again.html)).to.include('You already made this call').and.include('Product 31');
        expect([before - (await left(userId)), asked('/products/31') - sent]).to.deep.equal([1, 1]);
    });

    it('asks again before a write, and sends it once however often the form is submitted', async () => {
        const { person, userId, keyId } = await newcomer();
        const sent = asked('/echo/orders');
        const priced = await person.send(at('order'), { step: 'price', key: keyId, 'param-0': '7' });
        expect(wordsOf(priced.html)).to.include('cannot be undone').and.include('"product": 7');
        const unsure = await person.send(at('order'), offered(priced.html));
        expect(unsure.status).to.equal(422);
        expect(wordsOf(unsure.html)).to.include('Please confirm that you want to send this.');
        const unpriced = await person.send(at('order'), { ...offered(priced.html), once: '', sure: 'yes' });
        expect(wordsOf(unpriced.html)).to.include('Review the call');
        expect(asked('/echo/orders')).to.equal(sent);

        const before = await left(userId);
        const answers = await Promise.all([1, 2, 3].map(() => person.send(at('order'), { ...offered(priced.html), sure: 'yes' })));
        expect(answers.filter(({ html }) => wordsOf(html).includes('Charged 1 credit'))).not.to.deep.equal([]);
        expect([before - (await left(userId)), asked('/echo/orders') - sent]).to.deep.equal([1, 1]);
    });

    it('sends a text of many lines unchanged, however long it is', async () => {
        const { person, keyId } = await newcomer();
        const note = `first line\n\tsecond\n${'and so on '.repeat(1000)}\nlast`;
        const fields = { step: 'price', key: keyId, 'param-0': '7', 'param-1': note.replaceAll('\n', '\r\n') };
        const priced = await person.send(at('order'), fields);
        expect(priced.html).to.match(/<textarea[^>]* name="param-1"/);
        const done = await person.send(at('order'), { ...offered(priced.html), sure: 'yes' });
        expect(wordsOf(done.html)).to.include('Charged 1 credit');
        expect(JSON.parse(shop.seen.findLast(({ path }) => path === '/echo/orders')?.body ?? '')).to.include({ note });
    });

    it('sends a number with all its digits', async () => {
        const { person, keyId } = await newcomer();
        const priced = await person.send(at('order'), { step: 'price', key: keyId, 'param-0': '9007199254740993' });
        expect(wordsOf(priced.html)).to.include('"product": 9007199254740993');
        await person.send(at('order'), { ...offered(priced.html), sure: 'yes' });
        expect(shop.seen.findLast(({ path }) => path === '/echo/orders')?.body).to.include('"product":9007199254740993');
    });

    it('shows an error at its field, and keeps what was typed', async () => {
        const { person, keyId } = await newcomer();
        for (const [value, problem] of [
            ['', 'Fill this in.'],
            ['seven', 'Enter a number.'],
            ['0', 'must be at least 1'],
            ['7.5', 'integer'],
        ] as const) {
            const { status, html } = await person.send(at('product'), { step: 'price', key: keyId, 'param-0': value });
            expect(status, value).to.equal(422);
            expect(/id="field-param-0-problem">([^<]*)/.exec(html)?.[1], value).to.include(problem);
            if (value !== '') expect(html).to.include(`value="${value}"`);
        }
        const { html } = await person.send(at('echo'), { step: 'price', key: keyId, 'param-0': 'a', 'param-1': 'not json' });
        expect(wordsOf(html)).to.include('Enter JSON').and.include('not json');
    });

    it('leaves a text without an example empty, so that nobody sends a placeholder', async () => {
        const params = [{ name: 'place', source: 'query' as const, required: true, description: 'Where.', schema: { type: 'string' } }];
        const endpoint = anEndpoint('plain.test', { name: 'weather', url: 'https://plain.test/weather', params });
        await publishAsStarter(world.app, aPackage('plain.test', { endpoints: [endpoint] }));
        const { person } = await newcomer();
        for (const path of ['/registry/plain.test/try/weather', '/dashboard/monitors/new?site=plain.test&endpoint=weather']) {
            const { html } = await person.get(path);
            expect(/name="param-0"[^>]*value="([^"]*)"/.exec(html)?.[1], path).to.equal('');
        }
    });

    it('is free if it fails, and shows the code', async () => {
        const { person, userId, keyId } = await newcomer();
        const before = await left(userId);
        const priced = await person.send(at('status'), { step: 'price', key: keyId, 'param-0': '404' });
        const failed = await person.send(at('status'), offered(priced.html));
        expect(wordsOf(failed.html)).to.include('UPSTREAM_STATUS').and.include('The site answered 404').and.include('Nothing was charged');
        expect(failed.html).to.include('/docs/errors#UPSTREAM_STATUS');
        expect(await left(userId)).to.equal(before);
    });

    it('runs with the visitor’s keys only: not a revoked one, not a colleague’s, not a stranger’s', async () => {
        const { person, workspaceId, userId } = await newcomer();
        const owner = await settle(world);
        const revoked = await createKey(world.app.db, { workspaceId, userId, name: 'old' });
        await revokeKey(world.app.db, revoked.keyId);
        const { rows } = await world.app.db.raw<{ rows: { id: string }[] }>(
            'select id from api_keys where user_id = ? and workspace_id = ?',
            [owner.values.user_id, owner.workspaceId],
        );
        const tries: [Visitor, string][] = [
            [person, revoked.keyId],
            [person, owner.values.key_id],
            [owner, rows[0]?.id ?? ''],
            [person, ''],
        ];
        for (const [who, key] of tries) {
            const { status, html } = await who.send(at('product'), { step: 'price', key, 'param-0': '1' });
            expect(status).to.equal(422);
            expect(wordsOf(html)).to.include('Choose one of your active keys');
        }
    });

    it('counts for the account’s rate limits', async () => {
        const { person, userId, keyId } = await newcomer();
        await world.app.db.raw('update credit_accounts set per_minute = 2 where id = ?', [userId]);
        const fields = { step: 'price', key: keyId, 'param-0': '1' };
        const words = async () => wordsOf((await person.send(at('product'), fields)).html);
        expect([await words(), await words()].every((text) => text.includes('Review the call'))).to.equal(true);
        expect(await words()).to.include('RATE_LIMITED');
    });

    it('is for members who may call, for existing hosted endpoints', async () => {
        expect((await visitor(world).get(at('product'))).to).to.equal(`/login?next=${encodeURIComponent(at('product'))}`);
        const { person, userId } = await newcomer();
        for (const path of [at('no_such'), at('not_hosted'), at('constructor'), '/registry/absent.test/try/product']) {
            expect((await person.get(path)).status, path).to.equal(404);
        }
        await world.app.db.raw("update memberships set role = 'billing' where user_id = ?", [userId]);
        expect((await person.get(at('product'))).status).to.equal(403);
    });

    it('shows a response of the site as text, never as HTML', async () => {
        const evil = '"><img src=x onerror=alert(1)><script>alert(1)</script>';
        const { person, keyId } = await newcomer();
        const priced = await person.send(at('echo'), { step: 'price', key: keyId, 'param-0': 'a', 'param-1': JSON.stringify([evil]) });
        const done = await person.send(at('echo'), { ...offered(priced.html), 'param-1': JSON.stringify([evil]) });
        for (const { html } of [priced, done]) expect(html).not.to.match(/<img|<script>/);
        expect(wordsOf(done.html)).to.include('Charged 1 credit');
    });

    it('works in a browser, by keyboard', async function () {
        const browser = await openBrowser(this);
        try {
            const { person, keyId } = await newcomer();
            expect(keyId).not.to.equal('');
            const tab = await openTab(browser, world.base);
            await tab.context.addCookies([...person.cookies].map(([name, value]) => ({ name, value, url: world.base })));
            await tab.visit('/registry/shop.test');
            await tab.page.getByRole('link', { name: 'Try it order' }).focus();
            await tab.page.keyboard.press('Enter');
            await tab.page.getByLabel('product').fill('12');
            await tab.page.keyboard.press('Enter');
            await tab.page.getByText('cannot be undone').waitFor();
            await tab.look();
            await tab.page.getByLabel('Yes, send it to shop.test').press('Space');
            await tab.page.keyboard.press('Enter');
            await tab.page.getByRole('heading', { name: 'Response' }).waitFor();
            await tab.look();
            expect(await tab.page.locator('pre.sheet').first().textContent()).to.include('"method": "POST"');
            await tab.close();
        } finally {
            await browser.close();
        }
    });

    it('gives no caller to visitors from outside', async () => {
        const person = await join(world);
        const { status } = await visitor(world).post('/v1/fetch', '{}', {
            'content-type': 'application/json',
            'x-request-id': person.userId,
        });
        expect(status).to.equal(401);
    });
});
