import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { itemsOfCsv } from '../../api/packages/csv-items.ts';
import { setPlan } from '../../shared/store/accounts/accounts.ts';
import { createKey } from '../../shared/store/accounts/api-keys.ts';
import { findSignedIn } from '../../shared/store/accounts/user-sessions.ts';
import { join as joinWorld, type Person, withKey } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { openWorld, type World } from '../support/world.ts';
import { openBrowser, openTab } from './support/browser.ts';
import { signUp, type Visitor, wordsOf } from './support/visitor.ts';

const SITE = 'stock.test';

describe('jobs and batches on the dashboard', () => {
    let world: World;
    let site: Server;
    let ada: Visitor;
    let caller: Person;
    /** Ids that the site does not know. */
    let unknown: ReadonlySet<number>;

    before(async () => {
        site = createServer((request, response) => {
            const id = Number(request.url?.split('/').at(-1));
            const isKnown = !unknown.has(id);
            response
                .writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json' })
                .end(JSON.stringify({ id, stock: 3, name: '=1+1' }));
        }).listen(0, '127.0.0.1');
        await once(site, 'listening');
        const { port } = site.address() as AddressInfo;
        world = await openWorld({ workers: 1, config: { trustProxy: 1, egressHosts: new Map([[SITE, ['127.0.0.1']]]) } });
        const endpoint = anEndpoint(SITE, { name: 'stock', url: `http://${SITE}:${port}/stock/{id}` });
        dataOf(await (await joinWorld(world)).publish(aPackage(SITE, { endpoints: [endpoint] })));
        ada = await signUp(world);
        caller = withKey(world, await keyOf(ada));
    });
    beforeEach(() => {
        unknown = new Set();
    });
    after(async () => {
        await world?.close();
        site?.close();
    });

    async function keyOf(person: Visitor): Promise<string> {
        const me = await findSignedIn(world.app.db, person.cookies.get('routebook_session') ?? '');
        const [workspaceId, userId] = [me?.current?.workspaceId ?? '', me?.userId ?? ''];
        // Batches on Free wait for its limit of calls a minute.
        await setPlan(world.app.db, workspaceId, 'pro', {});
        await world.app.db.raw('update users set verified_at = app_now() where id = ?', [userId]);
        return (await createKey(world.app.db, { workspaceId, userId, name: 'laptop' })).apiKey;
    }

    const order = async (ids: readonly number[], more: object = {}) => {
        const items = ids.map((id) => ({ params: { id }, custom_id: `sku-${id}` }));
        const body = { name: 'Stock of the week', defaults: { site: SITE, endpoint: 'stock' }, items, ...more };
        const { batch_id: id } = dataOf<{ batch_id: string }>(await caller.call('POST', '/v1/batches', { body }));
        return { id, at: `/dashboard/jobs/batches/${id}` };
    };
    const untilEnded = async (id: string) => dataOf(await caller.call('GET', `/v1/batches/${id}?wait=30`));

    it('shows a batch with its progress, groups failures, and retries the failed items', async () => {
        unknown = new Set([3, 4]);
        const { id, at } = await order([1, 2, 3, 4]);
        await untilEnded(id);
        expect(wordsOf((await ada.get('/dashboard/jobs/batches')).html))
            .to.include('Stock of the week')
            .and.include('4 of 4');
        const shown = wordsOf((await ada.get(at)).html);
        expect(shown).to.include('100 %').and.include('finished').and.include('UPSTREAM_').and.include('Run the failed again');
        const failed = await ada.get(`${at}/items?status=failed`);
        expect(failed.html).to.include('sku-3').and.include('sku-4').and.not.include('sku-1');
        const [item = ''] = /\/dashboard\/jobs\/job_\w+/.exec(failed.html) ?? [];
        expect(wordsOf((await ada.get(item)).html)).to.match(/The site answered 404 .*"stock":3/);
        unknown = new Set();
        const key = /name="key" value="(key_\w+)"/.exec((await ada.get(at)).html)?.[1] ?? '';
        expect((await ada.send(`${at}/retry`, { key }, { from: at })).to).to.equal(at);
        await untilEnded(id);
        const retried = wordsOf((await ada.get(at)).html);
        expect(retried).to.include('succeeded').and.not.include('Run the failed again');
    });

    it('retries the items with one error code, with the chosen one of several keys', async () => {
        unknown = new Set([3, 4]);
        const eve = await signUp(world);
        const keys = [await keyOf(eve), await keyOf(eve)];
        const own = withKey(world, keys[0] ?? '');
        const items = [1, 3, 4].map((id) => ({ params: { id } }));
        const body = { defaults: { site: SITE, endpoint: 'stock' }, items };
        const { batch_id: id } = dataOf<{ batch_id: string }>(await own.call('POST', '/v1/batches', { body }));
        await own.call('GET', `/v1/batches/${id}?wait=30`);
        const at = `/dashboard/jobs/batches/${id}`;
        const { html } = await eve.get(at);
        const [, code = ''] = /<button[^>]* form="retry-form" name="code" value="(\w+)"/.exec(html) ?? [];
        const chosen = [...html.matchAll(/<option value="(key_\w+)"/g)].map(([, key]) => key);
        expect(chosen).to.have.length.above(1);
        unknown = new Set();
        expect((await eve.send(`${at}/retry`, { key: chosen.at(-1) ?? '', code }, { from: at })).to).to.equal(at);
        const again = dataOf<{ status: string }>(await own.call('GET', `/v1/batches/${id}?wait=30`));
        expect(again.status).to.equal('succeeded');
    });

    it('offers the results for download, each item once, as lines and as a table without formulas', async () => {
        unknown = new Set([2]);
        const { id, at } = await order([1, 2]);
        await untilEnded(id);
        const lines = (await ada.get(`${at}/results.ndjson`)).html.trim().split('\n');
        const items = lines.map((line) => JSON.parse(line));
        expect(items.map(({ custom_id: name, status }) => [name, status]).sort()).to.deep.equal([
            ['sku-1', 'succeeded'],
            ['sku-2', 'failed'],
        ]);
        const table = await ada.get(`${at}/results.csv`);
        expect(table.headers['content-disposition']).to.equal(`attachment; filename="${id}.csv"`);
        const [head, ...rows] = table.html.trim().split('\r\n');
        expect(head).to.match(/^job_id,custom_id,status/);
        expect(rows).to.have.length(2);
        expect(table.html).to.include('""stock"":3');
    });

    it('pauses, resumes and cancels a batch', async () => {
        const { id, at } = await order(Array.from({ length: 200 }, (_, index) => index + 1));
        expect((await ada.send(`${at}/pause`, {}, { from: at })).to).to.equal(at);
        const page = await ada.get(at);
        expect(wordsOf(page.html)).to.include('paused').and.include('Paused in the dashboard or by the API.');
        const key = /name="key" value="(key_\w+)"/.exec(page.html)?.[1] ?? '';
        expect((await ada.send(`${at}/resume`, { key: 'key_nobodys' }, { from: at })).status).to.equal(409);
        expect((await ada.send(`${at}/resume`, { key }, { from: at })).to).to.equal(at);
        expect((await ada.send(`${at}/cancel`, {}, { from: at })).to).to.equal(at);
        await untilEnded(id);
        const ended = await ada.send(`${at}/pause`, {}, { from: at });
        expect([ended.status, wordsOf(ended.html).includes('batch')]).to.deep.equal([409, true]);
    });

    it('lists jobs by state and site, shows one with its result, and deletes it', async () => {
        const body = { site: SITE, endpoint: 'stock', params: { id: 9 } };
        const { job_id: id } = dataOf<{ job_id: string }>(await caller.call('POST', '/v1/jobs', { body }));
        await caller.call('GET', `/v1/jobs/${id}?wait=30`);
        const at = `/dashboard/jobs/${id}`;
        expect((await ada.get(`/dashboard/jobs?status=succeeded&site=${SITE}`)).html).to.include(id);
        expect((await ada.get('/dashboard/jobs?site=other.test')).html).not.to.include(id);
        expect(wordsOf((await ada.get('/dashboard/jobs?site=no+site+at+all')).html)).to.include('This is not the domain name of a site.');
        const lost = await ada.get('/dashboard/jobs?cursor=nonsense');
        expect([lost.status, wordsOf(lost.html).includes('Open the list from the menu.')]).to.deep.equal([400, true]);
        expect(wordsOf((await ada.get(at)).html))
            .to.include('"stock": 3')
            .and.include('"id": 9');
        expect((await ada.send(`${at}/cancel`, {}, { from: at })).status).to.equal(409);
        expect((await ada.send(`${at}/delete-result`, {}, { from: at })).to).to.equal(at);
        expect(wordsOf((await ada.get(at)).html))
            .to.include('It is deleted.')
            .and.not.include('"stock"');
    });

    it('says which part of a long list has no matching jobs, and leads on to the first that matches', async () => {
        const eve = await signUp(world);
        const me = await findSignedIn(world.app.db, eve.cookies.get('routebook_session') ?? '');
        await world.app.db.raw(
            `insert into jobs (job_id, workspace_id, key_id, account_id, site, registrable, endpoint, version_id, version, effect, needs,
                               metadata, unit, expires_at, status, finished_at)
             select 'job_' || n, :workspaceId, 'key_1', 'usr_1', :site, :site, 'stock', 1, 1, 'read', 'read', '{}', 1, app_now(),
                    case when n = 1 then 'failed' else 'succeeded' end, app_now()
             from generate_series(1, 200001) n order by n`,
            { workspaceId: me?.current?.workspaceId ?? '', site: SITE },
        );
        const read = async (path: string) => {
            const { html } = await eve.get(path);
            const older = /href="([^"]+)">Older jobs/.exec(html)?.[1]?.replaceAll('&amp;', '&');
            return { html, words: wordsOf(html), older: older ?? '' };
        };
        const newest = await read('/dashboard/jobs?status=failed');
        expect(newest.words).to.include('None among the newest 100,000 jobs').and.not.include('No matching jobs');
        const next = await read(newest.older);
        expect(next.words).to.include('None in this part of the list').and.not.include('No matching jobs');
        const last = await read(next.older);
        expect([last.html.includes('job_1'), last.older]).to.deep.equal([true, '']);
    });

    describe('from a CSV file', () => {
        const PATH = '/dashboard/jobs/batches/new';
        const send = async (csv: string, more: Record<string, string> = {}, person = ada) => {
            const key = /<option value="(key_\w+)"/.exec((await person.get(PATH)).html)?.[1] ?? '';
            return person.send(PATH, { site: SITE, endpoint: 'stock', key, name: 'Shelf', csv, step: 'check', ...more }, { from: PATH });
        };
        const hiddenIn = (html: string, name: string) =>
            (new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '').replaceAll('&quot;', '"');

        it('creates calls from rows by the names of the columns, prices them, and creates the batch once', async () => {
            const csv = '\uFEFFID,Custom-ID,Note\r\n11,sku-11,"two\r\nlines"\r\n\r\n12,sku-12,\r\n';
            const priced = await send(csv);
            expect(priced.status, wordsOf(priced.html)).to.equal(200);
            expect(wordsOf(priced.html)).to.include('Run 2 calls for up to 2 credits').and.include('left out');
            const again = {
                checked: hiddenIn(priced.html, 'checked'),
                once: hiddenIn(priced.html, 'once'),
                head: hiddenIn(priced.html, 'head'),
            };
            const columns = { 'column-0': 'id', 'column-1': 'custom_id', 'column-2': '' };
            const changed = await send(csv.replace('12,', '13,'), { ...again, ...columns, step: 'order' });
            expect(wordsOf(changed.html)).to.include('Run 2 calls');
            const ordered = await send(csv, { ...again, ...columns, step: 'order' });
            expect(ordered.to).to.match(/^\/dashboard\/jobs\/batches\/bat_/);
            expect((await send(csv, { ...again, ...columns, step: 'order' })).to).to.equal(ordered.to);
            const id = ordered.to?.split('/').at(-1) ?? '';
            await untilEnded(id);
            const lines = (await ada.get(`${ordered.to}/results.ndjson`)).html.trim().split('\n');
            expect(lines.map((line) => JSON.parse(line).result.data.id).sort()).to.deep.equal([11, 12]);
        });

        it('accepts other column names if they are mapped', async () => {
            const first = await send('article\n21\n22\n');
            expect(first.status).to.equal(422);
            // One problem, not one of each row.
            expect(wordsOf(first.html))
                .to.include('No column is assigned to id, which every call needs. Choose one below.')
                .and.not.include('problems in the file');
            const mapped = await send('article\n21\n', { head: hiddenIn(first.html, 'head'), 'column-0': 'id' });
            expect(wordsOf(mapped.html)).to.include('Run 1 call for up to 1 credit');
        });

        it('names errors by line and column, and keeps what was typed', async () => {
            const wrong = await send('id,custom_id\n1,a\n"x\ny",b\n3,a\n');
            expect(wrong.status).to.equal(422);
            const words = wordsOf(wrong.html);
            expect(words)
                .to.include('2 problems in the file')
                .and.include('Line 3')
                .and.include('Line 5')
                .and.include('Nothing was started.');
            expect(wrong.html).to.include('3,a').and.include('value="Shelf"');
        });

        it('says what it cannot read', async () => {
            const said = async (csv: string, more: Record<string, string> = {}) => wordsOf((await send(csv, more)).html);
            expect(await said('')).to.include('Choose a file or paste its text.');
            expect(await said('id\n')).to.include('There are no rows');
            expect(await said('id\n"1\n')).to.include('quotes that do not end');
            expect(await said('id\n"a\nb"\n"1" 2\n3\n')).to.include('Line 4 goes on after a closing quote: quotes enclose a whole cell');
            expect(await said('id\n"a\nb"c\n')).to.include('Line 3 goes on after a closing quote');
            expect(await said('id\n1\n"2" ')).to.include('Line 3 goes on after a closing quote');
            expect(await said(`id\n${'1\n'.repeat(10_001)}`)).to.include('10,001 rows');
            expect(await said(`${'a,'.repeat(200)}\n1\n`)).to.include('more than 100 columns');
            expect(await said('id\n1\n', { site: 'nothing.test' })).to.include('no schema of this site');
            expect(await said('id\n1\n', { endpoint: 'nothing' }))
                .to.include('no endpoint of this name.')
                .and.not.include('Did you mean');
            expect(await said('id\n1\n', { endpoint: 'stok' })).to.include('no endpoint of this name. Did you mean stock?');
            expect(await said('id\n1\n', { key: 'key_nobodys' })).to.include('Choose one of your active keys.');
            expect(await said('id\n1\n', { max_credits: 'many' })).to.include('Enter a whole number.');
            expect(await said(`id,id\n1,2\n`)).to.include('Two columns are id');
            expect(await said('id,note\n1,x\n2,M\uFFFDnchen\n')).to.include(
                'Line 3 has a character that cannot be read. Save the file as UTF-8',
            );
        });

        it('reads broken quotes before many spaces in linear time', () => {
            const text = `id,note\n${'"a'.repeat(400_000)}${' '.repeat(400_000)},\n`;
            const read = itemsOfCsv({ text, params: [{ name: 'id', schema: undefined }] }, 10);
            expect(read).to.have.property('ok', false);
        }).timeout(10_000);

        it('names a row with more values than columns: a call with a part of its text would be wrong', () => {
            const params = [{ name: 'place', schema: undefined }];
            const read = itemsOfCsv({ text: 'place\nRome\n\nParis, France\n', params }, 10);
            expect(read).to.have.property('problem').that.includes('Line 4 has more values than the first line has columns');
            expect(itemsOfCsv({ text: 'place\n"Paris, France",\n', params }, 10)).to.deep.include({ ok: true, count: 1 });
        });

        it('reads TRUE and False, as spreadsheets and Python write them', () => {
            const params = [{ name: 'new', schema: { type: 'boolean' } }];
            const read = itemsOfCsv({ text: 'new\nTRUE\nFalse\nyes\n', params }, 10);
            expect(read.ok && JSON.parse(read.items).map((item: { params: object }) => item.params)).to.deep.equal([
                { new: true },
                { new: false },
                { new: 'yes' },
            ]);
        });

        it('reads quotes, separators and line breaks of spreadsheets', () => {
            const params = ['id', 'note'].map((name) => ({ name, schema: undefined }));
            for (const separator of [',', ';', '\t', '|'])
                for (const newline of ['\r\n', '\n', '\r']) {
                    const cells = [
                        ['id', 'note'],
                        [' "1"', '"say ""x"""  '],
                        ['"2" ', '"a, b; c"'],
                        ['3" x', '""'],
                    ];
                    const text = cells.map((row) => row.join(separator)).join(newline);
                    const read = itemsOfCsv({ text, params }, 10);
                    expect(read.ok && JSON.parse(read.items), JSON.stringify(text)).to.deep.equal([
                        { params: { id: ' "1"', note: 'say "x"' } },
                        { params: { id: '2', note: 'a, b; c' } },
                        { params: { id: '3" x' } },
                    ]);
                }
        });
    });

    describe('in a browser', () => {
        let browser: Browser;
        before(async function () {
            browser = await openBrowser(this);
        });
        after(() => browser?.close());

        const tabOf = async () => {
            const tab = await openTab(browser, world.base);
            await tab.context.addCookies([...ada.cookies].map(([name, value]) => ({ name, value, url: world.base })));
            return tab;
        };

        it('updates without reloading, and offers the next step when it ended', async () => {
            unknown = new Set([2]);
            const { id, at } = await order([1, 2, 3]);
            const paused = await ada.send(`${at}/pause`, {}, { from: at });
            expect(paused.to).to.equal(at);
            const tab = await tabOf();
            await tab.visit(at);
            const { page } = tab;
            if (await page.getByRole('button', { name: 'Resume' }).isVisible()) await page.getByRole('button', { name: 'Resume' }).click();
            await untilEnded(id);
            await page.getByRole('button', { name: 'Run the failed again' }).waitFor();
            await page.locator('#progress:not([hx-trigger])').waitFor();
            unknown = new Set();
            await page.getByRole('button', { name: 'Run the failed again' }).click();
            await page.getByText('These items run again.').waitFor();
            await page.getByText('succeeded', { exact: true }).waitFor();
            await tab.close();
        });

        it('is complete and readable on a phone and on a desktop, light and dark', async () => {
            unknown = new Set([5, 6, 7]);
            const { id, at } = await order([1, 2, 3, 5, 6, 7], { name: 'Stock of the week, all of the shops in the north' });
            await untilEnded(id);
            const [job] = dataOf<{ job_id: string }[]>(await caller.call('GET', `/v1/jobs?batch_id=${id}`));
            const tab = await tabOf();
            const pages = {
                list: '/dashboard/jobs',
                batches: '/dashboard/jobs/batches',
                batch: at,
                items: `${at}/items`,
                job: `/dashboard/jobs/${job?.job_id}`,
            };
            for (const [name, path] of Object.entries(pages)) {
                expect((await tab.page.goto(path))?.status(), path).to.equal(200);
                await tab.lookAround(`jobs.${name}`);
            }
            await tab.close();
        });

        it('accepts a file, names its errors, and prices it, complete and readable everywhere', async () => {
            const tab = await tabOf();
            await tab.page.goto('/dashboard/jobs/batches/new');
            const { page } = tab;
            await page.getByLabel('Site', { exact: true }).fill(SITE);
            await page.getByLabel('Endpoint').fill('stock');
            const buffer = Buffer.from('article,custom_id,note\n1,sku-1,north\nx,sku-2,south\n3,sku-3,harbour\n');
            await page.getByLabel('File').setInputFiles({ name: 'shelf.csv', mimeType: 'text/csv', buffer });
            await page.getByRole('button', { name: 'Check' }).click();
            await page.getByText('Nothing was started.').waitFor();
            await page.getByLabel('article').selectOption('id');
            await page.getByRole('button', { name: 'Check' }).click();
            await page.getByText('Line 3').waitFor();
            await tab.lookAround('jobs.upload-wrong');
            await page.getByRole('textbox', { name: 'Rows' }).fill('article,custom_id,note\n1,sku-1,north\n2,sku-2,south\n');
            await page.getByRole('button', { name: 'Check' }).click();
            await page.getByRole('heading', { name: 'Ready to run' }).waitFor();
            await tab.lookAround('jobs.upload-priced');
            await page.getByRole('button', { name: 'Run 2 calls' }).click();
            await page.getByText('The batch is created.').waitFor();
            await tab.close();
        });
    });
});
