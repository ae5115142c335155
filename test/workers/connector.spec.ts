import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { parseEgressAllow } from '../../shared/domain/egress-allow.ts';
import { createConnector } from '../../workers/egress.ts';

describe('a connection that is not ready in time', () => {
    it('is closed also where the site never answers the TLS handshake', async () => {
        const allow = parseEgressAllow('127.0.0.0/8');
        if (!allow.ok) throw new Error(allow.problem);
        const silent = createServer().listen(0, '127.0.0.1');
        await once(silent, 'listening');
        const { port } = silent.address() as AddressInfo;
        const connector = createConnector({ allow: allow.entries, hosts: new Map(), proxyUrl: undefined }, { timeoutMs: 200 });

        const arrived = once(silent, 'connection');
        const failure = connector.connect({ host: '127.0.0.1', port, scheme: 'https' }).catch((error: NodeJS.ErrnoException) => error.code);
        const [socket] = (await arrived) as [Socket];
        const isClosed = once(socket.resume(), 'close');
        expect(await failure).to.equal('ETIMEDOUT');
        await isClosed;
        silent.close();
    });
});
