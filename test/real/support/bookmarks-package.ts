import type { PackageDocument, PackageEndpoint, PackageParam } from '../../../shared/domain/types.ts';

export const BOOKMARKS = 'bookmarks.test';

/** The pages and forms of a Shaarli, as a contributor would describe them. */
export function bookmarksPackage(port: number): PackageDocument {
    const base = `http://${BOOKMARKS}:${port}`;
    const reads: PackageEndpoint[] = [
        { name: 'open_home', kind: 'navigate', method: 'GET', url: `${base}/` },
        {
            name: 'read_bookmark',
            kind: 'navigate',
            method: 'GET',
            url: `${base}/shaare/{hash}`,
            params: [{ name: 'hash', source: 'path', required: true, schema: { type: 'string', pattern: '^[\\w-]{6}$' } }],
            response: {
                select: { title: 'h2 .linklist-link', text: '.linklist-item-description', tags: [TAG] },
                schema: { type: 'object', properties: { title: { type: 'string' } } },
            },
        },
        {
            name: 'search_bookmarks',
            kind: 'search',
            method: 'GET',
            url: `${base}/`,
            params: [query('searchterm'), query('searchtags')],
            response: { select: { items: ITEMS } },
            billing: { unit: 'result' },
            pagination: OLDER,
        },
        {
            name: 'every_bookmark',
            kind: 'paginate',
            method: 'GET',
            url: `${base}/`,
            response: { select: { items: ITEMS, said: '.linklist-pages .strong' } },
            pagination: OLDER,
        },
        {
            name: 'list_tags',
            kind: 'navigate',
            method: 'GET',
            url: `${base}/tags/list`,
            response: { select: { items: ['.tag-list-item .tag-link'] } },
        },
        { name: 'read_feed', method: 'GET', url: `${base}/feed/atom`, response: { type: 'text' } },
    ];
    const bookmark: PackageEndpoint = {
        name: 'add_bookmark',
        kind: 'submit_form',
        method: 'POST',
        url: `${base}/admin/shaare`,
        prepare: { url: `${base}/admin/shaare`, form: 'form[name="linkform"]' },
        params: [field('lf_url'), field('lf_title'), field('lf_tags'), field('lf_description')],
        response: { select: { newest: '.linklist-item .linklist-link' } },
    };
    const login: PackageEndpoint = {
        name: 'log_in',
        kind: 'submit_form',
        method: 'POST',
        url: `${base}/login`,
        // Every page has a form of this name in its header. The hidden input of this one says where it leads.
        prepare: { url: `${base}/login?returnurl=%2Fadmin%2Ftools`, form: '#login-form form' },
        params: [field('login', true), field('password', true)],
        response: { select: { title: 'title', tools: ['.tools-item .pure-button'], refused: '.pure-alert-error' } },
    };
    const writes: PackageEndpoint[] = [
        bookmark,
        { ...bookmark, name: 'change_bookmark_3', prepare: { url: `${base}/admin/shaare/3`, form: 'form[name="linkform"]' } },
        { ...bookmark, name: 'add_without_token', prepare: null },
        { ...bookmark, name: 'add_without_form', prepare: { url: `${base}/admin/shaare` } },
        { ...bookmark, name: 'add_by_no_form', prepare: { url: `${base}/`, form: 'form[name="linkform"]' } },
        login,
        { ...login, name: 'log_in_or_fail', response: { ...login.response, schema: { properties: { refused: { type: 'null' } } } } },
        { ...login, name: 'log_in_without_session', prepare: null },
    ];
    return {
        format: 'routebook/1',
        site: BOOKMARKS,
        title: 'Bookmarks',
        intent_category: 'reference/papers',
        endpoints: [...reads, ...writes],
    };
}

const TAG = '.label-tag a';
const ITEMS = [
    {
        selector: '.linklist-item',
        value: { title: '.linklist-link', url: { selector: '.linklist-real-url', value: 'href' } },
    },
];
const OLDER: NonNullable<PackageEndpoint['pagination']> = { style: 'cursor', param: 'page', next: 'a.paging_older', max_pages: 10 };

function query(name: string): PackageParam {
    return { name, source: 'query', required: false, schema: { type: 'string', maxLength: 100 } };
}

function field(name: string, required = false): PackageParam {
    return { name, source: 'body', required, schema: { type: 'string', maxLength: 1000 } };
}
