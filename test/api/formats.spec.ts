import { expect } from 'chai';
import type { DownloadedPackage } from '../../shared/contracts/schemas.ts';
import type { ToolDefinition } from '../../shared/domain/package/tool-export.ts';
import { type Answer, join, stranger } from '../support/people.ts';
import { codeOf, dataOf, detailsOf } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { ANY_TOPOLOGY, useWorld } from '../support/world.ts';

const SITE = 'shapes.test';

for (const topology of ANY_TOPOLOGY) {
    describe(`the package of a site in other formats, over ${topology}`, () => {
        const world = useWorld({ topology, workers: 0 });
        let hashes: string[];

        before(async () => {
            const maker = await join(world);
            hashes = [];
            for (const title of ['One', 'Two']) {
                const endpoints = [anEndpoint(SITE), ...(title === 'Two' ? [anEndpoint(SITE, { name: 'again' })] : [])];
                hashes.push(dataOf<{ version_hash: string }>(await maker.publish(aPackage(SITE, { title, endpoints }))).version_hash);
            }
        });

        const get = (query: string, headers: Record<string, string> = {}) =>
            stranger(world).call('GET', `/v1/schemas/${SITE}/package${query}`, { headers });
        const toolsOf = (answer: Answer) => dataOf<ToolDefinition[]>(answer);

        it('is by default an OpenAPI document of the site itself, of the requested version', async () => {
            for (const [query, version, hash] of [
                ['?format=openapi', 2, hashes[1]],
                ['?format=openapi&version=1', 1, hashes[0]],
                [`?version=${hashes[0]}&format=openapi`, 1, hashes[0]],
            ] as const) {
                const { status, body } = await get(query);
                expect(status).to.equal(200);
                expect(body).to.include({ openapi: '3.1.0' }).and.not.have.any.keys('success', 'data', 'meta');
                expect(body['info']).to.deep.equal({
                    title: version === 1 ? 'One' : 'Two',
                    version: `${version}`,
                    description: 'A shop for tests.',
                });
                expect(body['servers']).to.deep.equal([{ url: `https://${SITE}` }]);
                expect(Object.keys(body['paths'] as object)).to.deep.equal(
                    version === 1 ? ['/products/{id}'] : ['/products/{id}', '/products/{id}#again'],
                );
                expect(body['x-routebook']).to.include({ site: SITE, version, version_hash: hash });
            }
        });

        it('is a list of tools, each with the name and the input of a hosted fetch', async () => {
            const tools = toolsOf(await get('?format=tools'));
            expect(tools).to.deep.equal([
                {
                    name: 'product',
                    description: `Two (${SITE}): One product with its price.`,
                    input_schema: {
                        type: 'object',
                        properties: { id: { type: 'integer', minimum: 1, description: 'Number of the product.' } },
                        required: ['id'],
                        additionalProperties: false,
                    },
                },
                { ...tools[0], name: 'again' },
            ]);
            expect(toolsOf(await get('?format=tools&version=1')).map(({ name }) => name)).to.deep.equal(['product']);
        });

        it('is the package itself without a format, or with the name of its own', async () => {
            const plain = dataOf(await get('')) as unknown as DownloadedPackage;
            expect(plain).to.include({ format: 'routebook/1', version: 2 });
            expect(dataOf(await get('?format=routebook'))).to.deep.equal(plain);
        });

        it('has an ETag for each format, and answers it with 304', async () => {
            const tags = new Set<string>();
            for (const query of [
                '?format=routebook',
                '?format=openapi',
                '?format=tools',
                '?format=postman',
                '?format=typescript',
                '?format=python',
                '?format=bruno',
            ]) {
                const tag = (await get(query)).headers.get('etag') ?? '';
                tags.add(tag);
                expect((await get(query, { 'if-none-match': tag })).status).to.equal(304);
            }
            expect(tags.size).to.equal(7);
        });

        it('is refused in any other format, and for an unknown site or version', async () => {
            for (const format of ['yaml', 'OPENAPI', '__proto__', 'constructor'])
                expect(detailsOf(await get(`?format=${format}`)), format).to.deep.equal(['/format INVALID_VALUE']);
            expect(detailsOf(await get('?format=tools&format=openapi'))).to.deep.equal(['/format REPEATED']);
            for (const format of ['openapi', 'tools', 'postman', 'typescript', 'python', 'bruno']) {
                expect(codeOf(await get(`?format=${format}&version=3`))).to.equal('VERSION_NOT_FOUND');
                const absent = await stranger(world).call('GET', `/v1/schemas/nowhere.test/package?format=${format}`);
                expect(codeOf(absent)).to.equal('SITE_NOT_FOUND');
            }
        });
    });
}
