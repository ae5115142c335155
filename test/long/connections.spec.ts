import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect } from 'chai';
import { createUpstream } from '../../workers/upstream.ts';
import { loopbackRules, requestTo } from '../support/sites.ts';

describe('a call to a site that never answers the TLS handshake', () => {
    it('fails after ten seconds, long before its deadline', async () => {
        const silent = createServer().listen(0, '127.0.0.1');
        await once(silent, 'listening');
        const { port } = silent.address() as AddressInfo;
        const upstream = createUpstream({ rules: loopbackRules(`127.0.0.1:${port}`) });
        try {
            const began = performance.now();
            const answer = await upstream.send(requestTo(`https://shop.test:${port}/`, { method: 'POST', body: '{}' }), {
                site: 'shop.test',
                registrable: 'shop.test',
                effect: 'write',
                deadlineAt: Date.now() + 50_000,
            });
            expect(!answer.ok && answer.code).to.equal('UPSTREAM_UNREACHABLE');
            expect(performance.now() - began).to.be.within(9_900, 15_000);
        } finally {
            upstream.close();
            silent.close();
        }
    });
});
