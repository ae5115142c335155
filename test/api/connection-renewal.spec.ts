import { expect } from 'chai';
import { beginSession } from '../../shared/store/accounts/user-sessions.ts';
import { visitor } from '../dashboard/support/visitor.ts';
import { admin } from '../support/admin.ts';
import { type AuthorizationServer, CLIENT, openAuthorizationServer } from '../support/authorization-server.ts';
import { connectedPackage } from '../support/connections.ts';
import { consent } from '../support/consent.ts';
import { join, type Person } from '../support/people.ts';
import { codeOf, dataOf } from '../support/routes.ts';
import { isWhole } from '../support/sample.ts';
import { openSite, type Site } from '../support/sites.ts';
import { ANY_TOPOLOGY } from '../support/world.ts';
import { openWorldOfProcesses, type WorldOfProcesses } from '../support/world-of-processes.ts';

const SITE = 'renewed.test';
const AUTH = `auth.${SITE}`;
const CALLS = 50;
/** Fetch slots of each process. */
const SLOTS = 10;

for (const topology of ANY_TOPOLOGY) {
    describe(`an OAuth grant that fifty calls of two processes use while it expires, over ${topology}`, () => {
        let processes: WorldOfProcesses;
        let site: Site;
        let server: AuthorizationServer;
        let owner: Person;
        /** If responses are held, the site waits for this many requests and then answers all. */
        const waiting: (() => void)[] = [];
        let openTogether = 1;

        before(async () => {
            site = await openSite(async (request, response) => {
                const scopes = await server.scopesOf(String(request.headers.authorization).replace('Bearer ', ''));
                const answer = () => response.writeHead(scopes === undefined ? 401 : 200, { 'content-type': 'application/json' }).end('{}');
                waiting.push(answer);
                if (waiting.length < openTogether) return;
                openTogether = 1;
                for (const one of waiting.splice(0)) one();
            });
            const hosts = new Map([SITE, AUTH].map((name): [string, string[]] => [name, ['127.0.0.1']]));
            processes = await openWorldOfProcesses(topology, hosts, { settings: { WORKER_CONCURRENCY: String(SLOTS) } });
            const { world } = processes;
            server = await openAuthorizationServer(AUTH, `${world.app.publicUrl()}/connections/callback`);
            await Promise.all([processes.startWorker(), processes.startWorker()]);
            const unbounded = { perMinute: 1e6, perHour: 1e6, perDay: 1e6, allowance: 1e6, concurrency: 100 };
            owner = await join(world, { plan: 'enterprise', overrides: unbounded });
            const oauth2 = {
                authorization_url: `${server.origin}/auth`,
                token_url: `${server.origin}/token`,
                scopes: [{ name: 'orders' }],
            };
            const auth = [{ id: 'account', type: 'oauth2' as const, oauth2 }];
            dataOf(await owner.publish(connectedPackage(SITE, { auth, base: `http://${SITE}:${site.port}` })));
            expect((await admin(world.databaseUrl, ['site', 'set', SITE, '--concurrency', 1000])).code).to.equal(0);
            dataOf(await owner.call('PUT', `/v1/oauth-clients/${SITE}`, { body: CLIENT }));
        });
        after(async () => {
            await processes?.close();
            await server?.close();
            await site?.close();
        });

        /** The token of this grant expires soon. */
        async function consentTo(): Promise<void> {
            const { world } = processes;
            const browser = visitor(world);
            const session = { userId: owner.userId, browser: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/150.0', address: '127.0.0.1' };
            browser.cookies.set('routebook_session', await beginSession(world.app.db, session));
            server.lasting(30);
            await consent(server, await owner.call('POST', '/v1/connections/authorize', { body: { site: SITE } }), browser);
        }

        const refreshTokens = () =>
            server.asked.map(({ body }) => new URLSearchParams(body).get('refresh_token')).filter((token) => token !== null);

        it('is renewed once, with the refresh token of the previous renewal', async () => {
            await consentTo();
            dataOf(await owner.fetch(SITE, 'mine', {}, { timeout_ms: 60_000 }));
            expect(refreshTokens()).to.have.length(1);
            server.lasting(3600);
            // More calls than one process has slots for run at once.
            openTogether = SLOTS + 1;
            const call = async () => codeOf(await owner.fetch(SITE, 'mine', {}, { timeout_ms: 100_000 })) ?? 'success';
            const codes = await Promise.all(Array.from({ length: CALLS }, call));
            // On a busy machine, some calls may get no PostgreSQL connection within a second. They are repeated.
            const again = await Promise.all(codes.filter((code) => !isWhole && code === 'SERVICE_UNAVAILABLE').map(call));
            expect(new Set([...codes, ...again].filter((code) => isWhole || code !== 'SERVICE_UNAVAILABLE'))).to.deep.equal(
                new Set(['success']),
            );
            expect(again).not.to.include('SERVICE_UNAVAILABLE');
            expect(new Set(refreshTokens()).size).to.equal(2);
            expect(refreshTokens()).to.have.length(2);
        });
    });
}
