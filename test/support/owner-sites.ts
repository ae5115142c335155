import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createSecureContext, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { parseEgressAllow } from '../../shared/domain/site/egress-allow.ts';
import { createConnector, type EgressConnector } from '../../workers/egress.ts';
import { createAuthority, issueCertificate } from './certificates.ts';

/** https sites on loopback for any host, and a guarded connector that reaches them at port 443. */
export interface OwnerSites {
    connector: EgressConnector;
    /** The handler of each host. A host without a handler answers 404. */
    hosts: Map<string, (request: IncomingMessage, response: ServerResponse) => void>;
    /** `host/path` of the requests in order. */
    asked: string[];
    close(): Promise<void>;
}

/** Opens the sites. @param names host names that resolve to loopback */
export async function openOwnerSites(names: ReadonlyMap<string, readonly string[]>): Promise<OwnerSites> {
    const authority = createAuthority();
    const trusted = getCACertificates('default');
    setDefaultCACertificates([...trusted, authority.cert]);
    const hosts: OwnerSites['hosts'] = new Map();
    const asked: string[] = [];
    const server = createServer(
        { SNICallback: (name, done) => done(null, createSecureContext(issueCertificate(authority, name))) },
        (request, response) => {
            const host = request.headers.host ?? '';
            asked.push(`${host}${request.url}`);
            const answer = hosts.get(host);
            if (answer === undefined) response.writeHead(404).end('nothing here');
            else answer(request, response);
        },
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const allow = parseEgressAllow('127.0.0.0/8');
    if (!allow.ok) throw new Error(allow.problem);
    const guarded = createConnector({ allow: allow.entries, hosts: names, proxyUrl: undefined });
    return {
        connector: { connect: (target, gone) => guarded.connect({ ...target, port: target.port === 443 ? port : target.port }, gone) },
        hosts,
        asked,
        close() {
            setDefaultCACertificates(trusted);
            return new Promise((done) => {
                server.close(() => done());
                server.closeAllConnections();
            });
        },
    };
}
