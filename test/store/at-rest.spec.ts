import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { generate } from 'otplib';
import { hashTag } from '../../shared/platform/redis.ts';
import { createKey } from '../../shared/store/accounts/api-keys.ts';
import { findSignedIn } from '../../shared/store/accounts/user-sessions.ts';
import { type MailServer, openMailServer } from '../dashboard/support/mail-server.ts';
import { freshAddress, hiddenOf, type Visitor, visitor } from '../dashboard/support/visitor.ts';
import { eventually } from '../support/eventually.ts';
import { sendKeyed } from '../support/keyed.ts';
import { mailsTo } from '../support/mails.ts';
import { join, type Person, withKey } from '../support/people.ts';
import { TEST_SECRET_KEYS } from '../support/secrets.ts';
import { SHOP_HOSTS, shopPackage } from '../support/shop.ts';
import { openSite, type Site } from '../support/sites.ts';
import { findPlanted, readStored, type Stored } from '../support/stored.ts';
import { openWorld, TOPOLOGIES, type World } from '../support/world.ts';

const SITE = 'dear.test';
/** The secrets that this test plants. Routebook generates the others. */
const PLANTED = ['keyed param', 'keyed body', 'kept param', 'kept body', 'write param', 'wrong param', 'broken body', 'redirect'] as const;
const randomText = () => `planted${randomBytes(18).toString('hex')}`;

for (const topology of TOPOLOGIES) {
    describe(`stored and logged data, with queue and limits in ${topology}`, () => {
        let world: World;
        let mail: MailServer;
        let site: Site;
        let publisher: Person;
        const secrets: Record<string, string> = {};
        /** The stored data at each step. */
        const steps = new Map<string, Stored>();

        before(async () => {
            for (const name of [...PLANTED, 'password', 'new password', 'wrong password', 'database password'])
                secrets[name] = randomText();
            secrets['key of the ring'] = TEST_SECRET_KEYS.split(':')[1] ?? '';
            mail = await openMailServer();
            site = await openSite((request, response) => {
                const { pathname, searchParams } = new URL(request.url ?? '/', 'http://site.invalid');
                if (pathname === '/redirect') {
                    return void response.writeHead(302, { location: `http://inside.test/?t=${secrets['redirect']}` }).end();
                }
                response.setHeader('content-type', 'application/json');
                if (pathname === '/broken') return void response.end(`{"half":"${secrets['broken body']}`);
                const body = searchParams.get('q') === secrets['keyed param'] ? 'keyed body' : 'kept body';
                response.end(JSON.stringify({ text: secrets[body] }));
            });
            world = await openWorld({
                topology,
                verifier: { paceMs: 0, pollMs: 20 },
                databasePassword: secrets['database password'] ?? '',
                config: {
                    trustProxy: 1,
                    logLevel: 'debug',
                    egressHosts: SHOP_HOSTS,
                    mail: { smtpUrl: mail.url, from: 'Routebook <hello@routebook.example>' },
                },
            });
            publisher = await join(world, { plan: 'pro' });
            secrets['API key of the publisher'] = publisher.apiKey ?? '';
            await liveThrough();
        });

        after(async () => {
            await world.close();
            await site.close();
            await mail.close();
        });

        const look = async (step: string) => steps.set(step, await readStored(world.app, world.logged));
        const tokenOf = (link = '') => new URL(link, world.base).searchParams.get('token') ?? '';
        const keepCookie = (name: string, person: Visitor) => {
            secrets[name] = person.cookies.get('routebook_session') ?? '';
        };

        async function liveThrough() {
            const email = freshAddress();
            mail.refuseWith(451);
            const ada = visitor(world);
            const signedUp = await ada.send('/signup', { email, password: secrets['password'] ?? '' }, { from: '/signup' });
            expect(signedUp.status).to.equal(200);
            await eventually(
                () => mailsTo(world.app, email),
                (messages) => messages.length === 1,
            );
            await look('signed up, with a mail that waits');
            const link = await nextLink(email, '/verify');
            secrets['token that verifies'] = tokenOf(link);
            await ada.get(link);
            keepCookie('session', ada);
            await turnOnTotp(ada);
            await publish();
            await fetchAll(ada);
            await look('fetched');
            await forget(email);
            await look('with a new password');
        }

        /** Delivers mails, up to the one with a link to this path. */
        async function nextLink(email: string, path: string): Promise<string> {
            mail.refuseWith(0);
            await world.clock.advance({ minutes: 10 });
            for (;;) {
                const { link } = await mail.mailTo(email);
                if (link?.startsWith(`${path}?`)) return link;
            }
        }

        async function turnOnTotp(person: Visitor) {
            const { html } = await person.get('/dashboard/settings/factors/totp');
            const secret = (/<pre id="totp-secret"[^>]*><code>([^<]+)/.exec(html)?.[1] ?? '').replaceAll(' ', '');
            secrets['secret of the authenticator app'] = secret;
            const code = await generate({ secret, epoch: Math.floor(world.app.clock.now() / 1000) });
            const done = await person.send('/dashboard/settings/factors/totp', { code }, { from: '/dashboard/settings/factors' });
            const codes = done.html.match(/[a-z2-9]{4}(?:-[a-z2-9]{4}){3}/g) ?? [];
            expect(codes).to.have.length(10);
            secrets['recovery code'] = codes[0] ?? '';
        }

        async function publish() {
            const url = `http://${SITE}:${site.port}`;
            const q = { name: 'q', source: 'query', required: true, schema: { type: 'string' } } as const;
            const params = [q];
            const { status, body } = await publisher.publish({
                ...shopPackage(site.port, { site: SITE }),
                endpoints: [
                    { name: 'read', method: 'GET', url: `${url}/read`, params, examples: [{ params: { q: 'shown' } }] },
                    { name: 'write', method: 'POST', url: `${url}/write`, effect: 'write', params: [{ ...q, source: 'body' }] },
                    { name: 'number', method: 'GET', url: `${url}/number`, params: [{ ...q, schema: { type: 'integer' } }] },
                    { name: 'broken', method: 'GET', url: `${url}/broken`, params },
                    { name: 'redirect', method: 'GET', url: `${url}/redirect`, params },
                ],
            });
            expect(status, JSON.stringify(body)).to.equal(201);
            await eventually(
                () => publisher.call('GET', `/v1/schemas/${SITE}`),
                (card) => (card.body['data'] as { verified: boolean }).verified,
                20_000,
            );
        }

        async function fetchAll(person: Visitor) {
            const { db } = world.app;
            const me = await findSignedIn(db, person.cookies.get('routebook_session') ?? '');
            if (me?.current === undefined) throw new Error('who signed up has a workspace');
            const { apiKey } = await createKey(db, { workspaceId: me.current.workspaceId, userId: me.userId, name: 'laptop' });
            secrets['API key'] = apiKey;
            const caller = withKey(world, apiKey);
            const body = { site: SITE, endpoint: 'read', params: { q: secrets['keyed param'] } };
            for (const _ of ['a call', 'its replay']) {
                const { status, text } = await sendKeyed(world.base, caller, 'order-1', body);
                expect([status, text.includes(secrets['keyed body'] ?? '')]).to.deep.equal([200, true]);
            }
            const kept = () => caller.fetch(SITE, 'read', { q: secrets['kept param'] }, { max_age: 3600 });
            const answers = [await kept(), await kept()];
            expect(answers.map(({ body }) => (body['meta'] as { cached: boolean }).cached)).to.deep.equal([false, true]);
            expect(JSON.stringify(answers[1]?.body)).to.include(secrets['kept body']);
            const write = { site: SITE, endpoint: 'write', params: { q: secrets['write param'] } };
            expect((await sendKeyed(world.base, caller, 'order-2', write)).status).to.equal(200);
            for (const [endpoint, status] of [
                ['number', 400],
                ['broken', 502],
                ['redirect', 502],
            ] as const) {
                const failed = await sendKeyed(world.base, caller, `fails-${endpoint}`, {
                    site: SITE,
                    endpoint,
                    params: { q: secrets['wrong param'] },
                });
                expect(failed.status, failed.text).to.equal(status);
            }
            await world.app.usage.flush();
        }

        async function forget(email: string) {
            const person = visitor(world);
            expect((await person.send('/login', { email, password: secrets['wrong password'] ?? '' })).status).to.equal(422);
            mail.refuseWith(451);
            await person.send('/forgot', { email }, { from: '/forgot' });
            await look('asked for a new password, with a mail that waits');
            const link = await nextLink(email, '/reset');
            secrets['token that resets'] = tokenOf(link);
            const choice = { token: tokenOf(link), password: secrets['new password'] ?? '' };
            const asked = await person.send('/reset', choice, { from: link });
            const ticket = hiddenOf(asked.html, 'ticket') ?? '';
            secrets['ticket of the sign-in'] = ticket;
            await look('asked for the second factor');
            const code = secrets['recovery code'] ?? '';
            const entered = await person.send('/login/factor', { ticket, code, next: '/dashboard' }, { from: '/login' });
            expect(entered.to, entered.html).to.equal('/dashboard');
            keepCookie('second session', person);
        }

        it('contains no secret as plain text, base64 or hex, at any step', () => {
            for (const [name, secret] of Object.entries(secrets)) expect(secret.length, name).to.be.at.least(19);
            for (const [step, stored] of steps) expect(findPlanted(stored, secrets), step).to.deep.equal([]);
        });

        it('was read while it contained the data around the secrets', () => {
            const rowsOf = (step: string, table: string) => steps.get(step)?.get(`table public.${table}`) ?? '';
            expect(rowsOf('signed up, with a mail that waits', 'outgoing_mails')).to.include('sealed');
            expect(rowsOf('asked for a new password, with a mail that waits', 'outgoing_mails')).to.include('sealed');
            expect(rowsOf('asked for a new password, with a mail that waits', 'mail_links')).to.include('reset');
            for (const table of ['idempotency', 'kept_results', 'totp_secrets', 'recovery_codes', 'api_keys', 'web_sessions']) {
                expect(rowsOf('fetched', table), table).to.not.equal('');
            }
            const places = [...(steps.get('fetched')?.keys() ?? [])];
            expect(places.some((place) => place.startsWith('table bullmq.'))).to.equal(true);
            expect(places.some((place) => place.startsWith('Redis key'))).to.equal(topology === 'redis');
            expect(steps.get('fetched')?.get('the log')).to.include(SITE);
        });

        it('would reveal a secret in each form, in each place', async () => {
            const { app } = world;
            const secret = randomText();
            const forms = [0, 1, 2].map((shift) => Buffer.from(`${'x'.repeat(shift)}${secret}yz`).toString('base64'));
            await app.db.raw('create table planted (in_text text, in_bytes bytea, in_json jsonb)');
            try {
                const found = async () => findPlanted(await readStored(app, world.logged), { secret });
                expect(await found()).to.deep.equal([]);
                for (const text of [secret, Buffer.from(secret).toString('hex').toUpperCase(), ...forms]) {
                    for (const [column, value] of [
                        ['in_text', text],
                        ['in_bytes', Buffer.from(text)],
                        ['in_json', JSON.stringify({ text })],
                    ] as const) {
                        await app.db.raw('insert into planted (??) values (?)', [column, value]);
                        expect(await found(), `${column}: ${text}`).to.deep.equal(['secret in table public.planted']);
                        await app.db.raw('delete from planted');
                    }
                }
                expect(findPlanted(await readStored(app, [{ message: secret }]), { secret })).to.deep.equal(['secret in the log']);
                if (app.config.redisUrl !== undefined) {
                    const redis = new Redis(app.config.redisUrl);
                    const key = `${hashTag(app.config.keyPrefix)}:planted`;
                    await redis.hset(key, 'field', secret);
                    expect(await found()).to.deep.equal([`secret in Redis key ${key}`]);
                    await redis.del(key);
                    redis.disconnect();
                }
            } finally {
                await app.db.raw('drop table planted');
            }
        });
    });
}
