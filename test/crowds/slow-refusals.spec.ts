import hapi, { type Server } from '@hapi/hapi';
import { expect } from 'chai';
import { slowRefusals } from '../../api/admission/slow-refusals.ts';
import type { App } from '../../shared/app.ts';

/** More than are answered at once. */
const MANY = 1500;

describe('an account that is refused again and again', () => {
    let server: Server;
    /** How many reads gave up their slot among the reads of their client. */
    let released = 0;

    before(async () => {
        server = hapi.server({ debug: false });
        server.auth.scheme('anyone', () => ({ authenticate: (_request, h) => h.authenticated({ credentials: {} }) }));
        server.auth.strategy('anyone', 'anyone');
        await server.register({ plugin: slowRefusals, options: { app: {} as App } });
        // As in the real server, a refusal has its status only after it was rendered.
        await server.register({
            name: 'refusals',
            register: (one) => one.ext('onPreResponse', ({ response }, h) => ('isBoom' in response ? h.response().code(429) : h.continue)),
        });
        server.ext('onRequest', (request, h) => {
            request.app.endRead = () => {
                released += 1;
            };
            return h.continue;
        });
        server.route({
            method: 'GET',
            path: '/',
            options: { auth: 'anyone' },
            handler: () => {
                throw new Error('refused');
            },
        });
    });

    const ask = (accountId: string) =>
        server.inject({ url: '/', auth: { strategy: 'anyone', credentials: { app: { accountId } as never } } });

    it('is answered later than others, who do not wait for its reads', async () => {
        await Promise.all(Array.from({ length: MANY }, () => ask('crowd')));
        const order: string[] = [];
        await Promise.all(['crowd', 'good'].map((account) => ask(account).then(() => order.push(account))));
        expect(order).to.deep.equal(['good', 'crowd']);
        expect(released).to.equal(1);
    });
});
