import { expect } from 'chai';
import { publishAsStarter } from '../../bin/demo/starter-registry.ts';
import { changePlan } from '../../shared/store/credits/accounts.ts';
import { eventually } from '../support/eventually.ts';
import { type Person, withKey } from '../support/people.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { openWorld, type World } from '../support/world.ts';
import { type Settled, settle, userOf } from './support/settled.ts';
import { freshAddress, hiddenOf, signUp, type Visitor, visitor, wordsOf } from './support/visitor.ts';

describe('the usage of a workspace', () => {
    let world: World;
    let shop: Shop;
    let ada: Settled;
    let bob: Settled;
    let caller: Person;

    before(async () => {
        shop = await openShop();
        world = await openWorld({ config: { trustProxy: 1, egressHosts: SHOP_HOSTS } });
        await publishAsStarter(world.app, shopPackage(shop.port));
        ada = await settle(world);
        bob = await settle(world);
        caller = withKey(world, ada.apiKey);
    });
    after(async () => {
        shop.letGo();
        await world.close();
        await shop.close();
    });

    const rowsOf = async (path: string, person: Visitor = ada) => {
        await world.app.usage.flush();
        const { status, html, headers } = await person.get(path);
        expect(status, html).to.equal(200);
        expect(headers['content-type']).to.equal('text/csv; charset=utf-8');
        expect(headers['content-disposition']).to.match(/^attachment; filename="routebook-[a-z]+\.csv"$/);
        return parseCsv(html);
    };
    const logOf = (query = '', person: Visitor = ada) => rowsOf(`/dashboard/usage/calls.csv${query}`, person);
    const figureOf = async (name: string, query = '', person: Visitor = ada) => {
        await world.app.usage.flush();
        const { html } = await person.get(`/dashboard/usage${query}`);
        return new RegExp(`<dt>${name}</dt><dd>([^<]*)</dd>`).exec(html)?.[1];
    };
    /** All pages of a list that continues to older rows, as HTML. */
    const pagesOf = async (from: string) => {
        const pages: string[] = [];
        for (let path: string | undefined = from; path !== undefined; ) {
            const { html } = await ada.get(path);
            pages.push(html);
            path = /href="([^"]*)">Older/.exec(html)?.[1];
        }
        return pages;
    };
    const countOf = async (site: string, outcome: string) => {
        const { values } = await world.app.metrics.fetches.get();
        return values.find(({ labels }) => labels['site'] === site && labels['outcome'] === outcome)?.value ?? 0;
    };

    it('draws the calls with their outcome, cost and time', async () => {
        const before = Number(await figureOf('Calls'));
        const spent = Number(await figureOf('Credits'));
        for (const id of [1, 2, 3]) expect((await caller.fetch(SHOP, 'product', { id })).status).to.equal(200);
        expect((await caller.fetch(SHOP, 'search', { n: 4 })).status).to.equal(200);
        expect((await caller.fetch(SHOP, 'status', { code: 500 })).status).to.equal(502);
        expect(await figureOf('Calls')).to.equal(String(before + 5));
        expect(await figureOf('Credits')).to.equal(String(spent + 7));
        expect(await figureOf('Calls', `?site=${SHOP}`)).to.equal('5');
        expect(await figureOf('Succeeded', `?site=${SHOP}`)).to.equal('80 %');
        expect(await figureOf('Calls', `?site=${SHOP}&endpoint=product&range=30d`)).to.equal('3');
        expect(await figureOf('p95', `?site=${SHOP}`)).to.match(/^\d[\d,]* ms$/);
        const { html } = await ada.get(`/dashboard/usage?site=${SHOP}&by=endpoint`);
        expect(html)
            .to.match(/<rect class="tone-main"/)
            .and.to.match(/<rect class="tone-bad"/)
            .and.to.match(/<title>[^<]* UTC: \d calls, \d failed or refused<\/title>/);
        expect(wordsOf(html)).to.include(`${SHOP} product 3 100 % 3`);
        expect(wordsOf((await ada.get('/dashboard/usage?by=key')).html)).to.include('laptop');
        expect(wordsOf((await ada.get('/dashboard/usage?endpoint=nothing')).html)).to.include('No matching calls');
    });

    it('lists each call with status, code, cost and duration, and filters by site, endpoint, key, outcome and day', async () => {
        const today = new Date().toISOString().slice(0, 10);
        const calls = await logOf(`?site=${SHOP}`);
        expect(calls.map((call) => [call['endpoint'], call['status'], call['code'], call['credits']])).to.deep.equal([
            ['status', '502', 'UPSTREAM_STATUS', '0'],
            ['search', '200', 'success', '4'],
            ['product', '200', 'success', '1'],
            ['product', '200', 'success', '1'],
            ['product', '200', 'success', '1'],
        ]);
        for (const call of calls) expect(Number(call['duration_ms'])).to.be.at.least(0);
        expect(await logOf(`?site=${SHOP}&endpoint=search`)).to.have.length(1);
        expect(await logOf(`?site=${SHOP}&outcome=failed`)).to.have.length(1);
        expect(await logOf(`?site=${SHOP}&outcome=UPSTREAM_STATUS`)).to.have.length(1);
        expect(await logOf(`?site=${SHOP}&outcome=success&from=${today}&to=${today}`)).to.have.length(4);
        expect(await logOf('?from=2020-01-01&to=2020-01-02')).to.have.length(0);
        const [failed] = calls;
        expect(await logOf(`?request=${failed?.['request']}`)).to.deep.equal([failed]);
        expect(await logOf('?request=req_of_nobody')).to.have.length(0);
        expect(await logOf(`?site=${SHOP}&key=${ada.values.key_id}`)).to.have.length(5);
        expect(await logOf(`?key=${bob.values.key_id}`)).to.have.length(0);
        const { html } = await ada.get(`/dashboard/usage/calls?site=${SHOP}&outcome=failed`);
        expect(wordsOf(html)).to.include(`${SHOP} status 502 UPSTREAM_STATUS 0`).and.to.include(`Request ${failed?.['request']} Version 1`);
        expect(html).to.include('href="/docs/errors#UPSTREAM_STATUS"');
        expect(wordsOf(html)).to.include('The site answered with a status that is not 2xx. About this code');
        expect(wordsOf((await ada.get('/dashboard/usage/calls?site=nowhere.example')).html)).to.include('No matching calls');
    });

    it('continues to older calls page by page, each once', async () => {
        const carol = await settle(world);
        for (let index = 0; index < 120; index++) {
            world.app.usage.record({
                kind: 'fetch',
                operation: `op_page${index}`,
                accountId: carol.userId,
                workspaceId: carol.workspaceId,
                userId: carol.userId,
                keyId: carol.values.key_id,
                site: 'many.example',
                registrable: 'many.example',
                endpoint: `e${index}`,
                outcome: 'success',
                credits: 1,
                durationMs: 1,
            });
        }
        await world.app.usage.flush();
        const seen: string[] = [];
        let path: string | undefined = '/dashboard/usage/calls?site=many.example';
        while (path !== undefined) {
            const { html } = await carol.get(path);
            seen.push(...[...html.matchAll(/<code>many\.example<\/code> (e\d+)/g)].map(([, name = '']) => name));
            path = /href="([^"]*)">Older calls/.exec(html)?.[1]?.replaceAll('&amp;', '&');
        }
        expect(seen).to.have.length(120);
        expect(new Set(seen).size).to.equal(120);
        expect((await carol.get('/dashboard/usage/calls?before=1-1-1')).status).to.equal(200);
        expect((await carol.get('/dashboard/usage/calls?before=9999999999999999-1')).status).to.equal(200);
    });

    it('contains refused calls, each once, in the log and in the metrics', async () => {
        const dora = await settle(world);
        const key = withKey(world, dora.apiKey);
        const asked = async (code: string, site: string, ask: () => Promise<{ body: object }>) => {
            const [logged, counted] = [(await logOf(`?outcome=${code}`, dora)).length, await countOf(site, code)];
            const { body } = await ask();
            expect(body).to.have.nested.property('error.code', code);
            const rows = await logOf(`?outcome=${code}`, dora);
            expect(rows, code).to.have.length(logged + 1);
            // They are counted after the response was sent.
            await eventually(
                () => countOf(site, code),
                (count) => count === counted + 1,
            );
            return rows[0] ?? {};
        };
        const unknown = await asked('SITE_NOT_FOUND', 'other', () => key.fetch('unknown.example', 'search'));
        expect(unknown).to.include({ site: 'unknown.example', endpoint: 'search', status: '404', credits: '0' });
        expect(await asked('ENDPOINT_NOT_FOUND', SHOP, () => key.fetch(SHOP, 'nothing'))).to.include({ site: SHOP, endpoint: 'nothing' });
        await asked('INVALID_PARAMS', SHOP, () => key.fetch(SHOP, 'product', { id: 'seven' }));
        expect(await asked('VALIDATION_ERROR', 'other', () => key.call('POST', '/v1/fetch', { body: { site: 7 } }))).to.include({
            site: 'other',
            endpoint: '',
        });
        await asked('INVALID_DOMAIN', 'other', () => key.fetch('localhost', 'product'));
        await asked('UPSTREAM_STATUS', SHOP, () => key.fetch(SHOP, 'status', { code: 500 }));
        const headers = { 'idempotency-key': 'one' };
        const body = { site: SHOP, endpoint: 'product', params: { id: 1 } };
        await key.call('POST', '/v1/fetch', { body, headers });
        await asked('IDEMPOTENCY_CONFLICT', SHOP, () => key.call('POST', '/v1/fetch', { body: { ...body, params: { id: 2 } }, headers }));
        try {
            await world.app.db.raw('update credit_accounts set allowance_available = 0, bonus_available = 0 where id = ?', [dora.userId]);
            await asked('INSUFFICIENT_CREDITS', SHOP, () => key.fetch(SHOP, 'product', { id: 1 }));
            await world.app.db.raw('update credit_accounts set per_minute = 1 where id = ?', [dora.userId]);
            const before = await countOf(SHOP, 'RATE_LIMITED');
            await eventually(
                async () => (await key.fetch(SHOP, 'product', { id: 1 })).status,
                (status) => status === 429,
            );
            await eventually(
                () => countOf(SHOP, 'RATE_LIMITED'),
                (count) => count === before + 1,
            );
            await asked('RATE_LIMITED', SHOP, () => key.fetch(SHOP, 'product', { id: 1 }));
        } finally {
            await repair(dora.userId);
        }
    });

    /** Corrects the ledger of an account whose credits a test removed. */
    async function repair(account: string): Promise<void> {
        await world.app.db.raw(
            `insert into ledger_entries (account_id, kind, available_delta, held_delta, note, at)
             select :account, 'expire', allowance_available + bonus_available - (select sum(available_delta) from ledger_entries where account_id = :account),
                    0, 'test', app_now() from credit_accounts where id = :account`,
            { account },
        );
    }

    it('contains no dry runs, replays and strangers in the log', async () => {
        const before = (await logOf()).length;
        await caller.fetch(SHOP, 'nothing', {}, { dry_run: true });
        await withKey(world, 'rb_live_nobody').call('POST', '/v1/fetch', { body: { site: SHOP, endpoint: 'product' } });
        const send = () =>
            caller.call('POST', '/v1/fetch', {
                body: { site: SHOP, endpoint: 'product', params: { id: 9 } },
                headers: { 'idempotency-key': 'again' },
            });
        expect((await send()).status).to.equal(200);
        expect((await send()).headers.get('idempotent-replayed')).to.equal('true');
        expect(await logOf()).to.have.length(before + 1);
    });

    it('shows every movement of credits with its reason and the balance after it, like the ledger', async () => {
        const movements = await rowsOf('/dashboard/statement.csv');
        const { rows: entries } = await world.app.db.raw<{
            rows: { id: number; kind: string; available_delta: number; held_delta: number }[];
        }>('select id, kind, available_delta, held_delta from ledger_entries where account_id = ? order by id desc', [ada.userId]);
        expect(movements.map((move) => [move['id'], move['kind'], move['change'], move['held_change']])).to.deep.equal(
            entries.map((entry) => [String(entry.id), entry.kind, String(entry.available_delta), String(entry.held_delta)]),
        );
        const balance = await world.app.credits.balance(ada.userId);
        expect(movements[0]?.['balance']).to.equal(String(balance?.available));
        let running = 0;
        for (const move of movements.toReversed()) {
            running += Number(move['change']);
            expect(move['balance']).to.equal(String(running));
        }
        const words = wordsOf((await pagesOf('/dashboard/statement')).join(' '));
        expect(words).to.include('Monthly allowance').and.to.include('Bonus for the first call').and.to.include('Charged 4');
        expect(words)
            .to.include(`Available ${balance?.available.toLocaleString('en-US')}`)
            .and.to.include('Allowance resets');
    });

    it('links from a movement to its call, and to no call of others', async () => {
        const { html } = await ada.get('/dashboard/statement');
        const link = /href="(\/dashboard\/usage\/calls\?call=op_\w+)"/.exec(html)?.[1] ?? '';
        expect(wordsOf((await ada.get(link)).html)).to.include(SHOP);
        const foreign = wordsOf((await bob.get(link)).html);
        expect(foreign).to.include('No matching calls').and.not.to.include(SHOP);
    });

    it('names the batch of a movement, and its number of items', async () => {
        const items = Array.from({ length: 4 }, (_, at) => ({ params: { id: at + 1 } }));
        const { body } = await caller.call('POST', '/v1/batches', { body: { defaults: { site: SHOP, endpoint: 'product' }, items } });
        const { batch_id: id } = body['data'] as { batch_id: string };
        expect((await caller.call('GET', `/v1/batches/${id}?wait=30`)).body).to.have.nested.property('data.status', 'succeeded');
        const ofBatch = (await rowsOf('/dashboard/statement.csv')).filter((move) => move['batch'] === id);
        const charges = ofBatch.filter((move) => move['kind'] === 'charge');
        expect(charges.reduce((sum, move) => sum - Number(move['change']) - Number(move['held_change']), 0)).to.equal(4);
        expect(charges.reduce((sum, move) => sum + Number(move['items']), 0)).to.equal(4);
        const { html } = await ada.get('/dashboard/statement');
        expect(html).to.include(`href="/dashboard/jobs/batches/${id}"`);
        expect(wordsOf(html))
            .to.match(/Held for [1-4] items? of a batch/)
            .and.to.match(/Charged [1-4] for [1-4] items? of a batch/);
    });

    it('shows a long statement page by page, with the same balances', async () => {
        await world.app.db.raw('update credit_accounts set per_minute = 4321 where id = ?', [ada.userId]);
        await eventually(
            async () => (await caller.call('GET', '/v1/account')).body,
            (body) => JSON.stringify(body).includes('4321'),
        );
        for (let id = 1; id <= 30; id++) expect((await caller.fetch(SHOP, 'product', { id })).status).to.equal(200);
        const shown = (await pagesOf('/dashboard/statement')).flatMap((html) =>
            [...html.matchAll(/data-label="Balance">([\d,]+)</g)].map(([, text = '']) => text.replace(',', '')),
        );
        expect(shown.length).to.be.greaterThan(60);
        expect(shown).to.deep.equal((await rowsOf('/dashboard/statement.csv')).map((move) => move['balance']));
        expect((await ada.get('/dashboard/statement?cursor=made.up')).status).to.equal(200);
    });

    it('continues after a change of plan for the owner of the credits, and for nobody else', async () => {
        const email = freshAddress();
        const carol = await signUp(world, email);
        const userId = await userOf(world, email);
        const workspaceId: string = (await world.app.db('memberships').where({ user_id: userId }).first()).workspace_id;
        const before = await rowsOf('/dashboard/statement.csv', carol);
        await changePlan(world.app.db, workspaceId, { plan: 'pro', planAllowance: 30_000 });
        const after = await rowsOf('/dashboard/statement.csv', carol);
        expect(before).to.have.length(1);
        expect(after.map((move) => move['balance'])).to.deep.equal(['30000', before[0]?.['balance']]);
        expect(after[1]).to.deep.equal(before[0]);
        await world.app.db('memberships').insert({ workspace_id: workspaceId, user_id: bob.userId, role: 'billing' });
        await lookAt(bob, workspaceId);
        expect(await rowsOf('/dashboard/statement.csv', bob)).to.deep.equal(after.slice(0, 1));
        await lookAt(bob, bob.workspaceId);
    });

    it('shows no numbers of others, whatever the URL says', async () => {
        for (const query of ['', `?site=${SHOP}`, `?key=${ada.values.key_id}`, `?workspace=${ada.workspaceId}`, '?by=key']) {
            for (const path of ['/dashboard/usage', '/dashboard/usage/calls', '/dashboard/usage/calls.csv', '/dashboard/statement.csv']) {
                const { html } = await bob.get(path + query);
                expect(html, path + query)
                    .not.to.include('>product<')
                    .and.not.to.include(`${SHOP} product`);
                for (const secret of ada.secrets) expect(html.replaceAll(query.slice(5), ''), path + query).not.to.include(secret);
            }
        }
        expect((await logOf('', bob)).map((call) => call['site'])).to.deep.equal(Array(3).fill('books.example'));
    });

    it('shows members their own calls only, and no usage to the role billing', async () => {
        const memberEmail = freshAddress();
        const member = await signUp(world, memberEmail);
        const clerkEmail = freshAddress();
        const clerk = await signUp(world, clerkEmail);
        for (const [email, role] of [
            [memberEmail, 'member'],
            [clerkEmail, 'billing'],
        ] as const) {
            await world.app.db.raw('insert into memberships (workspace_id, user_id, role) values (?, ?, ?)', [
                ada.workspaceId,
                await userOf(world, email),
                role,
            ]);
        }
        for (const person of [member, clerk]) await lookAt(person, ada.workspaceId);
        expect(wordsOf((await member.get('/dashboard/usage')).html))
            .to.include('Your calls')
            .and.to.include('No calls in this period');
        expect(await logOf('', member)).to.have.length(0);
        expect((await clerk.get('/dashboard/usage')).status).to.equal(403);
        expect((await clerk.get('/dashboard/usage/calls.csv')).status).to.equal(403);
        // On Free, each user's statement is their own.
        const own = await rowsOf('/dashboard/statement.csv', clerk);
        expect(own.map((move) => move['kind'])).to.deep.equal(['grant']);
        expect((await visitor(world).get('/dashboard/usage')).to).to.match(/^\/login/);
    });

    async function lookAt(person: Visitor, workspaceId: string): Promise<void> {
        const { html } = await person.get('/dashboard/settings');
        const fields = new URLSearchParams({ _form: hiddenOf(html, '_form') ?? '', workspace: workspaceId }).toString();
        expect((await person.post('/dashboard/switch', fields)).status).to.equal(303);
    }

    it('writes no cells that a spreadsheet would run as formulas', async () => {
        const eve = await settle(world);
        await world.app.db.raw('update api_keys set name = ? where id = ?', ['=1+1,"x"', eve.values.key_id]);
        expect((await logOf('', eve)).map((call) => call['key'])).to.deep.equal(Array(3).fill('\'=1+1,"x"'));
    });
});

/** Rows of a CSV file by the names of its columns (RFC 4180). */
function parseCsv(text: string): Record<string, string>[] {
    const lines: string[][] = [[]];
    let [cell, isQuoted] = ['', false];
    for (let at = 0; at < text.length; at++) {
        const char = text[at];
        if (isQuoted && char === '"' && text[at + 1] === '"') cell += text[at++];
        else if (char === '"') isQuoted = !isQuoted;
        else if (!isQuoted && (char === ',' || char === '\n')) {
            lines.at(-1)?.push(cell.replace(/\r$/, ''));
            cell = '';
            if (char === '\n') lines.push([]);
        } else cell += char;
    }
    const [names = [], ...rows] = lines.slice(0, -1);
    return rows.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index] ?? ''])));
}
