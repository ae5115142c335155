import { createRequire } from 'node:module';
import { expect } from 'chai';
import { type BrunoCollection, exportBruno } from '../../shared/domain/package/bruno-export.ts';
import type { Json, JsonObject } from '../../shared/domain/types.ts';
import { STARTERS } from '../starter/packages.ts';
import { join, stranger } from '../support/people.ts';
import { SHOP, SHOP_HOSTS, shopPackage, useShop } from '../support/shop.ts';
import { useWorld } from '../support/world.ts';

/** The part of Bruno's schema package that this spec uses. The package has no types. */
const { collectionSchema } = createRequire(import.meta.url)('@usebruno/schema') as {
    collectionSchema: { validate(collection: unknown, options: object): Promise<unknown> };
};

const ABOUT = { versionHash: 'a'.repeat(64), base: 'https://routebook.example' };

describe('the package of a site as a Bruno collection', () => {
    const world = useWorld({ topology: 'postgres', config: { egressHosts: SHOP_HOSTS } });
    const shop = useShop();

    it('is valid in Bruno, for every starter package', async () => {
        for (const { document } of STARTERS) {
            const collection = exportBruno(document, ABOUT);
            await collectionSchema.validate(imported(collection), { abortEarly: false });
            expect(collection.items.length, document.site).to.equal(document.endpoints.filter(({ hosted }) => hosted !== false).length);
        }
    });

    it('has requests that run unchanged and never send the API key to the site', async () => {
        const maker = await join(world, { plan: 'enterprise' });
        const at = (path: string) => `http://${SHOP}:${shop.port}${path}`;
        const id = { name: 'id', source: 'path' as const, required: true, schema: { type: 'integer' } };
        const q = { name: 'q', source: 'query' as const, required: true, schema: { type: 'string' } };
        const published = await maker.publish({
            ...shopPackage(shop.port),
            endpoints: [
                { name: 'product', method: 'GET', url: at('/products/{id}'), params: [id], examples: [{ params: { id: 7 } }] },
                { name: 'hostile', method: 'GET', url: at('/list'), params: [q], examples: [{ params: { q: '{{{api_key}}}' } }] },
            ],
        });
        expect(published.status, JSON.stringify(published.body)).to.equal(201);
        const answer = await stranger(world).call('GET', `/v1/schemas/${SHOP}/package?format=bruno`);
        expect(answer.status).to.equal(200);
        const collection = answer.body as unknown as BrunoCollection;
        await collectionSchema.validate(imported(collection), { abortEarly: false });
        const values: Record<string, string> = { base_url: world.base, api_key: maker.apiKey ?? '' };
        const fill = (text: string) => text.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (_, name: string) => values[name] ?? '');
        const [product, hostile] = collection.items.map(({ request }) => {
            const { url, body } = request as { url: string; body: { json: string } };
            return { url: fill(url), body: fill(body.json) };
        });
        const called = await fetch(product?.url ?? '', {
            method: 'POST',
            headers: { 'content-type': 'application/json', authorization: fill('Bearer {{api_key}}') },
            body: product?.body ?? '',
        });
        expect(await called.json()).to.have.nested.property('data.id', 7);
        expect(JSON.parse(hostile?.body ?? '')).to.have.nested.property('params.q', '{{{api_key}}}');
    });
});

/** Adds what Bruno's import adds before it validates a file: an id for each part, and the long name of the request type. */
function imported(collection: BrunoCollection): Json {
    let ids = 0;
    const uid = () => `uid${String(++ids).padStart(18, '0')}`;
    const identified = (list: Json | undefined) => (list as JsonObject[]).map((one) => ({ ...one, uid: uid() }));
    return {
        ...collection,
        uid: uid(),
        items: identified(collection.items).map((item) => {
            const request = item['request' as keyof typeof item] as unknown as JsonObject;
            return { ...item, type: 'http-request', request: { ...request, headers: identified(request['headers']) } };
        }),
        environments: identified(collection.environments).map((one) => ({
            ...one,
            variables: identified((one as unknown as JsonObject)['variables']),
        })),
    } as unknown as Json;
}
