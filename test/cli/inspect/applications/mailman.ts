import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'mailman',
    host: 'letters.test',
    ready: '/ready.html',
    visit,
    start(folder, port) {
        writeFileSync(
            join(folder, 'mailman.cfg'),
            `[mailman]\nlayout: here\nsite_owner: keeper@harbour.example\n[paths.here]\nvar_dir: ${folder}/var\n[database]\nurl: sqlite:///${folder}/mailman.db\n[mta]\nincoming: mailman.mta.null.NullMTA\n`,
        );
        writeFileSync(join(folder, 'serve.py'), serve(folder, port));
        return 'exec /usr/bin/python3 serve.py';
    },
};

/** Keeps mailing lists by their API: domains, lists, members, settings, bans, held messages and the people who write. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/ready.html`);
    const call = async (method: string, path: string, body?: string): Promise<string> =>
        await page.evaluate(
            async ([how, where, sent]) => {
                const headers = {
                    authorization: `Basic ${btoa('keeper:planted-brass')}`,
                    accept: 'application/json',
                    ...(sent === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
                };
                const answer = await fetch(where, { method: how, headers, ...(sent === undefined ? {} : { body: sent }) });
                return answer.headers.get('location') ?? (await answer.text());
            },
            [method, `/3.1${path}`, body] as const,
        );
    for (const part of ['versions', 'preferences', 'configuration', 'pipelines', 'chains']) await call('GET', `/system/${part}`);
    for (const part of ['paths.here', 'mta']) await call('GET', `/system/configuration/${part}`);
    for (const domain of ['quay.example', 'pier.example']) {
        await call('POST', '/domains', `mail_host=${domain}&description=Letters+of+${domain}`);
        await call('GET', `/domains/${domain}`);
        await call('PATCH', `/domains/${domain}`, 'description=All+letters');
        await call('POST', `/domains/${domain}/owners`, `owner=keeper%40${domain}`);
        await call('GET', `/domains/${domain}/owners`);
        for (const name of ['ropes', 'tides']) {
            const address = `${name}@${domain}`;
            await call('POST', '/lists', `fqdn_listname=${encodeURIComponent(address)}&style_name=legacy-default`);
            const list = `/lists/${name}.${domain}`;
            await call('GET', list);
            await call('GET', `/lists/${address}/config`);
            await call('GET', `${list}/config/description`);
            await call('GET', `${list}/config/subject_prefix`);
            await call('PATCH', `${list}/config`, `description=About+${name}&subject_prefix=%5B${name}%5D`);
            for (const person of ['ada', 'ben'])
                await call(
                    'POST',
                    '/members',
                    `list_id=${name}.${domain}&subscriber=${person}%40mail.example&display_name=${person}&pre_verified=true&pre_confirmed=true&pre_approved=true`,
                );
            await call('POST', '/members', `list_id=${name}.${domain}&subscriber=keeper%40mail.example&role=moderator`);
            for (const roster of ['member', 'owner', 'moderator']) await call('GET', `${list}/roster/${roster}`);
            await call('GET', `${list}/roster/member?count=1&page=1`);
            await call('GET', `${list}/member/ada@mail.example`);
            await call('POST', `${list}/bans`, `email=spam-${name}%40mail.example`);
            await call('GET', `${list}/bans`);
            await call('GET', `${list}/bans/spam-${name}@mail.example`);
            await call('DELETE', `${list}/bans/spam-${name}@mail.example`);
            await call('GET', `${list}/held`);
            await call('GET', `${list}/held/count`);
            await call('GET', `${list}/requests`);
            await call('GET', `${list}/archivers`);
            await call('GET', `${list}/header-matches`);
            await call('POST', `${list}/header-matches`, `header=X-${name}&pattern=yes`);
            await call('GET', `${list}/uris`);
            await call('GET', `${list}/digest`);
        }
        await call('GET', `/domains/${domain}/lists`);
    }
    await call('GET', '/domains');
    await call('GET', '/lists');
    await call('GET', '/lists?count=2&page=1');
    await call('GET', '/lists/styles');
    for (const [who, role] of [
        ['ada', 'member'],
        ['keeper', 'moderator'],
    ])
        await call('POST', '/lists/find', `subscriber=${who}%40mail.example&role=${role}`);
    const members = JSON.parse(await call('GET', '/members')) as { entries: { member_id: string }[] };
    for (const name of ['ropes', 'tides']) await call('POST', '/members/find', `list_id=${name}.quay.example&role=member`);
    for (const { member_id: id } of members.entries.slice(0, 2)) {
        await call('GET', `/members/${id}`);
        await call('GET', `/members/${id}/preferences`);
        await call('GET', `/members/${id}/all/preferences`);
        await call('PATCH', `/members/${id}/preferences`, 'receive_own_postings=false');
        await call('PATCH', `/members/${id}`, 'delivery_mode=plaintext_digests');
    }
    for (const person of ['ada', 'ben']) {
        const address = `/addresses/${person}@mail.example`;
        await call('GET', address);
        await call('GET', `${address}/memberships`);
        await call('GET', `${address}/preferences`);
        await call('POST', `${address}/verify`, '');
        await call('POST', `${address}/unverify`, '');
        await call('GET', `${address}/user`);
    }
    await call('GET', '/addresses');
    for (const name of ['cara', 'dan']) {
        const id = (await call('POST', '/users', `email=${name}%40mail.example&display_name=${name}`)).split('/').at(-1) ?? '';
        await call('GET', `/users/${id}`);
        await call('PATCH', `/users/${id}`, `display_name=Captain+${name}`);
        await call('POST', `/users/${id}/addresses`, `email=${name}.two%40mail.example`);
        for (const part of ['addresses', 'preferences']) await call('GET', `/users/${id}/${part}`);
        await call('DELETE', `/users/${id}`);
    }
    await call('GET', '/users');
    await call('GET', '/users?count=2&page=1');
    await call('GET', '/owners');
    await call('POST', '/bans', 'email=thief%40mail.example');
    await call('POST', '/bans', 'email=pirate%40mail.example');
    for (const name of ['thief', 'pirate']) await call('GET', `/bans/${name}@mail.example`);
    await call('GET', '/bans');
    for (const name of ['thief', 'pirate']) await call('DELETE', `/bans/${name}@mail.example`);
    await call('GET', '/queues');
    for (const queue of ['in', 'out', 'shunt']) await call('GET', `/queues/${queue}`);
    for (const id of members.entries.slice(2, 4)) await call('DELETE', `/members/${id.member_id}`);
    for (const domain of ['quay.example', 'pier.example']) {
        await call('DELETE', `/lists/tides.${domain}`);
        await call('DELETE', `/domains/${domain}`);
    }
    await page.close();
}

/** Its own API, beside one page that a browser may open without a password. */
function serve(folder: string, port: number): string {
    return `
from wsgiref.simple_server import make_server
from mailman.core.initialize import initialize
initialize('${folder}/mailman.cfg')
from mailman.config import config
config.push('keeper', '[webservice]\\nadmin_user: keeper\\nadmin_pass: planted-brass\\nport: ${port}\\nhostname: letters.test\\n')
from mailman.rest.wsgiapp import make_application
api = make_application()
def serve(environ, start):
    if environ['PATH_INFO'] == '/ready.html':
        start('200 OK', [('content-type', 'text/html')])
        return [b'<!doctype html><title>Letters</title><div id=application></div>']
    return api(environ, start)
make_server('127.0.0.1', ${port}, serve).serve_forever()
`;
}
