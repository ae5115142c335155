import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PackageDocument, PackageEndpoint, PackageParam } from '../../shared/domain/types.ts';
import { html, json } from './library.ts';
import { openSite, type Site } from './sites.ts';

export const FORM_SITE = 'forms.test';
/** Host names that resolve to it. `branch` is a host of the same owner, `elsewhere.test` is not. */
export const FORM_SITE_HOSTS: Readonly<Record<string, string>> = {
    [FORM_SITE]: '127.0.0.1',
    [`branch.${FORM_SITE}`]: '127.0.0.1',
    'elsewhere.test': '127.0.0.1',
};
export const PASSWORD = 'open sesame';

interface Asked {
    url: URL;
    cookies: ReadonlyMap<string, string>;
    request: IncomingMessage & { text: string };
    response: ServerResponse;
    port: number;
}

/** A help desk on loopback. Its forms require the token of their page and the cookie that came with it. */
export async function openFormSite(): Promise<Site> {
    const site: Site = await openSite((request, response) => {
        const { host = '', cookie = '' } = request.headers;
        const cookies = new Map(cookie.split('; ').map((pair): [string, string] => [pair.split('=')[0] ?? '', pair.split('=')[1] ?? '']));
        const url = new URL(request.url ?? '/', `http://${host}`);
        const show = PAGES[`${request.method} ${url.pathname}`];
        if (show === undefined) json(response, 404, { error: 'no such page' });
        else show({ url, cookies, request, response, port: site.port });
    });
    return site;
}

let visits = 0;

const PAGES: Readonly<Record<string, (asked: Asked) => void>> = {
    'GET /login': ({ response, port }) => {
        const visit = `v${++visits}`;
        response.setHeader('set-cookie', [
            `visit=${visit}; Path=/; HttpOnly; Domain=${FORM_SITE}`,
            'gone=1; Max-Age=0',
            'secret=1; Secure',
        ]);
        html(response, formsFor(visit, port));
    },
    'GET /moved': ({ response }) =>
        response.writeHead(302, { location: '/login', 'set-cookie': ['moved=1; Path=/', 'only=here; Path=/moved'] }).end(),
    'GET /stuck': () => {},
    'POST /session': ({ request, cookies, response }) => {
        const sent = new URLSearchParams(request.text);
        if (sent.get('csrf') !== `token of ${cookies.get('visit')}`) return json(response, 403, { error: 'forged' });
        if (sent.get('password') !== PASSWORD) return json(response, 401, { error: 'wrong' });
        response.writeHead(303, { location: '/members', 'set-cookie': `member=${sent.get('user')}; Path=/members` }).end();
    },
    'GET /members': ({ cookies, request, response }) => {
        if (!cookies.has('visit')) return json(response, 403, { error: 'who are you' });
        json(response, 200, { member: cookies.get('member') ?? null, cookie: request.headers.cookie ?? null });
    },
    'GET /find': ({ url, response }) => {
        const page = Number(url.searchParams.get('page') ?? 1);
        json(response, 200, { items: page <= 2 ? [{ page }] : [], asked: url.pathname + url.search });
    },
    'POST /notes': ({ request, url, response }) =>
        json(response, 200, { path: url.pathname + url.search, body: request.text, type: request.headers['content-type'] ?? null }),
    // The answer of a submission is on another host of the same owner.
    'POST /hand-over': ({ response, port }) =>
        response.writeHead(303, { location: `http://branch.${FORM_SITE}:${port}/members-there` }).end(),
    'GET /members-there': ({ request, response }) => json(response, 200, { cookie: request.headers.cookie ?? null }),
};

function formsFor(visit: string, port: number): string {
    const token = `<input type="hidden" name="csrf" value="token of ${visit}">`;
    const inputs = (count: number, value = 'x') =>
        Array.from({ length: count }, (_, place) => `<input type=hidden name=h${place} value="${value}">`).join('');
    return `
<form id="login" method="POST" action="/session#top">${token}
  <input name="user" value="nobody"><input type="password" name="password"><input type="checkbox" name="remember" checked>
  <input type="hidden" name="off" value="1" disabled><input type="hidden" value="nameless"><input type="submit" name="go" value="Go"></form>
<input type="hidden" name="outside" value="counts" form="login"><input type="hidden" name="stray" value="never">
<form id="search" action="find?old=1"><input type="HIDDEN" name="lang" value="en"><input name="q"></form>
<form id="notes" method="post" action="/notes?from=page">${token}<textarea name="note">draft</textarea></form>
<form id="over" method="post" action="/hand-over">${token}</form>
<form id="here" method="post">${token}</form>
<form class="twin" method="post"></form><form class="twin" method="post"></form>
<form id="away" method="post" action="http://elsewhere.test:${port}/notes"></form>
<form id="script" method="post" action="javascript:alert(1)"></form>
<form id="port" method="post" action="http://${FORM_SITE}:1/notes"></form>
<form id="dialog" method="dialog"></form>
<form id="full" method="post" action="/notes">${inputs(200)}</form>
<form id="many" method="post" action="/notes">${inputs(201)}</form>
<form id="heavy" method="post" action="/notes">${inputs(10, 'x'.repeat(7000))}</form>`;
}

const body = (name: string, required = false): PackageParam => ({ name, source: 'body', required, schema: { type: 'string' } });
const query = (name: string): PackageParam => ({ name, source: 'query', required: false });

/** The site's endpoints with its port, named after what they show. */
export function formEndpoints(port: number): PackageEndpoint[] {
    const base = `http://${FORM_SITE}:${port}`;
    const form = (name: string, selector: string, more: Partial<PackageEndpoint> = {}): PackageEndpoint => ({
        name,
        kind: 'submit_form',
        method: 'POST',
        url: `${base}/never-asked`,
        prepare: { url: `${base}/login`, form: selector },
        ...more,
    });
    const note = { params: [body('note')] };
    return [
        form('log_in', 'form#login', { params: [body('user', true), body('password', true)] }),
        form('log_in_from_old_page', '#login', {
            prepare: { url: `${base}/moved`, form: '#login' },
            params: [body('user'), body('password')],
        }),
        form('find', '#search', { method: 'GET', params: [query('q'), query('lang')] }),
        form('find_all', '#search', { kind: 'paginate', method: 'GET', params: [query('q')], pagination: { param: 'page' } }),
        form('note', 'form[id=notes]', { ...note, params: [body('note'), query('at')] }),
        form('note_as_json', '#notes', { ...note, body_format: 'json' }),
        form('hand_over', '#over'),
        form('post_here', '#here'),
        form('fill_full', '#full', note),
        ...['none', 'twin', 'away', 'script', 'port', 'dialog', 'many', 'heavy', 'search'].map((id) =>
            form(`bad_${id}`, id === 'twin' ? '.twin' : `#${id}`, note),
        ),
        form('not_a_form', 'textarea', note),
        form('lost_page', '#login', { prepare: { url: `${base}/lost`, form: '#login' } }),
        form('stuck', '#login', { prepare: { url: `${base}/stuck`, form: '#login' } }),
        { name: 'members', method: 'GET', url: `${base}/members` },
        { name: 'members_in_session', method: 'GET', url: `${base}/members`, prepare: { url: `${base}/login` } },
    ];
}

export function formPackage(port: number): PackageDocument {
    return {
        format: 'routebook/1',
        site: FORM_SITE,
        title: 'Test site',
        intent_category: 'productivity/forms',
        endpoints: formEndpoints(port),
    };
}
