import { once } from 'node:events';
import { request } from 'node:http';
import { expect } from 'chai';
import { newApiKey } from '../../shared/domain/accounts/api-key.ts';
import { createKey, revokeKey } from '../../shared/store/accounts/api-keys.ts';
import { setSuspended } from '../../shared/store/accounts/users.ts';
import { eventually, patienceFor } from '../support/eventually.ts';
import { type Answer, join, type Person, stranger, withKey } from '../support/people.ts';
import { rawRequest, sendRaw } from '../support/raw.ts';
import { callRoute, codeOf, dataOf, everyRoute, INTENT } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { openWorld, useWorld, type World } from '../support/world.ts';

describe('an API key', () => {
    const world = useWorld({ workers: 0 });
    let owner: Person;

    before(async () => {
        owner = await join(world, { plan: 'pro' });
        dataOf(await owner.publish(aPackage('shop.test')));
    });

    const newKey = (options: { expiresIn?: number } = {}) =>
        createKey(world.app.db, { workspaceId: owner.workspaceId, userId: owner.userId, name: 'extra', ...options });
    const checked = () => everyRoute().filter(({ contract }) => contract.auth !== 'ignored');
    const ignoring = () => everyRoute().filter(({ contract }) => contract.auth === 'ignored');
    const account = (apiKey: string, base = world.base) => withKey(world, apiKey).call('GET', '/v1/account', { base });

    it('is required where the contract says so, and nowhere else', async () => {
        for (const route of everyRoute()) {
            const answer = await callRoute(stranger(world), route);
            // Health without workers and an unknown request id are refused for other reasons.
            expect(codeOf(answer) === 'API_KEY_REQUIRED', route.contract.name).to.equal(route.contract.auth === 'required');
        }
    });

    it('that is mistyped, unknown, revoked or expired is refused with the same response on every route that reads keys', async () => {
        const good = await newKey();
        const revoked = await newKey();
        await revokeKey(world.app.db, revoked.keyId);
        const expired = await newKey({ expiresIn: 60 });
        await world.clock.advance({ minutes: 2 });
        const bad = {
            mistyped: `${good.apiKey.slice(0, -1)}${good.apiKey.endsWith('x') ? 'y' : 'x'}`,
            unknown: newApiKey(),
            revoked: revoked.apiKey,
            expired: expired.apiKey,
        };
        for (const route of checked()) {
            const answers = await Promise.all(Object.values(bad).map((key) => callRoute(withKey(world, key), route)));
            for (const answer of answers) {
                expect([answer.status, codeOf(answer)], route.contract.name).to.deep.equal([401, 'INVALID_API_KEY']);
                expect((answer.body['error'] as { message: string }).message).to.equal('The API key is unknown, revoked or expired.');
            }
        }
        expect((await account(good.apiKey)).status).to.equal(200);
    });

    it('is never ignored: any other Authorization header is refused too', async () => {
        const { apiKey } = await newKey();
        const headers = [
            '',
            'Bearer',
            'Bearer ',
            apiKey,
            `Basic ${btoa(apiKey)}`,
            `Bearer\t${apiKey}`,
            `Bearer ${apiKey} x`,
            `Bearer "${apiKey}"`,
            `Token ${apiKey}`,
            `Bearer ${'x'.repeat(5000)}`,
        ];
        for (const header of headers) {
            for (const path of ['/v1/categories', '/v1/account', `/v1/catalog/shop.test?intent=${encodeURIComponent(INTENT)}`]) {
                const answer = await sendRaw(world.base, rawRequest(`GET ${path} HTTP/1.1`, [`Authorization: ${header}`]));
                expect(answer && codeOf(answer), `${path} ${header.slice(0, 30)}`).to.equal('INVALID_API_KEY');
            }
        }
        for (const scheme of ['bearer', 'BEARER']) {
            const answer = await stranger(world).call('GET', '/v1/account', { headers: { authorization: `${scheme} ${apiKey}` } });
            expect(answer.status, scheme).to.equal(200);
        }
    });

    it('may follow more than one space', async () => {
        const { apiKey } = await newKey();
        for (const header of [`Bearer  ${apiKey}`, `bearer${' '.repeat(100)}${apiKey}`]) {
            const answer = await sendRaw(world.base, rawRequest('GET /v1/account HTTP/1.1', [`Authorization: ${header}`]));
            expect(answer?.status, header).to.equal(200);
        }
    });

    it('is ignored by health, errors and the OpenAPI document', async () => {
        for (const route of ignoring()) {
            const [without, wrong] = await Promise.all([
                callRoute(stranger(world), route),
                callRoute(withKey(world, 'rb_live_nonsense'), route),
            ]);
            expect(wrong.status, route.path).to.equal(without.status);
            expect(codeOf(wrong)).to.equal(codeOf(without));
        }
    });

    it('of a suspended user is FORBIDDEN on every route that reads keys, and works again afterwards', async () => {
        const suspended = await join(world);
        await setSuspended(world.app.db, suspended.userId, true);
        for (const route of checked()) {
            const answer = await callRoute(suspended, route);
            expect([answer.status, codeOf(answer)], route.contract.name).to.deep.equal([403, 'FORBIDDEN']);
        }
        await setSuspended(world.app.db, suspended.userId, false);
        const ms = await eventually(
            async () => (await suspended.call('GET', '/v1/account')).status,
            (status) => status === 200,
        );
        expect(ms).to.be.below(patienceFor(1000));
    });

    it('of a suspended user gets the remaining limits, and is counted in metrics, request log and log', async () => {
        const suspended = await join(world);
        const { credits } = dataOf<{ credits: { balance: number } }>(await suspended.call('GET', '/v1/account'));
        await setSuspended(world.app.db, suspended.userId, true);
        await eventually(
            async () => codeOf(await suspended.call('GET', '/v1/account')),
            (code) => code === 'FORBIDDEN',
        );
        const countOf = async () => {
            const { values } = await world.app.metrics.fetches.get();
            return values.find(({ labels }) => labels['outcome'] === 'FORBIDDEN')?.value ?? 0;
        };
        const before = await countOf();
        const refused = await suspended.fetch('shop.test', 'product', { id: 1 });
        expect([refused.status, codeOf(refused)]).to.deep.equal([403, 'FORBIDDEN']);
        expect(refused.body['meta']).to.include({ credits_used: 0, credits_remaining: credits.balance });
        expect(refused.headers.has('ratelimit')).to.equal(false);
        expect(await countOf()).to.equal(before + 1);
        await world.app.usage.flush();
        const { rows } = await world.app.db.raw('select outcome, credits from usage where workspace_id = ?', [suspended.workspaceId]);
        expect(rows).to.deep.equal([{ outcome: 'FORBIDDEN', credits: 0 }]);
        const isItsLine = (line: Record<string, unknown>) => line['request_id'] === refused.headers.get('x-request-id');
        await eventually(
            async () => world.logged.find(isItsLine),
            (line) => line?.['code'] === 'FORBIDDEN' && line['workspace_id'] === suspended.workspaceId,
        );
    });

    it('that is revoked or whose user is suspended stops working in every process within a second', async () => {
        const other = await world.openAnotherApi();
        const bases = [world.base, other.base];
        const { apiKey, keyId } = await newKey();
        const somebody = await join(world);
        for (const base of bases) {
            expect((await account(apiKey, base)).status).to.equal(200);
            expect((await somebody.call('GET', '/v1/account', { base })).status).to.equal(200);
        }
        await Promise.all([revokeKey(world.app.db, keyId), setSuspended(world.app.db, somebody.userId, true)]);
        const took = await Promise.all(
            bases.flatMap((base) => [
                eventually(
                    async () => codeOf(await account(apiKey, base)),
                    (code) => code === 'INVALID_API_KEY',
                ),
                eventually(
                    async () => codeOf(await somebody.call('GET', '/v1/account', { base })),
                    (code) => code === 'FORBIDDEN',
                ),
            ]),
        );
        for (const ms of took) expect(ms).to.be.below(patienceFor(1000));
    });

    it('that is revoked while a body arrives has no effect', async () => {
        const { apiKey, keyId } = await newKey();
        const body = JSON.stringify(aPackage('late.test'));
        const began = performance.now();
        const late = request(new URL('/v1/schemas', world.base), {
            method: 'POST',
            headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
        });
        const answered = once(late, 'response');
        late.write(body.slice(0, 10));
        expect((await account(apiKey)).status).to.equal(200);
        await revokeKey(world.app.db, keyId);
        await eventually(
            async () => codeOf(await account(apiKey)) === 'INVALID_API_KEY' && performance.now() - began > 1200,
            (isOver) => isOver,
        );
        late.end(body.slice(10));
        const [{ statusCode }] = await answered;
        expect(statusCode).to.equal(401);
        expect((await owner.call('GET', '/v1/schemas/late.test')).status).to.equal(404);
    });

    it('that is mistyped causes no database read', async () => {
        const asked: string[] = [];
        const note = ({ sql }: { sql: string }) => void asked.push(sql);
        const { apiKey } = await newKey();
        const mistyped = Array.from({ length: 20 }, (_, index) => `${apiKey.slice(0, -3)}${index + 100}`);
        world.app.db.on('query', note);
        try {
            for (const key of mistyped) for (const { method, path } of checked()) await withKey(world, key).call(method, path);
            expect(asked.filter((sql) => sql.includes('join api_keys'))).to.deep.equal([]);
            await withKey(world, newApiKey()).call('GET', '/v1/account');
            expect(
                asked.filter((sql) => sql.includes('join api_keys')),
                'the probe itself works',
            ).to.have.length(1);
        } finally {
            world.app.db.off('query', note);
        }
    });

    it('causes few database reads for many concurrent requests', async () => {
        const { apiKey } = await newKey();
        let reads = 0;
        const note = ({ sql }: { sql: string }) => {
            if (sql.includes('join api_keys')) reads++;
        };
        world.app.db.on('query', note);
        try {
            await Promise.all(Array.from({ length: 50 }, () => account(apiKey)));
            expect(reads).to.be.within(1, 5);
        } finally {
            world.app.db.off('query', note);
        }
    });

    describe('that is guessed hundreds of times', () => {
        let besieged: World;

        before(async () => {
            besieged = await openWorld({ workers: 0, config: { guessesPerSecond: 10 } });
        });
        after(() => besieged.close());

        it('is refused like one that is guessed once, and counted; valid keys still work', async () => {
            const { apiKey = '' } = await join(besieged, { plan: 'pro' });
            const ask = (key: string) => withKey(besieged, key).call('GET', '/v1/account');
            const guess = (index: number) => (index % 2 === 0 ? newApiKey() : `${apiKey.slice(0, -3)}${index + 100}`);
            const look = ({ status, body, headers }: Answer) => ({
                status,
                error: { ...(body['error'] as object), request_id: 'req' },
                headers: [...headers.keys()].filter((name) => name !== 'vary').toSorted(),
                challenge: headers.get('www-authenticate'),
            });
            const usual = look(await ask(newApiKey()));
            let guesses = 1;
            const guessOn = async () => {
                const answers = await Promise.all(Array.from({ length: 300 }, (_, index) => ask(guess(index))));
                guesses += answers.length;
                for (const answer of answers) expect(look(answer)).to.deep.equal(usual);
                expect((await ask(apiKey)).status).to.equal(200);
                return besieged.logged.filter(({ part, code }) => part === 'overload' && code === 'INVALID_API_KEY').length;
            };
            await eventually(guessOn, (told) => told > 0, 10_000);
            const metrics = async () => (await fetch(`${besieged.base}/metrics`)).text();
            await eventually(metrics, (text) => text.includes(`route="/v1/account",status="401"} ${guesses}`));
        });

        it('counts as a fetch with its code each time, as a missing key does', async () => {
            const fetchAs = (person: Person) => person.fetch('shop.test', 'product', { id: 1 });
            await fetchAs(stranger(besieged));
            await Promise.all(Array.from({ length: 100 }, () => fetchAs(withKey(besieged, newApiKey()))));
            const counts = async () => {
                const { values } = await besieged.app.metrics.fetches.get();
                return Object.fromEntries(values.map(({ labels, value }) => [`${labels['site']} ${labels['outcome']}`, value]));
            };
            // Rejections at the listener are counted once a second.
            await eventually(counts, (now) => now['other INVALID_API_KEY'] === 100);
            expect(await counts()).to.deep.equal({ 'other API_KEY_REQUIRED': 1, 'other INVALID_API_KEY': 100 });
        });
    });

    it('is checked before the body is read, so that strangers cannot make the API read megabytes', async () => {
        const head = ['Content-Type: application/json', 'Content-Length: 4000000'];
        const refused = await sendRaw(world.base, rawRequest('POST /v1/schemas HTTP/1.1', head));
        expect(refused && codeOf(refused)).to.equal('API_KEY_REQUIRED');
    });

    it('never appears in a response or a log line, even if it is wrong', async () => {
        const { apiKey } = await newKey();
        const wrong = newApiKey();
        const texts = [await account(apiKey), await account(wrong), await account(`${wrong}x`)].map(({ body }) => JSON.stringify(body));
        for (const text of [...texts, JSON.stringify(world.logged)]) {
            for (const secret of [apiKey.slice(12), wrong.slice(12)]) expect(text).not.to.include(secret);
        }
    });
});
