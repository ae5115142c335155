import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, KEEPER, links, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'hyperkitty',
    host: 'lists.test',
    ready: '/hyperkitty/',
    visit,
    start(folder, port) {
        writeFileSync(join(folder, 'harbour_settings.py'), SETTINGS);
        writeFileSync(join(folder, 'letters.py'), LETTERS);
        return `
            export DJANGO_SETTINGS_MODULE=harbour_settings PYTHONPATH=${folder}
            /usr/bin/python3 letters.py
            django="/usr/bin/python3 -m django"
            $django migrate
            for name in tides ropes; do $django hyperkitty_import -l $name@harbour.example $name.mbox; done
            $django update_index
            echo "from django.contrib.auth.models import User; from allauth.account.models import EmailAddress; keeper = User.objects.create_user('${KEEPER.user}', 'keeper@harbour.example', '${KEEPER.password}'); EmailAddress.objects.create(user=keeper, email=keeper.email, verified=True, primary=True)" | $django shell
            exec $django runserver --insecure --noreload 127.0.0.1:${port}`;
    },
};

/** Reads the archives of two mailing lists, searches them, signs in, and votes for, tags and marks what was read. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/hyperkitty/`);
    for (const sort of ['popular', 'active', 'name', 'creation']) await open(page, `${base}/hyperkitty/?sort=${sort}`);
    await ask(page, 'GET', '/hyperkitty/find-list?term=tid');
    await ask(page, 'GET', '/hyperkitty/find-list?term=ro');
    for (const name of ['tides', 'ropes']) {
        const list = `${base}/hyperkitty/list/${name}@harbour.example/`;
        const path = new URL(list).pathname;
        await open(page, list);
        for (const part of ['latest', 'threads/', '2026/2/', '2026/3/']) await open(page, list + part).catch(() => undefined);
        for (const part of ['top-boosters', 'recent-threads', 'recent-activity', 'recent-threads-overview', 'top', 'recent-posters'])
            await ask(page, 'GET', `${path}${part}`);
        await open(page, `${list}latest?page=1`);
        await open(page, `${list}2026/2/`);
        const threads = await links(page, /\/thread\/\w+\/$/);
        for (const thread of threads.slice(0, 3)) {
            await open(page, thread);
            const at = new URL(thread).pathname;
            await ask(page, 'GET', `${at}replies?sort=thread&last_view=2026-01-01T00%3A00%3A00`);
            await ask(page, 'GET', `${at}replies?sort=date`);
        }
        await open(page, threads[0] ?? '');
        for (const message of (await links(page, /\/message\/\w+\/$/)).slice(0, 3)) await open(page, message);
        await ask(page, 'GET', `${path}export/${name}@harbour.example-2026-02.mbox.gz?start=2026-02-01&end=2026-03-01`);
    }
    for (const words of ['water', 'fog']) await open(page, `${base}/hyperkitty/search?q=${words}`);
    for (const [words, name, sort] of [
        ['water', 'tides', 'date-desc'],
        ['fog', 'ropes', 'date-asc'],
    ])
        await open(page, `${base}/hyperkitty/search?q=${words}&mlist=${name}@harbour.example&sort=${sort}&page=1`);
    await ask(page, 'GET', '/hyperkitty/api/');
    await ask(page, 'GET', '/hyperkitty/api/lists/');
    for (const name of ['tides', 'ropes']) {
        const list = `/hyperkitty/api/list/${name}@harbour.example`;
        await ask(page, 'GET', `${list}/`);
        const threads = rows<{ thread_id: string }>(await ask(page, 'GET', `${list}/threads/`));
        for (const { thread_id } of threads.slice(0, 2)) {
            await ask(page, 'GET', `${list}/thread/${thread_id}/`);
            await ask(page, 'GET', `${list}/thread/${thread_id}/emails/`);
        }
        await ask(page, 'GET', `${list}/threads/?limit=2&offset=1`);
        const emails = rows<{ message_id_hash: string }>(await ask(page, 'GET', `${list}/emails/`));
        for (const { message_id_hash } of emails.slice(0, 2)) await ask(page, 'GET', `${list}/email/${message_id_hash}/`);
    }
    for (const id of (await ask(page, 'GET', '/hyperkitty/api/list/tides@harbour.example/emails/'))
        .match(/sender\/[^/"]+\/emails/g)
        ?.slice(0, 2) ?? [])
        await ask(page, 'GET', `/hyperkitty/api/${id}/`);
    await open(page, `${base}/accounts/login/`);
    await page.fill('input[name=login]', KEEPER.user);
    await page.fill('input[name=password]', KEEPER.password);
    await Promise.all([page.waitForNavigation(), page.press('input[name=password]', 'Enter')]);
    for (const part of ['', 'subscriptions', 'favorites', 'last_views', 'votes']) await open(page, `${base}/hyperkitty/profile/${part}`);
    for (const name of ['tides', 'ropes']) {
        const list = `/hyperkitty/list/${name}@harbour.example`;
        await open(page, `${base}${list}/2026/3/`);
        const [thread = '', other = ''] = await links(page, /\/thread\/\w+\/$/);
        await open(page, thread);
        const at = new URL(thread).pathname;
        await send(page, `${at}tags`, `tag=${name}+news&action=add`);
        await send(page, `${at}tags`, `tag=${name}+news&action=rm`);
        await send(page, `${at}favorite`, 'action=add');
        await send(page, `${at}favorite`, 'action=rm');
        await send(page, `${at}set-category`, 'category=');
        for (const message of (await links(page, /\/message\/\w+\/$/)).slice(0, 2))
            await send(page, `${new URL(message).pathname}vote`, 'vote=1');
        await send(page, `${new URL(other).pathname}favorite`, 'action=add');
        await open(page, `${base}${list}/message/new`);
    }
    await open(page, `${base}/hyperkitty/profile/favorites`);
    await page.close();
}

/** A list, which some answers hold in pages. */
function rows<Row>(answer: string): Row[] {
    const list = JSON.parse(answer) as Row[] | { results: Row[] };
    return Array.isArray(list) ? list : list.results;
}

/** Sends a form as the page's script does, with the token of its cookie. */
async function send(page: Page, path: string, body: string): Promise<void> {
    await page.evaluate(
        async ([where, sent]) => {
            const token = /csrftoken=([^;]*)/.exec((globalThis as unknown as { document: { cookie: string } }).document.cookie)?.[1] ?? '';
            const headers = {
                'content-type': 'application/x-www-form-urlencoded; charset=UTF-8',
                'x-csrftoken': token,
                'x-requested-with': 'XMLHttpRequest',
            };
            await (await fetch(where, { method: 'POST', headers, body: sent })).text();
        },
        [path, body] as const,
    );
}

const SETTINGS = `
import os, sys
sys.path.insert(0, '/usr/share/mailman3-web')
from settings import *
BASE = os.path.dirname(os.path.abspath(__file__))
SECRET_KEY = 'harbour'
ALLOWED_HOSTS = ['*']
DATABASES = {'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': BASE + '/db.sqlite'}}
HAYSTACK_CONNECTIONS = {'default': {'ENGINE': 'haystack.backends.whoosh_backend.WhooshEngine', 'PATH': BASE + '/index'}}
COMPRESS_ENABLED = False
COMPRESS_OFFLINE = False
ACCOUNT_EMAIL_VERIFICATION = 'none'
ACCOUNT_DEFAULT_HTTP_PROTOCOL = 'http'
Q_CLUSTER = {'sync': True, 'orm': 'default', 'timeout': 300, 'retry': 360}
LOGGING = {'version': 1}
`;

const LETTERS = `
import email.message, mailbox
writers = ['Ada <ada@harbour.example>', 'Grace <grace@harbour.example>', 'Mary <mary@harbour.example>']
for name in ('tides', 'ropes'):
    box = mailbox.mbox(name + '.mbox')
    for place, subject in enumerate(['High water', 'Fog at dawn', 'New mooring', 'Lost anchor', 'Green light']):
        for reply in range(3):
            letter = email.message.EmailMessage()
            letter['From'] = writers[(place + reply) % 3]
            letter['To'] = name + '@harbour.example'
            letter['Subject'] = ('Re: ' if reply else '') + f'{subject} at the {name}'
            letter['Date'] = f'{3 + place:02d} {"Feb" if place < 3 else "Mar"} 2026 1{reply}:00:00 +0000'
            letter['Message-ID'] = f'<{name}-{place}-{reply}@harbour.example>'
            if reply:
                letter['In-Reply-To'] = f'<{name}-{place}-0@harbour.example>'
            letter.set_content(f'Words about {subject.lower()}, number {reply}. Water is near.')
            box.add(letter)
    box.flush()
`;
