import { type Call, modelled, pageWith } from '../modelled.ts';

/**
 * A model of a forum that works like Discourse, from docs.discourse.org: pages whose script asks for the same addresses with `.json`, topics
 * by slug and number, posts, categories, tags, people, searches, drafts, and the long polls, timings and pageviews of its program.
 */
const TOPICS = [
    ['how-do-you-splice-wet-rope', 1204],
    ['fog-horn-repair', 1187],
    ['welcome-to-the-harbour', 8],
    ['best-paint-for-hulls', 1190],
] as const;
const CATEGORIES = [
    ['seamanship', 5],
    ['boat-repair', 7],
] as const;
const topic = (place: number) => ({
    id: TOPICS[place]?.[1],
    title: `Topic ${place}`,
    slug: TOPICS[place]?.[0],
    posts_count: 3,
    reply_count: 1,
    category_id: 5,
    tags: ['rope'],
    views: 100 + place,
    created_at: '2026-11-03T06:00:00.000Z',
    last_poster_username: 'fogwarden',
});
const post = (number: number) => ({
    id: 90210 + number,
    username: 'fogwarden',
    post_number: number,
    cooked: '<p>Dry it first.</p>',
    reply_count: 0,
    topic_id: 1204,
    topic_slug: TOPICS[0][0],
    score: 1.5,
    yours: false,
});
const stream = (place: number) => ({
    post_stream: { posts: [1, 2, 3].map(post), stream: [90211, 90212, 90213] },
    ...topic(place),
    details: { can_edit: false, participants: [] },
});
const topics = (places: number[]) => ({
    users: [{ id: 3, username: 'fogwarden', name: 'Fog Warden' }],
    primary_groups: [],
    topic_list: { can_create_topic: true, more_topics_url: '/latest?page=1', per_page: 30, topics: places.map(topic) },
});
const crawled = (title: string, places: number[]) =>
    pageWith(
        title,
        `<table class="topic-list"><tbody>${places.map((place) => `<tr class="topic-list-item"><td class="main-link"><a class="title" href="/t/${TOPICS[place]?.[0]}/${TOPICS[place]?.[1]}">Topic ${place}</a></td><td class="replies">3</td><td class="views">${100 + place}</td></tr>`).join('')}</tbody></table><div id="data-preloaded" data-preloaded="{}"></div><script>0</script>`,
        '<a href="/">Harbour talk</a> <a href="/categories">Categories</a> <a href="/tags">Tags</a>',
    );
const script = {
    accept: 'application/json, text/javascript, */*; q=0.01',
    'x-requested-with': 'XMLHttpRequest',
    'discourse-present': 'true',
    'x-csrf-token': 'mB3kP0aQ9Xr7Lw2Zt5Yc8Vn1Hd4Gf6Js0Ku2Ie4Ro6Tp8Aq1Sw3De5Fr7Gt9Hy1Ju3Ki5Lo==',
};
const get = (path: string, answer: object): Call => ({ ask: `GET ${path}`, headers: script, answer });
const write = (ask: string, sent: string, answer: object): Call => ({
    ask,
    sent,
    headers: { ...script, 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' },
    answer,
});
const poll = (place: number): Call => ({
    ask: `POST /message-bus/6f1e0d2c4b5a49788c6d5e4f3a2b1c0${place}/poll`,
    sent: `%2Flatest=${400 + place}&%2Fnew=12&__seq=${place}`,
    headers: { 'x-silence-logger': 'true' },
    type: 'text/plain; charset=utf-8',
    answer: `[]\r\n|\r\n`,
});
const timing = (place: number): Call => ({
    ask: 'POST /topics/timings',
    sent: `timings%5B1%5D=4002&timings%5B2%5D=${3000 + place}&topic_time=7003&topic_id=${TOPICS[place]?.[1]}`,
    headers: { ...script, 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8', 'x-silence-logger': 'true' },
    answer: '',
});

const calls: Call[] = [
    { ask: 'GET /', answer: crawled('Harbour talk', [0, 1, 2]) },
    {
        ask: 'POST /srv/pv',
        sent: 'referrer=&url=https%3A%2F%2Ftalk.test%2F',
        headers: { 'discourse-track-view': 'true' },
        answer: '',
        status: 204,
    },
    poll(1),
    get('/latest.json?order=default&no_definitions=true&page=1', topics([2, 3])),
    get('/latest.json?order=views&ascending=false', topics([1, 0])),
    get('/top.json?period=weekly', topics([1])),
    get('/top.json?period=all', topics([0])),
    { ask: 'GET /categories', answer: crawled('Categories', [0, 2]) },
    get('/categories.json', {
        category_list: { categories: CATEGORIES.map(([slug, id]) => ({ id, name: slug, slug, topic_count: 12, color: '0088CC' })) },
    }),
    ...CATEGORIES.map(([slug, id]) => get(`/c/${slug}/${id}/l/latest.json?filter=default`, topics([0, 1]))),
    ...CATEGORIES.map(([slug, id]): Call => ({ ask: `GET /c/${slug}/${id}`, answer: crawled(slug, [0, 3]) })),
    get('/c/5/show.json', { category: { id: 5, name: 'Seamanship', slug: 'seamanship' } }),
    get('/c/7/show.json', { category: { id: 7, name: 'Boat repair', slug: 'boat-repair' } }),
    ...[0, 1, 3].map(
        (place): Call => ({ ask: `GET /t/${TOPICS[place]?.[0]}/${TOPICS[place]?.[1]}`, answer: crawled(`Topic ${place}`, [2]) }),
    ),
    ...[0, 1, 2].map((place) => get(`/t/${TOPICS[place]?.[1]}.json?track_visit=true&forceLoad=true`, stream(place))),
    timing(0),
    poll(2),
    get('/t/how-do-you-splice-wet-rope/1204/2.json', stream(0)),
    get('/t/fog-horn-repair/1187/3.json', stream(1)),
    get('/t/1204/posts.json?post_ids[]=90212&post_ids[]=90213&include_suggested=false', { post_stream: { posts: [2, 3].map(post) } }),
    get('/t/1187/posts.json?post_ids[]=90219&post_ids[]=90220&include_suggested=true', { post_stream: { posts: [2].map(post) } }),
    ...[90211, 90212].map((id) => get(`/posts/${id}/replies.json?after=1`, [post(3)])),
    ...[90211, 90213].map((id) => get(`/posts/${id}.json`, post(1))),
    ...[90211, 90212].map((id) => get(`/posts/${id}/reply-history.json`, [post(1)])),
    get('/posts/by_number/1204/2.json', post(2)),
    get('/posts/by_number/1187/1.json', post(1)),
    timing(1),
    ...['fogwarden', 'Ropemaker'].flatMap((name) => [
        get(`/u/${name}.json`, { user: { id: 3, username: name, trust_level: 2, bio_raw: 'I keep the horn' } }),
        get(`/u/${name}/card.json?include_post_count_for=1204`, { user: { id: 3, username: name } }),
        get(`/u/${name}/summary.json`, { user_summary: { likes_given: 3, topic_count: 1 } }),
        get(`/user_actions.json?offset=0&username=${name}&filter=4,5`, {
            user_actions: [{ action_type: 4, title: 'Topic 0', slug: TOPICS[0][0] }],
        }),
    ]),
    { ask: 'GET /u/fogwarden/activity', answer: crawled('Activity of fogwarden', [0]) },
    { ask: 'GET /u/Ropemaker/activity', answer: crawled('Activity of Ropemaker', [1]) },
    get('/tags.json', {
        tags: [
            { id: 'rope', text: 'rope', count: 4 },
            { id: 'paint', text: 'paint', count: 2 },
        ],
    }),
    ...['rope', 'paint'].map((name) => get(`/tag/${name}/l/latest.json?filter=default&page=1`, topics([0, 3]))),
    ...['rope', 'horn'].map((words) =>
        get(`/search/query?term=${words}&include_blurbs=true&type_filter=topic`, {
            topics: [topic(0)],
            posts: [{ id: 90211, blurb: 'Dry it first' }],
            grouped_search_result: { term: words },
        }),
    ),
    get('/search.json?q=rope%20%23seamanship&page=2', { posts: [post(1)], topics: [topic(0)] }),
    get('/search.json?q=paint%20order%3Alatest', { posts: [post(2)], topics: [topic(3)] }),
    { ask: 'GET /search?q=rope', answer: crawled('Results for rope', [0]) },
    write(
        'POST /posts',
        'raw=Try+a+heat+gun&unlist_topic=false&category=5&topic_id=1204&is_warning=false&archetype=regular&typing_duration_msecs=5100&nested_post=true',
        { post: post(4), success: true },
    ),
    write(
        'POST /posts',
        'raw=It+rained&unlist_topic=false&category=7&topic_id=1187&is_warning=false&archetype=regular&typing_duration_msecs=2100&nested_post=true',
        { post: post(5), success: true },
    ),
    write('PUT /posts/90214', 'post%5Braw%5D=Try+a+cold+gun&post%5Bedit_reason%5D=typo', { post: post(4) }),
    write('PUT /posts/90215', 'post%5Braw%5D=It+hailed&post%5Bedit_reason%5D=', { post: post(5) }),
    { ask: 'DELETE /posts/90215', headers: script, answer: { success: 'OK' } },
    { ask: 'DELETE /posts/90216', headers: script, answer: { success: 'OK' } },
    write('POST /post_actions', 'id=90211&post_action_type_id=2&flag_topic=false', post(1)),
    write('POST /post_actions', 'id=90213&post_action_type_id=2&flag_topic=false', post(3)),
    write('POST /drafts.json', 'draft_key=topic_1204&sequence=0&data=%7B%22reply%22%3A%22Try%22%7D&owner=c0ffee', {
        success: 'OK',
        draft_sequence: 0,
    }),
    get('/drafts/topic_1204.json', { draft: null, draft_sequence: 0 }),
    get('/drafts/new_topic.json', { draft: null, draft_sequence: 2 }),
    get('/composer/mentions?names[]=fogwarden&topic_id=1204', { users: ['fogwarden'], groups: {}, here_count: 2 }),
    get('/site.json', { default_archetype: 'regular', categories: [{ id: 5, name: 'Seamanship' }] }),
    get('/about.json', { about: { stats: { topic_count: 120 }, title: 'Harbour talk' } }),
    get('/session/csrf', { csrf: 'mB3kP0aQ9Xr7Lw2Zt5Yc8Vn1Hd4Gf6Js0Ku2Ie4Ro6Tp8Aq1Sw3De5Fr7Gt9Hy1Ju3Ki5Lo==' }),
    {
        ask: 'GET /presence/get?channels%5B%5D=%2Fdiscourse-presence%2Freply%2F1204',
        headers: script,
        answer: { '/discourse-presence/reply/1204': { count: 0, last_message_id: 0 } },
    },
    {
        ask: 'POST /presence/update',
        sent: 'client_id=6f1e0d2c&leave_channels%5B%5D=%2Fx&present_channels%5B%5D=%2Fdiscourse-presence%2Freply%2F1204',
        answer: {},
    },
    poll(3),
];

export const application = modelled('model-forum', 'talk.test', calls);
