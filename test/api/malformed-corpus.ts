import { rawRequest } from '../support/raw.ts';
import { everyRoute, type RouteCall } from '../support/routes.ts';
import { oneOf } from '../support/sample.ts';
import type { Topology } from '../support/world.ts';

/** A request with one fault, as bytes. */
export interface Malformed {
    name: string;
    bytes: Buffer;
    /** Whether it is so broken that the server may close the connection without a response. */
    mayBeCut?: boolean;
}

/**
 * Malformed requests (goal I1). Each fault is sent to some routes, and in a long run to all of them; the other topology covers other
 * routes. `authorization` is a valid header line, so that the key is never the fault.
 */
export function malformedRequests(authorization: string, topology: Topology): Malformed[] {
    const routes = everyRoute('shop.test');
    const first = topology === 'postgres' ? 0 : 6;
    return [
        ...routes
            .flatMap((route) => [
                ...brokenQueries(route, authorization),
                ...brokenPaths(route, authorization),
                ...brokenHeaders(route, authorization),
            ])
            .filter(oneOf(13, first)),
        ...routes
            .filter(({ body }) => body !== undefined)
            .flatMap((route) => brokenBodies(route, authorization))
            .filter(oneOf(11, first)),
        ...BYTES.map(([name, text]) => ({ name: `bytes: ${name}`, bytes: Buffer.from(text, 'latin1'), mayBeCut: true })),
    ];
}

const JSON_TYPE = 'Content-Type: application/json';

function whole(
    { method, path, body }: RouteCall,
    headers: string[],
    { at = path, text = body === undefined ? '' : JSON.stringify(body) } = {},
): Buffer {
    const sized = body === undefined && text === '' ? [] : [JSON_TYPE, `Content-Length: ${Buffer.byteLength(text)}`];
    return rawRequest(`${method} ${at} HTTP/1.1`, [...headers, ...sized], text);
}

function brokenQueries(route: RouteCall, authorization: string): Malformed[] {
    const glue = route.path.includes('?') ? '&' : '?';
    const queries = {
        unknown: 'unknown=1',
        repeated: 'a=1&a=2&a=3',
        'prototype keys': '__proto__=1&constructor=2&toString=3&hasOwnProperty=4',
        'brackets and arrays': 'intent[]=1&intent[__proto__][x]=2',
        'half an escape': 'q=%',
        'a wrong escape': 'q=%zz',
        'bytes that are no UTF-8': 'q=%ff%fe',
        'a lone surrogate': 'q=%ED%A0%80',
        'a null character': 'q=%00&intent=%00',
        'SQL text': "q=';drop table versions;--",
        'a thousand parameters': Array.from({ length: 1000 }, (_, index) => `k${index}=`).join('&'),
        'a very long value': `q=${'x'.repeat(10_000)}`,
        'nothing but separators': '&&&&==&=',
    };
    return Object.entries(queries).map(([name, query]) => ({
        name: `${route.contract.name} with a query of ${name}`,
        bytes: whole(route, [authorization], { at: `${route.path}${glue}${query}` }),
    }));
}

function brokenPaths(route: RouteCall, authorization: string): Malformed[] {
    const [path = '', query = ''] = route.path.split('?');
    const end = query === '' ? '' : `?${query}`;
    const paths = {
        'a null character': `${path}%00`,
        'half an escape': `${path}%`,
        'bytes that are no UTF-8': `${path}%ff`,
        'dot segments': `${path}/../../etc/passwd`,
        'encoded dot segments': `${path}/%2e%2e%2f%2e%2e`,
        'a backslash': `${path}\\..`,
        'raw bytes above ASCII': `${path}\xff\xfe`,
        'a doubled slash': path.replaceAll('/', '//'),
        'an absolute form': `http://elsewhere.test${path}`,
        'a segment of 5,000 characters': path.includes('shop.test')
            ? path.replace('shop.test', 'x'.repeat(5000))
            : `${path}/${'x'.repeat(5000)}`,
        'an override character': path.replace('shop.test', '%E2%80%AEshop.test'),
    };
    return Object.entries(paths).map(([name, at]) => ({
        name: `${route.contract.name} with a path of ${name}`,
        bytes: whole(route, [authorization], { at: `${at}${end}` }),
    }));
}

function brokenHeaders(route: RouteCall, authorization: string): Malformed[] {
    const headers: Record<string, string[]> = {
        'a key that is no key': ['Authorization: Bearer \x80\xff'],
        'a key without end': [`Authorization: Bearer ${'x'.repeat(10_000)}`],
        'two keys': [authorization, authorization],
        'a request id of markup': [authorization, 'X-Request-Id: <script>'],
        'a request id with a tab': [authorization, 'X-Request-Id: a\tb'],
        'cookies that are none': [authorization, 'Cookie: =;;"\\";a=b=c; __proto__=x'],
        'a tag that is none': [authorization, 'If-None-Match: ",",W/"', 'If-Match: "'],
        'a range': [authorization, 'Range: bytes=5-1,-,x'],
        'an odd Accept': [authorization, 'Accept: ;;q=2', 'Accept-Encoding: ;q=x,,*;q=0', 'Accept-Charset: \xff'],
        'an odd origin': [authorization, 'Origin: null\xff', 'Access-Control-Request-Method: <>'],
        'an odd forwarding chain': [authorization, 'X-Forwarded-For: ,,x,999.9.9.9,[::1', 'Forwarded: for=";"'],
        'an expectation nobody has': [authorization, 'Expect: magic'],
        'an upgrade': [authorization, 'Upgrade: h2c', 'HTTP2-Settings: AAA'],
        'many headers': [authorization, ...Array.from({ length: 300 }, (_, index) => `X-H${index}: 1`)],
        'an intent of odd bytes': [authorization, 'X-Service-Intent: \xc3\x28\x80\x85 \xff'],
        'a session and a replay key of nonsense': [authorization, 'X-Service-Session: ../../\xff', 'Idempotency-Key: \xff\xfe'],
    };
    return Object.entries(headers).map(([name, lines]) => ({ name: `${route.contract.name} with ${name}`, bytes: whole(route, lines) }));
}

function brokenBodies(route: RouteCall, authorization: string): Malformed[] {
    const good = JSON.stringify(route.body);
    const texts: Record<string, string> = {
        'half of it': good.slice(0, -5),
        'twice of it': good + good,
        'a list of it': `[${good}]`,
        null: 'null',
        'a number beyond all': '1e999',
        'one quote': '"',
        'fields of prototypes': '{"__proto__":{"site":"a.test"},"constructor":{"prototype":{}},"toString":1,"hasOwnProperty":2}',
        'every field null': good.replaceAll(/:("[^"]*"|\d+)/g, ':null'),
        'every field a number': good.replaceAll(/:"[^"]*"/g, ':7'),
        'every field a list': good.replaceAll(/:("[^"]*"|\d+)/g, ':[[[]]]'),
        'a null character everywhere': good.replaceAll('shop', '\\u0000shop'),
        'a lone surrogate everywhere': good.replaceAll('shop', '\\ud800shop'),
        'numbers at the edges': good.replaceAll(/:\d+/g, ':-9223372036854775809'),
        'a fraction': good.replaceAll(/:\d+/g, ':1e-400'),
        'a key twice': good.replace('{', '{"site":"other.test",'),
        'keys without end': `{${Array.from({ length: 20_000 }, (_, index) => `"k${index}":1`).join(',')}}`,
        'nesting without end': `${'[{"a":'.repeat(20_000)}1${'}]'.repeat(20_000)}`,
        'a text without end': good.replace('shop.test', 'x'.repeat(200_000)),
        'expressions of other systems': good.replaceAll('shop', '{{7*7}}<%= 1 %>$(id)`id`'),
    };
    const bodies = Object.entries(texts).map(([name, text]) => ({
        name: `${route.contract.name} with a body of ${name}`,
        bytes: whole(route, [authorization], { text }),
    }));
    const line = `${route.method} ${route.path} HTTP/1.1`;
    const framed: [string, string[], string][] = [
        ['a length that is no number', [JSON_TYPE, 'Content-Length: many'], good],
        ['a negative length', [JSON_TYPE, 'Content-Length: -1'], good],
        ['a length beyond all', [JSON_TYPE, 'Content-Length: 99999999999999999999'], good],
        ['two lengths', [JSON_TYPE, 'Content-Length: 3', 'Content-Length: 5'], good],
        ['a length and chunks', [JSON_TYPE, 'Content-Length: 3', 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
        ['chunks that are none', [JSON_TYPE, 'Transfer-Encoding: chunked'], 'zz\r\n{}\r\n'],
        ['a chunk beyond all', [JSON_TYPE, 'Transfer-Encoding: chunked'], 'ffffffffffffffffff\r\n'],
        ['an encoding nobody knows', [JSON_TYPE, 'Transfer-Encoding: rot13'], good],
        ['no body at all', [JSON_TYPE], ''],
        ['a form', ['Content-Type: application/x-www-form-urlencoded', 'Content-Length: 3'], 'a=b'],
        ['parts without a boundary', ['Content-Type: multipart/form-data', 'Content-Length: 2'], '{}'],
        ['a media type of nonsense', ['Content-Type: ;;;=,"', 'Content-Length: 2'], '{}'],
        ['a compression that is none', [JSON_TYPE, 'Content-Encoding: gzip', 'Content-Length: 2'], '{}'],
    ];
    return [
        ...bodies,
        ...framed.map(([name, headers, body]) => ({
            name: `${route.contract.name} with ${name}`,
            bytes: rawRequest(line, [authorization, ...headers], body),
            mayBeCut: true,
        })),
    ];
}

const BYTES: readonly [string, string][] = [
    ['one null', '\x00'.repeat(64) + '\r\n\r\n'],
    ['a TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
    ['the HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['HTTP/0.9', 'GET /v1/health\r\n\r\n'],
    ['HTTP/1.2', 'GET /v1/health HTTP/1.2\r\nHost: a\r\nConnection: close\r\n\r\n'],
    ['a method of nonsense', 'FROB /v1/health HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a method in lower case', 'get /v1/health HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['CONNECT', 'CONNECT elsewhere.test:443 HTTP/1.1\r\nHost: elsewhere.test\r\n\r\n'],
    ['CONNECT to a path that is known', 'CONNECT /v1/fetch HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
    ['CONNECT with a body', 'CONNECT /v1/fetch HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc'],
    ['the asterisk form', 'OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
    ['a target without a slash', 'GET v1/health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
    ['an empty target', 'GET  HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a target of a scheme alone', 'GET http:// HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
    ['a target of another scheme, without a path', 'GET foo://bar HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
    ['a target with a fragment', 'GET /v1/health#x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
    ['a target of question marks', 'GET ??? HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
    ['a Host of nonsense', 'GET /v1/health HTTP/1.1\r\nHost: <>"{}|\r\nConnection: close\r\n\r\n'],
    ['a Host of two names, for a page', 'GET /signup HTTP/1.1\r\nHost: a, b\r\nConnection: close\r\n\r\n'],
    ['a Host with a port that does not exist, for a page', 'GET / HTTP/1.1\r\nHost: a:99999\r\nConnection: close\r\n\r\n'],
    ['a Host with a path, for a page', 'GET /docs HTTP/1.1\r\nHost: a/b\r\nConnection: close\r\n\r\n'],
    ['an empty Host, for a page', 'GET /signup HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n'],
    ['an empty Host', 'GET /v1/health HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n'],
    ['a folded header', 'GET /v1/health HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n'],
    ['a header without a name', 'GET /v1/health HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n'],
    ['a space before the colon', 'GET /v1/health HTTP/1.1\r\nHost : a\r\n\r\n'],
    ['a null in a header', 'GET /v1/health HTTP/1.1\r\nHost: a\r\nX: \x00\r\n\r\n'],
    ['bare carriage returns', 'GET /v1/health HTTP/1.1\rHost: a\r\r'.concat('\n\n')],
    ['bare line feeds', 'GET /v1/health HTTP/1.1\nHost: a\nConnection: close\n\n'],
    ['headers of 20 KB', `GET /v1/health HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
    [
        'a smuggled second request',
        'GET /v1/health HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /v1/x HTTP/1.1\r\n\r\n',
    ],
    ['a good request and garbage behind it', 'GET /v1/errors HTTP/1.1\r\nHost: a\r\n\r\n\x00\x01\x02garbage\r\n\r\n'],
];
