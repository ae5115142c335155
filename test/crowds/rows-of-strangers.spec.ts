import { expect } from 'chai';
import { PAGES } from '../../api/dashboard/pages.ts';
import { publishAsStarter } from '../../bin/demo/starter-registry.ts';
import { newWebToken } from '../../shared/domain/accounts/web-token.ts';
import { absentValues, pathOf } from '../dashboard/support/places.ts';
import { hiddenOf, visitor } from '../dashboard/support/visitor.ts';
import { stranger } from '../support/people.ts';
import { everyRoute, placeholdersOf } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { useWorld } from '../support/world.ts';

/** Requests of one address to each route. */
const TIMES = 100;
/** Rows that they may add to a table: 60 challenges of passkeys are the most. */
const MOST = 60;
/** Requests at a time. */
const AT_ONCE = 5;

describe('a stranger at one address, with ever new names', function () {
    this.timeout(600_000);
    const world = useWorld({ topology: 'postgres', workers: 0, config: { trustProxy: 1 } });
    let tables: string[];
    let made = 0;

    before(async () => {
        await publishAsStarter(world.app, aPackage('books.example'));
        const query =
            "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'";
        tables = (await world.app.db.raw<{ rows: { name: string }[] }>(query)).rows.map(({ name }) => name);
    });

    async function rows(): Promise<Map<string, number>> {
        await Promise.all([world.app.usage.flush(), world.app.lookUpSessions.flush()]);
        const query = tables.map((name) => `select '${name}' as name, count(*)::integer as count from "${name}"`).join(' union all ');
        const { rows: all } = await world.app.db.raw<{ rows: { name: string; count: number }[] }>(query);
        return new Map(all.map(({ name, count }) => [name, count]));
    }

    /** Expects that many requests add few rows to every table, and none to most. @param ask sends one request with names that are new */
    async function expectFewRows(what: string, ask: (name: string) => Promise<unknown>): Promise<void> {
        const before = await rows();
        for (let sent = 0; sent < TIMES; sent += AT_ONCE) {
            await Promise.all(Array.from({ length: AT_ONCE }, () => ask(`u${++made}.example`)));
        }
        for (const [name, count] of await rows()) {
            expect(count - (before.get(name) ?? 0), `${what}: rows of ${name}`).to.be.at.most(MOST);
        }
    }

    it('adds few rows by the routes of the API', async () => {
        const nobody = stranger(world);
        for (const route of everyRoute('books.example').filter(({ contract }) => contract.auth !== 'required')) {
            const [placeholder] = placeholdersOf(route);
            await expectFewRows(route.contract.name, async (name) => {
                const body = route.body && JSON.stringify(route.body).replaceAll('books.example', name);
                const ids = { 'idempotency-key': name, 'x-service-session': name, 'x-request-id': name.replace('.', '-') };
                const options = { ...(body === undefined ? {} : { body }), headers: { 'x-forwarded-for': '10.1.1.1', ...ids } };
                await nobody.call(route.method, route.path, options);
                if (placeholder !== undefined) await nobody.call(route.method, route.pathWith(placeholder, name), options);
            });
        }
    });

    it('adds few rows by pages and their forms', async () => {
        const person = visitor(world, { address: '10.1.1.2' });
        const form = hiddenOf((await person.get('/login')).html, '_form') ?? '';
        for (const page of PAGES.filter(({ audience }) => audience === 'anyone')) {
            await expectFewRows(`${page.method} ${page.path}`, (name) => {
                const path = pathOf(page, absentValues());
                const token = newWebToken();
                if (page.method === 'GET') {
                    return person.get(`${path}?${new URLSearchParams({ token, q: name, task: `find ${name}`, plan: 'starter' })}`);
                }
                const words = { password: `four words for ${name}`, new_password: `four words for ${name}`, code: '123456', invite: name };
                const asked = { domain: name, task: 'Read the price of every product once a day.', credential: '{"id":"AAAA"}' };
                const fields = { _form: form, email: `ada@${name}`, token, ticket: newWebToken(), ...words, ...asked };
                return person.post(path, new URLSearchParams(fields).toString());
            });
        }
    });

    it('adds few rows as an app, and as an agent', async () => {
        const FORM = 'application/x-www-form-urlencoded';
        const JSON_TYPE = 'application/json';
        const register = (name: string) => JSON.stringify({ client_name: name, redirect_uris: [`https://${name}/back`] });
        const exchange = (name: string) => {
            const proof = { code: newWebToken(), client_id: `https://${name}/app`, code_verifier: newWebToken() };
            return new URLSearchParams({ grant_type: 'authorization_code', ...proof }).toString();
        };
        const find = (name: string) => {
            const params = { name: 'find_endpoint', arguments: { task: `find ${name}` } };
            return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
        };
        const requests: [path: string, type: string, body: (name: string) => string][] = [
            ['/oauth/register', JSON_TYPE, register],
            ['/oauth/token', FORM, exchange],
            ['/oauth/revoke', FORM, () => new URLSearchParams({ token: newWebToken() }).toString()],
            ['/mcp', JSON_TYPE, find],
        ];
        for (const [path, type, body] of requests) {
            await expectFewRows(path, async (name) => {
                const headers = { 'content-type': type, 'x-forwarded-for': '10.1.1.3' };
                await (await fetch(`${world.base}${path}`, { method: 'POST', headers, body: body(name) })).text();
            });
        }
    });
});
