import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { memoryUsage } from 'node:process';
import * as zlib from 'node:zlib';
import { expect } from 'chai';
import { createReader } from '../../workers/select/reader.ts';
import { createUpstream, type Upstream } from '../../workers/upstream.ts';
import { loopbackRules, openSite, requestTo, type Site } from '../support/sites.ts';

const MIB = 1024 * 1024;

describe('large bodies', () => {
    let site: Site;
    let upstream: Upstream;
    let answer: (response: ServerResponse) => void;

    before(async () => {
        site = await openSite((_request, response) => answer(response));
        upstream = createUpstream({ rules: loopbackRules(`127.0.0.1:${site.port}`) });
    });

    after(async () => {
        upstream.close();
        await site.close();
    });

    const call = () =>
        upstream.send(requestTo(`http://shop.test:${site.port}/`), {
            site: 'shop.test',
            registrable: 'shop.test',
            effect: 'read',
            deadlineAt: Date.now() + 5000,
        });

    // Random bytes are incompressible, and zeros compress to nearly nothing: both ways of filling the decompression buffer.
    const body = Buffer.concat([randomBytes(1.5 * MIB), Buffer.alloc(1.5 * MIB), randomBytes(MIB), Buffer.from('the end')]);
    for (const [coding, pack] of [
        ['identity', (bytes: Buffer) => bytes],
        ['gzip', zlib.gzipSync],
        ['deflate', zlib.deflateSync],
        ['br', (bytes: Buffer) => zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } })],
        ['zstd', zlib.zstdCompressSync],
    ] as const) {
        it(`are returned as they were sent, several at once, with ${coding}`, async () => {
            const packed = pack(body);
            answer = (response) => response.writeHead(200, { 'content-encoding': coding }).end(packed);
            const results = await Promise.all(Array.from({ length: 4 }, call));
            for (const result of results) expect(result.ok && body.equals(result.page.body)).to.equal(true);
        });
    }

    it('use no memory once they exceeded the limit or were read', async () => {
        const reader = createReader({ threads: 1 });
        const deep = Buffer.alloc(4 * MIB, '[');
        const bomb = zlib.gzipSync(Buffer.alloc(64 * MIB));
        const endless = Buffer.alloc(6 * MIB);
        const answers: ((response: ServerResponse) => void)[] = [
            (response) => response.end(endless),
            (response) => response.setHeader('content-encoding', 'gzip').end(bomb),
            (response) => response.setHeader('content-type', 'application/json').end(deep),
        ];
        let turn = 0;
        answer = (response) => answers[turn++ % answers.length]?.(response);
        const before = memoryUsage().arrayBuffers;
        let peak = 0;
        try {
            for (let calls = 0; calls < 30; calls++) {
                const result = await call();
                const { code } = result.ok ? await refusalOf(result.page, reader) : result;
                expect(code).to.equal('UPSTREAM_TOO_LARGE');
                peak = Math.max(peak, memoryUsage().arrayBuffers - before);
            }
        } finally {
            await reader.close();
        }
        expect(peak / MIB).to.be.below(24);
    });
});

async function refusalOf(page: Parameters<ReturnType<typeof createReader>['read']>[0], reader: ReturnType<typeof createReader>) {
    const rules = { type: undefined, select: undefined, schema: undefined };
    const reading = await reader.read(page, { response: rules }, { results: 'items', maxResults: 1 });
    if (reading.ok) throw new Error('it was read');
    return reading;
}
