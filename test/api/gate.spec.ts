import { server as hapiServer, type Server } from '@hapi/hapi';
import { expect } from 'chai';
import type { Check } from '../../api/admission/check.ts';
import { installGate } from '../../api/admission/gate.ts';
import { rawRequest, sendRaw } from '../support/raw.ts';

describe('the gate at the listener', () => {
    let server: Server;
    const seen: string[] = [];
    const note =
        (name: string): Check =>
        (_arrival, pass) => {
            seen.push(name);
            pass();
        };
    const closed: Check = ({ request, response }, pass) => {
        if (request.url !== '/closed') return pass();
        seen.push('closed');
        response.writeHead(503).end();
    };

    before(async () => {
        server = hapiServer({ port: 0, host: '127.0.0.1' });
        server.route({
            method: 'GET',
            path: '/{any*}',
            handler: () => {
                seen.push('hapi');
                return 'ok';
            },
        });
        installGate(server, [note('first'), closed, note('last')]);
        await server.start();
    });
    beforeEach(() => seen.splice(0));
    after(() => server.stop());

    it('runs its checks in order, then hapi', async () => {
        expect((await fetch(`${server.info.uri}/open`)).status).to.equal(200);
        expect(seen).to.deep.equal(['first', 'last', 'hapi']);
    });

    it('runs its checks for a request that waits for 100 Continue, too', async () => {
        const { status } = (await sendRaw(server.info.uri, rawRequest('GET /open HTTP/1.1', ['Expect: 100-continue']))) ?? {};
        expect([status, seen]).to.deep.equal([200, ['first', 'last', 'hapi']]);
    });

    it('ends when a check answers: neither the next one nor hapi sees the request', async () => {
        expect((await fetch(`${server.info.uri}/closed`)).status).to.equal(503);
        expect(seen).to.deep.equal(['first', 'closed']);
    });
});

describe('the gate and hapi', () => {
    let server: Server;
    const atGate: (string | undefined)[] = [];
    const atHapi: string[] = [];

    before(async () => {
        server = hapiServer({ port: 0, host: '127.0.0.1' });
        for (const path of ['/v1/schemas', '/v1/schemas/{site}', '/llms.txt']) server.route({ method: 'GET', path, handler: () => 'ok' });
        server.ext('onPreResponse', ({ route }, h) => {
            atHapi.push(route.path);
            return h.continue;
        });
        const note: Check = ({ path }, pass) => {
            atGate.push(path);
            pass();
        };
        installGate(server, [note]);
        await server.start();
    });
    beforeEach(() => {
        atGate.splice(0);
        atHapi.splice(0);
    });
    after(() => server.stop());

    const SPELLINGS: Readonly<Record<string, readonly string[]>> = {
        '/v1/schemas': [
            '/v1/schemas?q=1',
            '/v1/schemas#x',
            '/%76%31/%73chemas',
            '/x/../v1/schemas',
            '/x/%2e%2E/v1/schemas',
            '/..//v1/schemas',
        ],
        '/v1/schemas/{site}': [
            '/v1/%73chemas/a.test',
            '/v1/schemas/%252f',
            '/v1/schemas/a%2Fb',
            '/./v1/schemas/%C3%A9?x=/../',
            '/v1/%73chemas/a\\..\\..',
            'http://h/v1/schemas/a',
        ],
        '/llms.txt': ['/llms%2etxt', '/%6C%6c%6D%73.%74%78%74'],
    };
    for (const [path, spellings] of Object.entries(SPELLINGS)) {
        for (const url of spellings) {
            it(`choose the same route for ${url}`, async () => {
                for (const method of ['GET', 'HEAD']) await sendRaw(server.info.uri, rawRequest(`${method} ${url} HTTP/1.1`));
                expect({ atGate, atHapi }).to.deep.equal({ atGate: [path, path], atHapi: [path, path] });
            });
        }
    }

    for (const url of ['*', '/v1/schemas/%ff', '/v1/schemas/%', 'http://h', '//v1/schemas', '/v1/schemas/a/b', '/V1/schemas']) {
        it(`answer ${url}, which has no route`, async () => {
            const answer = await sendRaw(server.info.uri, rawRequest(`GET ${url} HTTP/1.1`));
            expect(answer?.status).to.be.oneOf([400, 404]);
            expect(atGate).to.deep.equal([undefined]);
        });
    }
});
