import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { PACKAGE_BYTES } from '../../shared/contracts/body-bytes.ts';
import { newApiKey } from '../../shared/domain/accounts/api-key.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import { connectedPackage, consentedPackage } from '../support/connections.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { clientNumber, createSender, freshName } from './crowd-client.ts';
import { again, BREATH_MS, type Stranger, type Target } from './stranger.ts';

/** An attack with many concurrent requests. */
export interface Crowd extends Stranger {
    kind: 'crowd';
}

type Sender = ReturnType<typeof createSender>;

const INTENT = encodeURIComponent('find the price of one product today');
const PASSWORD = 'four words for a crowd';

const LARGE = ['/docs', '/v1/openapi.json', '/llms.txt', '/docs/errors', '/registry', '/v1/schemas?limit=100', '/v1/errors', '/'];

/** To add a row, add an entry here. Specs and benches run all of them. */
export const CROWDS: readonly Crowd[] = [
    crowd('yanks of one account', async (sender, { apiKey }) => {
        const site = await publishOne(sender, apiKey);
        return () => sender.call('POST', `/v1/schemas/${site}/versions/1/yank`, { apiKey, body: { reason: 'broken' } });
    }),
    crowd('publishes of one account', async (sender, { apiKey }) => {
        const site = await publishOne(sender, apiKey);
        return () => sender.call('POST', '/v1/schemas', { apiKey, body: aPackage(site, { title: `Title ${freshName()}` }) });
    }),
    crowd('dry runs of one account', async (sender, { apiKey }) => () => {
        const body = aPackage(`${freshName()}.test`);
        return sender.call('POST', '/v1/schemas?dry_run=true', { apiKey, body });
    }),
    variant(
        crowd('changes of maintainers of one account', async (sender, { apiKey }) => {
            const site = await publishOne(sender, apiKey);
            return () => sender.call('PUT', `/v1/schemas/${site}/maintainers/wsp_${freshName()}`, { apiKey });
        }),
    ),
    crowd('claims of one account', async (sender, { apiKey }) => () => {
        return sender.call('POST', `/v1/sites/${freshName()}.test/claims`, { apiKey });
    }),
    variant(
        crowd('OAuth clients of one account', async (sender, { apiKey }) => () => {
            return sender.call('PUT', '/v1/oauth-clients/crowd.test', {
                apiKey,
                body: { client_id: freshName(), client_secret: 'a secret' },
            });
        }),
    ),
    variant(
        crowd('connections of one account', async (sender, { apiKey }) => {
            const site = await publishOne(sender, apiKey, connectedPackage);
            return () => sender.call('POST', '/v1/connections', { apiKey, body: { site, secret: { value: freshName() } } });
        }),
    ),
    variant(
        crowd('consents that one account begins', async (sender, { apiKey }) => {
            const site = await publishOne(sender, apiKey, consentedPackage);
            await retryRolledBack(sender, 200, () =>
                sender.call('PUT', `/v1/oauth-clients/${site}`, { apiKey, body: { client_id: 'crowd' } }),
            );
            return () => sender.call('POST', '/v1/connections/authorize', { apiKey, body: { site } });
        }),
    ),
    variant(
        crowd('monitors of one account', async (sender, { apiKey }) => {
            const site = await publishOne(sender, apiKey);
            const body = { site, endpoint: 'product', params: { id: 1 }, every: '1h' };
            return () => sender.call('POST', '/v1/monitors', { apiKey, body });
        }),
    ),
    variant(
        crowd('webhooks of one account', async (sender, { apiKey }) => () => {
            return sender.call('POST', '/v1/webhooks', { apiKey, body: { url: 'https://hooks.crowd.test/', events: ['job.succeeded'] } });
        }),
    ),
    variant(
        crowd('schema requests of one account', async (sender, { apiKey }) => () => {
            const body = { domain: `${freshName()}.test`, task: 'Read the price of every pair of shoes once a day.' };
            return sender.call('POST', '/v1/schema-requests', { apiKey, body });
        }),
    ),
    variant(
        crowd('schema requests of many clients without a key', async (sender) => (turn) => {
            const body = { domain: `${freshName()}.test`, task: 'Read the price of every pair of shoes once a day.' };
            return sender.call('POST', '/v1/schema-requests', { body, from: clientNumber(turn) });
        }),
    ),
    variant(crowd('health checks without end', async (sender) => () => sender.call('GET', '/livez'))),
    variant(crowd('keys that nobody has', async (sender) => () => sender.call('GET', '/v1/account', { apiKey: newApiKey() }))),
    variant(
        crowd('catalog look-ups of sites that are not there', async (sender, { apiKey }) => () => {
            return sender.call('GET', `/v1/catalog/${freshName()}.test?intent=${INTENT}`, { apiKey });
        }),
    ),
    variant(
        crowd('fetches with bodies that are wrong', async (sender, { apiKey }) => () => {
            return sender.call('POST', '/v1/fetch', { apiKey, body: { site: 7, [freshName()]: true } });
        }),
    ),
    variant(
        crowd('fetches of sites that are not there, past the rate limit', async (sender, { apiKey }) => () => {
            return sender.call('POST', '/v1/fetch', { apiKey, body: { site: `${freshName()}.test`, endpoint: 'product' } });
        }),
    ),
    crowd('reads of everything large that needs no key', async (sender) => (turn) => {
        const path = LARGE[turn % LARGE.length] ?? '/docs';
        return sender.send(path, { from: clientNumber(turn % 50), headers: { 'accept-encoding': turn % 2 === 0 ? 'gzip' : 'identity' } });
    }),
    crowd('lists of the tools for agents, ten in a request', async (sender, { apiKey }) => {
        const headers = {
            authorization: `Bearer ${apiKey}`,
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
        };
        const messages = Array.from({ length: 10 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/list' }));
        return () => sender.send('/mcp', { method: 'POST', headers, body: JSON.stringify(messages) });
    }),
    variant(
        crowd('reads by the tools for agents, ten in a request', async (sender, { apiKey }) => {
            const params = { name: 'check_request', arguments: { request_id: newId('srq') } };
            const messages = Array.from({ length: 10 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/call', params }));
            return () => sender.call('POST', '/mcp', { apiKey, body: messages });
        }),
    ),
    crowd('different lists of the tools of one large site', async (sender, { apiKey }) => {
        const names = Array.from({ length: 450 }, (_, at) => `endpoint_${at}`);
        const site = await publishOne(sender, apiKey, (of) =>
            aPackage(of, { endpoints: names.map((name) => anEndpoint(of, { name, description: 'long '.repeat(1400) })) }),
        );
        const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
        return (turn) => {
            const [one, other] = [names[turn % names.length], names[(turn * 7 + Math.floor(turn / names.length)) % names.length]];
            return sender.call('POST', `/mcp/${site}?endpoints=${one},${other}`, { body, from: clientNumber(turn % 50) });
        };
    }),
    variant(
        crowd(
            'audits of one key',
            async (sender, { apiKey }) =>
                () =>
                    sender.call('GET', '/v1/audit?limit=100', { apiKey }),
        ),
    ),
    variant(
        crowd('downloads of the results of one batch', async (sender, { apiKey }) => {
            const site = await publishOne(sender, apiKey);
            const items = Array.from({ length: 2000 }, (_, at) => ({ params: { id: at + 1 } }));
            const body = { defaults: { site, endpoint: 'product' }, items };
            const { text } = await sender.call('POST', '/v1/batches', { apiKey, body });
            const path = `/v1/batches/${JSON.parse(text).data.batch_id}`;
            await sender.call('DELETE', path, { apiKey });
            const headers = { authorization: `Bearer ${apiKey}`, accept: 'application/x-ndjson' };
            return () => sender.send(`${path}/results`, { headers });
        }),
    ),
    crowd('right passwords of four accounts', async (sender) => {
        const emails = await Promise.all(Array.from({ length: 4 }, (_, number) => signUp(sender, clientNumber(1000 + number))));
        return signIns(sender, (turn) => ({ email: emails[turn % 4] ?? '', password: PASSWORD }));
    }),
    variant(
        crowd('wrong passwords of addresses that nobody has', async (sender) =>
            signIns(sender, () => ({ email: `${freshName()}@crowd.example`, password: 'a guess' })),
        ),
    ),
    variant(
        crowd('requests for mails to strangers', async (sender) => {
            const browser = sender.openBrowser(clientNumber(1));
            await browser.open('/forgot');
            return () => browser.submit('/forgot', { email: `${freshName()}@crowd.example` });
        }),
    ),
    crowd('sign-ups', async (sender) => (turn) => signUpFrom(sender, clientNumber(turn % 50))),
    variant(
        crowd('forms of one person', async (sender) => {
            const browser = sender.openBrowser(clientNumber(2000));
            await browser.open('/signup');
            await browser.submit('/signup', { email: `${freshName()}@crowd.example`, password: PASSWORD });
            await browser.open('/dashboard/settings');
            return () => browser.submit('/dashboard/keys', { name: 'one of many', expires: 'never' });
        }),
    ),
    variant(
        crowd('calls with one Idempotency-Key', async (sender, { apiKey }) => {
            const headers = {
                authorization: `Bearer ${apiKey}`,
                'content-type': 'application/json',
                'idempotency-key': freshName(),
            };
            const body = JSON.stringify({ domain: `${freshName()}.test`, task: 'Read the price of every pair of shoes once a day.' });
            return () => sender.send('/v1/schema-requests', { method: 'POST', headers, body });
        }),
    ),
    variant(
        sockets(
            'idle connections of one client',
            () => clientNumber(0),
            () => undefined,
        ),
    ),
    variant(
        sockets(
            'idle connections of many clients',
            (turn) => clientNumber(turn % 50),
            () => undefined,
        ),
    ),
    sockets(
        'connections that send their headers byte by byte',
        (turn) => clientNumber(turn % 50),
        async (socket, until) => {
            for (const byte of `GET /livez HTTP/1.1\r\nX-Slow: ${'x'.repeat(1000)}`) {
                if (until.aborted || !socket.writable) return;
                socket.write(byte);
                await sleep(100, undefined, { signal: until }).catch(() => undefined);
            }
        },
    ),
    variant(
        sockets(
            'connections that send their bodies byte by byte',
            (turn) => clientNumber(turn % 50),
            async (socket, until) => {
                socket.write(
                    'POST /v1/schema-requests HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{',
                );
                while (!until.aborted && socket.writable) {
                    socket.write(' ');
                    await sleep(100, undefined, { signal: until }).catch(() => undefined);
                }
            },
        ),
    ),
    variant(
        sockets(
            'forms that stop in the middle of their way',
            (turn) => clientNumber(turn % 50),
            (socket) =>
                void socket.write(
                    `POST /login HTTP/1.1\r\nHost: a\r\nContent-Type: ${FORM}\r\nContent-Length: 60000\r\n\r\nemail=${'a'.repeat(30_000)}`,
                ),
        ),
    ),
    sockets(
        'requests that nobody reads the answers of',
        (turn) => clientNumber(turn % 50),
        (socket) => {
            socket.pause();
            socket.write('GET /v1/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(50));
        },
    ),
    variant(
        sockets(
            'connections that send ninety requests at once, and end with the first answer',
            (turn) => clientNumber(turn % 50),
            (socket) => {
                socket.once('data', () => socket.destroy());
                socket.write('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(90));
            },
        ),
    ),
    sockets(
        'packages that never arrive whole',
        (turn) => clientNumber(turn % 50),
        (socket, _until, { apiKey }) => {
            const head = ['POST /v1/schemas HTTP/1.1', 'Host: a', `Authorization: Bearer ${apiKey}`, 'Content-Type: application/json'];
            socket.write(`${head.join('\r\n')}\r\nContent-Length: ${PACKAGE_BYTES}\r\n\r\n${' '.repeat(PACKAGE_BYTES / 4)}`);
        },
    ),
    sockets(
        'connections that open and end as fast as they can',
        () => clientNumber(0),
        (socket) => void socket.destroy(),
    ),
];

/** As many harmless callers, to measure the CPU time of the load generator and the HTTP server alone. */
export const HARMLESS: Crowd = crowd(
    'calls that do no harm',
    async (sender) => (turn) => sender.send('/livez', { from: clientNumber(turn % 50) }),
);

function variant(one: Crowd): Crowd {
    return { ...one, isVariant: true };
}

/** A crowd whose members repeat the same request. */
function crowd(name: string, prepare: (sender: Sender, target: Target) => Promise<(turn: number) => Promise<{ status: number }>>): Crowd {
    return {
        name,
        kind: 'crowd',
        async run(target, until) {
            const act = await prepare(createSender(target.base, until), target);
            return again(target, until, act);
        },
    };
}

/** A crowd of bare connections. A connection that ends is replaced by another one. */
function sockets(
    name: string,
    from: (turn: number) => string,
    act: (socket: Socket, until: AbortSignal, target: Target) => unknown,
): Crowd {
    return {
        name,
        kind: 'crowd',
        run(target, until) {
            const { hostname: host, port } = new URL(target.base);
            return again(target, until, async (turn) => {
                const socket = connect({ host, port: Number(port), localAddress: from(turn) });
                const ended = new Promise<void>((resolve) => socket.on('error', () => undefined).once('close', () => resolve()));
                socket.resume();
                const over = () => socket.destroy();
                until.addEventListener('abort', over, { once: true });
                await Promise.race([once(socket, 'connect').catch(() => undefined), ended]);
                void act(socket, until, target);
                await ended;
                until.removeEventListener('abort', over);
                return { status: 0 };
            });
        },
    };
}

const FORM = 'application/x-www-form-urlencoded';

async function publishOne(sender: Sender, apiKey: string, packageOf: (site: string) => object = aPackage): Promise<string> {
    const site = `${freshName()}.test`;
    await retryRolledBack(sender, 201, () => sender.call('POST', '/v1/schemas', { apiKey, body: packageOf(site) }));
    return site;
}

async function signUp(sender: Sender, from: string): Promise<string> {
    const email = `${freshName()}@crowd.example`;
    await retryRolledBack(sender, 303, () => signUpFrom(sender, from, email));
    return email;
}

/** An earlier crowd may have used up the limit of an address or account. */
async function retryRolledBack(sender: Sender, status: number, act: () => Promise<{ status: number }>): Promise<void> {
    while (!sender.until.aborted && (await act()).status !== status) await sleep(10 * BREATH_MS);
}

async function signUpFrom(sender: Sender, from: string, email = `${freshName()}@crowd.example`) {
    const browser = sender.openBrowser(from);
    await browser.open('/signup');
    return browser.submit('/signup', { email, password: PASSWORD });
}

/** From a hundred clients, each with a page that it opened once. */
async function signIns(sender: Sender, fields: (turn: number) => { email: string; password: string }) {
    const browsers = Array.from({ length: 100 }, (_, number) => sender.openBrowser(clientNumber(number)));
    await Promise.all(browsers.map((browser) => browser.open('/login')));
    return (turn: number) => (browsers[turn % browsers.length] as (typeof browsers)[number]).submit('/login', fields(turn));
}
