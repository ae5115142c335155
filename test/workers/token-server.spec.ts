import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { CustomFetch } from 'openid-client';
import type { PackageAuth } from '../../shared/domain/types.ts';
import { createGuardedFetch } from '../../workers/credentials/guarded-fetch.ts';
import { openTokenServer } from '../../workers/credentials/token-server.ts';
import { createConnector, EgressDenied } from '../../workers/egress.ts';
import { UpstreamFault } from '../../workers/upstream/failures.ts';
import { loopbackRules } from '../support/sites.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const HOST = 'auth.granted.test';
const UNUSABLE = 'UPSTREAM_INVALID_RESPONSE';

describe('the response of a token endpoint', () => {
    let server: Server;
    let answer: (response: ServerResponse) => void;
    let asked: number;
    let guarded: CustomFetch & { close(): void };

    beforeEach(async () => {
        asked = 0;
        server = createServer((request, response) => {
            asked += 1;
            request.resume().on('end', () => answer(response));
        }).listen(0, '127.0.0.1');
        await once(server, 'listening');
        const hosts = new Map([
            [HOST, ['127.0.0.1']],
            ['inner.granted.test', ['10.0.0.1']],
            ['linked.granted.test', ['169.254.169.254']],
        ]);
        const rules = { ...loopbackRules(`127.0.0.1:${port()}`), hosts };
        guarded = createGuardedFetch(rules, () => 'Routebook', createConnector(rules), { timeoutMs: 2000, answerBytes: 64 * 1024 });
    });
    afterEach(() => {
        guarded.close();
        server.closeAllConnections();
        server.close();
    });

    const port = () => (server.address() as AddressInfo).port;
    const json = (more: object) => (response: ServerResponse) =>
        void response.writeHead(200, JSON_TYPE).end(JSON.stringify({ access_token: 'a-token-4711', token_type: 'bearer', ...more }));

    function ask(url = `http://${HOST}:${port()}/token`) {
        const entry: PackageAuth = { id: 'account', type: 'oauth2', oauth2: { token_url: url, flows: ['client_credentials'] } };
        return openTokenServer(entry, { clientId: 'routebook', clientSecret: 'a-secret' }, guarded).askAsClient(undefined);
    }

    it('is accepted with its scopes, and with a valid expiry', async () => {
        answer = json({ scope: 'orders  stock', expires_in: 1e300, refresh_token: 'another-token' });
        const { expiresAt = 0, ...given } = await ask();
        expect(given).to.deep.equal({ accessToken: 'a-token-4711', refreshToken: 'another-token', scopes: ['orders', 'stock'] });
        expect(new Date(expiresAt).getTime()).to.be.above(Date.now());
    });

    const wrong: [what: string, more: object][] = [
        ['a line break in the token', { access_token: 'a\r\nX-Other: b' }],
        ['a zero byte in the token', { access_token: 'a\0b' }],
        ['a blank behind the token', { access_token: 'a ' }],
        ['a token in another script', { access_token: 'ключ' }],
        ['a token of nine kilobytes', { access_token: 'a'.repeat(9000) }],
        ['a line break in the refresh token', { refresh_token: 'a\nb' }],
        ['a zero byte in a scope', { scope: 'orders\0' }],
        ['a scope of a kilobyte', { scope: 'a'.repeat(1000) }],
        ['thousands of scopes', { scope: 'a '.repeat(5000) }],
    ];
    for (const [what, more] of wrong) {
        it(`is not accepted with ${what}`, async () => {
            answer = json(more);
            const error = await ask().catch((reason: unknown) => reason);
            expect(error).to.be.instanceOf(UpstreamFault);
            expect((error as UpstreamFault).fault).to.include({ code: UNUSABLE, isCallers: true });
        });
    }

    const broken: [what: string, answer: (response: ServerResponse) => void][] = [
        ['a token that is a number', json({ access_token: 4711 })],
        ['no token', json({ access_token: undefined })],
        ['no JSON', (response) => response.writeHead(200, JSON_TYPE).end('{"id_token": ')],
        ['no body', (response) => response.writeHead(204).end()],
        ['more than is read', json({ more: 'x'.repeat(100_000) })],
        ['no answer', (response) => response.socket?.destroy()],
        ['an answer that never ends', (response) => response.writeHead(200, JSON_TYPE).write('{')],
        ['a redirect', (response) => response.writeHead(307, { location: '/elsewhere' }).end()],
    ];
    for (const [what, how] of broken) {
        it(`is not accepted with ${what}, after one request`, async () => {
            answer = how;
            const tokens = await ask().catch(() => undefined);
            expect([tokens, asked]).to.deep.equal([undefined, 1]);
        });
    }

    it('is requested from no private address, and only over https elsewhere', async () => {
        for (const host of ['inner.granted.test', 'linked.granted.test']) {
            const error = await ask(`https://${host}/token`).catch((reason: Error) => reason);
            const causes = [error, (error as Error).cause];
            expect(
                causes.some((cause) => cause instanceof EgressDenied),
                String(error),
            ).to.equal(true);
            expect(await ask(`http://${host}/token`).catch(() => undefined)).to.equal(undefined);
        }
        expect(asked).to.equal(0);
    });
});
