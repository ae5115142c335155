import { expect } from 'chai';
import { createGuardedFetch } from '../../workers/credentials/guarded-fetch.ts';
import { createConnector } from '../../workers/egress.ts';
import { loopbackRules, openRawSite } from '../support/sites.ts';

describe('a request to a token endpoint', () => {
    it('rejects an HTTP upgrade', async () => {
        const site = await openRawSite((socket) =>
            socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n'),
        );
        const rules = loopbackRules('127.0.0.0/8');
        const send = createGuardedFetch(rules, () => 'Routebook/test', createConnector(rules));
        const options = { method: 'POST', headers: {}, body: 'grant_type=client_credentials', redirect: 'manual' as const };
        try {
            const failed = await send(`http://shop.test:${site.port}/token`, options).catch((error: Error) => error.message);
            expect(failed).to.equal('the server switched to another protocol without being asked');
        } finally {
            send.close();
            await site.close();
        }
    });
});
