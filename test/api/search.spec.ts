import { expect } from 'chai';
import type { Card } from '../../shared/contracts/schemas.ts';
import { addTallies } from '../../shared/store/registry/search-index.ts';
import { yank } from '../../shared/store/registry/yank.ts';
import { type Answer, join, type Person, stranger } from '../support/people.ts';
import { codeOf, dataOf, detailsOf, INTENT, paginationOf } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { ANY_TOPOLOGY, useWorld } from '../support/world.ts';

const cardsOf = (answer: Answer) => dataOf<Card[]>(answer);
const sitesOf = (answer: Answer) => cardsOf(answer).map(({ site }) => site);
const queryOf = (query: Record<string, string | number | boolean>) =>
    new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString();

for (const topology of ANY_TOPOLOGY) {
    describe(`a search of the registry, over ${topology}`, () => {
        const world = useWorld({ topology, workers: 0 });
        let maker: Person;

        before(async () => {
            maker = await join(world, { plan: 'enterprise' });
            await publish('github.test', 'GitHub');
            await publish('gitlab.test', 'GitLab, the other one');
            await publish('stackoverflow.test', 'Stack Overflow', 'knowledge/questions');
            await publish('en.encyclopedia.test', 'A free encyclopaedia');
            await publish('xn--bcher-kva.test', 'Bücher & Mehr', 'commerce/product-detail');
            await publish('pogoda.test', 'Погода в Москве', 'weather/current');
            await publish('tokyo.test', '東京タワーの天気', 'weather/forecast');
            await publish('pizza.test', '🍕 Slices_of 100% cheese', 'food/menus');
            await publish('constructor.test', 'Builders of __proto__ houses', 'real-estate/agents');
            await publish('node.test', 'Node.js packages', 'developer/packages');
        });

        const list = (query: Record<string, string | number | boolean> = {}, base = world.base) =>
            stranger(world).call('GET', `/v1/schemas?${queryOf(query)}`, { base });
        const find = async (q: string, more: Record<string, string | number | boolean> = {}) => sitesOf(await list({ q, ...more }));
        const publish = async (site: string, title: string, category = 'commerce/product-search') =>
            void dataOf(await maker.publish(aPackage(site, { title, intent_category: category })));
        const verify = (site: string, at: string) => world.app.db.raw('update sites set verified_at = ? where site = ?', [at, site]);
        /** Reads every page of a list. */
        async function walk(query: Record<string, string | number | boolean>, between: () => Promise<void> = async () => undefined) {
            const pages: Answer[] = [];
            for (let cursor: string | null | undefined; cursor !== null; cursor = paginationOf(pages.at(-1) as Answer).next_cursor) {
                if (pages.length > 0) await between();
                pages.push(await list({ ...query, ...(cursor === undefined ? {} : { cursor }) }));
            }
            return pages.flatMap(sitesOf);
        }

        describe('by words', () => {
            it('finds a site by the beginning of its name, the nearest name first', async () => {
                expect(await find('git')).to.deep.equal(['github.test', 'gitlab.test']);
                expect(await find('github')).to.deep.equal(['github.test']);
                expect(await find('github.test')).to.deep.equal(['github.test']);
                expect(await find('https://www.github.test/some/page?x=1')).to.deep.equal(['github.test']);
                expect(await find('g')).to.include.members(['github.test', 'gitlab.test']);
                expect(await find('encyc')).to.deep.equal(['en.encyclopedia.test']);
                expect(await find('en.encyclopedia.t')).to.deep.equal(['en.encyclopedia.test']);
            });

            it('finds it by the words of its title, in any order and case, written together or apart', async () => {
                for (const q of ['overflow stack', 'STACK OVER', 'stackover', 'stack-overflow', 'Stack  Overflow ', 'overflow']) {
                    expect(await find(q), q).to.deep.equal(['stackoverflow.test']);
                }
                expect(await find('other git')).to.deep.equal(['gitlab.test']);
                expect(await find('node.js')).to.deep.equal(['node.test']);
                expect(await find('git nowhere')).to.deep.equal([]);
            });

            it('finds it despite a letter too many, too few, changed or swapped', async () => {
                for (const q of ['githhub', 'githb', 'gothub', 'gihtub', 'hithub', 'githubb'])
                    expect(await find(q), q).to.include('github.test');
                for (const q of ['stackoverflw', 'stakoverflow', 'stack overfolw', 'stakoverflw']) {
                    expect(await find(q), q).to.deep.equal(['stackoverflow.test']);
                }
                expect(await find('encyclopedai free')).to.deep.equal(['en.encyclopedia.test']);
                expect(await find('githbu.test')).to.deep.equal(['github.test']);
                expect(await find('xyzzy')).to.deep.equal([]);
            });

            it('finds it in every script, with or without accents, and in every spelling of a domain', async () => {
                for (const q of ['bücher', 'bucher', 'BÜCHER', 'bücher.test', 'xn--bcher-kva.test']) {
                    expect(await find(q), q).to.deep.equal(['xn--bcher-kva.test']);
                }
                expect(await find('погода')).to.deep.equal(['pogoda.test']);
                expect(await find('ПОГ')).to.deep.equal(['pogoda.test']);
                expect(await find('пагода')).to.deep.equal(['pogoda.test']);
                expect(await find('東京')).to.deep.equal(['tokyo.test']);
                expect(await find('天気')).to.deep.equal(['tokyo.test']);
                expect(await find('🍕')).to.deep.equal(['pizza.test']);
            });

            it('treats a blank text as none, and finds nothing for punctuation only', async () => {
                const { total } = paginationOf(await list());
                for (const q of ['', '   ', '\u00a0\u3000'])
                    expect(paginationOf(await list({ q })).total, JSON.stringify(q)).to.equal(total);
                for (const q of ['%', '_', '\\', '%_\\', "'", '"', '&&&', '|', '!', '(', ':*', '<->', '--', ';', '.', '*', '\u200d']) {
                    const answer = await list({ q });
                    expect([cardsOf(answer), paginationOf(answer)], q).to.deep.equal([[], { limit: 20, next_cursor: null, total: 0 }]);
                }
            });

            it('accepts any text of at most 256 characters', async () => {
                const odd = [
                    "o'reilly",
                    "'; drop table sites; --",
                    "git':* | 's",
                    'git & hub | !lab',
                    'a '.repeat(128).trim(),
                    'x'.repeat(256),
                    'git '.repeat(64).trim(),
                    'a.b.c.d.e.f',
                    '...',
                    'xn--',
                    'xn--a.test',
                    '💥'.repeat(128),
                    '\u0301\u0301',
                    '\ufeff',
                    'ﬃ ﷺ ʼn İ ı ς ß',
                    'constructor',
                    '__proto__',
                    'toString hasOwnProperty',
                ];
                for (const q of odd) expect((await list({ q })).status, q).to.equal(200);
                expect(await find('constructor')).to.deep.equal(['constructor.test']);
                expect(await find('proto')).to.deep.equal(['constructor.test']);
                for (const q of ['x'.repeat(257), 'x'.repeat(8000)]) {
                    const answer = await list({ q });
                    expect([answer.status, detailsOf(answer)]).to.deep.equal([400, ['/q INVALID_VALUE']]);
                }
                for (const q of ['%00', '%ff', '%ed%a0%80', '%07']) {
                    expect([200, 400], q).to.include((await stranger(world).call('GET', `/v1/schemas?q=git${q}`)).status);
                }
            });

            it('is narrowed by category and to verified sites', async () => {
                expect(await find('t', { category: 'weather/forecast' })).to.deep.equal(['tokyo.test']);
                await verify('gitlab.test', '2026-01-02T03:04:05Z');
                expect(await find('git', { verified: true })).to.deep.equal(['gitlab.test']);
                expect(await find('git', { verified: true, category: 'weather' })).to.deep.equal([]);
            });

            it('uses the current title: after a new version, and after that one was yanked', async () => {
                await publish('changing.test', 'Umbrellas');
                await publish('changing.test', 'Parasols');
                expect([await find('umbrella'), await find('parasol')]).to.deep.equal([[], ['changing.test']]);
                await yank(world.app.db, 'changing.test', 2, 'broken');
                expect([await find('umbrella'), await find('parasol')]).to.deep.equal([['changing.test'], []]);
                await yank(world.app.db, 'changing.test', 1, 'broken');
                expect([await find('umbrella'), await find('changing')]).to.deep.equal([[], []]);
            });
        });

        describe('without words', () => {
            it('returns the cards of all sites in the order of their names', async () => {
                const answer = await list({ sort: 'name', limit: 100 });
                const cards = cardsOf(answer);
                const sites = cards.map(({ site }) => site);
                expect(sites).to.deep.equal(sites.toSorted());
                expect(paginationOf(answer)).to.deep.equal({ limit: 100, next_cursor: null, total: sites.length });
                for (const card of cards.slice(0, 3)) {
                    expect(dataOf(await stranger(world).call('GET', `/v1/schemas/${card.site}`))).to.deep.equal(card);
                }
            });

            it('sorts by the last publish, and by the last verification with never verified ones last', async () => {
                await publish('late.test', 'Late');
                await publish('later.test', 'Later');
                expect(sitesOf(await list({ sort: 'recent', limit: 2 }))).to.deep.equal(['later.test', 'late.test']);
                await verify('late.test', '2026-05-01T00:00:00Z');
                await verify('github.test', '2026-04-01T00:00:00Z');
                const all = await walk({ sort: 'recently_verified', limit: 3 });
                expect(all.slice(0, 3)).to.deep.equal(['late.test', 'github.test', 'gitlab.test']);
                expect(all.slice(3)).to.deep.equal(all.slice(3).toSorted());
                expect(all).to.have.members(await walk({ sort: 'name' }));
                expect(await walk({ sort: 'recently_verified', verified: true, limit: 2 })).to.deep.equal(all.slice(0, 3));
            });

            it('returns the sites of a leaf category by its path, and of a parent with all its leaves', async () => {
                await publish('only-parent.test', 'Only parent', 'weather');
                const weather = ['only-parent.test', 'pogoda.test', 'tokyo.test'];
                for (const sort of ['trending', 'recently_verified', 'recent', 'name']) {
                    const answer = await list({ category: 'weather', sort });
                    expect(sitesOf(answer).toSorted(), sort).to.deep.equal(weather);
                    expect(paginationOf(answer).total).to.equal(3);
                    expect(sitesOf(await list({ category: 'weather/current', sort }))).to.deep.equal(['pogoda.test']);
                }
                expect(sitesOf(await list({ category: 'sports' }))).to.deep.equal([]);
            });

            it('returns the same whether verified is false or absent', async () => {
                const [without, withFalse] = [await list({ sort: 'name' }), await list({ sort: 'name', verified: false })];
                expect(withFalse.body).to.deep.equal(without.body);
                expect(cardsOf(await list({ verified: true })).every(({ verified }) => verified)).to.equal(true);
            });

            it('returns every site once, for any sort and page size, also if times are equal', async () => {
                await world.app.db.raw(
                    "update sites set published_at = '2026-03-01', verified_at = case when site like '%i%' then timestamptz '2026-03-02' end",
                );
                const all = (await walk({ sort: 'name', limit: 100 })).toSorted();
                for (const sort of ['trending', 'recently_verified', 'recent', 'name']) {
                    for (const limit of [1, 2, 7])
                        expect((await walk({ sort, limit })).toSorted(), `${sort} by ${limit}`).to.deep.equal(all);
                }
                expect(await walk({ q: 't', limit: 1 })).to.have.members(await find('t'));
            });

            it('has the current total: after a publish, after a yank, and after the counts were merged', async () => {
                const total = async (query = {}) => paginationOf(await list(query)).total;
                const before = await total();
                await publish('counted.test', 'Counted', 'sports/scores');
                expect([await total(), await total({ category: 'sports' }), await total({ category: 'sports/scores' })]).to.deep.equal([
                    before + 1,
                    1,
                    1,
                ]);
                expect(await addTallies(world.app.db)).to.be.above(1);
                await publish('counted.test', 'Counted elsewhere', 'jobs/salaries');
                expect([await total(), await total({ category: 'sports' }), await total({ category: 'jobs' })]).to.deep.equal([
                    before + 1,
                    0,
                    1,
                ]);
                await verify('counted.test', '2026-01-01T00:00:00Z');
                expect(await total({ category: 'jobs', verified: true })).to.equal(1);
                await addTallies(world.app.db);
                for (const version of [1, 2]) await yank(world.app.db, 'counted.test', version, 'broken');
                expect([await total(), await total({ category: 'jobs' }), await total({ verified: true, category: 'jobs' })]).to.deep.equal(
                    [before, 0, 0],
                );
            });
        });

        describe('with mistakes', () => {
            it('names each problem', async () => {
                for (const [query, details] of [
                    [{ category: 'nonsense' }, ['/category UNKNOWN_CATEGORY']],
                    [{ category: 'commerce/nonsense' }, ['/category UNKNOWN_CATEGORY']],
                    [{ category: '__proto__' }, ['/category UNKNOWN_CATEGORY']],
                    [{ category: 'Commerce' }, ['/category UNKNOWN_CATEGORY']],
                    [{ sort: 'relevance' }, ['/sort INVALID_VALUE']],
                    [{ sort: 'constructor' }, ['/sort INVALID_VALUE']],
                    [{ limit: 0 }, ['/limit INVALID_VALUE']],
                    [{ limit: 101 }, ['/limit INVALID_VALUE']],
                    [{ limit: 'all' }, ['/limit INVALID_TYPE']],
                    [{ verified: 'yes' }, ['/verified INVALID_TYPE']],
                    [{ page: 2 }, ['/page UNKNOWN_FIELD']],
                    [
                        { category: 'x', sort: 'x', limit: 1.5, offset: 3 },
                        ['/category UNKNOWN_CATEGORY', '/limit INVALID_VALUE', '/offset UNKNOWN_FIELD', '/sort INVALID_VALUE'],
                    ],
                ] as [Record<string, string | number>, string[]][]) {
                    const answer = await list(query);
                    expect([answer.status, codeOf(answer)], JSON.stringify(query)).to.deep.equal([400, 'VALIDATION_ERROR']);
                    expect(detailsOf(answer).toSorted(), JSON.stringify(query)).to.deep.equal(details);
                }
                const twice = await stranger(world).call('GET', '/v1/schemas?q=a&q=b');
                expect(detailsOf(twice)).to.deep.equal(['/q REPEATED']);
            });

            it('refuses a cursor of another query', async () => {
                const issued = paginationOf(await list({ sort: 'name', limit: 1 })).next_cursor ?? '';
                const ofSearch = paginationOf(await list({ q: 't', limit: 1 })).next_cursor ?? '';
                const [place = '', seal = ''] = issued.split('.');
                const forged = Buffer.from(JSON.stringify([0, [], 0, '', 'zzz'])).toString('base64url');
                for (const [query, cursor] of [
                    [{ sort: 'name' }, ''],
                    [{ sort: 'name' }, 'nonsense'],
                    [{ sort: 'name' }, `${issued}x`],
                    [{ sort: 'name' }, issued.slice(1)],
                    [{ sort: 'name' }, `${place}.${'A'.repeat(22)}`],
                    [{ sort: 'name' }, `${forged}.${seal}`],
                    [{ sort: 'name' }, ofSearch],
                    [{ sort: 'recent' }, issued],
                    [{}, issued],
                    [{ sort: 'name', verified: true }, issued],
                    [{ sort: 'name', category: 'weather' }, issued],
                    [{ sort: 'name', q: 't' }, issued],
                    [{ q: 'g' }, ofSearch],
                    [{ q: 't', sort: 'name' }, ofSearch],
                ] as [Record<string, string | boolean>, string][]) {
                    const answer = await list({ ...query, cursor });
                    expect([answer.status, codeOf(answer)], JSON.stringify({ ...query, cursor })).to.deep.equal([400, 'INVALID_CURSOR']);
                }
                expect((await list({ sort: 'name', verified: false, cursor: issued, limit: 5 })).status).to.equal(200);
            });

            it('continues with a cursor at another process', async () => {
                const other = await world.openAnotherApi();
                const first = await list({ sort: 'name', limit: 2 });
                const cursor = paginationOf(first).next_cursor ?? '';
                const here = await list({ sort: 'name', limit: 2, cursor });
                expect((await list({ sort: 'name', limit: 2, cursor }, other.base)).body).to.deep.equal(here.body);
            });
        });

        it('answers within seconds that a list is unavailable, and look-ups of sites do not wait for it', async () => {
            const blocker = await world.app.db.transaction();
            try {
                await blocker.raw('lock table site_tallies in access exclusive mode');
                const began = performance.now();
                const listing = Promise.all(Array.from({ length: 12 }, () => list()));
                const look = await maker.call('GET', `/v1/catalog/github.test?intent=${encodeURIComponent(INTENT)}`);
                expect(look.status).to.equal(200);
                for (const answer of await listing) {
                    expect([answer.status, codeOf(answer)]).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
                    expect(answer.headers.get('retry-after')).to.equal('1');
                }
                expect(performance.now() - began).to.be.below(15_000);
            } finally {
                await blocker.rollback();
            }
            expect((await list()).status).to.equal(200);
        });

        it('has an ETag, is 304 if nothing changed, allows HEAD, and is open to pages of every origin', async () => {
            const anybody = stranger(world);
            const answer = await list({ sort: 'name' });
            const tag = answer.headers.get('etag') ?? '';
            expect(tag).to.match(/^"[0-9a-f]{64}(-\w+)?"$/);
            expect(answer.headers.get('cache-control')).to.match(/^public, max-age=\d+$/);
            expect(answer.headers.get('access-control-allow-origin')).to.equal('*');
            expect(answer.headers.get('ratelimit')).to.equal(null);
            expect((await anybody.call('GET', '/v1/schemas?sort=name', { headers: { 'if-none-match': tag } })).status).to.equal(304);
            const head = await anybody.call('HEAD', '/v1/schemas?sort=name');
            expect([head.status, head.headers.get('etag')]).to.deep.equal([200, tag]);
            await publish('fresh.test', 'Fresh');
            expect((await anybody.call('GET', '/v1/schemas?sort=name', { headers: { 'if-none-match': tag } })).status).to.equal(200);
            const badKey = await anybody.call('GET', '/v1/schemas', { headers: { authorization: 'Bearer nonsense' } });
            expect(codeOf(badKey)).to.equal('INVALID_API_KEY');
        });
    });
}
