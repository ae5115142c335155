import { type Call, modelled, pageWith } from '../modelled.ts';

/** A model of a site of links and comments that scrolls without end, after reddit.com and Hacker News: names of groups and people in paths, ids, parts of pages. */
const SUBS = ['boats', 'knitting'];
const POSTS = [
    ['1p3abcd', 'how_do_i_tie_this'],
    ['1p3xk9q', 'rate_my_knot'],
    ['zz81m4', 'a_storm_from_above'],
] as const;
const MENU =
    '<nav><a href="/">Home</a> <a href="/r/popular/">Popular</a></nav><form action="/search/"><input type="search" name="q" placeholder="Search"><button>Search</button></form>';
const page = (title: string, main: string) => pageWith(`${title} : reader`, main, MENU);
const card = ([id, slug]: readonly [string, string], sub: string) =>
    `<article class="post"><h2><a href="/r/${sub}/comments/${id}/${slug}/">${slug.replaceAll('_', ' ')}</a></h2><span class="score">12</span> by <a href="/user/ada_l/">ada_l</a></article>`;
const list = (sub: string) => `<div class="feed">${POSTS.map((post) => card(post, sub)).join('')}</div>`;
const part = (sub: string) => `<faceplate-batch>${POSTS.map((post) => card(post, sub)).join('')}</faceplate-batch>`;
const listing = (after: string | null) => ({
    kind: 'Listing',
    data: {
        after,
        dist: 2,
        children: POSTS.map(([id]) => ({
            kind: 't3',
            data: { id, title: 'x', subreddit: 'boats', author: 'ada_l', score: 3, num_comments: 2 },
        })),
    },
});
const events = (action: string): Call => ({
    ask: 'POST /svc/shreddit/events',
    sent: [{ source: 'post', action, noun: 'view', client_timestamp: 1767000000000 }],
    headers: { 'content-type': 'text/plain' },
    answer: '',
    status: 200,
});
const graphql = (operation: string, variables: object, data: object): Call => ({
    ask: 'POST /svc/shreddit/graphql',
    sent: { operation, variables, csrf_token: 'f00dfeed0123456789abcdef01234567' },
    answer: { data },
});
const calls: Call[] = [
    { ask: 'GET /', answer: page('The front page', list('boats')) },
    events('view'),
    ...['t3_1p3abcd', 't3_zz81m4'].map(
        (after, place): Call => ({
            ask: `GET /svc/shreddit/feeds/home-feed?after=${after}&distance=${25 * (place + 1)}&adDistance=2`,
            answer: part('boats'),
            type: 'text/vnd.reddit.partial+html; charset=utf-8',
        }),
    ),
    ...SUBS.flatMap((sub): Call[] => [
        { ask: `GET /r/${sub}/`, answer: page(`r/${sub}`, list(sub)) },
        { ask: `GET /r/${sub}/top/?t=week`, answer: page(`r/${sub}`, list(sub)) },
        {
            ask: `GET /svc/shreddit/community-more-posts/hot/?after=t3_1p3abcd&t=DAY&name=${sub}&feedLength=28`,
            answer: part(sub),
            type: 'text/vnd.reddit.partial+html; charset=utf-8',
        },
        events('scroll'),
    ]),
    ...POSTS.map(
        ([id, slug], place): Call => ({
            ask: `GET /r/${SUBS[place % 2]}/comments/${id}/${slug}/`,
            answer: page(
                slug.replaceAll('_', ' '),
                `<article><p>I have a rope and no idea. What now? It is ${place} feet long.</p></article><div class="comments"><div class="comment">Twice round.</div><div class="comment">And through.</div></div>`,
            ),
        }),
    ),
    {
        ask: 'GET /svc/shreddit/comments/r/boats/t3_1p3abcd?sort=new',
        answer: '<div class="comment">Twice</div><div class="comment">Thrice</div>',
        type: 'text/vnd.reddit.partial+html; charset=utf-8',
    },
    {
        ask: 'GET /svc/shreddit/comments/r/knitting/t3_1p3xk9q?sort=top',
        answer: '<div class="comment">Twice</div><div class="comment">Thrice</div>',
        type: 'text/vnd.reddit.partial+html; charset=utf-8',
    },
    { ask: 'GET /user/ada_l/', answer: page('ada_l', list('boats')) },
    { ask: 'GET /user/bosun42/comments/', answer: page('bosun42', list('boats')) },
    { ask: 'GET /r/boats/hot.json?limit=25&after=t3_zz81m4', answer: listing('t3_1p3xk9q') },
    { ask: 'GET /r/knitting/hot.json?limit=25', answer: listing(null) },
    { ask: 'GET /r/boats/about.json', answer: { kind: 't5', data: { display_name: 'boats', subscribers: 12, public_description: 'x' } } },
    { ask: 'GET /user/ada_l/about.json', answer: { kind: 't2', data: { name: 'ada_l', total_karma: 3, id: 'k1' } } },
    ...['ro', 'rop'].map(
        (query): Call => ({
            ask: `GET /svc/shreddit/search/typeahead?query=${query}&cId=0b1c2d3e-4f50-4161-8273-948596a7b8c9`,
            answer: { results: [{ type: 'subreddit', name: 'ropes' }] },
        }),
    ),
    { ask: 'GET /search/?q=rope&type=posts&sort=new', answer: page('Search', list('boats')) },
    graphql('VotePost', { postId: 't3_1p3abcd', voteState: 'UP' }, { updatePostVoteState: { ok: true } }),
    graphql('SubredditRules', { name: 'boats' }, { subreddit: { rules: [{ name: 'Be kind' }] } }),
    graphql('SubredditRules', { name: 'knitting' }, { subreddit: { rules: [{ name: 'Be warm' }] } }),
    {
        ask: 'GET /item?id=41001',
        answer: page('Show: a knot', '<table class="comment-tree"><tr><td>Nice.</td></tr><tr><td>Very nice.</td></tr></table>'),
    },
    {
        ask: 'GET /item?id=41002',
        answer: page('Ask: which rope', '<table class="comment-tree"><tr><td>Red.</td></tr><tr><td>Blue one.</td></tr></table>'),
    },
    { ask: 'GET /from?site=harbour.example', answer: page('From harbour.example', list('boats')) },
    { ask: 'GET /newest?next=41002&n=31', answer: page('New links', list('boats')) },
    { ask: 'GET /vote?id=41001&how=up&auth=0a9b8c7d6e5f40312233445566778899aabbccdd&goto=item', answer: '', status: 302 },
    events('leave'),
];

export const application = modelled('model-reader', 'reader.test', calls);
