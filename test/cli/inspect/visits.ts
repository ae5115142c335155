import type { BrowserContext, Page } from 'playwright-core';
import { OPERATOR } from '../../real/support/django-admin.ts';
import { FOSSIL_PASSWORD } from './apps.ts';
import { CREDENTIALS, PERSON } from './planted.ts';

/** Browses the classic pages of Prometheus and sends a few queries. */
export async function visitPrometheus(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/graph`);
    for (const expression of ['up', 'prometheus_build_info', 'vector(1)', 'process_open_fds']) {
        await page.fill('textarea[name=expr]', expression);
        await answered(page, '/api/v1/query', () => page.press('textarea[name=expr]', 'Enter'));
    }
    await answered(page, '/api/v1/query_range', () => page.click('a[href="#graph0"]'));
    await answered(page, '/api/v1/query_range', () => page.click('button[name=dec_range]'));
    await answered(page, '/api/v1/query_range', () => page.click('button[name=dec_range]'));
    for (const place of ['alerts', 'status', 'flags', 'config', 'rules', 'targets', 'service-discovery'])
        await open(page, `${base}/classic/${place}`);
    // The requests of its newer pages.
    await page.evaluate(async (signal) => {
        const ask = async (path: string) => await (await fetch(path)).text();
        await ask('/api/v1/labels');
        for (const label of ['job', 'instance', '__name__', 'rulename']) await ask(`/api/v1/label/${label}/values`);
        for (const selector of ['up', 'process_open_fds']) await ask(`/api/v1/series?match[]=${selector}&start=0`);
        for (const path of ['targets?state=active', 'targets?state=dropped', 'rules', 'alerts', 'metadata', 'alertmanagers'])
            await ask(`/api/v1/${path}`);
        for (const path of ['config', 'flags', 'runtimeinfo', 'buildinfo', 'tsdb']) await ask(`/api/v1/status/${path}`);
        await fetch('/api/v1/query', {
            method: 'POST',
            headers: { 'content-type': 'application/x-www-form-urlencoded', authorization: signal },
            body: 'query=up&time=1700000000',
        });
        await fetch('/api/v1/query', {
            method: 'POST',
            headers: { 'content-type': 'application/x-www-form-urlencoded', authorization: signal },
            body: 'query=vector(2)&time=1700000060',
        });
    }, CREDENTIALS.authorization);
    await page.close();
}

/** Signs in to fossil, reads, searches and files two tickets. */
export async function visitFossil(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    await open(page, `${base}/login`);
    await page.fill('#u', 'admin');
    await page.fill('#p', FOSSIL_PASSWORD);
    await Promise.all([page.waitForNavigation(), page.click('input[name=in]')]);
    await open(page, `${base}/timeline`);
    await open(page, `${base}/timeline?y=ci&n=20`);
    await open(page, `${base}/timeline?y=w&n=50`);
    const checkins = await page.evaluate(async () => {
        const text = await (await fetch('/timeline?y=ci&n=20')).text();
        return [...new Set([...text.matchAll(/\/info\/([0-9a-f]{8,})/g)].map((match) => match[1] ?? ''))];
    });
    for (const checkin of checkins.slice(0, 3)) await open(page, `${base}/info/${checkin}`);
    for (const path of ['/brlist', '/taglist', '/reportlist', '/ticket', '/wiki', '/wcontent', '/sitemap']) await open(page, base + path);
    for (const name of ['Tides', 'Lights', 'Moorings']) await open(page, `${base}/wiki?name=${name}`);
    for (const name of ['README.md', 'src/main.c']) {
        await open(page, `${base}/finfo?name=${encodeURIComponent(name)}`);
        await open(page, `${base}/file?name=${encodeURIComponent(name)}&ci=tip`);
    }
    await open(page, `${base}/tree?ci=tip&type=tree`);
    await open(page, `${base}/tree?ci=trunk&type=flat`);
    for (const words of ['harbour', 'starboard green']) {
        await open(page, `${base}/search`);
        await page.fill('input[name=s]', words);
        await Promise.all([page.waitForNavigation(), page.press('input[name=s]', 'Enter')]);
    }
    for (const title of ['The light is out', 'Rope needed']) {
        await open(page, `${base}/tktnew`);
        await page.fill('input[name=title]', title);
        await page.fill('input[name=private_contact]', PERSON.mail);
        await page.fill('textarea[name=icomment]', `Please call ${PERSON.phone}. ${PERSON.name}`);
        await Promise.all([page.waitForNavigation(), page.click('input[name=preview]')]);
        await Promise.all([page.waitForNavigation(), page.click('input[name=submit]')]);
    }
    await open(page, `${base}/rptview?rn=1`);
    await page.close();
}

/** Browses a package registry, and signs in. */
export async function visitVerdaccio(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    for (const name of ['tea-kettle', 'tea-pot', '@harbour/rope']) {
        await open(page, `${base}/`);
        await answered(page, '/sidebar/', () => page.click(`text="${name}"`));
        await page.waitForLoadState('networkidle');
    }
    for (const words of ['tea', 'rope', 'kett']) {
        await answered(page, '/search/', () => page.fill('input[placeholder]', words));
    }
    await page.evaluate(async ({ authorization, password }) => {
        const ask = async (path: string, init: RequestInit = {}) =>
            await (await fetch(path, { ...init, headers: { authorization, 'content-type': 'application/json' } })).text();
        await ask('/-/verdaccio/sec/login', { method: 'POST', body: JSON.stringify({ username: 'keeper', password }) });
        await ask('/-/ping');
        for (const text of ['tea', 'rope']) await ask(`/-/v1/search?text=${text}&size=20&from=0`);
        for (const name of ['tea-kettle', 'tea-pot', '@harbour%2frope']) {
            await ask(`/${name}`);
            await ask(`/-/package/${name}/dist-tags`);
        }
        for (const version of ['1.0.0', '2.1.0']) await ask(`/tea-kettle/${version}`);
        for (const tag of ['next', 'old']) await ask(`/-/package/tea-kettle/dist-tags/${tag}`, { method: 'PUT', body: '"1.0.0"' });
        await ask('/-/package/tea-kettle/dist-tags/old', { method: 'DELETE' });
    }, CREDENTIALS);
    await page.close();
}

/** A page that works with the posts and comments of json-server. */
export async function visitPosts(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    await page.evaluate(
        async ({ authorization, mail, phone, name, token }) => {
            const ask = async (method: string, path: string, body?: object) => {
                const headers = { authorization, accept: 'application/json', ...(body && { 'content-type': 'application/json' }) };
                return await (await fetch(path, { method, headers, ...(body && { body: JSON.stringify(body) }) })).text();
            };
            await ask('GET', '/posts');
            for (const place of [1, 2, 3]) await ask('GET', `/posts?_page=${place}&_limit=3`);
            for (const [sort, order] of [
                ['views', 'desc'],
                ['title', 'asc'],
                ['views', 'asc'],
            ])
                await ask('GET', `/posts?_sort=${sort}&_order=${order}`);
            for (const words of ['Tea', 'milk']) await ask('GET', `/posts?q=${words}`);
            for (const id of [1, 2, 3, 5]) await ask('GET', `/posts/${id}`);
            for (const id of [1, 2]) await ask('GET', `/posts/${id}/comments`);
            await ask('GET', '/comments?postId=1');
            await ask('GET', '/comments/2');
            await ask('GET', '/profile');
            await ask('GET', '/posts/777');
            await ask('POST', '/posts', { title: 'One', author: name, views: 1, contact: mail });
            await ask('POST', '/posts', { title: 'Two', author: name, views: 2, contact: phone, session_token: token });
            await ask('POST', '/posts/3/comments', { body: 'Good', from: { kind: 'reader', mail } });
            await ask('PUT', '/posts/4', { title: 'New', author: name, views: 4 });
            await ask('PUT', '/posts/5', { title: 'Newer', author: name, views: 5 });
            await ask('PATCH', '/posts/6', { views: 61 });
            await ask('DELETE', '/posts/7');
        },
        { ...CREDENTIALS, ...PERSON },
    );
    await page.close();
}

async function open(page: Page, url: string): Promise<void> {
    await page.goto(url);
    await page.waitForLoadState('networkidle');
}

/** Runs `act` and waits for the complete response that it causes. */
async function answered(page: Page, path: string, act: () => Promise<unknown>): Promise<void> {
    const [response] = await Promise.all([page.waitForResponse((answer) => new URL(answer.url()).pathname.includes(path)), act()]);
    await response.finished();
}

/** Reads, searches and adds bookmarks of a public collection. */
export async function visitShaarli(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    const found = await page.locator('a[href*="/shaare/"]').all();
    const links = await Promise.all(found.map(async (link) => new URL((await link.getAttribute('href')) ?? '', base).href));
    for (const link of [...new Set(links.filter((href) => /\/shaare\/[\w-]{6}$/.test(href)))].slice(0, 3)) await open(page, link);
    for (const place of [2, 1]) await open(page, `${base}/?page=${place}`);
    for (const words of ['tea', 'coffee']) {
        await open(page, `${base}/`);
        await page.locator('input[name=searchterm]:visible').first().fill(words);
        await Promise.all([page.waitForNavigation(), page.locator('input[name=searchterm]:visible').first().press('Enter')]);
    }
    for (const tag of ['tea', 'coffee']) await open(page, `${base}/?searchtags=${tag}`);
    for (const path of ['/tags/cloud', '/tags/list', '/daily', '/picture-wall', '/admin/tools', '/admin/add-shaare'])
        await open(page, base + path);
    for (const [title, description] of [
        ['Lanterns', `Ask ${PERSON.name}, ${PERSON.mail}`],
        ['Ropes', `Call ${PERSON.phone}`],
    ] as const) {
        await open(page, `${base}/admin/shaare`);
        await page.fill('input[name=lf_url]', `https://${title.toLowerCase()}.example/`);
        await page.fill('input[name=lf_title]', title);
        await page.fill('textarea[name=lf_description]', description);
        await Promise.all([page.waitForNavigation(), page.locator('input[name=save_edit]').first().click()]);
    }
    // A browser asks for it when a person adds the search to the address bar.
    await page.evaluate(async () => await (await fetch('/open-search')).text());
    await page.close();
}

/** Signs in as the operator of a Django site and manages members and groups. */
export async function visitDjangoAdmin(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/admin/`);
    await page.fill('input[name=username]', OPERATOR.username);
    await page.fill('input[name=password]', OPERATOR.password);
    await Promise.all([page.waitForNavigation(), page.click('input[type=submit]')]);
    await open(page, `${base}/admin/auth/`);
    await open(page, `${base}/admin/auth/user/`);
    for (const query of ['?o=1', '?o=-2', '?p=2', '?q=member', '?q=ada']) await open(page, `${base}/admin/auth/user/${query}`);
    for (const member of [2, 3, 4]) await open(page, `${base}/admin/auth/user/${member}/change/`);
    for (const member of [2, 3]) await open(page, `${base}/admin/auth/user/${member}/history/`);
    await open(page, `${base}/admin/auth/user/5/delete/`);
    for (const name of ['Keepers', 'Pilots']) {
        await open(page, `${base}/admin/auth/group/add/`);
        await page.fill('input[name=name]', name);
        await Promise.all([page.waitForNavigation(), page.click('input[name=_save]')]);
    }
    await open(page, `${base}/admin/auth/group/`);
    for (const group of [1, 2]) await open(page, `${base}/admin/auth/group/${group}/change/`);
    await page.close();
}
