import { readdir, readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join as joinPath } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { createTransport } from 'nodemailer';
import type { PackageEndpoint } from '../../shared/domain/types.ts';
import { beginSession } from '../../shared/store/accounts/user-sessions.ts';
import { type ConfidingSite, openConfidingSite } from '../connections/confiding-site.ts';
import { entriesFor, type Planted, plant } from '../connections/kinds.ts';
import { type MailServer, openMailServer } from '../dashboard/support/mail-server.ts';
import { type Visitor, visitor } from '../dashboard/support/visitor.ts';
import { type AuthorizationServer, CLIENT, openAuthorizationServer } from '../support/authorization-server.ts';
import { type Collector, openCollector } from '../support/collector.ts';
import { connectedPackage } from '../support/connections.ts';
import { consent } from '../support/consent.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, join, type Person } from '../support/people.ts';
import type { Running } from '../support/processes.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { codeOf, dataOf } from '../support/routes.ts';
import { anEndpoint } from '../support/schemas.ts';
import { findPlanted, readRedis, readStored, type Stored } from '../support/stored.ts';
import { TOPOLOGIES, type World } from '../support/world.ts';
import { openWorldOfProcesses, type WorldOfProcesses } from '../support/world-of-processes.ts';

const SITE = 'confided.test';
const [API, OTHER, AUTH] = [`api.${SITE}`, `other.${SITE}`, `auth.${SITE}`];
const PLANTED = plant();
/** Values that take other paths: refused by the site, put into a wrong place, replaced, deleted, typed into the dashboard. */
const WAYWARD = ['refused', 'misplaced', 'replaced', 'deleted', 'typed'] as const;

for (const topology of TOPOLOGIES) {
    describe(`credentials of ${PLANTED.length + WAYWARD.length + 6} kinds, over ${topology} (C1)`, function () {
        this.timeout(600_000);
        let processes: WorldOfProcesses;
        let world: World;
        let site: ConfidingSite;
        let server: AuthorizationServer;
        let collector: Collector;
        let mail: MailServer;
        let receiver: Receiver;
        let owner: Person;
        let browser: Visitor;
        let agent: Client;
        let monitor: Socket | undefined;
        const secrets: Record<string, string> = Object.fromEntries(PLANTED.map(({ kind, text }) => [kind, text]));
        const workers: Running[] = [];
        const answers: string[] = [];
        /** All commands that Redis received. */
        const commands: string[] = [];
        /** The stored data at moments of the story. */
        const moments = new Map<string, Stored>();

        before(async () => {
            site = await openConfidingSite(() => `http://${OTHER}:${site.port}`);
            collector = await openCollector();
            mail = await openMailServer();
            receiver = await openReceiver();
            const hosts = new Map([SITE, API, OTHER, AUTH].map((name): [string, string[]] => [name, ['127.0.0.1']]));
            const from = 'Routebook <hello@routebook.example>';
            processes = await openWorldOfProcesses(topology, hosts, {
                config: { logLevel: 'trace', otelEndpoint: collector.endpoint, mail: { smtpUrl: mail.url, from } },
                settings: { LOG_LEVEL: 'trace', OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, SMTP_URL: mail.url, MAIL_FROM: from },
            });
            ({ world } = processes);
            const { redisUrl } = world.app.config;
            if (redisUrl !== undefined) {
                monitor = connect(Number(new URL(redisUrl).port), '127.0.0.1');
                monitor.setEncoding('latin1').on('data', (text: string) => void commands.push(text));
                monitor.write('MONITOR\r\n');
            }
            server = await openAuthorizationServer(AUTH, `${world.app.publicUrl()}/connections/callback`);
            const unbounded = { perMinute: 1e6, perHour: 1e6, perDay: 1e6, allowance: 1e6, concurrency: 100 };
            owner = recorded(await join(world, { plan: 'enterprise', overrides: unbounded }));
            await world.app.db('users').where({ id: owner.userId }).update({ verified_at: new Date(), email: 'owner@people.example' });
            browser = await signedIn(owner);
            workers.push(await processes.startWorker());
            await publish();
            agent = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
            const headers = { authorization: `Bearer ${owner.apiKey}` };
            await agent.connect(new StreamableHTTPClientTransport(new URL(`${world.base}/mcp`), { requestInit: { headers } }));
            await liveThrough();
        });
        after(async () => {
            site?.letGo();
            monitor?.destroy();
            await agent?.close();
            await processes?.close();
            await Promise.all([site, server, collector, mail, receiver].map((one) => one?.close()));
        });

        async function signedIn({ userId }: Person): Promise<Visitor> {
            const person = visitor(world);
            const session = { userId, browser: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/150.0', address: '127.0.0.1' };
            person.cookies.set('routebook_session', await beginSession(world.app.db, session));
            return person;
        }

        /** The same person, with recorded responses and retries on a busy machine. */
        function recorded(person: Person): Person {
            const call: Person['call'] = async (...given) => {
                for (let tries = 1; ; tries++) {
                    const answer = await person.call(...given);
                    answers.push(`${answer.text}\n${JSON.stringify([...answer.headers])}`);
                    if (![503, 504].includes(answer.status) || tries === 20) return answer;
                    await sleep(500);
                }
            };
            return {
                ...person,
                call,
                fetch: (at, endpoint, params = {}, more = {}) =>
                    call('POST', '/v1/fetch', { body: { site: at, endpoint, params, timeout_ms: 60_000, ...more } }),
            };
        }

        async function publish(): Promise<void> {
            const at = (path: string) => `http://${API}:${site.port}${path}`;
            const code = { name: 'code', source: 'query' as const, required: true, schema: { type: 'integer' } };
            const endpoint = (name: string, more: Partial<PackageEndpoint> = {}) =>
                anEndpoint(SITE, { name, url: at(`/${name.replaceAll('_', '-')}`), params: [], auth: 'required', ...more });
            const endpoints = [
                ...['held', 'redirect', 'redirect_path', 'broken', 'numbers', 'in_hex'].map((name) => endpoint(name)),
                endpoint('status', { params: [code] }),
                endpoint('page', { response: { select: { title: 'title', key: { selector: 'p', value: 'data-key' } } } as never }),
                endpoint('elsewhere', { url: `http://${OTHER}:${site.port}/`, auth: 'none' }),
            ];
            const auth = entriesFor(API, {
                authorization_url: `${server.origin}/auth`,
                token_url: `${server.origin}/token`,
                revocation_url: `${server.origin}/token/revocation`,
                scopes: [{ name: 'orders', description: 'Reads orders' }],
                flows: ['authorization_code', 'client_credentials'],
            });
            dataOf(await owner.publish(connectedPackage(SITE, { auth, base: `http://${API}:${site.port}`, endpoints })));
        }

        const keep = (auth_id: string, secret: object, query = '') =>
            owner.call('POST', `/v1/connections${query}`, { body: { site: SITE, auth_id, secret } });
        const idOf = (answer: Answer) => dataOf<{ connection_id: string }>(answer).connection_id;
        const look = async (moment: string) => moments.set(moment, await everything());

        async function liveThrough(): Promise<void> {
            const connected = new Map<string, string>();
            for (const { kind, auth, secret } of PLANTED) connected.set(kind, idOf(await keep(auth, secret)));
            connected.set('a client of its own', idOf(await keep('oauth', { ...CLIENT, scopes: ['orders'] })));
            connected.set('a grant', await granted());
            secrets['the secret of the client'] = CLIENT.client_secret;
            const webhook = { url: receiver.url(), events: ['job.succeeded', 'monitor.changed'] };
            dataOf(await owner.call('POST', '/v1/webhooks', { body: webhook }));
            await fourAtOnce([...connected.values()], useEverywhere);
            await fourAtOnce(PLANTED, useInBatch);
            await useAgain(connected.get('a grant') ?? '');
            await stray();
            await reject(connected.get('a key in a header') ?? '');
            await look('used');
            await killInMidCall([...connected.values()].slice(1));
            learnTokens();
            await world.app.usage.flush();
            await world.app.connectionUses.flush();
        }

        /** A grant whose token expires at once, so that the next call renews it. */
        async function granted(): Promise<string> {
            dataOf(await owner.call('PUT', `/v1/oauth-clients/${SITE}`, { body: CLIENT }));
            server.lasting(30);
            const begun = await owner.call('POST', '/v1/connections/authorize', { body: { site: SITE, auth_id: 'oauth' } });
            await consent(server, begun, browser);
            server.lasting(3600);
            const all = dataOf<{ connection_id: string; hint: string }[]>(await owner.call('GET', '/v1/connections?limit=100'));
            return all[0]?.connection_id ?? '';
        }

        /** Every kind of call, and every kind of response. */
        async function useEverywhere(connection: string): Promise<void> {
            const call = { site: SITE, endpoint: 'mine', params: {}, connection };
            const patient = { ...call, timeout_ms: 60_000 };
            const headers = { 'idempotency-key': `keyed-${connection}` };
            for (let at = 0; at < 2; at++) dataOf(await owner.call('POST', '/v1/fetch', { body: patient, headers }));
            dataOf(await owner.fetch(SITE, 'mine', {}, { connection, dry_run: true }));
            dataOf(await owner.fetch(SITE, 'mine', {}, { connection, max_age: 600 }));
            for (const name of ['page', 'numbers', 'redirect']) dataOf(await owner.fetch(SITE, name, {}, { connection }));
            for (const code of [400, 401, 403, 404, 501])
                expect(codeOf(await owner.fetch(SITE, 'status', { code }, { connection }))).to.match(/^UPSTREAM_/);
            expect(codeOf(await owner.fetch(SITE, 'broken', {}, { connection }))).to.equal('UPSTREAM_INVALID_RESPONSE');
            expect(codeOf(await owner.fetch(SITE, 'redirect_path', {}, { connection }))).to.equal('UPSTREAM_REDIRECT');
            for (const name of ['fetch', 'price_fetch', 'start_job']) {
                const said = await agent.callTool({ name, arguments: { ...call } });
                expect(said.isError, JSON.stringify(said)).not.to.equal(true);
                answers.push(JSON.stringify(said));
            }
            const job = dataOf<{ job_id: string }>(await owner.call('POST', '/v1/jobs', { body: patient }));
            expect(dataOf(await owner.call('GET', `/v1/jobs/${job.job_id}?wait=30`))['status']).to.equal('succeeded');
            const watched = dataOf<{ monitor_id: string }>(await owner.call('POST', '/v1/monitors', { body: { ...call, every: '1h' } }));
            await eventually(
                () => owner.call('GET', `/v1/monitors/${watched.monitor_id}/runs`),
                (answer) => dataOf<{ status: string }[]>(answer)[0]?.status === 'succeeded',
                60_000,
            );
            dataOf(await owner.call('GET', `/v1/connections/${connection}`));
        }

        /** The items name no connection, so they use the only one of their user. */
        async function useInBatch({ auth, secret }: Planted): Promise<void> {
            const person = recorded(await join(world, { plan: 'enterprise' }));
            dataOf(await person.call('POST', '/v1/connections', { body: { site: SITE, auth_id: auth, secret } }));
            const body = { defaults: { site: SITE, endpoint: 'mine' }, items: [{ params: {} }, { params: {} }] };
            const { batch_id: id } = dataOf<{ batch_id: string }>(await person.call('POST', '/v1/batches', { body }));
            await eventually(
                () => person.call('GET', `/v1/batches/${id}?wait=5`),
                (answer) => dataOf(answer)['finished_at'] !== null,
                60_000,
            );
            const results = dataOf<{ status: string }[]>(await person.call('GET', `/v1/batches/${id}/results`));
            expect(results.map(({ status }) => status)).to.deep.equal(['succeeded', 'succeeded']);
        }

        /** Grants that are renewed, and withdrawn at the site when they are deleted. */
        async function useAgain(grant: string): Promise<void> {
            const revoked = server.revoked.length;
            const begun = await owner.call('POST', '/v1/connections/authorize', { body: { site: SITE, auth_id: 'oauth' } });
            await consent(server, begun, browser);
            const all = dataOf<{ connection_id: string; type: string }[]>(await owner.call('GET', '/v1/connections?limit=100'));
            const another = all.find(({ connection_id: id, type }) => type === 'oauth2' && id !== grant)?.connection_id ?? '';
            dataOf(await owner.call('DELETE', `/v1/connections/${another}`));
            await eventually(
                async () => server.revoked.length,
                (count) => count > revoked,
            );
        }

        async function stray(): Promise<void> {
            const texts = Object.fromEntries(WAYWARD.map((way) => [way, `${way}${'0123456789abcdef'.repeat(2)}${Math.random()}`]));
            Object.assign(secrets, texts);
            const { refused = '', misplaced = '', replaced = '', deleted = '', typed = '' } = texts;
            site.refuses(refused);
            expect(codeOf(await keep('header', { value: refused }))).to.equal('CONNECTION_REJECTED');
            expect(codeOf(await keep('basic', { value: misplaced }))).to.equal('VALIDATION_ERROR');
            expect(codeOf(await keep('token', { value: `token ${misplaced}` }))).to.equal('VALIDATION_ERROR');
            expect(codeOf(await owner.call('POST', '/v1/connections', { body: { site: SITE, secret: misplaced } }))).to.equal(
                'VALIDATION_ERROR',
            );
            const id = idOf(await keep('header', { value: replaced }, '?test=false'));
            dataOf(await owner.fetch(SITE, 'mine', {}, { connection: id }));
            dataOf(await owner.call('PATCH', `/v1/connections/${id}`, { body: { secret: { value: deleted } } }));
            dataOf(await owner.call('POST', `/v1/connections/${id}/test`));
            dataOf(await owner.fetch(SITE, 'mine', {}, { connection: id }));
            dataOf(await owner.call('DELETE', `/v1/connections/${id}`));
            // Another user, since pages have rate limits of their own.
            const typist = await signedIn(await join(world, { plan: 'enterprise' }));
            const page = await typist.send('/dashboard/connections', { site: SITE, auth_id: 'header', secret: typed });
            answers.push(page.html, (await typist.get('/dashboard/connections')).html);
            expect(page.status, page.html.match(/(class="problem"|role="alert").{0,300}/s)?.[0]).to.equal(303);
        }

        /** Its owner gets a mail. */
        async function reject(connection: string): Promise<void> {
            for (let at = 0; at < 3; at++) await owner.fetch(SITE, 'status', { code: 401 }, { connection });
            await mail.mailTo('owner@people.example');
        }

        async function killInMidCall(connections: readonly string[]): Promise<void> {
            const body = (connection: string) => ({ site: SITE, endpoint: 'held', params: {}, connection });
            const fetched = connections.map((connection) => owner.fetch(SITE, 'held', {}, { connection, timeout_ms: 60_000 }));
            const jobs: string[] = [];
            for (const connection of connections)
                jobs.push(dataOf<{ job_id: string }>(await owner.call('POST', '/v1/jobs', { body: body(connection) })).job_id);
            await site.waiting(connections.length * 2);
            await look('in mid-call');
            await workers[0]?.end('SIGKILL');
            await look('after the worker was killed');
            site.letGo();
            workers.push(await processes.startWorker());
            await Promise.all(fetched);
            for (const id of jobs) {
                await eventually(
                    () => owner.call('GET', `/v1/jobs/${id}?wait=5`),
                    (answer) => dataOf(answer)['finished_at'] !== null,
                    60_000,
                );
            }
        }

        /** The tokens of the authorization server, and the request bodies that it got. */
        function learnTokens(): void {
            const bearers = site.seen.map(({ headers }) => /^Bearer (\S{20,})$/.exec(headers.authorization ?? '')?.[1]);
            const known = new Set(Object.values(secrets));
            const access = [...new Set(bearers)].filter((token): token is string => token !== undefined && !known.has(token));
            for (const [at, token] of access.entries()) secrets[`access token ${at + 1}`] = token;
            const fields = (name: string) => server.asked.flatMap(({ body }) => new URLSearchParams(body).getAll(name));
            for (const [at, token] of [...fields('refresh_token'), ...server.revoked].entries()) secrets[`refresh token ${at + 1}`] = token;
            for (const [at, verifier] of fields('code_verifier').entries()) secrets[`verifier ${at + 1}`] = verifier;
            for (const name of ['access token 2', 'refresh token 2', 'verifier 2']) expect(secrets).to.have.property(name);
        }

        /** All data except for what sites got. */
        async function everything(): Promise<Stored> {
            const { app } = world;
            const all = new Map(await readStored(app, world.logged));
            for (const [at, worker] of workers.entries()) all.set(`the output of worker ${at + 1}`, worker.output());
            all.set('the spans', collector.seen.map(({ body }) => body).join('\n'));
            all.set('the mails', JSON.stringify(mail.mails));
            all.set('the answers', answers.join('\n'));
            all.set('the webhooks', JSON.stringify(receiver.told()));
            all.set('the metrics', await app.metrics.registry.metrics());
            all.set('the commands of Redis', commands.join(''));
            if (app.config.redisUrl === undefined) return all;
            for (const [key, text] of await readRedis(app.config.redisUrl, '')) all.set(`Redis key ${key}`, text);
            for (const [name, text] of await filesOf(app.config.redisUrl)) all.set(`file of Redis ${name}`, text);
            return all;
        }

        it('are each sent to the host that they are for, and to no other', () => {
            for (const { kind, text } of PLANTED) expect([...site.gotAt(text)], kind).to.deep.equal([API]);
            for (const name of ['replaced', 'deleted', 'typed']) expect([...site.gotAt(secrets[name] ?? '')], name).to.deep.equal([API]);
            expect([...site.gotAt(secrets['misplaced'] ?? '')]).to.deep.equal([]);
            expect(site.seen.some(({ headers }) => headers.host?.startsWith(OTHER))).to.equal(true);
        });

        it('stand in no table, key, log, span, mail, metric, webhook or answer, in any form, at any moment', async () => {
            await look('in the end');
            expect([...moments.keys()]).to.have.lengthOf(4);
            for (const [moment, all] of moments) expect(findPlanted(all, secrets), moment).to.deep.equal([]);
        });

        it('were looked for where they could be', () => {
            const all = moments.get('in the end') ?? new Map<string, string>();
            const text = (place: string) => all.get(place) ?? '';
            for (const table of ['connections', 'jobs', 'kept_results', 'idempotency', 'monitor_runs', 'batches'])
                expect(text(`table public.${table}`), table).not.to.equal('');
            expect([...all].some(([place, rows]) => place.startsWith('table public.workspace_audit') && rows !== '')).to.equal(true);
            expect(text('the log')).to.include('/v1/fetch');
            for (const place of ['the output of worker 1', 'the spans', 'the answers', 'the metrics'])
                expect(text(place), place).to.include(SITE);
            expect(text('the answers')).to.include('•••');
            expect(text('the mails')).to.include(SITE);
            expect(text('the commands of Redis').includes(SITE)).to.equal(topology === 'redis');
        });

        it('would be found: one that is let through on purpose, in each place and form', async () => {
            const { app } = world;
            // Nothing masks this form, so it arrives unchanged.
            const [{ auth = '', secret = {}, text = '' } = {}] = plant();
            const through = { through: text };
            const connection = idOf(await keep(auth, secret));
            dataOf(await owner.fetch(SITE, 'in_hex', {}, { connection }));
            expect(findPlanted(new Map([['the answers', answers.join()]]), through)).to.have.lengthOf(1);
            for (const { kind, text } of PLANTED) {
                for (const form of formsOf(text)) {
                    expect(findPlanted(new Map([['a text', `x ${form} y`]]), { kind: text }), `${kind}: ${form}`).to.have.lengthOf(1);
                }
            }
            const own = 'let-through-on-purpose-4711';
            app.log.info({ own }, 'let through');
            app.tracing.begin('let through', { kind: 'internal', traits: { own } }).end();
            await createTransport(mail.url).sendMail({ from: 'a@b.example', to: 'c@d.example', subject: own, text: 'x' });
            await app.db.raw('create table let_through (text text)');
            await app.db.raw('insert into let_through values (?)', [own]);
            if (app.config.redisUrl !== undefined) {
                const redis = new Redis(app.config.redisUrl);
                await redis.xadd('let:through', '*', 'field', own);
                redis.disconnect();
            }
            const places = ['the log', 'the spans', 'the mails', 'table public.let_through'];
            if (topology === 'redis') places.push('Redis key let:through', 'the commands of Redis');
            await eventually(
                async () => findPlanted(new Map([['the spans', collector.seen.map(({ body }) => body).join()]]), { own }),
                (found) => found.length > 0,
                20_000,
            );
            expect(findPlanted(await everything(), { own })).to.include.members(places.map((place) => `own in ${place}`));
            await app.db.raw('drop table let_through');
        });
    });
}

/** As many at once as a busy machine can serve. */
async function fourAtOnce<T>(all: readonly T[], act: (one: T) => Promise<void>): Promise<void> {
    const left = [...all];
    const some = async () => {
        for (let one = left.shift(); one !== undefined; one = left.shift()) await act(one);
    };
    await Promise.all([some(), some(), some(), some()]);
}

/** The files in which Redis persists all changes. */
async function filesOf(url: string): Promise<[name: string, text: string][]> {
    const redis = new Redis(url);
    const [, folder = ''] = (await redis.config('GET', 'dir')) as string[];
    redis.disconnect();
    const names = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = names.filter((entry) => entry.isFile());
    return Promise.all(
        files.map(async ({ parentPath, name }): Promise<[string, string]> => [name, await readFile(joinPath(parentPath, name), 'latin1')]),
    );
}

function formsOf(text: string): string[] {
    const bytes = Buffer.from(text);
    return [
        text,
        bytes.toString('base64'),
        bytes.toString('base64url'),
        Buffer.from(`ada:${text}`).toString('base64'),
        bytes.toString('hex'),
        encodeURIComponent(text),
        JSON.stringify(text),
        JSON.stringify({ body: JSON.stringify({ text }) }),
    ];
}
