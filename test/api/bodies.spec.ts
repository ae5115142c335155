import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { BODY_BYTES, CALL_BYTES, PACKAGE_BYTES } from '../../shared/contracts/body-bytes.ts';
import { join, type Person } from '../support/people.ts';
import { rawRequest, sendRaw } from '../support/raw.ts';
import { codeOf, dataOf, detailsOf } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { useWorld } from '../support/world.ts';

const SITE = 'shop.test';

const nested = (levels: number) => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);

describe('a request body', () => {
    const world = useWorld({ config: { trustProxy: 1 } });
    let maker: Person;

    before(async () => {
        maker = await join(world, { plan: 'pro' });
        dataOf(await maker.publish(aPackage(SITE)));
    });

    const post = (body: string | Buffer, headers: string[] = ['Content-Type: application/json']) =>
        sendRaw(
            world.base,
            Buffer.concat([
                rawRequest('POST /v1/fetch HTTP/1.1', [
                    `Authorization: Bearer ${maker.apiKey}`,
                    ...headers,
                    `Content-Length: ${Buffer.byteLength(body)}`,
                ]),
                Buffer.from(body),
            ]),
        );

    it('is application/json in UTF-8, with any other parameters', async () => {
        for (const type of [
            'application/json',
            'APPLICATION/JSON',
            'application/json; charset=utf-8',
            'application/json;charset="UTF-8"',
            'application/json;',
            'application/json; charset=utf-8;',
            'application/json; profile="https://example.com/a;b"; charset=utf8',
            'application/json; q=0.9; odata.metadata=minimal',
            'application/json; note="; charset=latin1"',
        ]) {
            expect(codeOf(await maker.call('POST', '/v1/fetch', { body: '{}', headers: { 'content-type': type } })), type).to.equal(
                'VALIDATION_ERROR',
            );
        }
        const others = [
            'text/plain',
            'application/x-www-form-urlencoded',
            'application/json; charset=latin1',
            'application/json; profile=x; CHARSET="utf-16"',
            'application/json; charset=utf-8; charset=latin1',
            'application/jsonx',
            'json',
            'application/problem+json',
            ';;',
            'application/json, text/plain',
        ];
        for (const type of others) {
            const refused = await maker.call('POST', '/v1/fetch', { body: '{}', headers: { 'content-type': type } });
            expect([refused.status, codeOf(refused)], type).to.deep.equal([415, 'UNSUPPORTED_MEDIA_TYPE']);
            expect(refused.text, type).to.include('JSON in UTF-8');
        }
        const none = await post('{}', []);
        expect(none && codeOf(none)).to.equal('UNSUPPORTED_MEDIA_TYPE');
        const packed = await maker.call('POST', '/v1/fetch', { body: '{}', headers: { 'content-encoding': 'gzip' } });
        expect(codeOf(packed)).to.equal('UNSUPPORTED_MEDIA_TYPE');
    });

    it('is refused with INVALID_JSON if it is not JSON', async () => {
        for (const body of ['{', '{"a":1,}', "{'a':1}", 'undefined', '{} {}', '{"a":01}', '{"a":NaN}', '{"a":"\u0001"}']) {
            const refused = await maker.call('POST', '/v1/fetch', { body });
            expect([refused.status, codeOf(refused)], body).to.deep.equal([400, 'INVALID_JSON']);
        }
        for (const bytes of [
            Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
            Buffer.from('{"\xe9":1}', 'latin1'),
            Buffer.from('{}', 'utf16le'),
            Buffer.alloc(0),
        ]) {
            const refused = await post(bytes);
            expect(refused && codeOf(refused), bytes.toString('hex')).to.equal('INVALID_JSON');
        }
    });

    it('is checked even if its route takes none', async () => {
        const sent = (body: string, type = 'application/json') =>
            maker.call('POST', '/v1/batches/bat_none/pause', { body, headers: { 'content-type': type } });
        expect(codeOf(await sent('{"a":'))).to.equal('INVALID_JSON');
        expect(detailsOf(await sent('[]'))).to.deep.equal([' INVALID_TYPE']);
        expect(detailsOf(await sent('{"a":1}'))).to.deep.equal(['/a UNKNOWN_FIELD']);
        expect(codeOf(await sent(`{"a":"${'x'.repeat(BODY_BYTES)}"}`))).to.equal('PAYLOAD_TOO_LARGE');
        for (const type of ['text/plain', 'application/x-www-form-urlencoded', ''])
            expect(codeOf(await sent('now', type)), type).to.equal('UNSUPPORTED_MEDIA_TYPE');
        expect(codeOf(await sent('{}'))).to.equal('BATCH_NOT_FOUND');
        expect(codeOf(await sent('', 'text/plain')), 'as some clients always send').to.equal('BATCH_NOT_FOUND');
    });

    it('says of a null that the field can be left out', async () => {
        const call = { site: 'shop.test', endpoint: 'product', params: {} };
        const messageOf = async (more: object) => {
            const refused = await maker.call('POST', '/v1/jobs', { body: JSON.stringify({ ...call, ...more }) });
            return (refused.body['error'] as { details: { message: string }[] }).details[0]?.message;
        };
        const more = ', not null; leave the field out if it has no value.';
        expect(await messageOf({ timeout_ms: null })).to.equal(`timeout_ms must be a number${more}`);
        expect(await messageOf({ version: null })).to.equal(`version must be the number of a version, such as 3, or its hash${more}`);
        expect(await messageOf({ timeout_ms: '5' })).to.equal('timeout_ms must be a number.');
        expect(await messageOf({ anything: null })).to.equal('anything is not allowed.');
    });

    it('is refused with VALIDATION_ERROR if its JSON is not an object, for a package too', async () => {
        for (const path of ['/v1/fetch', '/v1/schemas']) {
            for (const body of ['null', '[]', '"text"', '7', 'true', '[{}]']) {
                expect(codeOf(await maker.call('POST', path, { body })), `${path} ${body}`).to.equal('VALIDATION_ERROR');
            }
        }
    });

    it('has at most 256 KiB, 2 MiB for a fetch and 4 MiB for a package, however its length is announced', async () => {
        const over = (bytes: number) => JSON.stringify({ padding: 'x'.repeat(bytes) });
        for (const [path, bytes, limit] of [
            ['/v1/schema-requests', BODY_BYTES, '256 KiB'],
            ['/v1/fetch', CALL_BYTES, '2 MiB'],
            ['/v1/schemas', PACKAGE_BYTES, '4 MiB'],
        ] as const) {
            const refused = await maker.call('POST', path, { body: over(bytes) });
            expect([refused.status, codeOf(refused)], path).to.deep.equal([413, 'PAYLOAD_TOO_LARGE']);
            expect((refused.body['error'] as { message: string }).message, path).to.include(limit);
            const inside = await maker.call('POST', path, { body: over(bytes - 20) });
            expect(codeOf(inside), path).to.be.oneOf(['VALIDATION_ERROR', 'SCHEMA_INVALID']);
        }
        const chunk = over(CALL_BYTES);
        const chunked = await sendRaw(
            world.base,
            rawRequest(
                'POST /v1/fetch HTTP/1.1',
                [`Authorization: Bearer ${maker.apiKey}`, 'Content-Type: application/json', 'Transfer-Encoding: chunked'],
                `${Buffer.byteLength(chunk).toString(16)}\r\n${chunk}\r\n0\r\n\r\n`,
            ),
        );
        expect(chunked && codeOf(chunked)).to.equal('PAYLOAD_TOO_LARGE');
    });

    it('gets its refusal although the caller reads nothing before all is written', async () => {
        const bytes = 6 * 1024 * 1024;
        const refusals: [string, string, string][] = [
            ['POST /v1/schemas', maker.apiKey ?? '', 'PAYLOAD_TOO_LARGE'],
            ['POST /v1/fetch', maker.apiKey ?? '', 'PAYLOAD_TOO_LARGE'],
            ['POST /v1/batches', 'rb_live_mistyped', 'INVALID_API_KEY'],
            ['PUT /v1/batches', maker.apiKey ?? '', 'METHOD_NOT_ALLOWED'],
        ];
        for (const [line, key, code] of refusals) {
            const headers = [`Authorization: Bearer ${key}`, 'Content-Type: application/json', `Content-Length: ${bytes}`];
            const answer = await writeThenRead(rawRequest(`${line} HTTP/1.1`, headers, 'x'.repeat(bytes)));
            expect(answer, line).to.include(`"code":"${code}"`);
        }
    });

    /** The answer to a caller that writes everything before it reads, such as urllib of Python. */
    async function writeThenRead(request: Buffer): Promise<string> {
        const { hostname, port } = new URL(world.base);
        const socket = connect(Number(port), hostname).pause();
        await promisify((done: (error?: Error | null) => void) => {
            socket.once('error', done);
            socket.write(request, done);
        })();
        return text(socket);
    }

    it('is refused unparsed if it is large for any reason other than file contents', async () => {
        const large = (value: string) => `{"site":"${SITE}","endpoint":"product","params":{"a":${value}}}`;
        const broken: [string, string, RegExp][] = [
            ['many values', `[${'1,'.repeat(400_000)}1]`, /more than 20,000 values/],
            ['many levels', `${'['.repeat(400_000)}${']'.repeat(400_000)}`, /more than 100 levels/],
            ['a long text', JSON.stringify({ text: 'x'.repeat(400_000) }), /longer than 65536 bytes/],
        ];
        for (const [what, value, why] of broken) {
            const refused = await maker.call('POST', '/v1/fetch', { body: large(value) });
            expect([refused.status, codeOf(refused)], what).to.deep.equal([400, 'VALIDATION_ERROR']);
            expect(JSON.stringify(refused.body), what).to.match(why);
        }
        const noFile = await maker.call('POST', '/v1/fetch', { body: large(JSON.stringify({ base64: 'x'.repeat(400_000) })) });
        expect([codeOf(noFile), detailsOf(noFile)]).to.deep.equal([
            'INVALID_PARAMS',
            ['/params/a/base64 TOO_COMPLEX', '/params/id REQUIRED'],
        ]);
    });

    it('may arrive in small pieces, but not in tens of thousands of tiny ones, which would delay others', async () => {
        const piecewise = async (body: string, size: number) => {
            const pieces = body.match(new RegExp(`.{1,${size}}`, 'g')) ?? [];
            const chunks = pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`);
            const headers = [`Authorization: Bearer ${maker.apiKey}`, 'Content-Type: application/json', 'Transfer-Encoding: chunked'];
            const request = rawRequest('POST /v1/schemas?dry_run=true HTTP/1.1', headers, `${chunks.join('')}0\r\n\r\n`);
            return (await sendRaw(world.base, request)) ?? expect.fail('no answer');
        };
        const description = 'words '.repeat(300);
        const small = JSON.stringify(aPackage(SITE, { description }));
        const large = JSON.stringify(aPackage(SITE, { description, notes: 'x'.repeat(200_000) } as object));
        expect((await piecewise(small, 1)).status, 'one byte at a time').to.equal(200);
        expect(codeOf(await piecewise(large, 64))).to.equal('SCHEMA_INVALID');
        const crumbs = await piecewise(large, 1);
        expect([codeOf(crumbs), crumbs.headers.get('connection')]).to.deep.equal(['VALIDATION_ERROR', 'close']);
    });

    it('is refused with at most a hundred named problems and the number of the others', async () => {
        const fields = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`field_${index}`, 1]));
        const refused = await maker.call('POST', '/v1/fetch', { body: { site: SITE, endpoint: 'product', ...fields } });
        const details = detailsOf(refused);
        expect(details).to.have.length(101);
        expect(details.slice(0, 100).every((detail) => detail.endsWith(' UNKNOWN_FIELD'))).to.equal(true);
        expect(details.at(-1)).to.equal(' TOO_COMPLEX');
        expect(JSON.stringify(refused.body)).to.include('And 900 more problems');
    });

    it('is refused with every problem of the request at once: query, unknown, missing and ill-typed fields', async () => {
        const refused = await maker.call('POST', '/v1/fetch?debug=1&debug=2&x=y', {
            body: { endpoint: 7, params: [], surprise: 1, 'a/b~c': 2, timeout_ms: 5, max_credits: 0, dry_run: 'yes' },
        });
        expect([refused.status, codeOf(refused)]).to.deep.equal([400, 'VALIDATION_ERROR']);
        expect(detailsOf(refused)).to.have.members([
            '/debug REPEATED',
            '/x UNKNOWN_FIELD',
            '/site REQUIRED',
            '/endpoint INVALID_TYPE',
            '/params INVALID_TYPE',
            '/surprise UNKNOWN_FIELD',
            '/a~1b~0c UNKNOWN_FIELD',
            '/timeout_ms INVALID_VALUE',
            '/max_credits INVALID_VALUE',
            '/dry_run INVALID_TYPE',
        ]);
    });

    it('is refused for text that breaks storage, along with its other problems and each problem once', async () => {
        const refused = await maker.call('POST', '/v1/fetch?x=1', { body: '{"site":1,"foo":"a\\u0000b","timeout_ms":1e999}' });
        expect([refused.status, codeOf(refused)]).to.deep.equal([400, 'VALIDATION_ERROR']);
        expect(detailsOf(refused).sort()).to.deep.equal([
            '/endpoint REQUIRED',
            '/foo INVALID_VALUE',
            '/foo UNKNOWN_FIELD',
            '/site INVALID_TYPE',
            '/timeout_ms INVALID_VALUE',
            '/x UNKNOWN_FIELD',
        ]);
        const tooDeep = await maker.call('POST', '/v1/fetch?x=1', { body: { site: 1, params: nested(40) } });
        expect(detailsOf(tooDeep)[0]).to.equal('/x UNKNOWN_FIELD');
        expect(detailsOf(tooDeep)[1]).to.match(/^\/params\/.* TOO_COMPLEX$/);
    });

    it('keeps texts and numbers as different types', async () => {
        for (const fields of [
            { site: 7 },
            { max_results: '3' },
            { timeout_ms: '2000' },
            { dry_run: 'true' },
            { version: '3' },
            { params: '{}' },
        ]) {
            const refused = await maker.call('POST', '/v1/fetch', { body: { site: SITE, endpoint: 'product', ...fields } });
            expect(
                detailsOf(refused).map((detail) => detail.split(' ')[0]),
                JSON.stringify(fields),
            ).to.deep.equal([`/${Object.keys(fields)[0]}`]);
        }
    });

    it('is refused for text that breaks storage, and for nesting, keys and strings beyond the limits', async () => {
        const broken: [string, unknown][] = [
            ['NUL', { id: 'a\u0000b' }],
            ['a lone surrogate', { id: '\ud800' }],
            ['NUL in a key', { 'a\u0000': 1 }],
            ['a lone surrogate in a key of a value', { id: { '\ud800': 1 } }],
            ['33 levels', nested(33)],
            ['1,100 keys', Object.fromEntries(Array.from({ length: 1100 }, (_, index) => [`k${index}`, 1]))],
            ['more than 64 KiB of text', { id: 'x'.repeat(65_537) }],
        ];
        for (const [what, params] of broken) {
            const refused = await maker.call('POST', '/v1/fetch', { body: { site: SITE, endpoint: 'product', params } });
            expect([refused.status, codeOf(refused)], what).to.deep.equal([400, 'VALIDATION_ERROR']);
            expect(detailsOf(refused)[0], what).to.match(/^\/params/);
        }
        const proto = await maker.call('POST', '/v1/fetch', {
            body: `{"site":"${SITE}","endpoint":"product","params":{"__proto__":{"id":1}}}`,
        });
        expect(codeOf(proto)).to.equal('VALIDATION_ERROR');
        const deep = await maker.call('POST', '/v1/fetch', { body: { site: SITE, endpoint: 'product', params: nested(33) } });
        expect(JSON.stringify(deep.body)).to.include('more than 33 levels deep in the body');
        for (const levels of [32, 30]) {
            const body = { site: SITE, endpoint: 'product', params: nested(levels) };
            expect(codeOf(await maker.call('POST', '/v1/fetch', { body })), `${levels} levels`).to.equal('INVALID_PARAMS');
        }
    });

    it('is refused for integers outside params that JavaScript would round, naming each place, along with other problems of a package', async () => {
        const id = '9007199254740993';
        const fetched = await maker.call('POST', '/v1/fetch', {
            body: `{"site":"${SITE}","endpoint":"product","params":{"id":${id},"d":1e400},"max_credits":${id},"x":[1,{"c":-12345678901234567890}]}`,
        });
        expect([fetched.status, codeOf(fetched)]).to.deep.equal([400, 'VALIDATION_ERROR']);
        expect(detailsOf(fetched).sort()).to.deep.equal([
            '/max_credits INVALID_VALUE',
            '/params/d INVALID_VALUE',
            '/x UNKNOWN_FIELD',
            '/x/1/c INVALID_VALUE',
        ]);
        expect(JSON.stringify(fetched.body)).to.include('send it as a string');
        const whole = await maker.call('POST', '/v1/fetch', { body: `{"site":"${SITE}","endpoint":"product","params":${id}}` });
        expect(detailsOf(whole)).to.deep.equal(['/params INVALID_VALUE', '/params INVALID_TYPE']);
        const inParams = await maker.call('POST', '/v1/fetch', {
            body: `{"site":"${SITE}","endpoint":"product","params":{"id":${id},"a/b":[1,{"c":-12345678901234567890}]}}`,
        });
        expect(detailsOf(inParams)).to.deep.equal(['/params/a~1b UNKNOWN_FIELD']);

        const tooLong = await maker.call('POST', '/v1/fetch', { body: `{"site":"${SITE}","endpoint":"product","timeout_ms":${id}}` });
        expect(detailsOf(tooLong), 'a field of the route').to.deep.equal(['/timeout_ms INVALID_VALUE']);

        const document = JSON.stringify({ ...aPackage('numbers.test'), title: 7 }).replace('"params":[{', `"params":[{"example":${id},`);
        const published = await maker.call('POST', '/v1/schemas', { body: document });
        expect([published.status, codeOf(published)]).to.deep.equal([422, 'SCHEMA_INVALID']);
        expect(detailsOf(published).sort()).to.deep.equal(['/endpoints/0/params/0/example INVALID_VALUE', '/title INVALID_TYPE']);

        const asked = await maker.call('POST', '/mcp', {
            body: `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"arguments":{"params":{"id":${id}}}}}`,
        });
        expect([asked.status, detailsOf(asked)]).to.deep.equal([400, ['/id INVALID_VALUE']]);
    });

    it('may contain any number whose digits are passed on unchanged, however long it is', async () => {
        for (const number of ['9007199254740991', '9007199254740992', '100000000000000000000', '1e20', '1E+20', '0.1234567890123456789']) {
            const body = `{"site":"${SITE}","endpoint":"product","dry_run":true,"params":{"id":1,"tag":${number}}}`;
            expect(detailsOf(await maker.call('POST', '/v1/fetch', { body })), number).to.deep.equal(['/params/tag UNKNOWN_FIELD']);
        }
        const text = `{"site":"${SITE}","endpoint":"product","dry_run":true,"params":{"id":1,"tag":"9007199254740993"}}`;
        expect(detailsOf(await maker.call('POST', '/v1/fetch', { body: text }))).to.deep.equal(['/params/tag UNKNOWN_FIELD']);
    });

    for (const number of ['5', '1e30', '1000000000000000000000000000000', '0.12345678901234567890']) {
        it(`is refused with ${number} where an object belongs`, async () => {
            const call = `"site":"${SITE}","endpoint":"product","params":{"id":1}`;
            for (const [path, body, details] of [
                ['/v1/fetch', number, [' INVALID_TYPE']],
                ['/v1/fetch', `{"site":"${SITE}","endpoint":"product","params":${number}}`, ['/params INVALID_TYPE']],
                ['/v1/jobs', `{${call},"metadata":${number}}`, ['/metadata INVALID_TYPE']],
                ['/v1/monitors', `{${call},"every":"1d","metadata":${number}}`, ['/metadata INVALID_TYPE']],
                ['/v1/batches', `{"items":[${number}]}`, ['/items/0 INVALID_TYPE']],
            ] as const)
                expect(detailsOf(await maker.call('POST', path, { body })), `${path} ${body}`).to.deep.equal(details);
        });
    }

    it('may contain long numbers anywhere', async () => {
        const long = '9'.repeat(100_000);
        const bodies = [
            long,
            `[${long}]`,
            `{"params":${long}}`,
            `{"${long}":${long}}`,
            `${'['.repeat(50_000)}${long}${']'.repeat(50_000)}`,
        ];
        for (const path of ['/v1/fetch', '/v1/schemas', '/v1/schema-requests', '/mcp']) {
            for (const body of [...bodies, '9007199254740993', `${'['.repeat(50_000)}9007199254740993${']'.repeat(50_000)}`]) {
                const refused = await maker.call('POST', path, { body });
                expect(refused.status, `${path} ${body.slice(0, 30)}`).to.be.oneOf([400, 422]);
            }
        }
    });

    it('may have a hundred thousand levels of nesting without harm', async () => {
        for (const [path, levels] of [
            ['/v1/fetch', 100_000],
            ['/v1/schemas', 1_500_000],
        ] as const) {
            for (const [open, close] of [
                ['[', ']'],
                ['{"a":', '}'],
            ] as const) {
                const count = Math.floor((levels * 2) / (open.length + 1));
                const refused = await maker.call('POST', path, { body: `{"params":${open.repeat(count)}1${close.repeat(count)}}` });
                expect(refused.status, `${path} ${open}`).to.be.oneOf([400, 413, 422]);
            }
        }
    });
});
