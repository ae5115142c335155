import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createSecureContext, createServer, getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { parseEgressAllow } from '../../shared/domain/site/egress-allow.ts';
import { createFileReader } from '../../workers/claims/read-file.ts';
import { createGuardedFetch } from '../../workers/credentials/guarded-fetch.ts';
import { createConnector, type EgressConnector } from '../../workers/egress.ts';
import { createEventPoster } from '../../workers/webhooks/post-event.ts';
import { createAuthority, issueCertificate } from '../support/certificates.ts';
import { ANSWERERS } from './answerers.ts';

const hostOf = (index: number) => `answerer${index}.test`;
const NAMES = new Map(ANSWERERS.map((_, index) => [hostOf(index), ['127.0.0.1']]));

describe('what a worker asks besides sites ends, with a server that', function () {
    this.timeout(60_000);
    const trusted = getCACertificates('default');
    const sockets = new Set<TLSSocket>();
    let server: ReturnType<typeof createServer>;
    let ends: { isProven: boolean; isDelivered: boolean }[];

    before(async () => {
        const authority = createAuthority();
        setDefaultCACertificates([...trusted, authority.cert]);
        server = createServer(
            { SNICallback: (name, done) => done(null, createSecureContext(issueCertificate(authority, name))) },
            (socket) => {
                sockets.add(socket);
                socket.on('error', () => undefined);
                const row = ANSWERERS.find((_, index) => hostOf(index) === socket.servername);
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
        const files = createFileReader(rules, () => 'test', connector);
        const ask = createGuardedFetch(rules, () => 'test', undefined, connector);
        const poster = createEventPoster(rules, connector);
        const order = { method: 'GET', headers: {}, body: undefined, redirect: 'manual' } as const;
        const sent = { headers: {}, body: '{}' };
        ends = await Promise.all(
            ANSWERERS.map(async (_, index) => {
                const host = hostOf(index);
                const [problem, , { isDelivered }] = await Promise.all([
                    files.read(host, 'a claim'),
                    ask(`https://${host}/token`, order).catch((error: Error) => error),
                    poster.post({ url: `https://${host}/`, ...sent }, new AbortController().signal),
                ]);
                return { isProven: problem === undefined, isDelivered };
            }),
        );
        for (const one of [files, ask, poster]) one.close();
    });
    after(() => {
        setDefaultCACertificates(trusted);
        for (const socket of sockets) socket.destroy();
        server.close();
    });

    for (const [index, { name, isDelivered = false }] of ANSWERERS.entries()) {
        it(name, () => {
            expect(ends[index]).to.include({ isProven: false, isDelivered });
        });
    }
});
