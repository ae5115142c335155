import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { expect } from 'chai';
import type { PackageAuth, PackageEndpoint } from '../../shared/domain/types.ts';
import { connectedPackage } from '../support/connections.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, join, type Person } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { anEndpoint } from '../support/schemas.ts';
import { findPlanted } from '../support/stored.ts';
import { openWorld, type World } from '../support/world.ts';

const VALUE = 'the-credential-of-ada-4711';
const HEADER: PackageAuth = { id: 'key', type: 'header', name: 'X-Api-Key' };

const SITE = 'led.test';
const API = `api.${SITE}`;
/** Hosts of the same site, and some that resemble the one that gets the credential. */
const OTHERS = [SITE, `other.${SITE}`, `x${API}`, `deep.${API}`, `api-${SITE}`, `${API}.`, `${API}.${SITE}`];
const STATUSES = [301, 302, 303, 307, 308];
/** How a site writes a target; `{to}` is its origin without the scheme. */
const SPELLINGS = ['http://{to}/end', '//{to}/end', 'HTTP://{TO}/end', 'http:{to}/end', '\\\\{to}\\end', ' http://{to}/end\t'];
/** URLs of another host that contain the name of the right one. */
const TRICKS = [
    `http://${API}@{to}/end`,
    `http://${API}:80@{to}/end`,
    `http://{to}/end?host=${API}`,
    `http://{to}/${API}/end`,
    `http://{to}\\@${API}/end`,
    `http://{to}/end#@${API}/`,
    `http://{to}/%2e%2e//${API}/end`,
];
/** How a site repeats the credential by itself. */
const REPEATS = [
    `?key=${VALUE}`,
    `/${VALUE}`,
    `?key=${Buffer.from(VALUE).toString('base64')}`,
    `?a=${encodeURIComponent(`b=${VALUE}`)}`,
    `?${VALUE}`,
    `?a=1&b=%74${encodeURIComponent(VALUE.slice(1))}`,
    `?a=${VALUE.replaceAll('-', '%2D')}`,
];

describe('a call with a connection that its site redirects', () => {
    let world: World;
    let owner: Person;
    let server: Server;
    let port: number;
    /** The bytes that each host got. */
    const got: { host: string; bytes: string }[] = [];

    before(async () => {
        server = createServer((socket) => {
            socket.on('error', () => {});
            socket.on('data', (chunk: Buffer) => {
                const bytes = chunk.toString('latin1');
                const [, host = ''] = /^host: ([^\r:]*)/im.exec(bytes) ?? [];
                got.push({ host: host.toLowerCase(), bytes });
                const url = new URL(bytes.split(' ', 2)[1] ?? '/', 'http://x');
                const to = Buffer.from(url.searchParams.get('to') ?? '', 'hex').toString();
                const status = url.searchParams.get('status') ?? '302';
                const say = (head: string, body = '', type = 'application/json') =>
                    socket.end(
                        `HTTP/1.1 ${head}\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
                    );
                if (url.pathname === '/go') say(`${status} Go\r\nLocation: ${to}`);
                else if (url.pathname === '/list') say(`200 OK\r\nLink: <${to}>; rel="next"`, '{"items":[1]}');
                else if (url.pathname === '/next') say('200 OK', JSON.stringify({ items: [1], next: to }));
                else if (url.pathname === '/form')
                    say('200 OK', `<form id="f" action="${to.replaceAll('"', '&quot;')}"></form>`, 'text/html');
                else say('200 OK', '{"items":[2]}');
            });
        }).listen(0, '127.0.0.1');
        await once(server, 'listening');
        ({ port } = server.address() as AddressInfo);
        const hosts = new Map([API, ...OTHERS].map((name): [string, string[]] => [name, ['127.0.0.1']]));
        world = await openWorld({ config: { egressHosts: hosts } });
        const unbounded = { perMinute: 1e6, perHour: 1e6, perDay: 1e6, allowance: 1e6, concurrency: 100 };
        owner = await join(world, { plan: 'enterprise', overrides: unbounded });
        const at = (path: string) => `http://${API}:${port}${path}`;
        const params = ['to', 'status'].map((name) => ({ name, source: 'query' as const, required: name === 'to' }));
        const walks = (name: string, pagination: object): PackageEndpoint =>
            anEndpoint(SITE, {
                name,
                kind: 'paginate',
                url: at(`/${name}`),
                params,
                response: { select: { items: 'items' } },
                pagination: pagination as NonNullable<PackageEndpoint['pagination']>,
            });
        const endpoints = [
            anEndpoint(SITE, { name: 'go', url: at('/go'), params }),
            walks('list', { style: 'link' }),
            anEndpoint(SITE, { name: 'elsewhere', url: `http://other.${SITE}:${port}/end`, params: [], auth: 'none' }),
        ];
        const auth = [{ ...HEADER, hosts: [API] }];
        dataOf(await owner.publish(connectedPackage(SITE, { auth, base: `http://${API}:${port}`, endpoints })));
        dataOf(await owner.call('POST', '/v1/connections', { body: { site: SITE, secret: { value: VALUE } } }));
    });
    after(async () => {
        await world.close();
        server.close();
    });

    const go = (endpoint: string, to: string, status = 302): Promise<Answer> =>
        owner.fetch(SITE, endpoint, { to: Buffer.from(to).toString('hex'), status: String(status) });
    const spelled = (form: string, host: string) =>
        form.replaceAll('{to}', `${host}:${port}`).replaceAll('{TO}', `${host.toUpperCase()}:${port}`);
    const back = (to: string) => `/go?status=302&to=${Buffer.from(to).toString('hex')}`;

    /** Hosts that got the credential, in any encoding, during `act`. */
    async function leaksOf(act: () => Promise<Answer>): Promise<string[]> {
        const from = got.length;
        const { status } = await act();
        const seen = got.slice(from);
        const leaks = seen.filter(({ host, bytes }) => host !== API && findPlanted(new Map([['', bytes]]), { VALUE }).length > 0);
        return [...leaks.map(({ host, bytes }) => `${host} got ${bytes}`), ...(status === 500 ? ['the answer is 500'] : [])];
    }

    const away = (host: string, more: string) => `http://${host}:${port}${more}`;
    const [HERE = '', OTHER = ''] = OTHERS;
    const redirects: [what: string, cases: () => [endpoint: string, to: string, status?: number][]][] = [
        ['on any host', () => OTHERS.map((host) => ['go', away(host, '/end')])],
        ['by any status', () => STATUSES.map((status) => ['go', away(OTHER, '/end'), status])],
        ['in any spelling', () => SPELLINGS.map((form) => ['go', spelled(form, OTHER)])],
        ['by a trick with the name of the right host', () => TRICKS.map((form) => ['go', spelled(form, HERE)])],
        ['with the credential in the URL', () => REPEATS.map((more) => ['go', away(OTHER, more)])],
        ['to a next page', () => OTHERS.map((host, at) => ['list', away(host, ['/end', ...REPEATS][at] ?? '')])],
        ['away and back and away again', () => OTHERS.map((host) => ['go', away(host, back(away(API, back(away(host, '/end')))))])],
    ];
    for (const [what, cases] of redirects) {
        it(`sends the credential to no other host, ${what}`, async () => {
            const leaks: string[] = [];
            const from = got.length;
            for (const [endpoint, to, status] of cases()) leaks.push(...(await leaksOf(() => go(endpoint, to, status))));
            expect(leaks).to.deep.equal([]);
            const reached = got.slice(from).filter(({ host }) => host !== API);
            expect(reached.length, 'no other host was reached').to.be.above(0);
        });
    }

    it('sends it to its host again when the redirects return there', async () => {
        const from = got.length;
        dataOf(await go('go', `http://other.${SITE}:${port}${back(`http://${API}:${port}/end`)}`));
        const keyed = got.slice(from).map(({ host, bytes }) => [host, bytes.includes(VALUE)]);
        expect(keyed).to.deep.equal([
            [API, true],
            [`other.${SITE}`, false],
            [API, true],
        ]);
    });

    it('is detected: a schema that declares another host sends it there', async () => {
        const params = [{ name: 'to', source: 'query' as const, required: true }];
        const endpoints = [
            anEndpoint(SITE, { name: 'go', url: `http://${API}:${port}/go`, params }),
            anEndpoint(SITE, { name: 'elsewhere', url: `http://other.${SITE}:${port}/end`, params: [] }),
        ];
        const auth = [{ ...HEADER, hosts: [API, `other.${SITE}`] }];
        dataOf(await owner.publish(connectedPackage(SITE, { auth, base: `http://${API}:${port}`, endpoints })));
        const [{ connection_id: id } = { connection_id: '' }] = dataOf<{ connection_id: string }[]>(
            await owner.call('GET', '/v1/connections'),
        );
        // The catalog shows a new version within a second.
        await eventually(
            async () => {
                dataOf(await owner.call('PATCH', `/v1/connections/${id}`, { body: { agree: true } }));
                return leaksOf(() => owner.fetch(SITE, 'elsewhere'));
            },
            (leaks) => leaks.length === 1,
            30_000,
        );
    });
});
