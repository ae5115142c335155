import { expect } from 'chai';
import { Redis } from 'ioredis';
import { startApi } from '../../api/start-api.ts';
import { openApp } from '../../shared/app.ts';
import { newApiKey } from '../../shared/domain/accounts/api-key.ts';
import { createLog } from '../../shared/platform/log.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { join, type Person, withKey } from '../support/people.ts';
import { rawRequest, sendRaw } from '../support/raw.ts';
import { testRedisUrl } from '../support/redis.ts';
import { codeOf, dataOf, INTENT } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { openSite, type Site } from '../support/sites.ts';
import { ANY_TOPOLOGY, openWorld, type World } from '../support/world.ts';

const SITE = 'shop.test';
/** Each value is confidential between the caller and the site. */
const MARK = {
    param: 'mrkParam7f3a',
    badParam: 'mrkBadParam7f3a',
    body: 'mrkBodyField7f3a',
    header: 'mrkHeader7f3a',
    cookie: 'mrkCookie7f3a',
    replayKey: 'mrkReplayKey7f3a',
    intent: 'mrkIntent7f3a',
    queryText: 'mrkQuery7f3a',
    upstream: 'mrkUpstream7f3a',
    upstreamHeader: 'mrkUpHeader7f3a',
    upstreamToken: 'mrkUpToken7f3aXq92Lk31',
    malformed: 'mrkMalformed7f3a',
    raw: 'mrkRawBytes7f3a',
} as const;

for (const topology of ANY_TOPOLOGY) {
    describe(`confidential data of callers and sites, over ${topology}`, () => {
        let world: World;
        let site: Site;
        let caller: Person;
        let wrongKey: string;
        let refused: string[];
        const marks = () => [...Object.values(MARK), caller.apiKey?.slice(12) ?? '', wrongKey.slice(12)];

        before(async () => {
            site = await openSite((request, response) => {
                const [, first] = (request.url ?? '').split(/[/?]/);
                const headers = {
                    'content-type': 'application/json',
                    'x-secret': MARK.upstreamHeader,
                    'set-cookie': `s=${MARK.upstreamHeader}`,
                };
                if (first === 'fail') return void response.writeHead(500, headers).end(`{"error":"bearer ${MARK.upstreamToken}"}`);
                if (first === 'broken') return void response.writeHead(200, headers).end(`{"text":"${MARK.upstream}"`);
                return void response.writeHead(200, headers).end(JSON.stringify({ text: MARK.upstream }));
            });
            world = await openWorld({ topology, config: { logLevel: 'trace', egressHosts: new Map([[SITE, ['127.0.0.1']]]) } });
            const at = (path: string) => `http://${SITE}:${site.port}${path}`;
            caller = await join(world, { plan: 'pro' });
            wrongKey = newApiKey();
            const params = [
                { name: 'q', source: 'query' as const, required: false, schema: { type: 'string', pattern: '^[a-zA-Z0-9]*$' } },
            ];
            dataOf(
                await caller.publish(
                    aPackage(SITE, {
                        endpoints: [
                            anEndpoint(SITE, { name: 'good', url: at('/good'), params }),
                            anEndpoint(SITE, { name: 'fail', url: at('/fail'), params }),
                            anEndpoint(SITE, { name: 'broken', url: at('/broken'), params }),
                            anEndpoint(SITE, {
                                name: 'strict',
                                url: at('/good'),
                                params,
                                response: { schema: { type: 'object', properties: { text: { type: 'integer' } } } },
                            }),
                            anEndpoint(SITE, {
                                name: 'write',
                                method: 'POST',
                                url: at('/good'),
                                params: [{ name: 'text', source: 'body', required: true }],
                            }),
                        ],
                    }),
                ),
            );
            refused = await haveEverythingHappen();
        });
        after(async () => {
            await world.close();
            await site.close();
        });

        /** Makes calls that succeed and calls that fail in every place. Resolves with the texts of the errors. */
        async function haveEverythingHappen(): Promise<string[]> {
            const secretHeaders = {
                cookie: `session=${MARK.cookie}`,
                'x-anything': MARK.header,
                referer: `https://x.test/${MARK.header}`,
                'user-agent': MARK.header,
            };
            const fetchOf = (endpoint: string, params: object, more: object = {}) =>
                caller.call('POST', '/v1/fetch', { body: { site: SITE, endpoint, params, ...more }, headers: secretHeaders });
            // A success with a key is stored for a day, by contract; a failed read with a key is not.
            const keyed = { ...secretHeaders, 'idempotency-key': MARK.replayKey };
            const good = await fetchOf('good', { q: MARK.param });
            expect(dataOf(good)).to.deep.equal({ text: MARK.upstream });
            expect(site.seen.at(-1)?.path).to.include(MARK.param);
            dataOf(await fetchOf('write', { text: MARK.body }));
            const calls = [
                () => fetchOf('fail', { q: MARK.param }),
                () =>
                    caller.call('POST', '/v1/fetch', { body: { site: SITE, endpoint: 'fail', params: { q: MARK.param } }, headers: keyed }),
                () => fetchOf('broken', { q: MARK.param }),
                () => fetchOf('strict', { q: MARK.param }),
                () => fetchOf('good', { q: `${MARK.badParam} !` }),
                () => fetchOf('good', { q: { [`nested`]: MARK.badParam } }),
                () => fetchOf('good', { q: MARK.param }, { timeout_ms: MARK.badParam }),
                () => fetchOf('nothing', { q: MARK.param }),
                () => caller.call('POST', '/v1/fetch', { body: `{"site": "${MARK.malformed}`, headers: secretHeaders }),
                () => caller.call('POST', '/v1/fetch', { body: { site: `https://user:${MARK.malformed}@${SITE}`, endpoint: 'good' } }),
                () => caller.call('GET', `/v1/catalog/${SITE}?intent=${MARK.intent}`),
                () => caller.call('GET', `/v1/catalog/${SITE}`, { headers: { 'x-service-intent': MARK.intent } }),
                () => caller.call('GET', `/v1/schemas/${SITE}/package?version=${MARK.queryText}`),
                () => caller.call('GET', `/v1/nothing/here?token=${MARK.queryText}`),
                () => withKey(world, wrongKey).call('GET', '/v1/account'),
                () => caller.call('GET', '/v1/account', { headers: { authorization: `Basic ${MARK.header}` } }),
                () => caller.publish({ ...aPackage(SITE), title: `api_key=${MARK.upstreamToken}` }),
            ];
            const texts: string[] = [];
            for (const call of calls) {
                const answer = await call();
                expect(codeOf(answer), JSON.stringify(answer.body)).to.be.a('string');
                texts.push(JSON.stringify(answer.body));
            }
            const good200 = await caller.call('GET', `/v1/catalog/${SITE}?intent=${encodeURIComponent(`${INTENT} ${MARK.intent}`)}`);
            expect(good200.status).to.equal(200);
            const raw = await sendRaw(world.base, `${MARK.raw} / HTTP/1.1\r\nX: ${MARK.raw}\r\nbad\r\n\r\n`);
            texts.push(JSON.stringify(raw?.body));
            texts.push(JSON.stringify((await sendRaw(world.base, rawRequest(`GET /v1/%ff${MARK.raw} HTTP/1.1`)))?.body));
            return texts;
        }

        const expectNone = (where: string, text: string) => {
            for (const mark of marks())
                expect(
                    text.includes(mark),
                    `${mark} stands in ${where}: ${text.slice(Math.max(0, text.indexOf(mark) - 200), text.indexOf(mark) + 60)}`,
                ).to.equal(false);
        };

        it('is in no log line, at the finest level', () => {
            expect(world.logged.length).to.be.greaterThan(15);
            for (const line of world.logged) expectNone('the log', JSON.stringify(line));
        });

        it('is in no metric', async () => {
            const { body } = await caller.call('GET', '/metrics');
            expect(body['text']).to.include('routebook_fetches_total');
            expectNone('the metrics', String(body['text']));
        });

        it('is not repeated in an error, except for an intent in the example of a better one', () => {
            const ofIntents = refused.filter((text) => text.includes('"code":"INTENT_'));
            expect(ofIntents).to.have.length(2);
            for (const text of refused) expectNone('an error', ofIntents.includes(text) ? text.replaceAll(MARK.intent, '') : text);
        });

        it('is in no table of the database after the call', async () => {
            await world.app.usage.flush();
            await eventually(
                () => tablesWithMarks(),
                (tables) => tables.length === 0,
            );
        });

        if (topology === 'redis') {
            it('is in no key of Redis after the call', async () => {
                await eventually(
                    () => keysWithMarks(),
                    (keys) => keys.length === 0,
                    5000,
                );
            });
        }

        async function tablesWithMarks(): Promise<string[]> {
            const { rows } = await world.app.db.raw<{ rows: { name: string }[] }>(
                `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
                 where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
            );
            expect(rows.length).to.be.greaterThan(10);
            const found: string[] = [];
            for (const { name } of rows) {
                const { rows: hits } = await world.app.db.raw<{ rows: { text: string }[] }>(
                    `select t::text as text from ${name} t where exists (select from unnest(?::text[]) mark where t::text like '%' || mark || '%')`,
                    [marks()],
                );
                found.push(...hits.map(({ text }) => `${name}: ${text}`));
            }
            return found;
        }

        async function keysWithMarks(): Promise<string[]> {
            const redis = new Redis(testRedisUrl() ?? '');
            try {
                const found: string[] = [];
                for await (const names of redis.scanStream({ match: `*${world.app.config.keyPrefix}*` })) {
                    for (const name of names as string[]) {
                        const text = `${name} ${JSON.stringify(await contentOf(redis, name))}`;
                        if (marks().some((mark) => text.includes(mark))) found.push(text);
                    }
                }
                return found;
            } finally {
                redis.disconnect();
            }
        }
    });
}

async function contentOf(redis: Redis, name: string): Promise<unknown> {
    const readers: Readonly<Record<string, () => Promise<unknown>>> = {
        string: () => redis.get(name),
        hash: () => redis.hgetall(name),
        list: () => redis.lrange(name, 0, -1),
        set: () => redis.smembers(name),
        zset: () => redis.zrange(name, '0', '-1'),
        stream: () => redis.xrange(name, '-', '+'),
    };
    return readers[await redis.type(name)]?.();
}

describe('passwords in connection strings', () => {
    it('are in no log line and no response, also when nothing is reachable', async () => {
        const port = await freePort();
        const mark = 'mrkPassword7f3a';
        const world = await openWorld({ workers: 0 });
        const lines: string[] = [];
        const app = openApp(
            {
                ...world.app.config,
                databaseUrl: `postgresql://mrkUser7f3a:${mark}@127.0.0.1:${port}/db`,
                redisUrl: `redis://mrkUser7f3a:${mark}@127.0.0.1:${port}`,
            },
            { role: 'api', log: createLog('trace', { write: (line: string) => void lines.push(line) }) },
        );
        const api = await startApi(app);
        try {
            const base = `http://127.0.0.1:${api.port}`;
            const person = withKey(world, newApiKey());
            const answers = [];
            for (const path of [
                '/v1/health',
                '/v1/account',
                '/v1/schemas/shop.test',
                `/v1/catalog/shop.test?intent=${encodeURIComponent(INTENT)}`,
            ]) {
                const answer = await person.call('GET', path, { base });
                expect([answer.status, codeOf(answer)], path).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
                answers.push(answer.body);
            }
            expect(lines.length).to.be.greaterThan(0);
            for (const text of [...lines, JSON.stringify(answers)]) expect(text).not.to.match(/mrkPassword7f3a|mrkUser7f3a/);
        } finally {
            await api.stop();
            await app.close();
            await world.close();
        }
    });
});
