import type { BrowserContext, Page } from 'playwright-core';
import { ask, KEEPER, open } from './recorded-visits.ts';

/** Reads issues, the wiki, news and boards of two projects, asks for some of it as JSON, signs in, and writes issues and comments. */
export async function visitRedmine(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    for (const path of ['/', '/projects', '/issues', '/issues?page=1&per_page=5', '/news', '/activity']) await open(page, base + path);
    for (const project of ['harbour', 'tides']) {
        const here = `${base}/projects/${project}`;
        for (const path of [
            '',
            '/activity',
            '/roadmap',
            '/issues',
            '/issues?set_filter=1&tracker_id=1',
            '/issues?sort=priority%3Adesc%2Cid%3Adesc',
        ])
            await open(page, here + path);
        for (const path of ['/news', '/boards', '/wiki', '/wiki/index', '/wiki/Lights', '/wiki/Ropes', '/wiki/Ropes/history'])
            await open(page, here + path);
    }
    await open(page, `${base}/projects/tides/wiki/Lights/history`);
    for (const id of [1, 2, 5]) await open(page, `${base}/issues/${id}`);
    for (const [id, topic] of [
        [1, 1],
        [2, 3],
    ]) {
        for (const path of [`news/${id}`, `versions/${id}`, `boards/${id}/topics/${topic}`]) await open(page, `${base}/${path}`);
    }
    for (const words of ['rope', 'light']) {
        await open(page, `${base}/projects/harbour`);
        await page.fill('#q', words);
        await Promise.all([page.waitForNavigation(), page.press('#q', 'Enter')]);
    }
    for (const offset of [0, 2]) await ask(page, 'GET', `/issues.json?limit=2&offset=${offset}`);
    for (const id of [1, 2]) {
        await ask(page, 'GET', `/issues/${id}.json`);
        await ask(page, 'GET', `/projects/${id}.json`);
    }
    for (const path of ['/projects.json', '/issue_statuses.json', '/trackers.json']) await ask(page, 'GET', path);
    await open(page, `${base}/login`);
    await page.fill('#username', KEEPER.user);
    await page.fill('#password', KEEPER.password);
    await Promise.all([page.waitForNavigation(), page.press('#password', 'Enter')]);
    for (const project of ['harbour', 'tides']) {
        await open(page, `${base}/projects/${project}/issues/new`);
        await page.fill('#issue_subject', `Tell ${project}`);
        await page.fill('#issue_description', 'A few words.');
        await Promise.all([page.waitForNavigation(), page.locator('input[name=commit]').click()]);
    }
    for (const id of [1, 2]) {
        await open(page, `${base}/issues/${id}/edit`);
        await page.fill('#issue_notes', 'Seen from the mole.');
        await Promise.all([page.waitForNavigation(), page.locator('#issue-form input[name=commit]').click()]);
        await open(page, `${base}/news/${id}`);
        await page.locator('#comment_comments').evaluate((one) => ((one as unknown as { value: string }).value = 'Seen.'));
        await Promise.all([
            page.waitForNavigation(),
            page.locator('#add_comment_form input[name=commit]').evaluate((one) => (one as unknown as { click(): void }).click()),
        ]);
    }
    await page.close();
}

/** Signs in to a service of feature flags, looks around in its single page, and makes, switches and archives flags. */
export async function visitUnleash(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/login`);
    await page.waitForTimeout(2000);
    await ask(page, 'POST', '/auth/simple/login', { username: 'admin', password: 'unleash4all' });
    for (const path of ['/projects', '/search', '/projects/default', '/segments', '/context', '/tag-types', '/history']) {
        await open(page, base + path);
        await page.waitForTimeout(1200);
    }
    const json = async (method: string, path: string, body?: object) =>
        JSON.parse((await ask(page, method, `/api/admin/${path}`, body)) || '{}') as Record<string, unknown>;
    const features = 'projects/default/features';
    const flags = ['green-light', 'fog-bell', 'tide-table', 'new-mole'];
    for (const name of flags) await json('POST', features, { name, description: `About ${name}`, type: 'release', impressionData: false });
    for (const name of ['area', 'depth']) await json('POST', 'tag-types', { name, description: `The ${name} of a flag`, icon: name[0] });
    for (const offset of [0, 2]) await json('GET', `search/features?query=e&limit=2&offset=${offset}&sortBy=name`);
    for (const name of flags.slice(0, 2)) {
        const flag = `${features}/${name}`;
        await open(page, `${base}/projects/default/features/${name}`);
        await page.waitForTimeout(800);
        await json('GET', flag);
        await json('PUT', flag, { description: `More about ${name}`, type: 'experiment' });
        await json('PATCH', flag, [{ op: 'replace', path: '/stale', value: true }]);
        for (const environment of ['development', 'production']) {
            const place = `${flag}/environments/${environment}`;
            const strategy = await json('POST', `${place}/strategies`, {
                name: 'flexibleRollout',
                title: 'A part of all',
                parameters: { rollout: '50', stickiness: 'default', groupId: name },
            });
            await json('GET', `${place}/strategies`);
            await json('GET', `${place}/strategies/${strategy['id']}`);
            await json('POST', `${place}/on`);
            await json('POST', `${place}/off`);
            await json('DELETE', `${place}/strategies/${strategy['id']}`);
        }
        for (const [type, value] of [
            ['simple', 'sea'],
            ['area', 'quay'],
        ]) {
            await json('POST', `features/${name}/tags`, { type, value });
            await json('GET', `features/${name}/tags`);
            await json('GET', `tags/${type}`);
            await json('DELETE', `features/${name}/tags/${type}/${value}`);
        }
        await json('DELETE', flag);
    }
    for (const name of ['boat', 'berth']) {
        await json('POST', 'context', { name, description: `The ${name} of a caller`, legalValues: [], stickiness: false });
        await json('GET', `context/${name}`);
        await json('DELETE', `context/${name}`);
    }
    for (const name of ['sailors', 'keepers']) {
        const made = await json('POST', 'segments', {
            name,
            description: `All ${name}`,
            constraints: [{ contextName: 'userId', operator: 'IN', values: ['1'] }],
        });
        await json('GET', `segments/${made['id']}`);
        await json('DELETE', `segments/${made['id']}`);
    }
    await json('DELETE', 'tag-types/depth');
    await json('DELETE', 'tag-types/area');
    for (const path of ['strategies', 'environments', 'tag-types', 'addons', 'feature-types']) await json('GET', path);
    await ask(page, 'GET', '/health');
    await page.close();
}

/** Shops by GraphQL: lists and searches, fills an order, sets its address and shipping, and registers. */
export async function visitVendure(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/health`);
    const send = async (query: string, variables?: object) => {
        const operationName = /^\s*(?:query|mutation)\s+(\w+)/.exec(query)?.[1];
        return JSON.parse(await ask(page, 'POST', '/shop-api', { operationName, query, variables })) as { data?: Record<string, unknown> };
    };
    for (const _ of [1, 2]) {
        await send('query ActiveChannel { activeChannel { id code defaultLanguageCode defaultCurrencyCode } }');
        await send('query Collections { collections { items { id name slug parent { id name } } totalItems } }');
        await send('query Countries { availableCountries { id code name } }');
        await send('query Facets { facets { items { id code name values { id code name } } } }');
    }
    for (const skip of [0, 3])
        await send(
            'query Products($options: ProductListOptions) { products(options: $options) { items { id name slug description variants { id sku price } } totalItems } }',
            { options: { skip, take: 3, sort: { name: 'ASC' } } },
        );
    for (const slug of ['hemp-rope', 'brass-kettle'])
        await send(
            `query Product($slug: String!) { product(slug: $slug) { ...Detail } }
             fragment Detail on Product { id name slug description variants { ...Variant } }
             fragment Variant on ProductVariant { id sku priceWithTax currencyCode stockLevel }`,
            { slug },
        );
    for (const term of ['rope', 'lamp'])
        await send(
            'query Search($term: String!, $take: Int) { search(input: { term: $term, take: $take, groupByProduct: true }) { items { productName slug } totalItems } }',
            { term, take: 5 },
        );
    for (const id of [2, 3]) await send(`query CollectionOf { collection(id: "${id}") { id name slug children { id name } } }`);
    const added: string[] = [];
    for (const variant of ['1', '2', '3']) {
        const { data } = await send(
            'mutation AddItem($variant: ID!, $quantity: Int!) { addItemToOrder(productVariantId: $variant, quantity: $quantity) { __typename ... on Order { id code lines { id quantity } totalWithTax } ... on ErrorResult { errorCode message } } }',
            { variant, quantity: 2 },
        );
        const order = data?.['addItemToOrder'] as { lines?: { id: string }[] } | undefined;
        added.push(...(order?.lines ?? []).map(({ id }) => id));
    }
    const lines = [...new Set(added)];
    for (const _ of [1, 2])
        await send('query ActiveOrder { activeOrder { id code state lines { id productVariant { name } quantity } totalWithTax } }');
    for (const line of lines.slice(0, 2))
        await send(
            'mutation AdjustLine($line: ID!, $quantity: Int!) { adjustOrderLine(orderLineId: $line, quantity: $quantity) { ... on Order { id totalQuantity } } }',
            { line, quantity: 5 },
        );
    for (const line of lines.slice(1, 3))
        await send('mutation RemoveLine($line: ID!) { removeOrderLine(orderLineId: $line) { ... on Order { id totalQuantity } } }', {
            line,
        });
    for (const coupon of ['HIGHTIDE', 'LOWTIDE'])
        await send(
            'mutation ApplyCoupon($coupon: String!) { applyCouponCode(couponCode: $coupon) { __typename ... on ErrorResult { errorCode message } } }',
            { coupon },
        );
    for (const city of ['Bergen', 'Bodø'])
        await send(
            'mutation SetAddress($input: CreateAddressInput!) { setOrderShippingAddress(input: $input) { __typename ... on Order { id shippingAddress { city } } } }',
            { input: { fullName: 'Grace Keeper', streetLine1: 'Quay 1', city, postalCode: '5003', countryCode: 'NO' } },
        );
    for (const _ of [1, 2]) await send('query ShippingMethods { eligibleShippingMethods { id name priceWithTax } }');
    for (const id of ['1', '2'])
        await send(
            'mutation SetShipping($id: [ID!]!) { setOrderShippingMethod(shippingMethodId: $id) { __typename ... on Order { id shippingWithTax } } }',
            {
                id: [id],
            },
        );
    for (const name of ['Grace', 'Mary'])
        await send(
            'mutation SetCustomer($input: CreateCustomerInput!) { setCustomerForOrder(input: $input) { __typename ... on Order { id } ... on ErrorResult { message } } }',
            { input: { firstName: name, lastName: 'Keeper', emailAddress: `${name.toLowerCase()}@harbour.example` } },
        );
    for (const _ of [1, 2]) await send('query NextStates { nextOrderStates }');
    await send('mutation Transition($state: String!) { transitionOrderToState(state: $state) { __typename ... on Order { id state } } }', {
        state: 'ArrangingPayment',
    });
    await page.close();
}

/** Signs in to a reader of feeds, opens feeds and articles, and does the same and more by its JSON API. */
export async function visitTinyRss(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    await page.fill('input[name=login]', 'admin');
    await page.fill('input[name=password]', 'password');
    await Promise.all([page.waitForNavigation(), page.press('input[name=password]', 'Enter')]);
    await page.waitForTimeout(4000);
    const call = async (op: string, more: object = {}) =>
        (JSON.parse(await ask(page, 'POST', '/api/', { ...session, op, ...more })) as { content: unknown }).content;
    let session = {};
    const { session_id } = (await call('login', { user: 'admin', password: 'password' })) as { session_id: string };
    session = { sid: session_id };
    for (const _ of [1, 2]) {
        for (const op of ['getVersion', 'getApiLevel', 'isLoggedIn', 'getConfig', 'getUnread']) await call(op);
        await call('getCounters', { output_mode: 'flc' });
        await call('getFeedTree', { include_empty: true });
    }
    for (const include_empty of [true, false]) await call('getCategories', { unread_only: false, enable_nested: false, include_empty });
    for (const cat_id of [1, 2]) await call('getFeeds', { cat_id, unread_only: false, limit: 10, offset: 0 });
    for (const feed_id of [1, 2, 3]) {
        for (const skip of [0, 2])
            await call('getHeadlines', { feed_id, limit: 2, skip, is_cat: false, show_excerpt: true, view_mode: 'all_articles' });
    }
    for (const article_id of ['1', '2']) {
        await call('getArticle', { article_id });
        await call('getLabels', { article_id });
        await call('updateArticle', { article_ids: article_id, mode: 1, field: 0 });
        await call('setArticleLabel', { article_ids: article_id, label_id: -1025, assign: true });
    }
    for (const feed_id of [1, 2]) await call('catchupFeed', { feed_id, is_cat: false, mode: 'all' });
    for (const pref_name of ['ENABLE_API_ACCESS', 'DEFAULT_ARTICLE_LIMIT']) await call('getPref', { pref_name });
    for (const title of ['Fog', 'Bell']) await call('shareToPublished', { title, url: `http://notes.example/${title}`, content: 'Words.' });
    for (const feed_id of [2, 3]) await call('unsubscribeFeed', { feed_id });
    await page.close();
}

/** Opens notebooks, lists folders, reads, writes, renames and deletes files, and starts and stops kernels. */
export async function visitJupyter(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    for (const path of ['/tree', '/tree/charts', '/tree/charts/north', '/notebooks/tides.ipynb', '/notebooks/charts/ropes.ipynb']) {
        await open(page, base + path);
        await page.waitForTimeout(1500);
    }
    for (const path of ['notes.txt', 'charts/list.txt']) {
        await open(page, `${base}/edit/${path}`);
        await page.waitForTimeout(800);
        await askSafely(page, 'GET', `/files/${path}`);
    }
    const json = async (method: string, path: string, body?: object) =>
        JSON.parse((await askSafely(page, method, `/api/${path}`, body)) || '{}') as Record<string, string>;
    for (const path of ['tides.ipynb', 'lights.ipynb', 'charts/ropes.ipynb', 'charts/north/fog.ipynb', 'charts', 'charts/north']) {
        await json('GET', `contents/${path}?content=1`);
    }
    for (const path of ['tides.ipynb', 'charts/ropes.ipynb']) {
        const { id = '' } = await json('POST', `contents/${path}/checkpoints`);
        await json('GET', `contents/${path}/checkpoints`);
        await json('POST', `contents/${path}/checkpoints/${id}`);
    }
    for (const name of ['buoys.txt', 'charts/anchors.txt']) {
        await json('PUT', `contents/${name}`, { type: 'file', format: 'text', content: `Words of ${name}` });
        await json('PATCH', `contents/${name}`, { path: `${name}.old` });
        await json('DELETE', `contents/${name}.old`);
    }
    for (const type of ['notebook', 'directory']) await json('POST', 'contents', { type });
    for (const [name, path] of [
        ['north', 'charts/north/fog.ipynb'],
        ['quay', 'charts/ropes.ipynb'],
    ] as const) {
        const session = await json('POST', 'sessions', { name, path, type: 'notebook', kernel: { name: 'python3' } });
        await json('GET', `sessions/${session['id']}`);
        await json('PATCH', `sessions/${session['id']}`, { name: `${name} again` });
        await json('DELETE', `sessions/${session['id']}`);
        const kernel = await json('POST', 'kernels', { name: 'python3' });
        await json('GET', `kernels/${kernel['id']}`);
        await json('POST', `kernels/${kernel['id']}/interrupt`);
        await json('POST', `kernels/${kernel['id']}/restart`);
        await json('DELETE', `kernels/${kernel['id']}`);
    }
    for (const path of ['kernels', 'sessions', 'kernelspecs', 'status', 'terminals']) await json('GET', path);
    await askSafely(page, 'GET', '/api');
    for (const section of ['notebook', 'tree']) {
        await json('GET', `config/${section}`);
        await json('PATCH', `config/${section}`, { lines: { numbers: true } });
    }
    await page.close();
}

/** Reads a wiki and its history, searches, edits a page, and asks its two APIs. */
export async function visitMediaWiki(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    for (const title of ['Main_Page', 'Tides', 'Lights', 'Ropes']) await open(page, `${base}/index.php/${title}`);
    for (const title of ['Tides', 'Lights'])
        for (const action of ['history', 'info', 'edit']) await open(page, `${base}/index.php?title=${title}&action=${action}`);
    for (const [title, oldid] of [
        ['Tides', 2],
        ['Lights', 4],
    ])
        for (const diff of ['', `&diff=${Number(oldid) + 1}`]) await open(page, `${base}/index.php?title=${title}${diff}&oldid=${oldid}`);
    for (const name of ['RecentChanges', 'AllPages', 'Version', 'WhatLinksHere/Ropes', 'WhatLinksHere/Tides'])
        await open(page, `${base}/index.php/Special:${name}`);
    for (const words of ['words', 'second']) {
        await open(page, `${base}/index.php/Tides`);
        await page.fill('input[name=search]', words);
        await Promise.all([page.waitForNavigation(), page.press('input[name=search]', 'Enter')]);
    }
    for (const title of ['Tides', 'Lights']) {
        await open(page, `${base}/index.php?title=${title}&action=edit`);
        await page.fill('#wpTextbox1', `Other words of ${title}`);
        await Promise.all([page.waitForNavigation(), page.locator('#wpSave').click()]);
    }
    const api = (asked: string) => ask(page, 'GET', `/api.php?format=json&${asked}`);
    for (const words of ['words', 'lights']) {
        await api(`action=query&list=search&srsearch=${words}&srlimit=5`);
        await api(`action=opensearch&search=${words}&limit=5`);
        await ask(page, 'GET', `/rest.php/v1/search/page?q=${words}&limit=5`);
    }
    for (const title of ['Tides', 'Ropes']) {
        await api(`action=parse&page=${title}&prop=text`);
        await ask(page, 'GET', `/rest.php/v1/page/${title}`);
        await ask(page, 'GET', `/rest.php/v1/page/${title}/history`);
    }
    await page.close();
}

/** Posts alerts, looks at them and their groups, and makes and ends silences. */
export async function visitAlertmanager(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    const json = (method: string, path: string, body?: object) => ask(page, method, `/api/v2/${path}`, body);
    for (const name of ['LightOut', 'RopeTorn'])
        await json('POST', 'alerts', [{ labels: { alertname: name, quay: 'north' }, annotations: { summary: `${name} at the quay` } }]);
    for (const active of ['true', 'false']) {
        await json('GET', `alerts?active=${active}&silenced=false&filter=quay%3D%22north%22`);
        await json('GET', `alerts/groups?active=${active}&silenced=false`);
    }
    for (const comment of ['Known', 'Repaired']) {
        const made = JSON.parse(
            await json('POST', 'silences', {
                matchers: [{ name: 'quay', value: 'north', isRegex: false, isEqual: true }],
                startsAt: '2026-11-28T00:00:00Z',
                endsAt: '2027-11-28T00:00:00Z',
                createdBy: 'Keeper',
                comment,
            }),
        ) as { silenceID: string };
        await json('GET', `silence/${made.silenceID}`);
        await json('DELETE', `silence/${made.silenceID}`);
    }
    for (const filter of ['quay%3D%22north%22', 'quay%3D%22south%22']) await json('GET', `silences?filter=${filter}`);
    for (const path of ['status', 'receivers']) await json('GET', path);
    await open(page, `${base}/#/silences`);
    await page.waitForTimeout(800);
    await page.close();
}

/** A request of the page's script with the token that the page keeps in a cookie. */
async function askSafely(page: Page, method: string, path: string, body?: object): Promise<string> {
    return await page.evaluate(
        async ([how, where, sent]) => {
            const token = /\b_xsrf=([^;]*)/.exec((globalThis as unknown as { document: { cookie: string } }).document.cookie)?.[1] ?? '';
            const headers = { 'x-xsrftoken': token, ...(sent === undefined ? {} : { 'content-type': 'application/json' }) };
            return await (
                await fetch(where, { method: how, headers, ...(sent === undefined ? {} : { body: JSON.stringify(sent) }) })
            ).text();
        },
        [method, path, body] as const,
    );
}
