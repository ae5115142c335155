import { expect } from 'chai';
import type { DetailCode } from '../../shared/refusals.ts';
import { check, DROP, type Edits, editedPackage, faultsOf, goodPackage } from './good-package.ts';

const SEARCH = '/endpoints/0';
const ORDER = '/endpoints/1';
const CONTACT = '/endpoints/2';
const REVIEWS = '/endpoints/3';
const LONG = 'a'.repeat(3000);

type Row = [name: string, edits: Edits, path: string, code: DetailCode];

/** Nested lists. */
function nested(levels: number): unknown {
    return levels === 0 ? 1 : [nested(levels - 1)];
}

function nestedSchema(levels: number): unknown {
    return levels === 0 ? { type: 'string' } : { properties: { a: nestedSchema(levels - 1) } };
}

const query = (rest: object) => ({ name: 'extra', source: 'query', required: false, ...rest });
const header = (name: string) => ({ name, source: 'header', required: false });
const SCHEMA = `${SEARCH}/params/1/schema`;
const RESULT = `${SEARCH}/response/schema`;
const URL_AT = `${SEARCH}/url`;

/** A package may be refused for more reasons than the row's, but this one must be among them. */
const withUrl = (url: string): Edits => ({ [URL_AT]: url });
const withHeader = (name: string, value: unknown = 'x'): Edits => ({ [`${SEARCH}/headers/${name}`]: value });

const WHOLE: Row[] = [
    ['another format', { '/format': 'routebook/2' }, '/format', 'INVALID_VALUE'],
    ['no format', { '/format': DROP }, '/format', 'REQUIRED'],
    ['no site', { '/site': DROP }, '/site', 'REQUIRED'],
    ['a site with a scheme', { '/site': 'https://shop.example.com' }, '/site', 'INVALID_DOMAIN'],
    ['a site that is an address', { '/site': '127.0.0.1' }, '/site', 'INVALID_DOMAIN'],
    ['a site that is a public suffix', { '/site': 'co.uk' }, '/site', 'INVALID_DOMAIN'],
    ['a site that is a number', { '/site': 7 }, '/site', 'INVALID_TYPE'],
    ['no title', { '/title': DROP }, '/title', 'REQUIRED'],
    ['a blank title', { '/title': '  ' }, '/title', 'INVALID_VALUE'],
    ['a title of two lines', { '/title': 'a\nb' }, '/title', 'INVALID_VALUE'],
    ['a title without end', { '/title': LONG }, '/title', 'INVALID_VALUE'],
    ['an unknown category', { '/intent_category': 'commerce/gossip' }, '/intent_category', 'UNKNOWN_CATEGORY'],
    ['a category that every object has', { '/intent_category': 'constructor' }, '/intent_category', 'UNKNOWN_CATEGORY'],
    ['no category', { '/intent_category': DROP }, '/intent_category', 'REQUIRED'],
    ['no endpoints', { '/endpoints': DROP }, '/endpoints', 'REQUIRED'],
    ['an empty list of endpoints', { '/endpoints': [] }, '/endpoints', 'INVALID_VALUE'],
    ['endpoints as an object', { '/endpoints': {} }, '/endpoints', 'INVALID_TYPE'],
    ['an endpoint that is a text', { '/endpoints/-': 'x' }, '/endpoints/4', 'INVALID_TYPE'],
    ['a pace of nothing', { '/pace': { requests_per_minute: 0 } }, '/pace/requests_per_minute', 'INVALID_VALUE'],
    ['a pace of 6,001 requests a minute', { '/pace': { requests_per_minute: 6001 } }, '/pace/requests_per_minute', 'INVALID_VALUE'],
    ['a pace of half a request', { '/pace': { requests_per_minute: 0.5 } }, '/pace/requests_per_minute', 'INVALID_VALUE'],
    ['a pace in words', { '/pace': { requests_per_minute: '20' } }, '/pace/requests_per_minute', 'INVALID_TYPE'],
    ['a pace that is a number', { '/pace': 20 }, '/pace', 'INVALID_TYPE'],
    ['a pace that says nothing', { '/pace': {} }, '/pace/requests_per_minute', 'REQUIRED'],
    ['a pace a second', { '/pace': { requests_per_minute: 20, requests_per_second: 1 } }, '/pace/requests_per_second', 'UNKNOWN_FIELD'],
    ['a placeholder for a title', { '/title': 'TODO' }, '/title', 'INVALID_VALUE'],
    ['a description that was never written', { '/description': 'Say here what it is for.' }, '/description', 'INVALID_VALUE'],
    ['what an old draft said', { '/description': 'Routes of a.example, drafted from a recording.' }, '/description', 'INVALID_VALUE'],
    ['a placeholder for an endpoint', { [`${SEARCH}/description`]: '<what it does>' }, `${SEARCH}/description`, 'INVALID_VALUE'],
    ['a placeholder for a param', { [`${SEARCH}/params/1/description`]: 'tbd' }, `${SEARCH}/params/1/description`, 'INVALID_VALUE'],
    ['an unknown field', { '/homepage': 'x' }, '/homepage', 'UNKNOWN_FIELD'],
    ['a field for cookies', { '/cookies': { a: 'b' } }, '/cookies', 'FORBIDDEN_FIELD'],
    ['a field for a proxy', { '/proxy_url': 'x' }, '/proxy_url', 'FORBIDDEN_FIELD'],
    ['a null character', { '/description': 'a\u0000b' }, '/description', 'INVALID_VALUE'],
    ['a C1 control character', { '/title': 'a\u0085b' }, '/title', 'INVALID_VALUE'],
    ['half of a surrogate pair', { '/description': 'a\ud800' }, '/description', 'INVALID_VALUE'],
    [
        'a number beyond all numbers',
        { [`${SEARCH}/params/1/default`]: Number.POSITIVE_INFINITY },
        `${SEARCH}/params/1/default`,
        'INVALID_VALUE',
    ],
    ['a __proto__ key', { [`${ORDER}/body/__proto__`]: { admin: true } }, `${ORDER}/body/__proto__`, 'FORBIDDEN_FIELD'],
    ['a constructor key', { [`${ORDER}/body/constructor`]: 1 }, `${ORDER}/body/constructor`, 'FORBIDDEN_FIELD'],
    ['33 levels', { [`${ORDER}/body`]: nested(30) }, `${ORDER}/body${'/0'.repeat(29)}`, 'TOO_COMPLEX'],
    ['a text of 70,000 characters', { [`${ORDER}/body/note`]: 'a'.repeat(70_000) }, `${ORDER}/body/note`, 'TOO_COMPLEX'],
    ['a text of 66,000 bytes in 33,000 characters', { [`${ORDER}/body/note`]: 'é'.repeat(33_000) }, `${ORDER}/body/note`, 'TOO_COMPLEX'],
    [
        '501 endpoints',
        { '/endpoints': Array.from({ length: 501 }, (_, i) => ({ name: `e${i}`, method: 'GET', url: 'https://shop.example.com/' })) },
        '/endpoints',
        'TOO_COMPLEX',
    ],
    [
        '2,001 params',
        { [`${SEARCH}/params`]: Array.from({ length: 2001 }, (_, i) => ({ name: `p${i}`, source: 'query', required: false })) },
        `${SEARCH}/params`,
        'TOO_COMPLEX',
    ],
    [
        '2,002 params over two endpoints',
        Object.fromEntries(
            [SEARCH, REVIEWS].map((at) => [
                `${at}/params`,
                Array.from({ length: 1001 }, (_, i) => ({ name: `p${i}`, source: 'query', required: false })),
            ]),
        ),
        '/endpoints',
        'TOO_COMPLEX',
    ],
    [
        'expressions of 250,001 characters in a select, a pagination and a step of prepare',
        {
            [`${SEARCH}/response`]: { type: 'json', select: texts(200, 998) },
            [`${SEARCH}/pagination`]: { style: 'cursor', next: 'a'.repeat(421), param: 'cursor' },
            [`${REVIEWS}/prepare`]: steps(3, 20, 833),
        },
        '/endpoints',
        'TOO_COMPLEX',
    ],
    [
        '10,001 expressions in selects, a pagination and steps of prepare',
        {
            '/endpoints': Array.from({ length: 126 }, (_, at) => ({
                ...{ name: `e${at}`, method: 'GET', url: 'https://shop.example.com/' },
                ...(at === 125
                    ? { pagination: { style: 'link', unique: 'id' } }
                    : { response: { type: 'json', select: texts(20, 5) }, prepare: steps(3, 20, 5) }),
            })),
        },
        '/endpoints',
        'TOO_COMPLEX',
    ],
];

/** So many steps of `prepare` that extract so many values each. */
function steps(count: number, extracts: number, characters: number) {
    return Array.from({ length: count }, () => ({ url: 'https://shop.example.com/', extract: texts(extracts, characters) }));
}

/** So many different expressions of so many characters. */
function texts(count: number, characters: number): Record<string, string> {
    return Object.fromEntries(Array.from({ length: count }, (_, at) => [`t${at}`, `t${at}`.padEnd(characters, 'a')]));
}

const ENDPOINTS: Row[] = [
    ['no name', { [`${SEARCH}/name`]: DROP }, `${SEARCH}/name`, 'REQUIRED'],
    ['a name with a hyphen', { [`${SEARCH}/name`]: 'search-products' }, `${SEARCH}/name`, 'INVALID_VALUE'],
    ['a name of 65 characters', { [`${SEARCH}/name`]: 'a'.repeat(65) }, `${SEARCH}/name`, 'INVALID_VALUE'],
    ['the name of another endpoint', { [`${ORDER}/name`]: 'search_products' }, `${ORDER}/name`, 'DUPLICATE_NAME'],
    ['an unknown kind', { [`${SEARCH}/kind`]: 'scrape' }, `${SEARCH}/kind`, 'INVALID_VALUE'],
    ['no method', { [`${SEARCH}/method`]: DROP }, `${SEARCH}/method`, 'REQUIRED'],
    ['a method in small letters', { [`${SEARCH}/method`]: 'get' }, `${SEARCH}/method`, 'INVALID_VALUE'],
    ['the method TRACE', { [`${SEARCH}/method`]: 'TRACE' }, `${SEARCH}/method`, 'INVALID_VALUE'],
    ['a description that is a list', { [`${SEARCH}/description`]: [] }, `${SEARCH}/description`, 'INVALID_TYPE'],
    ['hosted as a text', { [`${SEARCH}/hosted`]: 'yes' }, `${SEARCH}/hosted`, 'INVALID_TYPE'],
    ['an unknown effect', { [`${SEARCH}/effect`]: 'none' }, `${SEARCH}/effect`, 'INVALID_VALUE'],
    ['a PUT that says it only reads', { [`${ORDER}/method`]: 'PUT', [`${ORDER}/effect`]: 'read' }, `${ORDER}/effect`, 'INVALID_VALUE'],
    [
        'a DELETE that says it only reads',
        { [`${ORDER}/method`]: 'DELETE', [`${ORDER}/effect`]: 'read' },
        `${ORDER}/effect`,
        'INVALID_VALUE',
    ],
    ['a recipe for a captcha', { [`${SEARCH}/captcha_solver`]: 'x' }, `${SEARCH}/captcha_solver`, 'FORBIDDEN_FIELD'],
    ['a clearance token', { [`${SEARCH}/cf_clearance`]: 'x' }, `${SEARCH}/cf_clearance`, 'FORBIDDEN_FIELD'],
    ['a misspelt field', { [`${SEARCH}/parms`]: [] }, `${SEARCH}/parms`, 'UNKNOWN_FIELD'],
    ['pages of a write', { [`${ORDER}/pagination`]: { param: 'page' } }, `${ORDER}/pagination`, 'INVALID_VALUE'],
    ['kind paginate with a write', { [`${REVIEWS}/effect`]: 'write' }, `${REVIEWS}/effect`, 'INVALID_VALUE'],
    ['kind paginate without pagination', { [`${REVIEWS}/pagination`]: null }, `${REVIEWS}/pagination`, 'REQUIRED'],
    ['pages without the param that tells them', { [`${SEARCH}/pagination/param`]: DROP }, `${SEARCH}/pagination/param`, 'REQUIRED'],
    ['a cursor without next', { [`${REVIEWS}/pagination/next`]: null }, `${REVIEWS}/pagination/next`, 'REQUIRED'],
    ['a cursor whose next is no selector', { [`${REVIEWS}/pagination/next`]: 'a[' }, `${REVIEWS}/pagination/next`, 'INVALID_VALUE'],
    ['an id that is no expression', { [`${SEARCH}/pagination/unique`]: 'id[' }, `${SEARCH}/pagination/unique`, 'INVALID_VALUE'],
    ['a total that is no expression', { [`${SEARCH}/pagination/end`]: { total: 'a[' } }, `${SEARCH}/pagination/end/total`, 'INVALID_VALUE'],
    [
        'an unknown function that tells whether pages follow',
        { [`${SEARCH}/pagination/end`]: { has_more: 'count(a)' } },
        `${SEARCH}/pagination/end/has_more`,
        'INVALID_VALUE',
    ],
    [
        'a total in pages of HTML',
        { [`${SEARCH}/response`]: { type: 'html', select: { items: ['li'] } }, [`${SEARCH}/pagination/end`]: { total: 'total' } },
        `${SEARCH}/pagination/end/total`,
        'INVALID_VALUE',
    ],
    [
        'a text for short_page',
        { [`${SEARCH}/pagination/end`]: { short_page: 'yes' } },
        `${SEARCH}/pagination/end/short_page`,
        'INVALID_TYPE',
    ],
    ['21 pages', { [`${SEARCH}/pagination/max_pages`]: 21 }, `${SEARCH}/pagination/max_pages`, 'INVALID_VALUE'],
    ['steps of nothing', { [`${SEARCH}/pagination/step`]: 0 }, `${SEARCH}/pagination/step`, 'INVALID_VALUE'],
    ['an unknown style of pages', { [`${SEARCH}/pagination/style`]: 'scroll' }, `${SEARCH}/pagination/style`, 'INVALID_VALUE'],
    [
        'a start that the param of the pages does not take',
        { [`${SEARCH}/params/-`]: query({ name: 'page', schema: { type: 'integer', minimum: 5 } }) },
        `${SEARCH}/pagination/start`,
        'INVALID_VALUE',
    ],
    [
        'pages that start with a number where the param takes texts',
        { [`${SEARCH}/params/-`]: query({ name: 'page', schema: { type: 'string' } }), [`${SEARCH}/pagination`]: { param: 'page' } },
        `${SEARCH}/pagination/start`,
        'INVALID_VALUE',
    ],
    [
        'offsets from 0 where the param begins with 1',
        {
            [`${SEARCH}/params/-`]: query({ name: 'from', schema: { type: 'integer', minimum: 1 } }),
            [`${SEARCH}/pagination`]: { style: 'offset', param: 'from' },
        },
        `${SEARCH}/pagination/start`,
        'INVALID_VALUE',
    ],
    ...['last', 1.5, true].map(
        (value): Row => [
            `pages counted from ${JSON.stringify(value)}`,
            { [`${SEARCH}/params/-`]: query({ name: 'page', default: value }) },
            `${SEARCH}/params/3/default`,
            'INVALID_VALUE',
        ],
    ),
    [
        'pages told in a header',
        { [`${SEARCH}/params/-`]: header('page'), [`${SEARCH}/pagination/param`]: 'page' },
        `${SEARCH}/pagination/param`,
        'INVALID_VALUE',
    ],
    ['an optional body without params', { [`${REVIEWS}/body_required`]: false }, `${REVIEWS}/body_required`, 'INVALID_VALUE'],
    ['an optional body that is said in a word', { [`${ORDER}/body_required`]: 'no' }, `${ORDER}/body_required`, 'INVALID_TYPE'],
    ['an unknown unit', { [`${SEARCH}/billing/unit`]: 'page' }, `${SEARCH}/billing/unit`, 'INVALID_VALUE'],
    ['1,001 results', { [`${SEARCH}/billing/max_results`]: 1001 }, `${SEARCH}/billing/max_results`, 'INVALID_VALUE'],
    ['half a result', { [`${SEARCH}/billing/max_results`]: 0.5 }, `${SEARCH}/billing/max_results`, 'INVALID_VALUE'],
    ['results counted where select makes nothing', { [`${SEARCH}/billing/results`]: 'rows' }, `${SEARCH}/billing/results`, 'INVALID_VALUE'],
    ['results at a path that is none', { [`${SEARCH}/billing/results`]: 'items[0]' }, `${SEARCH}/billing/results`, 'INVALID_VALUE'],
    [
        'results at a path with an empty step',
        { [`${REVIEWS}/billing`]: { unit: 'request', results: 'a..b' } },
        `${REVIEWS}/billing/results`,
        'INVALID_VALUE',
    ],
    [
        'results at a path that ends with a dot',
        { [`${REVIEWS}/billing`]: { unit: 'request', results: 'a.' } },
        `${REVIEWS}/billing/results`,
        'INVALID_VALUE',
    ],
    [
        'results at a path with a line break',
        { [`${REVIEWS}/billing`]: { unit: 'request', results: 'a\nb' } },
        `${REVIEWS}/billing/results`,
        'INVALID_VALUE',
    ],
    [
        'results at a path with a control character',
        { [`${REVIEWS}/billing`]: { unit: 'request', results: 'a\u0085b' } },
        `${REVIEWS}/billing/results`,
        'INVALID_VALUE',
    ],
    [
        'results at a path through prototypes',
        { [`${REVIEWS}/billing`]: { unit: 'request', results: 'a.constructor.b' } },
        `${REVIEWS}/billing/results`,
        'FORBIDDEN_FIELD',
    ],
    ['results of a text', { [`${SEARCH}/response`]: { type: 'text' } }, `${SEARCH}/billing/results`, 'INVALID_VALUE'],
    [
        'an example of unknown params',
        { [`${SEARCH}/examples/0/params/colour`]: 'red' },
        `${SEARCH}/examples/0/params/colour`,
        'UNKNOWN_FIELD',
    ],
    ['an example without a required param', { [`${SEARCH}/examples/0/params/q`]: DROP }, `${SEARCH}/examples/0/params/q`, 'REQUIRED'],
    ['an example of the wrong type', { [`${SEARCH}/examples/0/params/q`]: 5 }, `${SEARCH}/examples/0/params/q`, 'INVALID_VALUE'],
    [
        'an example that climbs the path',
        { [`${SEARCH}/examples/0/params/section`]: '..' },
        `${SEARCH}/examples/0/params/section`,
        'INVALID_VALUE',
    ],
    ['an example without params', { [`${SEARCH}/examples/0`]: {} }, `${SEARCH}/examples/0/params`, 'REQUIRED'],
    [
        'placeholders where a form gives the address',
        { [`${CONTACT}/url`]: 'https://shop.example.com/{x}' },
        `${CONTACT}/url`,
        'INVALID_VALUE',
    ],
    [
        'a first page with a placeholder for a body param',
        { [`${CONTACT}/prepare/url`]: 'https://shop.example.com/{message}' },
        `${CONTACT}/prepare/url`,
        'TEMPLATE_MISMATCH',
    ],
    [
        'a first page with a placeholder in its host',
        { [`${CONTACT}/prepare/url`]: 'https://{message}.shop.example.com/' },
        `${CONTACT}/prepare/url`,
        'INVALID_VALUE',
    ],
    [
        'a first page without a URL where an optional param is absent',
        { [`${SEARCH}/params/-`]: query({}), [`${SEARCH}/prepare`]: { url: 'https://shop.example.com/{extra}' } },
        `${SEARCH}/prepare/url`,
        'TEMPLATE_MISMATCH',
    ],
    [
        'a list in the URL of a first page',
        { [`${SEARCH}/prepare`]: { url: 'https://shop.example.com/?s={sizes}' } },
        `${SEARCH}/prepare/url`,
        'INVALID_VALUE',
    ],
    [
        'a step that uses what only a later one extracts',
        {
            [`${SEARCH}/prepare`]: [
                { url: 'https://shop.example.com/?t={prepare.token}' },
                { url: 'https://shop.example.com/', extract: { token: 'token' } },
            ],
        },
        `${SEARCH}/prepare/0/url`,
        'TEMPLATE_MISMATCH',
    ],
    [
        'a URL with what nothing extracts',
        { [`${SEARCH}/url`]: 'https://shop.example.com/{section}?t={prepare.token}' },
        `${SEARCH}/url`,
        'TEMPLATE_MISMATCH',
    ],
    [
        'a header with what nothing extracts',
        { [`${SEARCH}/headers/x-build`]: '{prepare.build}' },
        `${SEARCH}/headers/x-build`,
        'TEMPLATE_MISMATCH',
    ],
    [
        'a token of a page that is written out',
        { [`${SEARCH}/headers/x-csrf-token`]: 'x' },
        `${SEARCH}/headers/x-csrf-token`,
        'FORBIDDEN_FIELD',
    ],
    [
        'a cookie made of what a page has',
        {
            [`${SEARCH}/prepare`]: { url: 'https://shop.example.com/', extract: { id: 'id' } },
            [`${SEARCH}/headers/cookie`]: '{prepare.id}',
        },
        `${SEARCH}/headers/cookie`,
        'FORBIDDEN_FIELD',
    ],
    ['a body with what nothing extracts', { [`${ORDER}/body/token`]: '{prepare.token}' }, `${ORDER}/body/token`, 'TEMPLATE_MISMATCH'],
    [
        'four steps',
        { [`${SEARCH}/prepare`]: Array.from({ length: 4 }, () => ({ url: 'https://shop.example.com/' })) },
        `${SEARCH}/prepare`,
        'TOO_COMPLEX',
    ],
    ['no step in a list of them', { [`${SEARCH}/prepare`]: [] }, `${SEARCH}/prepare`, 'INVALID_VALUE'],
    [
        'a form in the first of two steps',
        { [`${CONTACT}/prepare`]: [{ url: 'https://shop.example.com/', form: 'form' }, { url: 'https://shop.example.com/' }] },
        `${CONTACT}/prepare/0/form`,
        'INVALID_VALUE',
    ],
    ...(
        [
            ['a list', ['li'], '', 'INVALID_TYPE'],
            ['a map of values', { selector: 'li', value: { a: 'b' } }, '/value', 'INVALID_VALUE'],
            ['no selector', { value: 'href' }, '/selector', 'REQUIRED'],
            ['neither an expression nor a selector', 'a[', '', 'INVALID_VALUE'],
            ['a cookie with a blank', { cookie: 'a b' }, '/cookie', 'INVALID_VALUE'],
            ['a cookie and a selector', { cookie: 'a', selector: 'b' }, '/selector', 'UNKNOWN_FIELD'],
        ] as const
    ).map(
        ([name, entry, below, code]): Row => [
            `an extract that is ${name}`,
            { [`${SEARCH}/prepare`]: { url: 'https://shop.example.com/', extract: { it: entry } } },
            `${SEARCH}/prepare/extract/it${below}`,
            code,
        ],
    ),
    [
        'an extract whose name has a hyphen',
        { [`${SEARCH}/prepare`]: { url: 'https://shop.example.com/', extract: { 'a-b': 'c' } } },
        `${SEARCH}/prepare/extract/a-b`,
        'INVALID_VALUE',
    ],
    ['a first page on another site', { [`${CONTACT}/prepare/url`]: 'https://evil.test/' }, `${CONTACT}/prepare/url`, 'HOST_NOT_IN_SITE'],
    ['a first page without an address', { [`${CONTACT}/prepare/url`]: DROP }, `${CONTACT}/prepare/url`, 'REQUIRED'],
    ...['HEAD', 'PUT', 'PATCH', 'DELETE'].map(
        (method): Row => [`a form that is sent by ${method}`, { [`${CONTACT}/method`]: method }, `${CONTACT}/method`, 'INVALID_VALUE'],
    ),
    ['a form that is no selector', { [`${CONTACT}/prepare/form`]: 'form[' }, `${CONTACT}/prepare/form`, 'INVALID_VALUE'],
];

const URLS: Row[] = [
    ['no url', { [URL_AT]: DROP }, URL_AT, 'REQUIRED'],
    ['more placeholders than any site has', withUrl(`https://shop.example.com/${'{section}'.repeat(101)}`), URL_AT, 'TOO_COMPLEX'],
    ['more pairs than any query has', withUrl(`https://shop.example.com/{section}?a${'&a'.repeat(200)}`), URL_AT, 'TOO_COMPLEX'],
    ['plain http', withUrl('http://shop.example.com/{section}'), URL_AT, 'INVALID_VALUE'],
    ['another scheme', withUrl('ftp://shop.example.com/{section}'), URL_AT, 'INVALID_VALUE'],
    ['a scheme in capitals', withUrl('HTTPS://shop.example.com/{section}'), URL_AT, 'INVALID_VALUE'],
    ['a relative address', withUrl('/v2/{section}'), URL_AT, 'INVALID_VALUE'],
    ['https without slashes', withUrl('https:shop.example.com/{section}'), URL_AT, 'INVALID_VALUE'],
    ['another port', withUrl('https://shop.example.com:8443/{section}'), URL_AT, 'INVALID_VALUE'],
    ['the default port written out', withUrl('https://shop.example.com:443/{section}'), URL_AT, 'INVALID_VALUE'],
    ['a user name', withUrl('https://me@shop.example.com/{section}'), URL_AT, 'INVALID_VALUE'],
    ['a user name and a password', withUrl('https://me:pw@shop.example.com/{section}'), URL_AT, 'SECRET_DETECTED'],
    ['a fragment', withUrl('https://shop.example.com/{section}#top'), URL_AT, 'INVALID_VALUE'],
    ['another host', withUrl('https://api.other.test/{section}'), URL_AT, 'HOST_NOT_IN_SITE'],
    ['an address for a host', withUrl('https://127.0.0.1/{section}'), URL_AT, 'HOST_NOT_IN_SITE'],
    ['an address in one number', withUrl('https://2130706433/{section}'), URL_AT, 'INVALID_VALUE'],
    ['an IPv6 address', withUrl('https://[::1]/{section}'), URL_AT, 'HOST_NOT_IN_SITE'],
    ['the metadata service', withUrl('https://169.254.169.254/{section}'), URL_AT, 'HOST_NOT_IN_SITE'],
    ['a host that only ends like the site', withUrl('https://evilexample.com/{section}'), URL_AT, 'HOST_NOT_IN_SITE'],
    ['a host with a dot at its end', withUrl('https://shop.example.com./{section}'), URL_AT, 'INVALID_VALUE'],
    ['a host in capitals', withUrl('https://Shop.example.com/{section}'), URL_AT, 'INVALID_VALUE'],
    ['a full-width host', withUrl('https://ｓhop.example.com/{section}'), URL_AT, 'INVALID_VALUE'],
    ['a placeholder for a host', withUrl('https://{section}/'), URL_AT, 'INVALID_VALUE'],
    ['a placeholder in a host', withUrl('https://{section}.shop.example.com/'), URL_AT, 'INVALID_VALUE'],
    ['a placeholder for a port', withUrl('https://shop.example.com:{section}/'), URL_AT, 'INVALID_VALUE'],
    ['no path at all', withUrl('https://shop.example.com?s={section}'), URL_AT, 'INVALID_VALUE'],
    ['a segment ..', withUrl('https://shop.example.com/a/../{section}'), URL_AT, 'INVALID_VALUE'],
    ['a percent-encoded segment ..', withUrl('https://shop.example.com/%2e%2E/{section}'), URL_AT, 'INVALID_VALUE'],
    ['a half percent-encoded segment ..', withUrl('https://shop.example.com/.%2e/{section}'), URL_AT, 'INVALID_VALUE'],
    ['a backslash', withUrl('https://shop.example.com\\{section}'), URL_AT, 'INVALID_VALUE'],
    ['a tab that the parser would drop', withUrl('https://shop.exa\tmple.com/{section}'), URL_AT, 'INVALID_VALUE'],
    ['a line break', withUrl('https://shop.example.com/{section}\n'), URL_AT, 'INVALID_VALUE'],
    ['a blank in the path', withUrl('https://shop.example.com/a b/{section}'), URL_AT, 'INVALID_VALUE'],
    ['a letter that needs encoding', withUrl('https://shop.example.com/ü/{section}'), URL_AT, 'INVALID_VALUE'],
    ['a percent sign before a placeholder', withUrl('https://shop.example.com/%{section}'), URL_AT, 'INVALID_VALUE'],
    ['a brace that stands alone', withUrl('https://shop.example.com/{section}?x={'), URL_AT, 'INVALID_VALUE'],
    ['a placeholder with a blank', withUrl('https://shop.example.com/{section}?x={a b}'), URL_AT, 'INVALID_VALUE'],
    ['2,049 characters', withUrl(`https://shop.example.com/{section}${LONG}`), URL_AT, 'INVALID_VALUE'],
    ['a placeholder without a param', withUrl('https://shop.example.com/{section}/{page}'), URL_AT, 'TEMPLATE_MISMATCH'],
    ['a placeholder whose param is in the query', withUrl('https://shop.example.com/{section}?q={q}'), URL_AT, 'TEMPLATE_MISMATCH'],
    ['a path param without a placeholder', withUrl('https://shop.example.com/'), `${SEARCH}/params/0/name`, 'TEMPLATE_MISMATCH'],
    ['a key in the query', withUrl('https://shop.example.com/{section}?api_key=a1b2c3d4e5f6'), URL_AT, 'SECRET_DETECTED'],
];

const PARAMS: Row[] = [
    ['a param without a name', { [`${SEARCH}/params/1/name`]: DROP }, `${SEARCH}/params/1/name`, 'REQUIRED'],
    ['a param named twice', { [`${SEARCH}/params/2/name`]: 'q' }, `${SEARCH}/params/2/name`, 'DUPLICATE_NAME'],
    ['a name with braces', { [`${SEARCH}/params/2/name`]: '{q}' }, `${SEARCH}/params/2/name`, 'INVALID_VALUE'],
    ['a name with a blank', { [`${SEARCH}/params/2/name`]: 'a b' }, `${SEARCH}/params/2/name`, 'INVALID_VALUE'],
    ['a name of 65 characters', { [`${SEARCH}/params/2/name`]: 'a'.repeat(65) }, `${SEARCH}/params/2/name`, 'INVALID_VALUE'],
    ['the name __proto__', { [`${SEARCH}/params/2/name`]: '__proto__' }, `${SEARCH}/params/2/name`, 'FORBIDDEN_FIELD'],
    ['a path param with a hyphen', { [`${SEARCH}/params/0/name`]: 'a-b' }, `${SEARCH}/params/0/name`, 'INVALID_VALUE'],
    ['no source', { [`${SEARCH}/params/1/source`]: DROP }, `${SEARCH}/params/1/source`, 'REQUIRED'],
    ['the source cookie', { [`${SEARCH}/params/1/source`]: 'cookie' }, `${SEARCH}/params/1/source`, 'INVALID_VALUE'],
    ...['Cookie', 'Authorization', 'x-api-key', 'X-Session-Token', 'access-token', 'Host', 'user-agent', 'if-match', 'content-type'].map(
        (name): Row => [
            `the header ${name} as a param`,
            { [`${SEARCH}/params/-`]: header(name) },
            `${SEARCH}/params/3/name`,
            'FORBIDDEN_FIELD',
        ],
    ),
    ['a header param with a name that is none', { [`${SEARCH}/params/-`]: header('x(y)') }, `${SEARCH}/params/3/name`, 'INVALID_VALUE'],
    ['a param for a header of the endpoint', { [`${SEARCH}/params/-`]: header('Accept') }, `${SEARCH}/params/3/name`, 'DUPLICATE_NAME'],
    [
        'two params for one header',
        { [`${SEARCH}/params/-`]: header('x-lang'), [`${REVIEWS}/params`]: [header('x-lang'), header('X-Lang')] },
        `${REVIEWS}/params/1/name`,
        'DUPLICATE_NAME',
    ],
    [
        'a header param that is a list',
        { [`${SEARCH}/params/-`]: { ...header('x-ids'), schema: { type: 'array' } } },
        `${SEARCH}/params/3/schema/type`,
        'INVALID_VALUE',
    ],
    [
        'a default of a header with a line break',
        { [`${SEARCH}/params/-`]: { ...header('x-lang'), default: 'a\nb' } },
        `${SEARCH}/params/3/default`,
        'INVALID_VALUE',
    ],
    [
        'an example of a header in Cyrillic',
        { [`${SEARCH}/params/-`]: { ...header('x-lang'), example: 'да' } },
        `${SEARCH}/params/3/example`,
        'INVALID_VALUE',
    ],
    ['an unknown style', { [`${SEARCH}/params/2/style`]: 'csv' }, `${SEARCH}/params/2/style`, 'INVALID_VALUE'],
    ['a style in the path', { [`${SEARCH}/params/0/style`]: 'comma' }, `${SEARCH}/params/0/style`, 'INVALID_VALUE'],
    ['a style in a JSON body', { [`${ORDER}/params/0/style`]: 'comma' }, `${ORDER}/params/0/style`, 'INVALID_VALUE'],
    [
        'a style in the template of a form',
        { [`${CONTACT}/params/0/style`]: 'comma', [`${CONTACT}/body`]: { text: '{message}' } },
        `${CONTACT}/params/0/style`,
        'INVALID_VALUE',
    ],
    [
        'an object in the query without a schema',
        { [`${SEARCH}/params/-`]: query({ style: 'deepObject' }) },
        `${SEARCH}/params/3/schema`,
        'REQUIRED',
    ],
    ['a list in the style of an object', { [`${SEARCH}/params/2/style`]: 'deepObject' }, `${SEARCH}/params/2/schema/type`, 'INVALID_VALUE'],
    [
        'an example of an object two levels deep',
        { [`${SEARCH}/params/-`]: query({ style: 'deepObject', schema: { type: 'object' }, example: { a: { b: 1 } } }) },
        `${SEARCH}/params/3/example`,
        'INVALID_VALUE',
    ],
    ['segments in a query', { [`${SEARCH}/params/1/segments`]: true }, `${SEARCH}/params/1/segments`, 'INVALID_VALUE'],
    ['segments as a number', { [`${SEARCH}/params/0/segments`]: 3 }, `${SEARCH}/params/0/segments`, 'INVALID_TYPE'],
    [
        'a default with an empty segment',
        { [`${SEARCH}/params/0/segments`]: true, [`${SEARCH}/params/0/default`]: 'a//b' },
        `${SEARCH}/params/0/default`,
        'INVALID_VALUE',
    ],
    ['required as a number', { [`${SEARCH}/params/1/required`]: 1 }, `${SEARCH}/params/1/required`, 'INVALID_TYPE'],
    [
        'a path param that may be missing',
        { [`${SEARCH}/params/0/required`]: false, [`${SEARCH}/params/0/default`]: DROP },
        `${SEARCH}/params/0/required`,
        'INVALID_VALUE',
    ],
    ['a body param on GET', { [`${SEARCH}/params/1/source`]: 'body' }, `${SEARCH}/params/1/source`, 'INVALID_VALUE'],
    ['a default that its schema refuses', { [`${ORDER}/params/1/default`]: 0 }, `${ORDER}/params/1/default`, 'INVALID_VALUE'],
    ['a default of the wrong type', { [`${ORDER}/params/1/default`]: '1' }, `${ORDER}/params/1/default`, 'INVALID_VALUE'],
    [
        'an example that its schema refuses',
        { [`${SEARCH}/params/0/example`]: 'a'.repeat(41) },
        `${SEARCH}/params/0/example`,
        'INVALID_VALUE',
    ],
    ['null as the default of a query param', { [`${SEARCH}/params/1/default`]: null }, `${SEARCH}/params/1/default`, 'INVALID_VALUE'],
    ['a default with a control character', { [`${SEARCH}/params/0/default`]: 'a\u0007b' }, `${SEARCH}/params/0/default`, 'INVALID_VALUE'],
    ['an example with a control character', { [`${SEARCH}/params/0/example`]: 'a\u0007b' }, `${SEARCH}/params/0/example`, 'INVALID_VALUE'],
    [
        'a default of more bytes than a call may have',
        { [`${SEARCH}/params/0/default`]: 'é'.repeat(40_000) },
        `${SEARCH}/params/0/default`,
        'TOO_COMPLEX',
    ],
    [
        'a default of more keys than a call may have',
        { [`${ORDER}/params/1/default`]: Object.fromEntries(Array.from({ length: 1000 }, (_, id) => [`k${id}`, id])) },
        `${ORDER}/params/1/default`,
        'TOO_COMPLEX',
    ],
    ['an empty default in the path', { [`${SEARCH}/params/0/default`]: '' }, `${SEARCH}/params/0/default`, 'INVALID_VALUE'],
    ['a list in the path', { [`${SEARCH}/params/0/default`]: ['a'] }, `${SEARCH}/params/0/default`, 'INVALID_VALUE'],
    [
        'a list in the query without a schema',
        { [`${SEARCH}/params/-`]: query({ default: [1] }) },
        `${SEARCH}/params/3/default`,
        'INVALID_VALUE',
    ],
    [
        'an object in the query',
        { [`${SEARCH}/params/-`]: query({ schema: { type: 'object' } }) },
        `${SEARCH}/params/3/schema/type`,
        'INVALID_VALUE',
    ],
    ['a field for a proxy', { [`${SEARCH}/params/1/proxy`]: 'x' }, `${SEARCH}/params/1/proxy`, 'FORBIDDEN_FIELD'],
    [
        'a password for a default',
        { [`${SEARCH}/params/-`]: query({ name: 'password', default: 'hunter2hunter2' }) },
        `${SEARCH}/params/3/default`,
        'SECRET_DETECTED',
    ],
    [
        'a session for a default',
        { [`${SEARCH}/params/-`]: query({ name: 'session', default: '8f7e6d5c4b3a29180716253443526170' }) },
        `${SEARCH}/params/3/default`,
        'SECRET_DETECTED',
    ],
    ['a body on GET', { [`${REVIEWS}/body`]: { a: 1 } }, `${REVIEWS}/body`, 'INVALID_VALUE'],
    [
        'a body that names an unknown param',
        { [`${ORDER}/body/variables/size`]: '{size}' },
        `${ORDER}/body/variables/size`,
        'TEMPLATE_MISMATCH',
    ],
    ['a body that leaves a param out', { [`${ORDER}/body/variables/count`]: DROP }, `${ORDER}/params/1/name`, 'TEMPLATE_MISMATCH'],
    [
        'a form whose template is a list',
        { [`${ORDER}/body_format`]: 'form', [`${ORDER}/body`]: ['{sku}'] },
        `${ORDER}/body`,
        'INVALID_TYPE',
    ],
    ['a form with an object in a field', { [`${ORDER}/body_format`]: 'form' }, `${ORDER}/body/variables`, 'INVALID_VALUE'],
    ['an unknown body format', { [`${ORDER}/body_format`]: 'yaml' }, `${ORDER}/body_format`, 'INVALID_VALUE'],
    [
        'a read with a multipart body',
        { [`${ORDER}/body_format`]: 'multipart', [`${ORDER}/effect`]: 'read' },
        `${ORDER}/body_format`,
        'INVALID_VALUE',
    ],
    [
        'a multipart template with an object in a field',
        { [`${ORDER}/body_format`]: 'multipart' },
        `${ORDER}/body/variables`,
        'INVALID_VALUE',
    ],
    [
        'a content-type that says multipart without our boundary',
        { [`${ORDER}/body_format`]: 'multipart', [`${ORDER}/headers/content-type`]: 'multipart/form-data' },
        `${ORDER}/headers/content-type`,
        'INVALID_VALUE',
    ],
    ['a file in a JSON body', { [`${ORDER}/params/0/schema`]: { format: 'file' } }, `${ORDER}/params/0/schema/format`, 'INVALID_VALUE'],
    ['a file in a query', { [`${SEARCH}/params/1/schema`]: { format: 'file' } }, `${SEARCH}/params/1/schema/format`, 'INVALID_VALUE'],
    [
        'a file that is a text',
        { [`${CONTACT}/body_format`]: 'multipart', [`${CONTACT}/params/0/schema`]: { type: 'string', format: 'file' } },
        `${CONTACT}/params/0/schema/type`,
        'INVALID_VALUE',
    ],
    [
        'an example of a file without its bytes',
        {
            [`${CONTACT}/body_format`]: 'multipart',
            [`${CONTACT}/params/0`]: {
                name: 'message',
                source: 'body',
                required: true,
                schema: { format: 'file' },
                example: { filename: 'a' },
            },
        },
        `${CONTACT}/params/0/example`,
        'INVALID_VALUE',
    ],
    ...(['xml', 'text', 'ndjson'] as const).flatMap((format): Row[] => [
        [`${format} with an object for a template`, { [`${ORDER}/body_format`]: format }, `${ORDER}/body`, 'INVALID_TYPE'],
        [`${format} without a template`, { [`${ORDER}/body_format`]: format, [`${ORDER}/body`]: DROP }, `${ORDER}/body`, 'REQUIRED'],
        [
            `${format} with an empty template`,
            { [`${ORDER}/body_format`]: format, [`${ORDER}/body`]: ' ' },
            `${ORDER}/body`,
            'INVALID_VALUE',
        ],
        [
            `${format} with a placeholder of no param`,
            { [`${ORDER}/body_format`]: format, [`${ORDER}/body`]: '{sku}{count}{no}' },
            `${ORDER}/body`,
            'TEMPLATE_MISMATCH',
        ],
        [
            `${format} without a place for a param`,
            { [`${ORDER}/body_format`]: format, [`${ORDER}/body`]: '{sku}' },
            `${ORDER}/params/1/name`,
            'TEMPLATE_MISMATCH',
        ],
        [
            `JSON announced for ${format}`,
            {
                [`${ORDER}/body_format`]: format,
                [`${ORDER}/headers/content-type`]: format === 'ndjson' ? 'text/plain' : 'application/json',
            },
            `${ORDER}/headers/content-type`,
            'INVALID_VALUE',
        ],
    ]),
    ...[
        '<{sku}>{count}</{sku}>',
        '<a {sku}="{count}"/>',
        '<a b={sku}>{count}</a>',
        '<!-- {sku} --><a>{count}</a>',
        '<![CDATA[{sku}]]><a>{count}</a>',
        '<?pi {sku}?><a>{count}</a>',
        '<!DOCTYPE a SYSTEM "{sku}"><a>{count}</a>',
        '<a b="{count}" {sku}',
        '<a b="{count} {sku}',
    ].map(
        (body): Row => [
            `a placeholder in the markup of ${body}`,
            { [`${ORDER}/body_format`]: 'xml', [`${ORDER}/body`]: body },
            `${ORDER}/body`,
            'INVALID_VALUE',
        ],
    ),
    ...['{"a":"{sku}"}\n{count}', '{"a":{sku}}{count}', '{{sku}:{count}', '{sku}\n{"a":{count}'].map(
        (body): Row => [
            `lines that are no JSON in ${body}`,
            { [`${ORDER}/body_format`]: 'ndjson', [`${ORDER}/body`]: body },
            `${ORDER}/body`,
            'INVALID_VALUE',
        ],
    ),
    [
        'a list in XML',
        { [`${ORDER}/body_format`]: 'xml', [`${ORDER}/params/0/schema`]: { type: 'array' } },
        `${ORDER}/params/0/schema/type`,
        'INVALID_VALUE',
    ],
];

const SCHEMAS: Row[] = [
    ['a schema that is a text', { [SCHEMA]: 'string' }, SCHEMA, 'INVALID_TYPE'],
    ['an unknown type', { [`${SCHEMA}/type`]: 'text' }, `${SCHEMA}/type`, 'INVALID_VALUE'],
    ['a negative length', { [`${SCHEMA}/minLength`]: -1 }, `${SCHEMA}/minLength`, 'INVALID_VALUE'],
    ['an empty enum', { [`${SCHEMA}/enum`]: [] }, `${SCHEMA}/enum`, 'INVALID_TYPE'],
    ['an older dialect', { [`${SCHEMA}/$schema`]: 'http://json-schema.org/draft-07/schema#' }, `${SCHEMA}/$schema`, 'INVALID_VALUE'],
    ['a list of item schemas', { [SCHEMA]: { items: [{ type: 'string' }] } }, `${SCHEMA}/items`, 'INVALID_TYPE'],
    ['a remote reference', { [SCHEMA]: { $ref: 'https://evil.test/schema.json' } }, `${SCHEMA}/$ref`, 'INVALID_VALUE'],
    ['a reference to nothing', { [SCHEMA]: { $ref: '#/$defs/none' } }, `${SCHEMA}/$ref`, 'INVALID_VALUE'],
    ['a recursive reference', { [SCHEMA]: { properties: { child: { $ref: '#' } } } }, `${SCHEMA}/properties/child/$ref`, 'TOO_COMPLEX'],
    ['a dynamic reference', { [SCHEMA]: { $dynamicRef: '#x' } }, `${SCHEMA}/$dynamicRef`, 'TOO_COMPLEX'],
    ['a pattern that does not compile', { [`${SCHEMA}/pattern`]: '(' }, `${SCHEMA}/pattern`, 'INVALID_VALUE'],
    ['a pattern with look-ahead', { [`${SCHEMA}/pattern`]: '(?=a)a' }, `${SCHEMA}/pattern`, 'INVALID_VALUE'],
    ['a pattern with a back-reference', { [`${SCHEMA}/pattern`]: '(a)\\1' }, `${SCHEMA}/pattern`, 'INVALID_VALUE'],
    ['a pattern of 1,001 characters', { [`${SCHEMA}/pattern`]: 'a'.repeat(1001) }, `${SCHEMA}/pattern`, 'TOO_COMPLEX'],
    ['unique objects in a param', { [SCHEMA]: { uniqueItems: true, items: { type: 'object' } } }, `${SCHEMA}/uniqueItems`, 'TOO_COMPLEX'],
    ['unique things of any kind in a param', { [SCHEMA]: { uniqueItems: true } }, `${SCHEMA}/uniqueItems`, 'TOO_COMPLEX'],
    ['contained objects in a param', { [SCHEMA]: { contains: { type: 'object' } } }, `${SCHEMA}/contains`, 'TOO_COMPLEX'],
    ['nine levels', { [SCHEMA]: nestedSchema(9) }, `${SCHEMA}${'/properties/a'.repeat(9)}`, 'TOO_COMPLEX'],
    ['a response schema that is a list', { [RESULT]: [] }, RESULT, 'INVALID_TYPE'],
    [
        'a response schema with a bad pattern',
        { [`${RESULT}/patternProperties`]: { '(': {} } },
        `${RESULT}/patternProperties/(`,
        'INVALID_VALUE',
    ],
    [
        'a schema that grows past 1,000 schemas',
        {
            [RESULT]: {
                $defs: {
                    a: { allOf: Array.from({ length: 40 }, () => ({ $ref: '#/$defs/b' })) },
                    b: { allOf: Array.from({ length: 40 }, () => ({ type: 'string' })) },
                },
                $ref: '#/$defs/a',
            },
        },
        RESULT,
        'TOO_COMPLEX',
    ],
    ['an unknown type of response', { [`${SEARCH}/response/type`]: 'yaml' }, `${SEARCH}/response/type`, 'INVALID_VALUE'],
    [
        'an expression that does not parse',
        { [`${SEARCH}/response/select/items`]: 'a[' },
        `${SEARCH}/response/select/items`,
        'INVALID_VALUE',
    ],
    [
        'an expression with an unknown function',
        { [`${SEARCH}/response/select/items`]: 'a[].{b: steal(@)}' },
        `${SEARCH}/response/select/items`,
        'INVALID_VALUE',
    ],
    [
        'an expression that gives a function too few arguments',
        { [`${SEARCH}/response/select/items`]: 'a[].{b: length()}' },
        `${SEARCH}/response/select/items`,
        'INVALID_VALUE',
    ],
    [
        'an expression of 1,001 characters',
        { [`${SEARCH}/response/select/items`]: 'a'.repeat(1001) },
        `${SEARCH}/response/select/items`,
        'INVALID_VALUE',
    ],
    ['an output that is a number', { [`${SEARCH}/response/select/items`]: 1 }, `${SEARCH}/response/select/items`, 'INVALID_TYPE'],
    ['a select without outputs', { [`${SEARCH}/response/select`]: {} }, `${SEARCH}/response/select`, 'INVALID_VALUE'],
    [
        'a selector that does not parse',
        { [`${CONTACT}/response/select/notice`]: 'p[' },
        `${CONTACT}/response/select/notice`,
        'INVALID_VALUE',
    ],
    [
        'a selector with an unknown pseudo-class',
        { [`${CONTACT}/response/select/notice`]: 'p:nope' },
        `${CONTACT}/response/select/notice`,
        'INVALID_VALUE',
    ],
    ['an empty selector', { [`${CONTACT}/response/select/notice`]: '' }, `${CONTACT}/response/select/notice`, 'INVALID_VALUE'],
    [
        'a list of two selectors',
        { [`${CONTACT}/response/select/notice`]: ['a', 'b'] },
        `${CONTACT}/response/select/notice`,
        'INVALID_VALUE',
    ],
    [
        'a value that is the rest of the page',
        { [`${CONTACT}/response/select/notice`]: { selector: 'p', value: 'parent' } },
        `${CONTACT}/response/select/notice/value`,
        'INVALID_VALUE',
    ],
    ...(
        [
            ['a type of values that there is not', { selector: 'p', type: 'date' }, 'type', 'INVALID_VALUE'],
            ['a type for a map of values', { selector: 'p', type: 'string', value: { a: 'b' } }, 'type', 'INVALID_VALUE'],
            ['a decimal sign that is a blank', { selector: 'p', type: 'number', decimal: ' ' }, 'decimal', 'INVALID_VALUE'],
            ['a decimal sign of a text', { selector: 'p', decimal: ',' }, 'decimal', 'INVALID_VALUE'],
            ['a misspelt field of an entry', { selector: 'p', tpye: 'number' }, 'tpye', 'UNKNOWN_FIELD'],
        ] as const
    ).map(
        ([name, entry, field, code]): Row => [
            name,
            { [`${CONTACT}/response/select/notice`]: entry },
            `${CONTACT}/response/select/notice/${field}`,
            code,
        ],
    ),
    ['a select of a text', { [`${CONTACT}/response/type`]: 'text' }, `${CONTACT}/response/select`, 'INVALID_VALUE'],
    ['a select of bytes', { [`${CONTACT}/response/type`]: 'binary' }, `${CONTACT}/response/select`, 'INVALID_VALUE'],
    [
        'a selector of a table',
        { [`${CONTACT}/response`]: { type: 'csv', select: { a: ['li'] } } },
        `${CONTACT}/response/select/a`,
        'INVALID_TYPE',
    ],
    ['results counted in bytes', { [`${SEARCH}/response`]: { type: 'binary' } }, `${SEARCH}/billing/results`, 'INVALID_VALUE'],
    ...(
        [
            [{ json: 'a.b' }, 'selector', 'REQUIRED'],
            [{ selector: 'script', of: 'Product' }, 'json', 'REQUIRED'],
            [{ selector: 'script[', json: 'a' }, 'selector', 'INVALID_VALUE'],
            [{ selector: 'script', json: 'a[' }, 'json', 'INVALID_VALUE'],
            [{ selector: 'script', json: 1 }, 'json', 'INVALID_TYPE'],
            [{ selector: 'script', json: 'a', of: ' ' }, 'of', 'INVALID_VALUE'],
            [{ selector: 'script', json: 'a', type: 'date' }, 'type', 'INVALID_VALUE'],
            [{ selector: 'script', json: 'a', path: 'b' }, 'path', 'UNKNOWN_FIELD'],
            [{ assign: 'window.X = steal()' }, 'assign', 'INVALID_VALUE'],
            [{ assign: 'window.X', json: 'count(a)' }, 'json', 'INVALID_VALUE'],
            [{ microdata: 'Product', path: 'a[' }, 'path', 'INVALID_VALUE'],
            [{ microdata: 'Product', selector: 'div' }, 'selector', 'UNKNOWN_FIELD'],
            [{ table: 'table[' }, 'table', 'INVALID_VALUE'],
            [{ table: 'table', type: 'number' }, 'type', 'UNKNOWN_FIELD'],
        ] as const
    ).map(
        ([entry, field, code]): Row => [
            `data of a page by ${JSON.stringify(entry)}`,
            { [`${CONTACT}/response/select/notice`]: entry },
            `${CONTACT}/response/select/notice/${field}`,
            code,
        ],
    ),
    ['results counted in XML as a whole', { [`${SEARCH}/response`]: { type: 'xml' } }, `${SEARCH}/billing/results`, 'INVALID_VALUE'],
    ['an expression for XML', { [`${CONTACT}/response`]: { type: 'xml', select: 'a.b' } }, `${CONTACT}/response/select`, 'INVALID_TYPE'],
    [
        'a selector of a feed',
        { [`${CONTACT}/response`]: { type: 'feed', select: { a: ['item'] } } },
        `${CONTACT}/response/select/a`,
        'INVALID_TYPE',
    ],
    [
        'a cursor in XML that is no selector',
        { [`${REVIEWS}/response/type`]: 'xml', [`${REVIEWS}/pagination/next`]: 'a[' },
        `${REVIEWS}/pagination/next`,
        'INVALID_VALUE',
    ],
    [
        'a total in pages of XML',
        { [`${SEARCH}/response`]: { type: 'xml', select: { items: ['li'] } }, [`${SEARCH}/pagination/end`]: { total: 'total' } },
        `${SEARCH}/pagination/end/total`,
        'INVALID_VALUE',
    ],
    ['an encoding that does not exist', { [`${SEARCH}/response/charset`]: 'klingon' }, `${SEARCH}/response/charset`, 'INVALID_VALUE'],
    [
        'an encoding of bytes',
        { [`${CONTACT}/response`]: { type: 'binary', charset: 'utf-8' } },
        `${CONTACT}/response/charset`,
        'INVALID_VALUE',
    ],
    ['a delimiter of JSON', { [`${SEARCH}/response/csv`]: { delimiter: ';' } }, `${SEARCH}/response/csv`, 'INVALID_VALUE'],
    ['events that are no JSON', { [`${CONTACT}/response/sse`]: true }, `${CONTACT}/response/sse`, 'INVALID_VALUE'],
    ...(
        [
            [{ delimiter: ';;' }, 'delimiter', 'INVALID_VALUE'],
            [{ delimiter: '"' }, 'delimiter', 'INVALID_VALUE'],
            [{ delimiter: '\n' }, 'delimiter', 'INVALID_VALUE'],
            [{ delimiter: '' }, 'delimiter', 'INVALID_VALUE'],
            [{ delimiter: 9 }, 'delimiter', 'INVALID_TYPE'],
            [{ header: 'yes' }, 'header', 'INVALID_TYPE'],
            [{ columns: [] }, 'columns', 'INVALID_VALUE'],
            [{ columns: ['a', 'b', 'a'] }, 'columns/2', 'DUPLICATE_NAME'],
            [{ columns: ['a', ''] }, 'columns/1', 'INVALID_VALUE'],
            [{ quote: "'" }, 'quote', 'UNKNOWN_FIELD'],
        ] as const
    ).map(
        ([csv, field, code]): Row => [
            `a table with ${JSON.stringify(csv)}`,
            { [`${CONTACT}/response`]: { type: 'csv', csv } },
            `${CONTACT}/response/csv/${field}`,
            code,
        ],
    ),
];

const FORBIDDEN_HEADERS =
    'host connection Keep-Alive TE trailer transfer-encoding upgrade content-length content-encoding accept-encoding range if-none-match if-range expect ' +
    'User-Agent cookie Cookie2 authorization proxy-authorization proxy-connection forwarded x-forwarded-for X-Forwarded-Host x-real-ip metadata-flavor ' +
    'metadata x-aws-ec2-metadata-token x-google-metadata-request sec-websocket-key x-api-key x-auth-token x-csrf-token x-http-method-override true-client-ip ' +
    'x-rapidapi-key x-consumer-key x-pass ' +
    // CGI, WSGI, PHP and Rack read these like the names with hyphens.
    'x_http_method_override X_Forwarded_For x.original.url cf_connecting_ip content_length x-tunneled-method';

const HEADERS: Row[] = [
    ...FORBIDDEN_HEADERS.split(' ').map(
        (name): Row => [`the header ${name}`, withHeader(name), `${SEARCH}/headers/${name}`, 'FORBIDDEN_FIELD'],
    ),
    ['headers as a list', { [`${SEARCH}/headers`]: [] }, `${SEARCH}/headers`, 'INVALID_TYPE'],
    ['a header that is a number', withHeader('x-a', 1), `${SEARCH}/headers/x-a`, 'INVALID_TYPE'],
    ['a header with a line break', withHeader('x-a', 'a\r\nhost: evil.test'), `${SEARCH}/headers/x-a`, 'INVALID_VALUE'],
    ['a header with a null character', withHeader('x-a', 'a\u0000'), `${SEARCH}/headers/x-a`, 'INVALID_VALUE'],
    ['a header with an umlaut', withHeader('x-a', 'ü'), `${SEARCH}/headers/x-a`, 'INVALID_VALUE'],
    ['a header of 1,025 characters', withHeader('x-a', 'a '.repeat(512) + 'a'), `${SEARCH}/headers/x-a`, 'INVALID_VALUE'],
    ['a header name with a colon', withHeader('x:a'), `${SEARCH}/headers/x:a`, 'INVALID_VALUE'],
    ['a header name with a line break', withHeader('x\na'), `${SEARCH}/headers/x\ufffda`, 'INVALID_VALUE'],
    ['a header named twice', withHeader('Accept'), `${SEARCH}/headers/Accept`, 'DUPLICATE_NAME'],
    ['a content type without a body', withHeader('content-type', 'application/json'), `${SEARCH}/headers/content-type`, 'INVALID_VALUE'],
    [
        'a content type of another format',
        { [`${ORDER}/headers/content-type`]: 'application/x-www-form-urlencoded' },
        `${ORDER}/headers/content-type`,
        'INVALID_VALUE',
    ],
    ['a bearer token in an innocent header', withHeader('x-a', 'Bearer abcdef123456ghijkl'), `${SEARCH}/headers/x-a`, 'SECRET_DETECTED'],
];

describe('a bad package', () => {
    const tables: Record<string, Row[]> = {
        whole: WHOLE,
        endpoints: ENDPOINTS,
        urls: URLS,
        params: PARAMS,
        schemas: SCHEMAS,
        headers: HEADERS,
    };

    before('a good one is accepted', () => {
        expect(faultsOf(check(goodPackage()))).to.deep.equal([]);
    });

    for (const [group, rows] of Object.entries(tables)) {
        describe(`(${group})`, () => {
            for (const [name, edits, path, code] of rows) {
                it(`is refused at its place: ${name}`, () => {
                    const verdict = check(editedPackage(edits));
                    expect(verdict.ok).to.equal(false);
                    expect(faultsOf(verdict)).to.include(`${path} ${code}`);
                    if (!verdict.ok) for (const { message } of verdict.problems) expect(message).to.match(/^.{10,300}\.$/);
                });
            }
        });
    }

    it('is told that prepare brings the token of a page, where a header would carry one', () => {
        const verdict = check(editedPackage(withHeader('x-csrf-token', 'x')));
        expect(verdict.ok ? '' : verdict.problems[0]?.message).to.match(/"prepare" and write \{prepare\.name\} as the whole value\.$/);
    });

    it('is tested in more than a hundred forms', () => {
        expect(Object.values(tables).flat().length).to.be.greaterThan(100);
    });

    after('a good one is still accepted', () => {
        expect(faultsOf(check(goodPackage()))).to.deep.equal([]);
    });
});
