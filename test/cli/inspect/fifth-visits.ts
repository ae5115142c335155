import type { BrowserContext, Page } from 'playwright-core';
import { ask, KEEPER, open } from './recorded-visits.ts';

/** Signs in to a mail reader, reads and searches mails, marks and moves some, and keeps addresses and settings. */
export async function visitRoundcube(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    await page.fill('#rcmloginuser', 'keeper');
    await page.fill('#rcmloginpwd', KEEPER.password);
    await Promise.all([page.waitForNavigation(), page.press('#rcmloginpwd', 'Enter')]);
    for (const mailbox of ['INBOX', 'Trash', 'Sent']) await open(page, `${base}/?_task=mail&_mbox=${mailbox}`);
    for (const uid of [1, 2, 3]) {
        await open(page, `${base}/?_task=mail&_mbox=INBOX&_uid=${uid}&_action=show`);
        await open(page, `${base}/?_task=mail&_mbox=INBOX&_uid=${uid}&_action=preview&_framed=1`);
    }
    await open(page, `${base}/?_task=mail&_mbox=INBOX`);
    for (const words of ['Tide 1', 'Tide 2']) {
        await page.fill('#mailsearchform', words);
        await settled(page, () => page.press('#mailsearchform', 'Enter'));
    }
    for (const uid of ['4', '5']) {
        await open(page, `${base}/?_task=mail&_mbox=INBOX`);
        for (const flag of ['flagged', 'read', 'unread'])
            await run(page, `rcmail.http_post('mark', { _uid: '${uid}', _mbox: 'INBOX', _flag: '${flag}' })`);
        await run(page, `rcmail.http_post('move', { _uid: '${uid}', _mbox: 'INBOX', _target_mbox: 'Trash' })`);
    }
    for (const column of ['subject', 'date']) await run(page, `rcmail.list_mailbox('INBOX', 1, '${column}_ASC')`);
    await open(page, `${base}/?_task=addressbook`);
    for (const words of ['Mate', 'Pil']) {
        await page.fill('#searchform', words);
        await settled(page, () => page.press('#searchform', 'Enter'));
    }
    for (const action of ['preferences', 'folders', 'identities', 'responses'])
        await open(page, `${base}/?_task=settings&_action=${action}`);
    for (const section of ['general', 'mailbox', 'compose'])
        await open(page, `${base}/?_task=settings&_action=edit-prefs&_section=${section}&_framed=1`);
    for (const mailbox of ['Trash', 'Sent']) await open(page, `${base}/?_task=settings&_action=edit-folder&_mbox=${mailbox}&_framed=1`);
    for (const words of ['Ready', 'Later']) {
        await open(page, `${base}/?_task=settings&_action=add-response&_framed=1`);
        await setValue(page, 'input[name=_name]', words);
        await setValue(page, 'textarea[name=_text]', `${words}.`);
        await Promise.all([page.waitForResponse(/task=settings|\/$/), page.evaluate('document.forms[0].submit()')]);
        await page.waitForTimeout(500);
    }
    await page.close();
}

/** Reads three repositories: their logs, trees, commits, differences and files. */
export async function visitCgit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    for (const path of ['/', '/?q=tide', '/?q=rope', '/?s=name', '/?s=idle']) await open(page, base + path);
    for (const name of ['harbour', 'tides']) {
        const here = `${base}/${name}`;
        for (const path of ['', 'refs/', 'log/', 'tree/', 'commit/', 'diff/', 'stats/', 'refs/heads', 'refs/tags'])
            await open(page, `${here}/${path}`);
        for (const path of [
            'log/?h=spare',
            'log/?qt=grep&q=First',
            'log/?qt=author&q=Keeper',
            'log/src',
            'log/README',
            'stats/?period=q&ofs=10',
        ])
            await open(page, `${here}/${path}`);
        for (const path of [
            'tree/README',
            'tree/src',
            'tree/src/First.c',
            'tree/src/Second.c',
            'blame/README',
            'blame/src/First.c',
            'tag/?h=v1',
        ])
            await open(page, `${here}/${path}`);
        await open(page, `${here}/log/`);
        const ids = (await page.content()).matchAll(/commit\/\?id=([0-9a-f]{40})/g);
        for (const id of [...new Set([...ids].map((match) => match[1]))].slice(0, 2)) {
            for (const path of [`commit/?id=${id}`, `diff/?id=${id}`, `tree/?id=${id}`, `tree/README?id=${id}`])
                await open(page, `${here}/${path}`);
            await ask(page, 'GET', `/${name}/patch/?id=${id}`);
        }
        for (const file of ['README', 'src/First.c']) await ask(page, 'GET', `/${name}/plain/${file}`);
        await ask(page, 'GET', `/${name}/atom/?h=master`);
    }
    await page.close();
}

/** Opens a board of queues and their jobs, and retries, promotes, adds, changes and removes jobs as its script does. */
export async function visitBullBoard(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    for (const path of [
        '/',
        '/queue/mails',
        '/queue/mails?status=failed',
        '/queue/tides?status=delayed',
        '/queue/tides?status=completed&page=1',
        '/job-schedulers',
    ]) {
        await open(page, base + path);
        await page.waitForTimeout(800);
    }
    await ask(page, 'GET', '/api/redis/stats');
    for (const name of ['mails', 'tides']) {
        const here = `/api/queues/${name}`;
        for (const status of ['failed', 'completed', 'delayed'])
            await ask(page, 'GET', `/api/queues?activeQueue=${name}&status=${status}&page=1&jobsPerPage=5`);
        for (const part of ['metrics', 'default-job-options', 'workers', 'rate-limit', 'job-data-schema'])
            await ask(page, 'GET', `${here}/${part}`);
        for (const id of [1, 2, 3]) {
            await open(page, `${base}/queue/${name}/${id}`);
            for (const part of ['', '/logs', '/flow']) await ask(page, 'GET', `${here}/${id}${part}`);
        }
        for (const [id, words] of [
            [9, 'Fog'],
            [10, 'Sun'],
        ] as const) {
            await ask(page, 'PATCH', `${here}/${id}/update-data`, { jobData: { words } });
            await ask(page, 'PATCH', `${here}/${id}/delay`, { delay: 5_000_000 + id });
            await ask(page, 'PATCH', `${here}/${id}/priority`, { priority: id });
            await ask(page, 'PUT', `${here}/${id}/promote`);
            await ask(page, 'PUT', `${here}/${id}/clean`);
            await ask(page, 'POST', `${here}/add`, { name: words, data: { id }, options: { priority: id } });
        }
        for (const id of [1, 3]) await ask(page, 'PUT', `${here}/${id}/retry`);
        for (const part of ['pause', 'resume', 'retry/failed', 'promote', 'clean/completed', 'empty'])
            await ask(page, 'PUT', `${here}/${part}`);
        await ask(page, 'PUT', `${here}/concurrency`, { concurrency: name.length });
        await ask(page, 'GET', `/api/job-schedulers?queueName=${name}`);
        await ask(page, 'PUT', `${here}/job-schedulers/noon/run`);
        await ask(page, 'PUT', `${here}/job-schedulers/noon/remove`);
    }
    for (const part of ['pause', 'resume']) await ask(page, 'PUT', `/api/queues/${part}`);
    await page.close();
}

/** Reads what a monitor watches, pauses and resumes two of its services, and asks for its state as text and XML. */
export async function visitMonit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    for (const path of ['/', '/harbour', '/journal', '/chart', '/pilot', '/_runtime', '/_about']) await open(page, base + path);
    for (const name of ['journal', 'chart']) {
        for (const _ of ['unmonitor', 'monitor']) {
            await open(page, `${base}/${name}`);
            await settled(page, () => page.locator('form[method=POST] input[type=submit]').first().click());
        }
    }
    for (const action of ['validate']) {
        await open(page, `${base}/_runtime`);
        await settled(page, () => page.locator(`form:has(input[value=${action}]) input[type=submit]`).click());
    }
    await open(page, `${base}/_runtime`);
    await settled(page, () => page.locator('form[action=_viewlog] input[type=submit]').click());
    for (const path of [
        '/_status',
        '/_status?format=xml',
        '/_status?format=text',
        '/_status?format=xml&level=full',
        '/_report',
        '/_report?type=up',
        '/_report?type=down',
        '/_getid',
        '/_ping',
    ])
        await ask(page, 'GET', path);
    await page.close();
}

/** Sets a field that the page's style hides outside its frame. */
async function setValue(page: Page, selector: string, value: string): Promise<void> {
    await page
        .locator(selector)
        .first()
        .evaluate((field, text) => ((field as unknown as { value: string }).value = text), value);
}

/** Runs a command of the page's own script. */
async function run(page: Page, command: string): Promise<void> {
    await settled(page, () => page.evaluate(`void (${command})`));
}

async function settled(page: Page, act: () => Promise<unknown>): Promise<void> {
    await Promise.all([page.waitForResponse(() => true, { timeout: 3000 }).catch(() => undefined), act()]);
    await page.waitForLoadState('networkidle', { timeout: 1500 }).catch(() => undefined);
}
