import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { App } from '../../shared/app.ts';
import { exportOpenApi } from '../../shared/domain/package/openapi-export.ts';
import { exportTools } from '../../shared/domain/package/tool-export.ts';
import type { PackageDocument } from '../../shared/domain/types.ts';
import { join } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { useWorld } from '../support/world.ts';

const SITE = 'large.test';
const MANY = 30;

/** About three megabytes. */
function largePackage(): PackageDocument {
    const words = (index: number) => Array.from({ length: 900 }, (_, at) => `word${(index * 31 + at * 17) % 1000}`).join(' ');
    const endpoints = Array.from({ length: 450 }, (_, index) => anEndpoint(SITE, { name: `endpoint_${index}`, description: words(index) }));
    return aPackage(SITE, { endpoints });
}

interface Download {
    status: number;
    bytes: Buffer;
    tag: string;
    encoding: string | undefined;
}

describe('a package of three megabytes', () => {
    const world = useWorld({ workers: 0 });
    let document: PackageDocument;
    let stamp: { version: number; version_hash: string; published_at: string };
    let reads: number;

    before(async () => {
        document = largePackage();
        const maker = await join(world);
        const { version, version_hash, published_at } = dataOf<typeof stamp>(await maker.publish(document));
        stamp = { version, version_hash, published_at };
        count(world.app);
    });
    beforeEach(() => {
        reads = 0;
    });

    function count({ browse }: App): void {
        browse.on('query', ({ sql }: { sql: string }) => {
            if (sql.startsWith('select document::text')) reads += 1;
        });
    }

    function download(query = '', headers: Record<string, string> = {}): Promise<Download> {
        return new Promise((resolve, reject) => {
            const sent = request(`${world.base}/v1/schemas/${SITE}/package${query}`, { headers }, (response) => {
                const chunks: Buffer[] = [];
                response.on('data', (chunk: Buffer) => chunks.push(chunk));
                response.on('end', () => {
                    const { etag = '', 'content-encoding': encoding } = response.headers;
                    resolve({ status: response.statusCode ?? 0, bytes: Buffer.concat(chunks), tag: etag, encoding });
                });
            });
            sent.on('error', reject).end();
        });
    }

    const EXPECTED: Readonly<Record<string, () => unknown>> = {
        '': () => ({ success: true, data: { ...document, ...stamp } }),
        '?format=openapi': () =>
            exportOpenApi(document, { version: 1, versionHash: stamp.version_hash, publishedAt: new Date(stamp.published_at) }),
        '?format=tools': () => ({ success: true, data: exportTools(document) }),
    };

    for (const [query, expected] of Object.entries(EXPECTED)) {
        it(`is read from the database and serialised once for ${MANY} concurrent requests${query && `, by ${query}`}`, async () => {
            const gzip = { 'accept-encoding': 'gzip' };
            const answers = await Promise.all(Array.from({ length: MANY }, (_, index) => download(query, index % 2 === 0 ? gzip : {})));
            // One read finds that it is large, another one reads it.
            expect(reads).to.equal(2);
            const wanted = JSON.stringify(expected());
            for (const [index, { status, bytes, encoding }] of answers.entries()) {
                expect([status, encoding]).to.deep.equal([200, index % 2 === 0 ? 'gzip' : undefined]);
                expect((index % 2 === 0 ? gunzipSync(bytes) : bytes).equals(Buffer.from(wanted))).to.equal(true);
            }
            expect(new Set(answers.map(({ tag }) => tag)).size).to.equal(2);
            await download(query);
            expect(reads, 'somebody who comes later').to.equal(2);
        });
    }

    it('is not read at all if the caller already has it, in any process', async () => {
        const { app, base } = await world.openAnotherApi();
        count(app);
        const { tag } = await download();
        reads = 0;
        for (const at of [world.base, base]) {
            const again = await fetch(`${at}/v1/schemas/${SITE}/package`, { headers: { 'if-none-match': tag } });
            expect([again.status, again.headers.get('etag')]).to.deep.equal([304, tag]);
        }
        expect(reads).to.equal(0);
    });
});
