import { type Call, modelled, pageWith } from '../modelled.ts';

/** A model of a public site of WordPress with permalinks, from its handbooks and those of usual plugins: what a visitor sees who never signs in. */
const POSTS = ['2026/11/12/how-to-splice-a-rope', '2026/10/03/storm', '2025/07/30/seven-knots'];
const NONCE = '8f2a1c9b0d';
const MENU =
    '<nav><a href="/">Home</a> <a href="/category/boats/">Boats</a> <a href="/about/">About</a> <a href="/contact/">Contact</a></nav><form role="search" method="get" action="/"><label>Search for: <input type="search" name="s"></label><input type="submit" value="Search"></form>';
const page = (title: string, main: string) => pageWith(`${title} – Knots and Tides`, main, MENU);
const list = `<div class="posts">${POSTS.map((post, place) => `<article class="post"><h2 class="entry-title"><a href="/${post}/">Post ${place}</a></h2><div class="entry-summary"><p>Of ropes and knots, number ${place}.</p></div></article>`).join('')}</div><nav class="navigation"><a class="next page-numbers" href="/page/2/">Older posts</a></nav>`;
const comments = (id: number) =>
    `<form action="/wp-comments-post.php" method="post" id="commentform"><label for="c">Comment</label><textarea id="c" name="comment" required></textarea><label for="a">Name</label><input id="a" name="author"><label for="e">Email</label><input id="e" type="email" name="email"><label for="u">Website</label><input id="u" type="url" name="url"><input type="submit" name="submit" value="Post Comment"><input type="hidden" name="comment_post_ID" value="${id}"><input type="hidden" name="comment_parent" value="0"></form>`;
const rest = (id: number) => ({
    id,
    date: '2026-11-12T08:00:00',
    slug: `post-${id}`,
    title: { rendered: 'Post' },
    excerpt: { rendered: '<p>x</p>', protected: false },
    author: 1,
    categories: [3],
});
const ajax = (fields: string, answer: object | string): Call => ({
    ask: 'POST /wp-admin/admin-ajax.php',
    sent: fields,
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-requested-with': 'XMLHttpRequest' },
    answer,
    ...(typeof answer === 'string' ? { type: 'text/html; charset=UTF-8' } : {}),
});
const feed =
    '<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"><channel><title>Knots</title><item><title>Post</title><link>http://knots.test/1</link></item></channel></rss>';
const calls: Call[] = [
    { ask: 'GET /', answer: page('Knots and Tides', list) },
    { ask: 'GET /page/2/', answer: page('Knots and Tides', list) },
    { ask: 'GET /page/3/', answer: page('Knots and Tides', list) },
    ...POSTS.map(
        (post, place): Call => ({
            ask: `GET /${post}/`,
            answer: page(
                `Post ${place}`,
                `<article class="post"><div class="entry-content"><p>How it is done with a rope of three strands, and what for.</p></div></article>${comments(100 + place)}`,
            ),
        }),
    ),
    ajax('action=post_views&post_id=100', '1'),
    {
        ask: 'POST /wp-comments-post.php',
        sent: 'comment=Thanks&author=Ada&email=ada%40harbour.example&url=&submit=Post+Comment&comment_post_ID=100&comment_parent=0',
        answer: '',
        status: 302,
    },
    { ask: 'GET /category/boats/', answer: page('Boats', list) },
    { ask: 'GET /category/boats/page/2/', answer: page('Boats', list) },
    { ask: 'GET /category/tides/', answer: page('Tides', list) },
    { ask: 'GET /tag/rope/', answer: page('Rope', list) },
    { ask: 'GET /author/ada/', answer: page('Ada', list) },
    { ask: 'GET /2026/11/', answer: page('November 2026', list) },
    { ask: 'GET /?s=rope', answer: page('Search for rope', list) },
    { ask: 'GET /page/2/?s=rope', answer: page('Search for rope', list) },
    { ask: 'GET /feed/', answer: feed, type: 'application/rss+xml; charset=UTF-8' },
    { ask: 'GET /comments/feed/', answer: feed, type: 'application/rss+xml; charset=UTF-8' },
    { ask: 'GET /about/', answer: page('About', '<p>Who writes here about knots and tides, and since when it was.</p>') },
    { ask: 'GET /contact/', answer: page('Contact', '<p>Write to us and we shall answer as soon as the tide allows it.</p>') },
    ...[1, 2].map((at): Call => ({ ask: `GET /wp-json/wp/v2/posts?per_page=5&_embed=1&page=${at}`, answer: [rest(100), rest(101)] })),
    ...[100, 101].map((id): Call => ({ ask: `GET /wp-json/wp/v2/posts/${id}`, answer: rest(id) })),
    {
        ask: 'GET /wp-json/wp/v2/categories',
        answer: [{ id: 3, name: 'Boats', slug: 'boats', count: 7, link: 'http://knots.test/category/boats/' }],
    },
    {
        ask: 'GET /wp-json/wp/v2/search?search=rope&per_page=10',
        answer: [{ id: 100, title: 'Post', url: 'http://knots.test/x', type: 'post' }],
    },
    {
        ask: `GET /wp-json/oembed/1.0/embed?url=${encodeURIComponent(`http://knots.test/${POSTS[0]}/`)}`,
        answer: { version: '1.0', title: 'Post', html: '<iframe></iframe>', type: 'rich' },
    },
    { ask: 'GET /wp-json/contact-form-7/v1/contact-forms/12/feedback/schema', answer: { version: 'x', locale: 'en', rules: [] } },
    ...[2, 3].map((at) =>
        ajax(
            `action=load_more_posts&page=${at}&category=boats&nonce=${NONCE}`,
            `<article class="post"><h2><a href="/${POSTS[1]}/">Post</a></h2></article><article class="post"><h2><a href="/${POSTS[2]}/">Post</a></h2></article>`,
        ),
    ),
    ...['ro', 'rop'].map((term) =>
        ajax(`action=live_search&term=${term}`, { success: true, data: [{ title: 'Post', permalink: `/${POSTS[0]}/` }] }),
    ),
    ajax(`action=newsletter_subscribe&email=ada%40harbour.example&nonce=${NONCE}`, { success: true, data: { message: 'Thanks' } }),
    {
        ask: 'POST /wp-json/wp-statistics/v2/hit',
        sent: 'wp_statistics_hit=1&source_type=post&source_id=100&referred=aHR0cDo&signature=ab12',
        answer: { status: true },
    },
    { ask: 'POST /wp-cron.php?doing_wp_cron=1767000000.1', sent: '', answer: '' },
];

export const application = modelled('model-blog', 'knots.test', calls);
