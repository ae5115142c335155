import { type Call, modelled, pageWith } from '../modelled.ts';

/**
 * A model of a newspaper made with Next.js, from its documents: localised pages, payloads of server components that links prefetch, server
 * actions, the data of pages of one build, route handlers, images made smaller, sessions of Auth.js, GraphQL by persisted GET queries, and
 * the beacons of its host and of its consent dialogue.
 */
const BUILD = 'Xk29dLwQ7bTzVn3m_aB1c';
const SECTIONS = ['politics', 'sports', 'science'];
const ARTICLES = [
    ['politics', 'harbour-council-votes-on-pier-2026-11-03-4471829'],
    ['politics', 'mayor-opens-lighthouse-2026-11-02-4471101'],
    ['sports', 'regatta-ends-in-fog-2026-11-01-4470007'],
    ['science', 'why-the-tide-is-late-2026-10-30-4469912'],
] as const;
const id = (place: number) => Number(/\d+$/.exec(ARTICLES[place]?.[1] ?? '')?.[0]);
const article = (place: number) => ({
    id: id(place),
    slug: ARTICLES[place]?.[1],
    section: ARTICLES[place]?.[0],
    headline: `Headline ${place}`,
    standfirst: 'What happened on the pier',
    publishedAt: '2026-11-03T06:00:00.000Z',
    author: { name: 'A. Keeper', slug: 'a-keeper' },
});
const menu = (language: string) =>
    `<nav><a href="/${language}">Home</a> ${SECTIONS.map((one) => `<a href="/${language}/${one}">${one}</a>`).join(' ')}</nav><form action="/${language}/search"><label for="q">Search articles</label><input id="q" name="q"><button>Search</button></form>`;
const flight =
    '<script>(self.__next_f=self.__next_f||[]).push([0])</script><script>self.__next_f.push([1,"0:{\\"P\\":null,\\"b\\":\\"Xk29dLwQ7bTzVn3m_aB1c\\"}"])</script>';
const page = (language: string, title: string, main: string) =>
    pageWith(`${title} | The Tide`, `${main}${flight}`, menu(language), language);
const cards = (language: string, places: number[]) =>
    `<div class="grid">${places.map((place) => `<article class="card"><h2><a href="/${language}/${ARTICLES[place]?.[0]}/${ARTICLES[place]?.[1]}">Headline ${place}</a></h2><p>What happened on the pier</p><time datetime="2026-11-0${place + 1}">November</time></article>`).join('')}</div>`;
const rsc = (path: string, mark: string, isPrefetch = false): Call => ({
    ask: `GET ${path}${path.includes('?') ? '&' : '?'}_rsc=${mark}`,
    headers: {
        rsc: '1',
        'next-router-state-tree': '%5B%22%22%2C%7B%7D%5D',
        'next-url': path,
        ...(isPrefetch ? { 'next-router-prefetch': '1' } : {}),
    },
    type: 'text/x-component',
    answer: `1:"$Sreact.fragment"\n2:I[7555,[],""]\n0:{"b":"${BUILD}","p":"","f":[[["",{"children":["${path}",{}]}]]]}\n`,
});
const insight = (kind: string): Call => ({
    ask: `POST /_vercel/insights/${kind}`,
    sent: { o: 'https://tide.test/en', ts: 1767000000000, sv: '0.1.3' },
    answer: 'OK',
    type: 'text/plain',
});
const beat = (place: number): Call => ({
    ask: 'POST /api/e',
    sent: {
        e: 'pageview',
        u: `/en/${place}`,
        sid: `s-${place}c0ffee`,
        vid: '1d0c8f9a-1111-4222-8333-444455556666',
        t: 1767000000000 + place,
    },
    answer: '',
    status: 202,
});
const action = (path: string, which: string, sent: unknown[], answer: object): Call => ({
    ask: `POST ${path}`,
    sent: JSON.stringify(sent),
    headers: {
        'content-type': 'text/plain;charset=UTF-8',
        accept: 'text/x-component',
        'next-action': which,
        'next-router-state-tree': '%5B%22%22%5D',
    },
    type: 'text/x-component',
    answer: `0:{"a":"$@1","f":"","b":"${BUILD}"}\n1:${JSON.stringify(answer)}\n`,
});
const persisted = (name: string, hash: string, variables: object, data: object): Call => ({
    ask: `GET /graphql?operationName=${name}&variables=${encodeURIComponent(JSON.stringify(variables))}&extensions=${encodeURIComponent(JSON.stringify({ persistedQuery: { version: 1, sha256Hash: hash } }))}`,
    answer: { data },
});
const BOOKMARK = '40e1f2a3b4c5d6e7f8091a2b3c4d5e6f7081920304';
const RELATED = 'ecf4edb46db40b5132295c0291d62fb65d6759a9eedfa4d5d612dd5ec54a6b38';
const LIVE = '5b9c1f0a7d3e2c4b6a8f9e0d1c2b3a4f5e6d7c8b9a0f1e2d3c4b5a6f7e8d9c0b';

const calls: Call[] = [
    { ask: 'GET /en', answer: page('en', 'The Tide', cards('en', [0, 1, 2, 3])) },
    { ask: 'GET /api/auth/session', answer: {} },
    insight('view'),
    beat(0),
    { ask: 'GET /_next/image?url=%2Fphotos%2Fpier.jpg&w=640&q=75', answer: '{}', type: 'image/webp' },
    ...SECTIONS.map((one) => rsc(`/en/${one}`, '1r4yk', true)),
    rsc(`/en/${ARTICLES[0][0]}/${ARTICLES[0][1]}`, 'acgkz', true),
    { ask: 'GET /api/consent?site=tide&lang=en', answer: { show: true, version: 7, purposes: [1, 2, 3] } },
    { ask: 'POST /api/consent', sent: { site: 'tide', version: 7, accepted: [1] }, answer: { ok: true } },
    ...SECTIONS.map((one, place): Call => ({ ask: `GET /en/${one}`, answer: page('en', one, cards('en', [place, 3])) })),
    rsc('/en/politics?page=2', 'vb9p2'),
    { ask: 'GET /en/politics?page=2', answer: page('en', 'politics', cards('en', [1])) },
    beat(1),
    ...ARTICLES.map(
        ([section, slug], place): Call => ({
            ask: `GET /en/${section}/${slug}`,
            answer: page(
                'en',
                `Headline ${place}`,
                `<article class="story"><p class="byline">By <a href="/en/authors/a-keeper">A. Keeper</a></p><p>It was a long night on the pier, and the council voted at last.</p></article>`,
            ),
        }),
    ),
    ...[0, 2].map((place) => persisted('RelatedArticles', RELATED, { id: id(place), first: 4 }, { related: [article(1), article(3)] })),
    ...[1, 2].map((place) =>
        persisted(
            'LiveBlog',
            LIVE,
            { id: id(place), after: place === 1 ? null : 'Y3Vyc29yOjI=' },
            { live: { entries: [{ id: place, text: 'Fog' }] } },
        ),
    ),
    ...[0, 1, 2].map(
        (place): Call => ({
            ask: `GET /api/comments?articleId=${id(place)}&page=1&sort=newest`,
            answer: { total: 2, comments: [{ id: 31 + place, text: 'Well said', likes: 2 }] },
        }),
    ),
    { ask: `GET /api/comments?articleId=${id(0)}&page=2&sort=newest`, answer: { total: 2, comments: [{ id: 41, text: 'No', likes: 0 }] } },
    {
        ask: 'POST /api/comments',
        sent: { articleId: id(0), text: 'The pier is fine', parentId: null },
        answer: { id: 51, text: 'The pier is fine', likes: 0 },
    },
    {
        ask: 'POST /api/comments',
        sent: { articleId: id(1), text: 'Who pays?', parentId: 31 },
        answer: { id: 52, text: 'Who pays?', likes: 0 },
    },
    { ask: 'POST /api/comments/31/like', answer: { likes: 3 } },
    { ask: 'POST /api/comments/41/like', answer: { likes: 1 } },
    beat(2),
    action(`/en/${ARTICLES[0][0]}/${ARTICLES[0][1]}`, BOOKMARK, [{ articleId: id(0) }], { saved: true }),
    action(`/en/${ARTICLES[2][0]}/${ARTICLES[2][1]}`, BOOKMARK, [{ articleId: id(2) }], { saved: true }),
    { ask: 'GET /en/authors/a-keeper', answer: page('en', 'A. Keeper', cards('en', [0, 2])) },
    { ask: 'GET /en/authors/b-sailor', answer: page('en', 'B. Sailor', cards('en', [1, 3])) },
    ...['pier', 'regatta'].map(
        (words): Call => ({ ask: `GET /api/search/suggest?q=${words}&limit=5`, answer: { suggestions: [words, `${words} opening`] } }),
    ),
    { ask: 'GET /en/search?q=pier', answer: page('en', 'Results for pier', cards('en', [0, 1])) },
    { ask: 'GET /en/search?q=regatta&section=sports&page=2', answer: page('en', 'Results for regatta', cards('en', [2])) },
    {
        ask: 'POST /api/search',
        sent: { query: 'pier', filters: { section: ['politics'], from: '2026-01-01' }, page: 1, hitsPerPage: 10 },
        answer: { nbHits: 2, hits: [article(0), article(1)] },
    },
    {
        ask: 'POST /api/search',
        sent: { query: 'fog', filters: { section: [] }, page: 1, hitsPerPage: 10 },
        answer: { nbHits: 1, hits: [article(2)] },
    },
    { ask: 'GET /api/weather?place=north-pier', answer: { place: 'north-pier', celsius: 8.5, wind: 'NW 5' } },
    { ask: 'GET /api/ticker', answer: { items: [{ id: 1, text: 'Ferry late', at: '2026-11-03T06:00:00.000Z' }] } },
    { ask: 'GET /api/ticker', answer: { items: [{ id: 2, text: 'Ferry left', at: '2026-11-03T06:10:00.000Z' }] } },
    { ask: 'POST /api/newsletter', sent: { email: 'reader@tide.example', list: 'morning' }, answer: { ok: true } },
    { ask: `GET /_next/data/${BUILD}/en/games/crossword.json?game=crossword`, answer: { pageProps: { game: 'crossword', rows: 13 } } },
    {
        ask: 'GET /en/games/crossword',
        answer: page(
            'en',
            'Crossword',
            '<section class="game"><p>Thirteen rows, and a clue for each of them, every morning.</p></section>',
        ),
    },
    {
        ask: 'GET /en/games/sudoku',
        answer: page('en', 'Sudoku', '<section class="game"><p>Nine rows, and no word for any of them, every evening.</p></section>'),
    },
    { ask: 'GET /de', answer: page('de', 'The Tide auf Deutsch', cards('de', [0, 1, 2, 3])) },
    rsc('/de/sports', '1r4yk', true),
    { ask: 'GET /de/politics', answer: page('de', 'politics', cards('de', [0, 1])) },
    {
        ask: `GET /de/${ARTICLES[1][0]}/${ARTICLES[1][1]}`,
        answer: page(
            'de',
            'Headline 1',
            '<article class="story"><p class="byline">Von <a href="/de/authors/a-keeper">A. Keeper</a></p><p>Eine lange Nacht auf dem Steg, und am Ende stimmte der Rat ab.</p></article>',
        ),
    },
    { ask: 'GET /de/search?q=steg', answer: page('de', 'Ergebnisse', cards('de', [0])) },
    {
        ask: 'GET /en/about',
        answer: page('en', 'About us', '<section><p>We have printed the tide tables and the news of the coast since 1898.</p></section>'),
    },
    {
        ask: 'GET /en/rss.xml',
        answer: '<?xml version="1.0"?><rss version="2.0"><channel><title>The Tide</title><item><title>Headline 0</title><link>https://tide.test/en/politics/1</link></item><item><title>Headline 1</title><link>https://tide.test/en/politics/2</link></item></channel></rss>',
        type: 'application/rss+xml',
    },
    { ask: 'GET /api/auth/session', answer: {} },
    { ask: 'GET /api/auth/csrf', answer: { csrfToken: '0c1d2e3f4a5b6c7d8e9f0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f' } },
    { ask: 'GET /api/auth/providers', answer: { google: { id: 'google', name: 'Google', type: 'oauth' } } },
    insight('event'),
    beat(3),
];

export const application = modelled('model-news', 'tide.test', calls);
