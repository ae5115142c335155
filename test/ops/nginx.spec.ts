import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { openDeaf } from '../hostile/places.ts';
import { type Certificate, createAuthority, issueCertificate } from '../support/certificates.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { join, type Person } from '../support/people.ts';
import { needs } from '../support/system-programs.ts';
import { openWorld, type World } from '../support/world.ts';

const CONF = fileURLToPath(new URL('../../ops/nginx/routebook.conf', import.meta.url));
const HOST = 'routebook.example';
const SHIPPED_RATE = 'rate=128r/s';

describe('nginx in front of the API, with the shipped configuration', () => {
    const authority: Certificate = createAuthority();
    let world: World;
    let ada: Person;
    let port = 0;
    let close: () => Promise<void>;
    /** How often nginx found no API at the address that answers nothing. */
    let unanswered: () => number;

    before(async function () {
        needs(this, 'nginx');
        world = await openWorld({ topology: 'postgres', workers: 0, config: { trustProxy: 1 } });
        const deaf = await openDeaf();
        ada = await join(world);
        const folder = mkdtempSync(joinPath(tmpdir(), 'routebook-nginx-'));
        chmodSync(folder, 0o755);
        for (const name of ['logs', 'temporary']) mkdirSync(`${folder}/${name}`, { mode: 0o777 });
        const { cert, key } = issueCertificate(authority, HOST);
        writeFileSync(`${folder}/tls.crt`, cert);
        writeFileSync(`${folder}/tls.key`, key);
        port = await freePort();
        const site = readFileSync(CONF, 'utf8')
            .replaceAll('/etc/routebook/', `${folder}/`)
            .replace(/server 127\.0\.0\.1:8080( .*;)/, `server ${new URL(world.base).host}$1 server 127.0.0.1:${deaf.port}$1`)
            .replace('listen 443', `listen 127.0.0.1:${port}`)
            // A busy machine opens fewer connections a second than the shipped rate allows one client.
            .replace(SHIPPED_RATE, 'rate=8r/s');
        const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/temporary/${name};`);
        writeFileSync(
            `${folder}/nginx.conf`,
            `daemon off; pid ${folder}/nginx.pid; error_log ${folder}/logs/error.log; events {} http { access_log off; ${paths.join(' ')}\n${site}\n}`,
        );
        const nginx = spawn('nginx', ['-p', folder, '-c', `${folder}/nginx.conf`, '-e', `${folder}/logs/error.log`], { stdio: 'ignore' });
        close = async () => {
            const gone = once(nginx, 'exit');
            nginx.kill('SIGTERM');
            await gone;
            await deaf.close();
            rmSync(folder, { recursive: true, force: true });
        };
        unanswered = () => readFileSync(`${folder}/logs/error.log`, 'utf8').split('timed out').length - 1;
        await eventually(
            () =>
                ask('GET', '/livez').then(
                    ({ status }) => status,
                    () => 0,
                ),
            (status) => status === 200,
            10_000,
        );
    });

    after(async () => {
        await close?.();
        await world?.close();
    });

    /** A call from outside: with verified TLS, and any headers. */
    async function ask(
        method: string,
        path: string,
        { headers = {}, body, localAddress }: { headers?: Record<string, string>; body?: string; localAddress?: string } = {},
    ) {
        const calling = request({
            ...{
                host: '127.0.0.1',
                port,
                method,
                path,
                ca: authority.cert,
                servername: HOST,
                agent: false,
                ...(localAddress === undefined ? {} : { localAddress }),
            },
            headers: { host: HOST, ...headers },
        });
        calling.end(body);
        const [response] = await once(calling, 'response');
        let text = '';
        for await (const chunk of response.setEncoding('utf8')) text += chunk;
        return { status: response.statusCode as number, headers: response.headers as IncomingHttpHeaders, text };
    }

    it('serves callers over TLS', async () => {
        const { status, headers, text } = await ask('GET', '/v1/account', { headers: { authorization: `Bearer ${ada.apiKey}` } });
        expect(status, text).to.equal(200);
        expect(headers['x-request-id']).to.match(/^req_/);
    });

    it('leads a call to another API where the machine of one is gone', async () => {
        const before = unanswered();
        const statuses: number[] = [];
        // nginx tries the address again after five seconds. Calls of one client in a loop would be too many until then.
        for (let client = 1; unanswered() === before; client = (client % 250) + 1) {
            statuses.push((await ask('POST', '/v1/fetch', { body: '{}', localAddress: `127.0.3.${client}` })).status);
        }
        expect(new Set(statuses)).to.deep.equal(new Set([401]));
    });

    it('lets nobody choose the address that rate limits use', async () => {
        const path = `/v1/catalog/${HOST}?${new URLSearchParams({ intent: 'find the price of one product today' })}`;
        const statuses: number[] = [];
        for (let index = 0; index < 6; index++) {
            statuses.push((await ask('GET', path, { headers: { 'x-forwarded-for': `203.0.113.${index}` } })).status);
        }
        expect(statuses).to.deep.equal([404, 404, 404, 404, 404, 429]);
    });

    it('serves the metrics only inside', async () => {
        expect((await ask('GET', '/metrics')).status).to.equal(404);
    });

    it('leaves too large requests to the API, with its own error', async () => {
        const headers = { authorization: `Bearer ${ada.apiKey}`, 'content-type': 'application/json' };
        const { status, text } = await ask('POST', '/v1/schemas', { headers, body: `"${'x'.repeat(4 * 2 ** 20 + 10)}"` });
        expect(status).to.equal(413);
        expect(JSON.parse(text).error.code).to.equal('PAYLOAD_TOO_LARGE');
    });

    it('lets batches through that are larger than packages', async () => {
        const headers = { authorization: `Bearer ${ada.apiKey}`, 'content-type': 'application/x-ndjson' };
        const { status, text } = await ask('POST', '/v1/batches', { headers, body: 'x'.repeat(6 * 2 ** 20) });
        expect(status).to.equal(400);
        expect(JSON.parse(text).error.code).to.equal('VALIDATION_ERROR');
    });

    // This test is the last one, since nginx may suspend an API for two seconds after a flood.
    it('closes new connections of one client beyond 128 a second and a burst of as many, without a response, and serves other clients', async () => {
        const from = (localAddress: string) =>
            ask('GET', '/livez', { localAddress }).then(
                ({ status }) => status,
                () => 0,
            );
        const statuses: number[] = [];
        const connecting = Array.from({ length: 60 }, async () => {
            while (statuses.length < 2000 && !statuses.includes(0)) statuses.push(await from('127.0.0.2'));
        });
        await Promise.all(connecting);
        expect(readFileSync(CONF, 'utf8')).to.include(SHIPPED_RATE);
        expect(statuses.filter((status) => status === 200)).to.have.length.at.least(128);
        expect(statuses).to.include(0);
        expect(await from('127.0.0.3')).to.equal(200);
    });
});
