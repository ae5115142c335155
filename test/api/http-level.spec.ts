import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { checkEnvelope } from '../support/answers.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, join, stranger } from '../support/people.ts';
import { rawRequest, sendRaw } from '../support/raw.ts';
import { codeOf } from '../support/routes.ts';
import { useWorld } from '../support/world.ts';

const messageOf = ({ body }: Answer) => (body['error'] as { message: string }).message;

describe('the API at the HTTP level', () => {
    const world = useWorld();

    it('refuses two Host headers, since proxies disagree on which one counts', async () => {
        const refused = await sendRaw(world.base, 'GET /v1/health HTTP/1.1\r\nHost: a.test\r\nHost: b.test\r\nConnection: close\r\n\r\n');
        expect(refused && codeOf(refused)).to.equal('VALIDATION_ERROR');
    });

    it('refuses a request without a Host header, which only HTTP/1.0 may omit', async () => {
        const refused = await sendRaw(world.base, 'GET /v1/health HTTP/1.1\r\nConnection: close\r\n\r\n');
        expect(refused && codeOf(refused)).to.equal('VALIDATION_ERROR');
        expect((await sendRaw(world.base, 'GET /v1/health HTTP/1.0\r\n\r\n'))?.status).to.equal(200);
    });

    it('refuses a Host header with a tab, which parsers of URLs drop', async () => {
        const refused = await sendRaw(world.base, 'GET /v1/health HTTP/1.1\r\nHost: a\tb.test\r\nConnection: close\r\n\r\n');
        expect(refused && codeOf(refused)).to.equal('VALIDATION_ERROR');
    });

    it('refuses two Authorization headers if a key is used, and ignores both otherwise', async () => {
        const { apiKey } = await join(world);
        const twice = (path: string) =>
            sendRaw(world.base, rawRequest(`GET ${path} HTTP/1.1`, Array(2).fill(`Authorization: Bearer ${apiKey}`)));
        const refused = await twice('/v1/account');
        expect(refused && codeOf(refused)).to.equal('INVALID_API_KEY');
        expect((await twice('/v1/health'))?.status).to.equal(200);
    });

    it('answers CONNECT with an error: it is no proxy', async () => {
        for (const target of ['/v1/fetch', 'elsewhere.test:443']) {
            const refused = await sendRaw(world.base, `CONNECT ${target} HTTP/1.1\r\nHost: a\r\n\r\n`);
            if (refused === undefined) throw new Error(`no answer to CONNECT ${target}`);
            checkEnvelope(target, refused);
            expect([refused.status, codeOf(refused), refused.headers.get('connection')]).to.deep.equal([400, 'VALIDATION_ERROR', 'close']);
        }
    });

    it('answers bytes that are not HTTP in the same envelope, and closes', async () => {
        for (const garbage of [
            '\u0000\u0001\u0002\r\n\r\n',
            'hello\r\n\r\n',
            'GET / HTTP/9.9\r\n\r\n',

            'GET /v1/health HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n',
            `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
        ]) {
            const refused = await sendRaw(world.base, garbage);
            if (refused === undefined) throw new Error(`no answer to ${JSON.stringify(garbage.slice(0, 40))}`);
            expect(refused.status, garbage.slice(0, 40)).to.equal(400);
            checkEnvelope(garbage.slice(0, 40), refused);
            expect(refused.headers.get('connection')).to.equal('close');
        }
    });

    it('names the limits of request headers that are too large', async () => {
        const heads = [
            `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
            `GET /v1/health HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
            rawRequest(
                'GET /v1/health HTTP/1.1',
                Array.from({ length: 201 }, (_, index) => `X-H${index}: 1`),
            ),
        ];
        for (const head of heads) {
            const refused = await sendRaw(world.base, head);
            expect(refused && [refused.status, codeOf(refused)]).to.deep.equal([400, 'VALIDATION_ERROR']);
            expect(refused && messageOf(refused))
                .to.include('16 KiB')
                .and.include('200 headers');
        }
        const garbled = await sendRaw(world.base, 'GET /v1/health HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n');
        expect(garbled && messageOf(garbled)).to.equal('The request is not well-formed HTTP/1.1.');
    });

    it('names the path as the cause if a path is malformed', async () => {
        for (const path of ['/v1/schemas/%zz', '/v1/schemas/%', '/v1/schemas/%ff']) {
            const refused = await stranger(world).call('GET', path);
            expect([refused.status, codeOf(refused)], path).to.deep.equal([400, 'VALIDATION_ERROR']);
            expect(messageOf(refused), path).to.match(/^The path is malformed/);
        }
    });

    it('never builds links from the Host header', async () => {
        const refused = await sendRaw(world.base, 'GET /v1/nothing HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n');
        expect(JSON.stringify(refused?.body)).not.to.include('evil.test');
    });
});

describe('a slow sender', () => {
    const world = useWorld({ workers: 0, config: { arrivalMs: 300 } });

    it('is disconnected with an error if headers or body do not arrive in time', async () => {
        const maker = await join(world);
        const half = {
            nothing: '',
            'half a line': 'GET /v1/hea',
            'half the headers': 'GET /v1/health HTTP/1.1\r\nHost: a\r\nX-Half: ',
            'half a body': `POST /v1/fetch HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${maker.apiKey}\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"site":`,
            'half a chunk': `POST /v1/fetch HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${maker.apiKey}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{"site":`,
        };
        await Promise.all(
            Object.entries(half).map(async ([what, bytes]) => {
                const answer = await sendRaw(world.base, bytes, { waitMs: 3000 });
                if (answer === undefined) return;
                checkEnvelope(what, answer);
                expect(codeOf(answer), what).to.equal('REQUEST_TIMEOUT');
            }),
        );
        expect((await stranger(world).call('GET', '/v1/errors')).status).to.equal(200);
    });

    it('gets a response with its request id and the headers of its route, and is counted once', async () => {
        const { apiKey } = await join(world);
        const before = world.logged.length;
        for (const [path, mayBeRead] of [
            ['/v1/schema-requests', '*'],
            ['/v1/fetch', null],
        ] as const) {
            const id = `mine-${path.length}`;
            const head = [`Authorization: Bearer ${apiKey}`, `X-Request-Id: ${id}`, 'Content-Type: application/json', 'Content-Length: 50'];
            const answer = await sendRaw(world.base, rawRequest(`POST ${path} HTTP/1.1`, head, '{"site":'), { waitMs: 3000 });
            if (answer === undefined) throw new Error(`${path} was cut off without an answer`);
            checkEnvelope(path, answer);
            expect([answer.status, codeOf(answer)], path).to.deep.equal([408, 'REQUEST_TIMEOUT']);
            expect(answer.headers.get('x-request-id'), path).to.equal(id);
            expect(answer.headers.get('access-control-allow-origin'), path).to.equal(mayBeRead);
            expect(answer.headers.get('connection'), path).to.equal('close');
            await eventually(
                async () => world.logged.filter((line) => line['request_id'] === id && line['message'] === 'answered'),
                ([line, ...more]) => line?.['route'] === path && line['status'] === 408 && more.length === 0,
            );
        }
        const others = world.logged.slice(before).filter(({ route, status }) => route === 'other' || status === 499);
        expect(others).to.deep.equal([]);
    });

    it('is disconnected after its refusal, also in the middle of a batch that may take longer to arrive', async () => {
        const { apiKey } = await join(world);
        const { port, hostname } = new URL(world.base);
        const socket = connect(Number(port), hostname).on('error', () => undefined);
        let received = '';
        socket.on('data', (text) => (received += text));
        const head = [`Authorization: Bearer ${apiKey}`, 'Content-Type: application/x-ndjson', 'Transfer-Encoding: chunked'];
        socket.write(rawRequest('POST /v1/batches?site=shop.example&endpoint=product HTTP/1.1', head, ''));
        // A batch whose lines keep coming for three times that time.
        for (let piece = 0; piece < 9; piece += 1) {
            socket.write('1\r\n\n\r\n');
            await sleep(100);
        }
        expect(received).to.equal('');
        const blank = `${' '.repeat(200 * 1024)}\n`;
        for (let bytes = 0; bytes <= 64 * 1024 * 1024; bytes += blank.length) {
            if (!socket.write(`${blank.length.toString(16)}\r\n${blank}\r\n`)) await once(socket, 'drain');
        }
        await eventually(
            async () => received,
            (text) => text.includes('PAYLOAD_TOO_LARGE'),
        );
        await eventually(async () => socket.closed, Boolean);
    });
});
