import { expect } from 'chai';
import type { AuthNeed, PackageAuth, PackageEndpoint } from '../../shared/domain/types.ts';
import { connectedPackage } from './connections.ts';
import { eventually } from './eventually.ts';
import { type Answer, join, type Person } from './people.ts';
import { dataOf } from './routes.ts';
import { anEndpoint } from './schemas.ts';
import { openSite, type Site } from './sites.ts';
import { openWorld, type Topology, type World } from './world.ts';

export const SITE = 'keyed.test';
export const API = 'api.keyed.test';
export const OTHER = 'other.keyed.test';
/** A credential with characters that each encoding changes. */
export const VALUE = 'sk/9f"3+b7 Zq~value=42';
const FORMS = [
    VALUE,
    Buffer.from(VALUE).toString('base64').replace(/=+$/, ''),
    encodeURIComponent(VALUE),
    JSON.stringify(VALUE).slice(1, -1),
];
export const HEADER: PackageAuth = { id: 'key', type: 'header', name: 'X-Api-Key', hosts: [API], obtain_url: 'https://keyed.test/keys' };

interface ConnectionWorld {
    world: World;
    /** It answers with what it got, or repeats the credential in many forms. */
    site: Site;
    /** A caller who publishes the site's package. */
    owner: Person;
    /** Runs before the site answers with its second page. */
    whilePaging(): Promise<void>;
    at(host: string, path: string): string;
    endpoint(name: string, url: string, auth?: AuthNeed, more?: Partial<PackageEndpoint>): PackageEndpoint;
    /** Publishes the endpoints of the site, and more. */
    publish(auth: PackageAuth[], endpoints?: PackageEndpoint[]): Promise<void>;
    connect(person: Person, secret?: object, more?: object): Promise<Answer>;
    /** Deletes all connections, and waits until every process has noticed. */
    forgetAll(): Promise<void>;
    /** Leaves one connection: of the owner, for a package that takes `auth`. Returns its id. */
    connectOnly(auth?: PackageAuth, secret?: object): Promise<string>;
}

/** Opens a world with a site that takes credentials, for the tests of a `describe`. Its parts are empty until then. */
export function useConnectionWorld(topology: Topology): ConnectionWorld {
    const [world, site, owner] = [{} as World, {} as Site, {} as Person];
    let versions = 0;
    const at = (host: string, path: string) => `http://${host}:${site.port}${path}`;
    const endpoint: ConnectionWorld['endpoint'] = (name, url, auth = 'required', more = {}) =>
        anEndpoint(SITE, { name, url, params: [], auth, ...more });
    const to = [{ name: 'to', source: 'query' as const, required: true }];
    const opened: ConnectionWorld = {
        world,
        site,
        owner,
        whilePaging: async () => {},
        at,
        endpoint,
        async publish(auth, endpoints = []) {
            const all = [
                endpoint('echo', at(API, '/echo')),
                endpoint('maybe', at(API, '/echo'), 'optional'),
                endpoint('open', at(API, '/echo'), 'none'),
                endpoint('redirect', at(API, '/redirect'), 'required', { params: to }),
                endpoint('refuse', at(API, '/refuse'), 'required', { params: to }),
                endpoint('escaped', at(API, '/escaped')),
                endpoint('forms', at(API, '/forms')),
                endpoint('refuse_escaped', at(API, '/refuse-escaped')),
                endpoint('raw_redirect', at(API, '/raw-redirect')),
                endpoint('pages', at(API, '/pages'), 'required', { kind: 'paginate', pagination: { param: 'page' } }),
                endpoint('elsewhere', at(OTHER, '/echo'), 'none'),
                ...endpoints,
            ];
            versions += 1;
            dataOf(await owner.publish({ ...connectedPackage(SITE, { auth }), title: `Version ${versions}`, endpoints: all }));
        },
        connect: (person, secret = { value: VALUE }, more = {}) =>
            person.call('POST', '/v1/connections', { body: { site: SITE, secret, ...more } }),
        async forgetAll() {
            await world.app.db('connections').delete();
            await eventually(
                () => world.app.vault.list(owner.workspaceId, SITE),
                (known) => known.length === 0,
            );
        },
        async connectOnly(auth = HEADER, secret) {
            await opened.forgetAll();
            await opened.publish([auth]);
            return idOf(await opened.connect(owner, secret));
        },
    };
    before(async () => {
        Object.assign(
            site,
            await openSite((request, response) => {
                const url = new URL(request.url ?? '/', 'http://site.invalid');
                const to = url.searchParams.get('to');
                const json = { 'content-type': 'application/json' };
                if (url.pathname === '/redirect') return void response.writeHead(302, { location: `${to}` }).end();
                if (url.pathname === '/refuse')
                    return void response.writeHead(Number(to), json).end(JSON.stringify({ you: request.headers }));
                if (url.pathname === '/raw-redirect') {
                    const key = Buffer.from(url.searchParams.get('key') ?? '').toString('latin1');
                    return void response.writeHead(302, { location: `${at(OTHER, '/echo?page=2')}&back=${key}` }).end();
                }
                if (url.pathname === '/escaped' || url.pathname === '/refuse-escaped') {
                    const escaped = [...VALUE].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
                    return void response.writeHead(url.pathname === '/escaped' ? 200 : 401, json).end(`{"text":"${escaped}"}`);
                }
                if (url.pathname === '/pages') {
                    const page = Number(url.searchParams.get('page') ?? '1');
                    if (page === 2)
                        void opened.whilePaging().then(() => response.writeHead(200, json).end(JSON.stringify({ items: [page] })));
                    else response.writeHead(200, json).end(JSON.stringify({ items: [page] }));
                    return;
                }
                // Pages that repeat the key, each with another encoding.
                const key = `${request.headers['x-api-key']}`;
                if (url.pathname === '/page-meta' || url.pathname === '/page-form') {
                    const entities = [...key].map((char) => `&#x${char.charCodeAt(0).toString(16)};`).join('');
                    const form = `<form id="f" action="${at(OTHER, '/echo')}" method="get"><input type="hidden" name="t" value="${entities}"></form>`;
                    const page = url.pathname === '/page-form' ? form : `<meta name="t" content="${entities}">`;
                    return void response.writeHead(200, { 'content-type': 'text/html' }).end(page);
                }
                if (url.pathname === '/page-cookie')
                    return void response.writeHead(200, { ...json, 'set-cookie': `t=${encodeURIComponent(key)}; Path=/` }).end('{}');
                if (url.pathname === '/forms') return void response.writeHead(200, json).end(JSON.stringify({ forms: FORMS }));
                response
                    .writeHead(200, { ...json, 'cache-control': 'max-age=60' })
                    .end(JSON.stringify({ url: request.url, headers: request.headers }));
            }),
        );
        const hosts = new Map([SITE, API, OTHER].map((name): [string, string[]] => [name, ['127.0.0.1']]));
        Object.assign(world, await openWorld({ topology, config: { logLevel: 'trace', egressHosts: hosts } }));
        Object.assign(owner, await join(world, { plan: 'pro' }));
    });
    after(async () => {
        await world.close();
        await site.close();
    });
    return opened;
}

export function idOf(answer: Answer): string {
    return dataOf<{ connection_id: string }>(answer).connection_id;
}

/** Expects the credential in no line of the log and in no row, in any encoding. */
export async function expectNowhere(world: World): Promise<void> {
    for (const line of world.logged) expectNone('the log', JSON.stringify(line));
    await world.app.usage.flush();
    const { rows } = await world.app.db.raw<{ rows: { name: string }[] }>(
        `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
         where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
    );
    for (const { name } of rows) {
        const { rows: texts } = await world.app.db.raw<{ rows: { text: string }[] }>(`select t::text as text from ${name} t`);
        for (const { text } of texts) expectNone(name, text);
    }
    expect(() => expectNone('a text', `x${FORMS[1]}x`)).to.throw('stands in a text');
}

function expectNone(where: string, text: string): void {
    for (const form of FORMS) expect(text.includes(form), `it stands in ${where}: ${text.slice(0, 300)}`).to.equal(false);
}
