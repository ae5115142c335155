import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSecureContext, createServer, getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { parseEgressAllow } from '../../shared/domain/site/egress-allow.ts';
import { proofUrl } from '../../shared/domain/site/proof.ts';
import { createFileReader } from '../../workers/claims/read-file.ts';
import { createGuardedFetch } from '../../workers/credentials/guarded-fetch.ts';
import { createConnector, type EgressConnector } from '../../workers/egress.ts';
import { createEventPoster } from '../../workers/webhooks/post-event.ts';
import { createAuthority, issueCertificate } from '../support/certificates.ts';
import { loopbackRules, openRawSite } from '../support/sites.ts';
import { ANSWERERS } from './answerers.ts';

const hostOf = (index: number) => `answerer${index}.test`;
/** Longer than each of the limits of a request, and shorter than the test. */
const PATIENCE_MS = 40_000;
const NAMES = new Map(ANSWERERS.flatMap((_, index) => [hostOf(index), `www.${hostOf(index)}`]).map((host) => [host, ['127.0.0.1']]));

describe('a request of a worker outside of fetches ends, to a server that', function () {
    this.timeout(60_000);
    const trusted = getCACertificates('default');
    const sockets = new Set<TLSSocket>();
    let server: ReturnType<typeof createServer>;
    let askEach: (host: string) => Promise<Record<'claim' | 'token' | 'event', unknown>>;
    let close: () => void;

    before(async () => {
        const authority = createAuthority();
        setDefaultCACertificates([...trusted, authority.cert]);
        server = createServer(
            { SNICallback: (name, done) => done(null, createSecureContext(issueCertificate(authority, name))) },
            (socket) => {
                sockets.add(socket);
                socket.on('error', () => undefined);
                const row = ANSWERERS.find((_, index) => String(socket.servername).replace('www.', '') === hostOf(index));
                socket.once('data', () => row?.answer(socket));
            },
        );
        server.listen(0, '127.0.0.1');
        await once(server, 'listening');
        const allow = parseEgressAllow('127.0.0.0/8');
        if (!allow.ok) throw new Error(allow.problem);
        const rules = { allow: allow.entries, hosts: NAMES, proxyUrl: undefined };
        const guarded = createConnector(rules);
        const { port } = server.address() as AddressInfo;
        const connector: EgressConnector = { connect: (target, gone) => guarded.connect({ ...target, port }, gone) };
        const files = createFileReader(connector, () => 'test');
        const ask = createGuardedFetch(rules, () => 'test', connector);
        const poster = createEventPoster(connector);
        const order = { method: 'GET', headers: {}, body: undefined, redirect: 'manual' } as const;
        const sent = { headers: {}, body: '{}' };
        askEach = async (host) => {
            const [claim, token, event] = await Promise.all([
                endOf(files.read(host, 'a claim')),
                endOf(ask(`https://${host}/token`, order).then(({ status }) => status)),
                endOf(poster.post({ url: `https://${host}/`, ...sent }, new AbortController().signal).then(({ problem }) => problem)),
            ]);
            return { claim: String(claim).replace(proofUrl(host), 'FILE').replace(host, 'HOST'), token, event };
        };
        close = () => {
            for (const one of [files, ask, poster]) one.close();
        };
    });
    after(() => {
        close();
        setDefaultCACertificates(trusted);
        for (const socket of sockets) socket.destroy();
        server.close();
    });

    for (const [index, { name, claim, token, event = null }] of ANSWERERS.entries()) {
        // One server after another, since a flood delays others, and the requests have limits of seconds.
        it(name, async () => {
            const ends = await askEach(hostOf(index));
            expect({ claim: ends.claim, event: ends.event }).to.deep.equal({ claim, event });
            if (token instanceof RegExp) expect(ends.token).to.match(token);
            else expect(ends.token).to.equal(token);
        });
    }
});

describe('the answer of a webhook receiver', () => {
    it('is read up to 1,024 chunks of one packet', async () => {
        const chunks = `${'1\r\na\r\n'.repeat(10_000)}0\r\n\r\n`;
        const site = await openRawSite((socket) => socket.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`));
        let taken = 0;
        const count = (message: unknown) => {
            const { response } = message as { response: IncomingMessage };
            const push = response.push.bind(response);
            response.push = (chunk: Buffer | null) => {
                if (chunk !== null && !response.destroyed) taken++;
                return push(chunk);
            };
        };
        subscribe('http.client.response.finish', count);
        const poster = createEventPoster(createConnector(loopbackRules('127.0.0.0/8')));
        try {
            const event = { url: `http://shop.test:${site.port}/`, headers: {}, body: '{}' };
            const { code, isDelivered } = await poster.post(event, new AbortController().signal);
            expect({ code, isDelivered, taken }).to.deep.equal({ code: 200, isDelivered: true, taken: 1024 });
        } finally {
            unsubscribe('http.client.response.finish', count);
            poster.close();
            await site.close();
        }
    });
});

/** How a request ended: its value or the message of its error. After PATIENCE_MS it counts as endless, so that only its row fails. */
function endOf(request: Promise<unknown>): Promise<unknown> {
    let timer: NodeJS.Timeout | undefined;
    const never = new Promise((resolve) => {
        timer = setTimeout(resolve, PATIENCE_MS, 'has no end');
    });
    return Promise.race([request.catch((error: Error) => error.message), never]).finally(() => clearTimeout(timer));
}
