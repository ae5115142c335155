import type { BrowserContext, Page } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { KEEPER, open, press } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'roundup',
    host: 'issues.test',
    ready: '/harbour/',
    visit,
    start: (_folder, port, npm) => `
        bin=${npm}/../../py/bin
        $bin/roundup-admin -i tracker install classic anydbm admin_email=keeper@harbour.example,tracker_name=Harbour,mail_domain=harbour.example,mailhost=localhost,tracker_web=http://issues.test:${port}/harbour/
        sed -i 's/^mail_domain *=.*/mail_domain = harbour.example/; s/^email *=.*/email = keeper@harbour.example/; s/^debug *=.*/debug = mails.txt/' tracker/config.ini
        $bin/roundup-admin -i tracker initialise ${KEEPER.password}
        $bin/roundup-admin -i tracker create keyword name=rope && $bin/roundup-admin -i tracker create keyword name=paint
        exec $bin/roundup-server -n 127.0.0.1 -p ${port} harbour=tracker`,
};

/** Reports what is broken, looks for it on the pages and by requests, and changes it. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    const home = `${base}/harbour`;
    await open(page, `${home}/`);
    await page.fill('input[name=__login_name]', 'admin');
    await page.fill('input[name=__login_password]', KEEPER.password);
    await press(page, 'input[value=Login]');
    const made: string[] = [];
    for (const [place, title] of ['Lamp is dark', 'Rope is wet', 'Horn is hoarse'].entries()) {
        const answer = await rest(page, 'POST', '/data/issue', { title, priority: String(1 + place), keyword: ['rope'] });
        made.push((JSON.parse(answer) as { data: { id: string } }).data.id);
    }
    await open(page, `${home}/issue?@template=item`);
    await page.fill('input[name=title]', 'Bell is gone');
    await page.selectOption('select[name=priority]', { index: 2 });
    await page.fill('textarea[name="@note"]', 'It was there at noon');
    await press(page, 'input[name=submit_button], input[value="Submit New Entry"]');
    await open(page, `${home}/issue`);
    await open(page, `${home}/issue?@template=search`);
    await open(page, `${home}/issue?@columns=id,activity,title,creator,status&@sort=-activity&@group=priority&status=-1,1,2,3&@search_text=`);
    await open(page, `${home}/issue?@columns=id,title,status&@sort=activity&@group=priority&@search_text=rope`);
    await open(page, `${home}/issue?@columns=id,title&@pagesize=2&@startwith=2`);
    for (const id of made) await open(page, `${home}/issue${id}`);
    await open(page, `${home}/issue4`);
    await open(page, `${home}/msg1`);
    await page.fill('input[name="@number"]', '2');
    await press(page, 'input[value="Show issue:"]');
    await open(page, `${home}/user`);
    for (const id of [1, 2]) await open(page, `${home}/user${id}`);
    const get = (path: string) => rest(page, 'GET', path);
    await get('/');
    await get('/data');
    await get('/data/issue');
    await get('/data/issue?@page_size=2&@page_index=1');
    await get('/data/issue?@page_size=2&@page_index=2&@verbose=2');
    await get('/data/issue?title=rope&@fields=title,status');
    await get('/data/issue?status=unread&@sort=-activity');
    for (const id of made) await get(`/data/issue/${id}`);
    await get('/data/issue/1?@verbose=0');
    for (const id of made.slice(0, 2)) for (const name of ['title', 'status']) await get(`/data/issue/${id}/${name}`);
    for (const name of ['status', 'keyword', 'user']) {
        await get(`/data/${name}`);
        for (const id of [1, 2]) await get(`/data/${name}/${id}`);
    }
    await get('/data/user?username=admin');
    await get('/data/msg/1');
    for (const id of made.slice(0, 2)) {
        await rest(page, 'PATCH', `/data/issue/${id}`, { status: '2', '@etag': await etagOf(page, id) });
        await rest(page, 'PUT', `/data/issue/${id}/title`, { data: `New title ${id}`, '@etag': await etagOf(page, id) });
        await rest(page, 'POST', `/data/issue/${id}`, { '@op': 'action', '@action_name': 'retire' });
    }
    for (const name of ['tar', 'oil']) await rest(page, 'POST', '/data/keyword', { name });
    await page.close();
}

/** The version of an issue, which a change has to name. */
async function etagOf(page: Page, id: string): Promise<string> {
    const { data } = JSON.parse(await rest(page, 'GET', `/data/issue/${id}`)) as { data: { '@etag': string } };
    return data['@etag'];
}

async function rest(page: Page, method: string, path: string, body?: object): Promise<string> {
    return await page.evaluate(
        async ([how, where, sent]) => {
            const headers = { accept: 'application/json', 'x-requested-with': 'rest', ...(sent === undefined ? {} : { 'content-type': 'application/json' }) };
            return await (await fetch(`/harbour/rest${where}`, { method: how, headers, ...(sent === undefined ? {} : { body: JSON.stringify(sent) }) })).text();
        },
        [method, path, body] as const,
    );
}
