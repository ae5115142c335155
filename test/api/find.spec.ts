import { expect } from 'chai';
import type { PackageDocument, PackageEndpoint } from '../../shared/domain/types.ts';
import * as sites from '../../shared/store/registry/sites.ts';
import { rollUpTrending } from '../../shared/store/registry/trending.ts';
import * as verification from '../../shared/store/registry/verification.ts';
import { unyank, yank } from '../../shared/store/registry/yank.ts';
import { ask, foundIn, metaIn, namesIn, untilIndexed } from '../support/find.ts';
import { join, type Person, stranger } from '../support/people.ts';
import { aProvenClaim, codeOf, dataOf, detailsOf } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { ANY_TOPOLOGY, useWorld } from '../support/world.ts';

const read = (site: string, name: string, description: string, more: Partial<PackageEndpoint> = {}): PackageEndpoint =>
    anEndpoint(site, { name, description, url: `https://${site}/${name}`, params: [], ...more });

const WEATHER = aPackage('sky.test', {
    title: 'Bright Sky',
    description: 'Free for all purposes.',
    intent_category: 'weather/forecast',
    endpoints: [
        read('sky.test', 'at_place', 'The weather right now at a place: temperature, rain and wind.', {
            params: [
                { name: 'lat', source: 'query', required: true, description: 'Latitude.', schema: { type: 'number' }, example: 52.5 },
                { name: 'units', source: 'query', required: false, description: 'Units.', schema: { type: 'string', enum: ['si', 'dwd'] } },
            ],
            response: {
                type: 'json',
                schema: {
                    type: 'object',
                    properties: {
                        weather: { type: 'object', properties: { temperature: { type: 'number' } } },
                        sources: { type: 'array', items: { type: 'object', properties: { id: { type: 'integer' } } } },
                    },
                },
            },
            examples: [{ params: { lat: 52.5 } }],
        }),
        read('sky.test', 'next_days', 'The weather forecast of the coming days at a place.'),
    ],
});

const RATES = aPackage('rates.test', {
    title: 'Reference rates',
    intent_category: 'finance/rates',
    endpoints: [
        read('rates.test', 'latest', 'Exchange rates of today between two currencies.'),
        read('rates.test', 'history', 'Exchange rates of each day of a period.'),
    ],
});

const PHONES = aPackage('push.test', {
    title: 'Push',
    intent_category: 'communication/messaging',
    endpoints: [
        read('push.test', 'send_notification', 'Send a push notification to a phone.', {
            method: 'POST',
            params: [{ name: 'text', source: 'body', required: true, description: 'What it says.', schema: { type: 'string' } }],
            examples: [{ params: { text: 'The backup is done.' } }],
        }),
    ],
});

const POGODA = aPackage('pogoda.test', {
    title: 'Погода в Москве',
    intent_category: 'weather/current',
    endpoints: [read('pogoda.test', 'now', 'Прогноз погоды и температура воздуха в городе.')],
});

/** Two endpoints with the same word of `students who flunk`. */
const SCHOOL = aPackage('school.test', {
    title: 'A school',
    intent_category: 'education/courses',
    endpoints: [
        read('school.test', 'addresses', 'The addresses of all students.'),
        read('school.test', 'grades', 'The grades of all students.'),
    ],
});

const BANK = aPackage('vault.test', {
    title: 'A bank',
    intent_category: 'finance/companies',
    auth: [{ id: 'key', type: 'bearer' }],
    endpoints: [
        read('vault.test', 'my_balance', 'The balance of my own account.'),
        { ...read('vault.test', 'account_fees', 'Fees of each kind of account by balance.'), auth: 'none' },
    ],
});

/** Endpoints that match one task equally. */
const crowd = (site: string, count = 10): PackageDocument =>
    aPackage(site, {
        title: 'Songs',
        intent_category: 'media/audio',
        endpoints: Array.from({ length: count }, (_, index) =>
            read(site, `songs_${'abcdefghij'[index] ?? index}`, 'Find songs by title and singer.'),
        ),
    });

for (const topology of ANY_TOPOLOGY) {
    describe(`a caller with a task, over ${topology}`, () => {
        const world = useWorld({ topology, config: { trustProxy: 1 } });
        let maker: Person;
        let addresses = 0;

        before(async () => {
            maker = await join(world, { plan: 'enterprise' });
            for (const document of [WEATHER, RATES, PHONES, POGODA, SCHOOL, BANK, crowd('songs.test'), crowd('jukebox.test')])
                dataOf(await maker.publish(document));
            await untilIndexed(world);
        });

        /** From a new address each time, since one address may search 60 times a minute. */
        const find = (task: string, more: Record<string, string | number | boolean> = {}) => {
            addresses += 1;
            return ask(world, { task, ...more }, stranger(world), { 'x-forwarded-for': `198.51.${addresses >> 8}.${addresses & 255}` });
        };
        const names = async (task: string, more: Record<string, string | number | boolean> = {}) => namesIn(await find(task, more));

        describe('finds endpoints', () => {
            it('by what they do, whatever the name of their site', async () => {
                expect((await names('how is the weather right now'))[0]).to.equal('sky.test/at_place');
                expect((await names('get me the weather forecast for the coming days'))[0]).to.equal('sky.test/next_days');
            });

            it('in synonyms', async () => {
                expect((await names('current forex between dollar and yen'))[0]).to.equal('rates.test/latest');
                expect((await names('notify me'))[0]).to.equal('push.test/send_notification');
            });

            it('by their params and response fields', async () => {
                const [first] = foundIn(await find('latitude and temperature'));
                expect(first).to.include({ site: 'sky.test', endpoint: 'at_place' });
                expect(first?.matched).to.include.members(['description', 'params', 'returns']);
            });

            it('with other word endings, and with typing mistakes', async () => {
                expect((await names('exchanging rates'))[0]).to.match(/^rates\.test/);
                expect((await names('wether forcast'))[0]).to.equal('sky.test/next_days');
                expect((await names('temprature now'))[0]).to.equal('sky.test/at_place');
            });

            it('by what their other words mean, although nobody wrote down that these are related', async () => {
                expect(await names('students who flunk')).to.deep.equal(['school.test/grades', 'school.test/addresses']);
            });

            it('in other scripts', async () => {
                expect(await names('температура воздуха')).to.deep.equal(['pogoda.test/now']);
            });

            it('of a site that the task names', async () => {
                expect((await names('songs of jukebox.test by singer'))[0]).to.match(/^jukebox\.test/);
            });

            it('no higher for repeating a word', async () => {
                const text = 'Find songs by title and singer. ';
                const site = 'stuffed.test';
                const endpoints = [read(site, 'songs_songs_songs', text.repeat(20) + 'Songs, songs, songs, singer, singer, title.')];
                dataOf(await maker.publish(aPackage(site, { title: 'Songs songs songs', intent_category: 'media/audio', endpoints })));
                await untilIndexed(world);
                const found = foundIn(await find('find songs by title and singer', { limit: 50 }));
                const scoreOf = (of: string) => found.find((one) => one.site === of)?.score ?? 0;
                expect(scoreOf(site)).to.be.at.most(scoreOf('songs.test'));
            });
        });

        describe('sees for each', () => {
            it('its requirements, and a body that POST /v1/fetch accepts unchanged', async () => {
                const [first] = foundIn(await find('how is the weather right now'));
                expect(first).to.deep.include({
                    site: 'sky.test',
                    title: 'Bright Sky',
                    endpoint: 'at_place',
                    kind: 'api_call',
                    effect: 'read',
                    description: 'The weather right now at a place: temperature, rain and wind.',
                    required: [{ name: 'lat', type: 'number', description: 'Latitude.', example: 52.5 }],
                    optional: ['units'],
                    returns: { fields: ['weather.temperature', 'sources[].id'] },
                    credits: 1,
                    billing_unit: 'request',
                    max_results: null,
                    verified: false,
                    verified_at: null,
                    claim: 'unproven',
                    health: { success_rate_7d: null, p95_ms: null },
                    needs_connection: false,
                    hosted: true,
                    fetch: { site: 'sky.test', endpoint: 'at_place', params: { lat: 52.5 } },
                });
                expect(first?.score).to.be.within(0.4, 1);
                const taken = await maker.call('POST', '/v1/fetch', { body: { ...first?.fetch, dry_run: true } });
                expect(taken.status).to.equal(200);
            });

            it('a dry run if a call may change something, and no body without an example', async () => {
                const [push] = foundIn(await find('send a push notification'));
                expect(push?.fetch).to.deep.equal({
                    site: 'push.test',
                    endpoint: 'send_notification',
                    params: { text: 'The backup is done.' },
                    dry_run: true,
                });
                expect((await maker.call('POST', '/v1/fetch', { body: push?.fetch })).status).to.equal(200);
                const [rates] = foundIn(await find('exchange rates of today'));
                expect(rates?.fetch).to.equal(null);
            });
        });

        describe('without a match gets', () => {
            it('a body for a schema request, without its domain', async () => {
                const answer = await find('book a table for two at an Italian restaurant tonight');
                expect(foundIn(answer)).to.deep.equal([]);
                expect(metaIn(answer).pagination).to.deep.equal({ limit: 10, next_cursor: null, total: 0 });
                expect(metaIn(answer).suggestion).to.deep.equal({
                    request: { task: 'book a table for two at an Italian restaurant tonight' },
                    missing: ['domain'],
                });
            });

            it('a complete body if the task or `site` names the domain', async () => {
                for (const answer of [
                    await find('horoscopes from stars.example.com'),
                    await find('horoscopes', { site: ' WWW.Stars.example.com. ' }),
                ]) {
                    const { suggestion } = metaIn(answer);
                    expect(suggestion?.request).to.include({ domain: 'stars.example.com' });
                    expect(suggestion).not.to.have.property('missing');
                    const asked = await maker.call('POST', '/v1/schema-requests', { body: suggestion?.request });
                    expect(asked.status, JSON.stringify(asked.body)).to.equal(201);
                    expect(dataOf(asked)).to.include({ domain: 'stars.example.com' });
                }
            });

            it('a body also if the task has several lines', async () => {
                const answer = await find('horoscopes\r\n\tof the zodiac,\nplease');
                expect(answer.status, answer.text).to.equal(200);
                expect(metaIn(answer).suggestion?.request['task']).to.equal('horoscopes\n\tof the zodiac,\nplease');
                expect(detailsOf(await find('horoscopes\rof this week'))).to.deep.equal(['/task INVALID_VALUE']);
            });

            it('no invitation to publish a secret', async () => {
                const answer = await find('horoscopes with AKIA1234567890ABCDEF please');
                expect(foundIn(answer)).to.deep.equal([]);
                expect(metaIn(answer)).not.to.have.property('suggestion');
            });
        });

        describe('narrows the list', () => {
            it('by category, kind, effect, site and price', async () => {
                expect(await names('weather', { category: 'weather/current' })).to.deep.equal(['pogoda.test/now']);
                expect(await names('weather', { category: 'weather' })).to.have.members([
                    'sky.test/at_place',
                    'sky.test/next_days',
                    'pogoda.test/now',
                ]);
                expect(await names('weather', { kind: 'search' })).to.deep.equal([]);
                expect(await names('push notification', { effect: 'read' })).to.deep.equal([]);
                expect(await names('push notification', { effect: 'write' })).to.deep.equal(['push.test/send_notification']);
                expect(await names('exchange rates', { max_credits: 0 })).to.deep.equal([]);
                expect(await names('exchange rates', { max_credits: 1 })).to.have.length(2);
                expect(await names('exchange rates', { needs_connection: true })).to.deep.equal([]);
                const mine = await find('balance of my own account', { needs_connection: true });
                expect(namesIn(mine)).to.deep.equal(['vault.test/my_balance']);
                expect(foundIn(mine).map(({ needs_connection }) => needs_connection)).to.deep.equal([true]);
                expect(await names('fees of an account', { needs_connection: true })).not.to.include('vault.test/account_fees');
                expect(await names('fees of an account', { needs_connection: false })).to.deep.equal(['vault.test/account_fees']);
                const listed = await ask(world, { needs_connection: true }, stranger(world), { 'x-forwarded-for': '198.52.0.1' });
                expect(namesIn(listed)).to.deep.equal(['vault.test/my_balance']);
                expect(await names('exchange rates', { needs_connection: false })).to.have.length(2);
            });

            it('to one site, of which it shows as many as fit', async () => {
                const all = await names('songs by singer', { site: 'www.Songs.test' });
                expect(all).to.have.length(10);
                expect(new Set(all.map((name) => name.split('/')[0]))).to.deep.equal(new Set(['songs.test']));
            });

            it('to verified schemas, which come first among equal matches', async () => {
                expect(await names('songs by singer', { verified: true })).to.deep.equal([]);
                await verify('jukebox.test');
                const verified = await names('songs by singer', { verified: true, limit: 50 });
                expect(verified).to.have.length(10);
                expect(verified.every((name) => name.startsWith('jukebox.test/'))).to.equal(true);
                expect((await names('songs by singer'))[0]).to.match(/^jukebox\.test/);
                expect(foundIn(await find('songs by singer'))[0]).to.include({ verified: true });
            });

            it('and gets an error for a wrong query', async () => {
                expect(detailsOf(await find('ab'))).to.deep.equal(['/task INVALID_VALUE']);
                expect(detailsOf(await find('x'.repeat(1001)))).to.deep.equal(['/task INVALID_VALUE']);
                expect(codeOf(await find('weather', { site: 'no domain' }))).to.equal('INVALID_DOMAIN');
                expect(detailsOf(await find('weather', { limit: 51, category: 'no/such' }))).to.have.members([
                    '/limit INVALID_VALUE',
                    '/category UNKNOWN_CATEGORY',
                ]);
            });
        });

        describe('reads page by page', () => {
            it('at most three endpoints of a domain in each ten, and none twice', async () => {
                const pages: string[][] = [];
                for (let cursor: string | null = ''; cursor !== null; ) {
                    const answer = await find('songs by singer', cursor === '' ? {} : { cursor });
                    pages.push(namesIn(answer));
                    expect(metaIn(answer).pagination.total).to.equal(21);
                    cursor = metaIn(answer).pagination.next_cursor;
                }
                const all = pages.flat();
                expect(new Set(all).size).to.equal(21);
                const first = pages[0] ?? [];
                for (const site of ['songs.test', 'jukebox.test'])
                    expect(first.filter((name) => name.startsWith(site))).to.have.length.of.at.most(3);
            });

            it('with a cursor of this list only', async () => {
                const { next_cursor: cursor } = metaIn(await find('songs by singer')).pagination;
                expect(codeOf(await find('songs by another singer', { cursor: cursor ?? '' }))).to.equal('INVALID_CURSOR');
                expect(codeOf(await find('songs by singer', { cursor: cursor ?? '', effect: 'read' }))).to.equal('INVALID_CURSOR');
            });
        });

        describe('without a task', () => {
            it('sees every endpoint, of the most used sites first, even if the ranks change between pages', async () => {
                await world.app.db.raw(
                    `insert into trending_rollups (hour, learnt_until) values (app_now(), app_now());
                     insert into trending_sites (rollup_id, period, rank, site, fetches, lookups, score)
                     select max(id), '7d', 1, 'rates.test', 1, 1, 1 from trending_rollups`,
                );
                const all: string[] = [];
                for (let cursor: string | null = ''; cursor !== null; ) {
                    const answer = await ask(world, { limit: 5, ...(cursor === '' ? {} : { cursor }) });
                    all.push(...namesIn(answer));
                    if (cursor === '') expect(foundIn(answer)[0]).to.deep.include({ score: null, matched: [] });
                    cursor = metaIn(answer).pagination.next_cursor;
                    expect(metaIn(answer).pagination.total).to.equal(31);
                    if (all.length === 5) await rollUpTrending(world.app.db);
                }
                expect(all.slice(0, 3)).to.deep.equal(['rates.test/latest', 'rates.test/history', 'jukebox.test/songs_a']);
                expect(new Set(all).size).to.equal(31);
            });

            it('narrows that list too', async () => {
                expect(namesIn(await ask(world, { effect: 'write' }))).to.deep.equal(['push.test/send_notification']);
                expect(namesIn(await ask(world, { category: 'finance', site: 'rates.test' }))).to.have.length(2);
                expect(namesIn(await ask(world, { verified: true, limit: 50 }))).to.have.length(10);
                expect(namesIn(await ask(world, { max_credits: 0 }))).to.deep.equal([]);
            });
        });

        describe('gets a response', () => {
            it('that caches may keep for a minute, without a key', async () => {
                const answer = await find('weather forecast');
                expect(answer.headers.get('cache-control')).to.equal('public, max-age=60');
                expect(metaIn(answer)).not.to.have.property('session_id');
                const etag = answer.headers.get('etag') ?? '';
                addresses += 1;
                const again = await stranger(world).call('GET', '/v1/endpoints?task=weather%20forecast', {
                    headers: { 'if-none-match': etag, 'x-forwarded-for': `198.51.${addresses >> 8}.${addresses & 255}` },
                });
                expect(again.status).to.equal(304);
                for (const { headers } of [answer, again]) expect(headers.get('vary')?.toLowerCase()).to.include('authorization');
            });

            it('of its own with a key, with a session for the fetch that follows', async () => {
                const answer = await ask(world, { task: 'weather forecast' }, maker);
                expect(answer.headers.get('cache-control')).to.equal('no-store');
                expect(answer.headers.has('etag')).to.equal(false);
                expect(metaIn(answer).session_id).to.match(/^ses_/);
            });

            it('60 times a minute from one address, and for one account', async () => {
                for (const [person, words] of [
                    [stranger(world), 'from one address'],
                    [await join(world), 'of one account'],
                ] as const) {
                    const once = () => ask(world, { task: 'weather forecast' }, person, { 'x-forwarded-for': '203.0.113.9' });
                    for (let times = 0; times < 60; times++) expect((await once()).status).to.equal(200);
                    const refused = await once();
                    expect(codeOf(refused)).to.equal('RATE_LIMITED');
                    expect((refused.body['error'] as { message: string }).message).to.equal(
                        `The window find is full: 60 searches a minute ${words}.`,
                    );
                    expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 60);
                    expect(refused.headers.has('ratelimit')).to.equal(false);
                }
            });
        });

        it('to any text, even with words longer than an index takes', async () => {
            for (const task of ['\u0915'.repeat(999), `weather ${'x'.repeat(900)}`])
                expect((await ask(world, { task })).status).to.equal(200);
        });

        describe('sees at once', () => {
            it('that a version was yanked, and that it is back', async () => {
                await yank(world.app.db, 'rates.test', 1, 'broken');
                expect(await names('exchange rates')).to.deep.equal([]);
                await unyank(world.app.db, 'rates.test', 1);
                await untilIndexed(world);
                expect(await names('exchange rates')).to.have.length(2);
            });

            it('that a domain is blocked, and the endpoints that its owner forbids', async () => {
                await sites.blockDomain(world.app.db, 'songs.test', 'court order');
                expect((await names('songs by singer', { limit: 50 })).filter((name) => name.startsWith('songs.test'))).to.deep.equal([]);
                expect(namesIn(await ask(world, { site: 'songs.test' }))).to.deep.equal([]);
                await sites.unblockDomain(world.app.db, 'songs.test');
                expect(await names('songs by singer', { site: 'songs.test' })).to.have.length(10);

                await aProvenClaim(world, maker, 'sky.test');
                const blocked_paths = [{ host: 'sky.test', path_prefix: '/next' }];
                dataOf(await maker.call('PUT', '/v1/sites/sky.test/policy', { body: { blocked_paths } }));
                expect(await names('weather forecast of the coming days', { site: 'sky.test' })).to.deep.equal(['sky.test/at_place']);
                expect(namesIn(await ask(world, { site: 'sky.test' }))).to.deep.equal(['sky.test/at_place']);
            });

            it('what another version says instead', async () => {
                dataOf(await maker.publish({ ...RATES, endpoints: [read('rates.test', 'dentists', 'Dentists and their opening hours.')] }));
                await untilIndexed(world);
                expect(await names('exchange rates')).to.deep.equal([]);
                expect(await names('dentist')).to.deep.equal(['rates.test/dentists']);
            });
        });

        // This block comes last, since it publishes many more.
        describe('with more matches than a list shows', () => {
            it('sees 200 of them', async () => {
                for (const site of ['opera.test', 'choir.test', 'ballads.test']) dataOf(await maker.publish(crowd(site, 80)));
                await untilIndexed(world);
                const all: string[] = [];
                for (let cursor: string | null = ''; cursor !== null; ) {
                    const answer = await find('songs by singer', { limit: 50, ...(cursor === '' ? {} : { cursor }) });
                    all.push(...namesIn(answer));
                    expect(metaIn(answer).pagination.total).to.equal(200);
                    cursor = metaIn(answer).pagination.next_cursor;
                }
                expect(new Set(all).size).to.equal(200);
            });
        });

        async function verify(site: string): Promise<void> {
            await world.app
                .db('verifications')
                .where({ site })
                .update({ due_at: new Date(0) });
            for (;;) {
                const run = await verification.claimRun(world.app.db);
                if (run === undefined) throw new Error('no run is due');
                await verification.endRun(world.app.db, run, run.site === site ? 'passed' : 'undecided', []);
                if (run.site === site) return;
            }
        }
    });
}
