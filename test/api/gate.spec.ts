import { server as hapiServer, type Server } from '@hapi/hapi';
import { expect } from 'chai';
import type { Check } from '../../api/admission/check.ts';
import { installGate } from '../../api/admission/gate.ts';

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

    it('ends when a check answers: neither the next one nor hapi sees the request', async () => {
        expect((await fetch(`${server.info.uri}/closed`)).status).to.equal(503);
        expect(seen).to.deep.equal(['first', 'closed']);
    });
});
