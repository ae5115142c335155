import type { JsonSchema, PackageDocument, PackageEndpoint, PackageParam } from '../../../shared/domain/types.ts';

export const POSTS = 'posts.test';

export const POST_ROWS = [
    { id: 1, title: 'Green tea', author: 'Ada', views: 10 },
    { id: 2, title: 'Coffee', author: 'Bo & Co', views: 20 },
    { id: 3, title: 'Lemonade', author: 'Ada', views: 30 },
    { id: 4, title: 'Water', author: 'Zoë', views: 40 },
    { id: 5, title: 'Tea & toast?', author: 'Ada', views: 50 },
    { id: 6, title: 'Milk', author: 'Zoë', views: 60 },
    { id: 7, title: 'Oat milk', author: 'Ada', views: 70 },
];

export const COMMENT_ROWS = [
    { id: 1, body: 'First!', postId: 1 },
    { id: 2, body: 'Good – very good', postId: 1 },
    { id: 3, body: 'Hot', postId: 2 },
];

/** What json-server starts with; its own rows, since it changes them. */
export function postsDatabase() {
    return { posts: POST_ROWS, comments: COMMENT_ROWS, profile: { name: 'typicode' } };
}

/** json-server's routes over posts and comments, written from its README. */
export function postsPackage(port: number): PackageDocument {
    const base = `http://${POSTS}:${port}`;
    const one = `${base}/posts/{id}`;
    const reads: PackageEndpoint[] = [
        {
            name: 'list_posts',
            method: 'GET',
            url: `${base}/posts`,
            params: [
                query('_page', { type: 'integer', minimum: 1 }),
                query('_limit', { type: 'integer', minimum: 1, maximum: 100 }),
                query('_sort', { enum: ['views', 'title'] }),
                query('_order', { enum: ['asc', 'desc'] }),
                query('author', { type: 'array', items: { type: 'string' } }),
                query('views_gte', { type: 'integer' }),
            ],
            response: { schema: { type: 'object', properties: { items: { type: 'array', items: POST } } } },
        },
        { name: 'list_titles', method: 'GET', url: `${base}/posts`, response: { type: 'json', select: '[].title' } },
        {
            name: 'search_posts',
            kind: 'search',
            method: 'GET',
            url: `${base}/posts?q={words}`,
            params: [{ name: 'words', source: 'path', required: true, schema: { type: 'string', maxLength: 100 } }],
            response: { select: { items: '[].{id: id, title: title}' } },
            billing: { unit: 'result', results: 'items', max_results: 3 },
        },
        { name: 'read_post', method: 'GET', url: one, params: [ID], response: { schema: POST } },
        { name: 'read_whole_post', method: 'GET', url: `${one}?_embed=comments`, params: [ID] },
        { name: 'list_comments', method: 'GET', url: `${one}/comments`, params: [ID], response: { select: { items: '[].body' } } },
        { name: 'read_profile', method: 'GET', url: `${base}/profile` },
        { name: 'touch_posts', method: 'HEAD', url: `${base}/posts` },
        { name: 'open_home', kind: 'navigate', method: 'GET', url: `${base}/` },
        {
            name: 'read_heading',
            kind: 'navigate',
            method: 'GET',
            url: `${base}/`,
            response: { select: { heading: 'h1', links: [{ selector: 'nav a', value: 'href' }] } },
        },
        {
            name: 'wrongly_described',
            method: 'GET',
            url: one,
            params: [ID],
            response: { schema: { type: 'object', properties: { title: { type: 'integer' } } } },
        },
        {
            name: 'every_post',
            kind: 'paginate',
            method: 'GET',
            url: `${base}/posts?_limit=3&_page=1`,
            pagination: { style: 'link', max_pages: 5 },
        },
    ];
    const text: JsonSchema = { type: 'string', maxLength: 1000 };
    const post = [field('title', text), field('author', text), field('views', { type: 'integer' })];
    const writes: PackageEndpoint[] = [
        {
            name: 'add_post',
            method: 'POST',
            url: `${base}/posts`,
            params: [...post, field('id', { type: 'integer' })],
            response: { schema: { type: 'object', required: ['id'] } },
        },
        { name: 'add_post_by_form', method: 'POST', url: `${base}/posts`, params: post, body_format: 'form' },
        {
            name: 'add_comment',
            method: 'POST',
            url: `${one}/comments`,
            params: [ID, field('said', text)],
            body: { body: '{said}', from: { kind: 'reader' } },
        },
        { name: 'replace_post', method: 'PUT', url: one, params: [ID, ...post] },
        { name: 'change_post', method: 'PATCH', url: one, params: [ID, ...post] },
        { name: 'remove_post', method: 'DELETE', url: one, params: [ID] },
    ];
    return {
        format: 'routebook/1',
        site: POSTS,
        title: 'Posts and comments',
        intent_category: 'media/articles',
        endpoints: [...reads, ...writes],
    };
}

const ID: PackageParam = { name: 'id', source: 'path', required: true, schema: { type: 'integer', minimum: 1 } };
const POST: JsonSchema = { type: 'object', required: ['id', 'title'], properties: { id: { type: 'integer' }, title: { type: 'string' } } };

function query(name: string, schema: JsonSchema): PackageParam {
    return { name, source: 'query', required: false, schema };
}

function field(name: string, schema: JsonSchema): PackageParam {
    return { name, source: 'body', required: false, schema };
}
