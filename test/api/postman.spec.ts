import { createRequire } from 'node:module';
import { expect } from 'chai';
import { exportPostman } from '../../shared/domain/package/postman-export.ts';
import type { JsonObject } from '../../shared/domain/types.ts';
import { STARTERS } from '../starter/packages.ts';
import { join, type Person, stranger } from '../support/people.ts';
import { SHOP, SHOP_HOSTS, shopPackage, useShop } from '../support/shop.ts';
import { useWorld } from '../support/world.ts';

/** The part of Postman's parser that this spec uses. The parser has no types. */
interface Collection {
    name: string;
    variables: { upsert(variable: object): void };
    auth: { parameters(): { get(key: string): string } };
    items: { all(): Item[] };
}
interface Item {
    name: string;
    request: { url: object; headers: { all(): { key: string; value: string }[] }; body: { raw: string } };
}
const postman = createRequire(import.meta.url)('postman-collection') as {
    Collection: new (definition: object) => Collection;
    Variable: new (definition: object) => object;
    Property: { replaceSubstitutions(text: string, variables: Collection['variables']): string };
};

const ABOUT = { versionHash: 'a'.repeat(64), base: 'https://routebook.example' };

describe('the package of a site as a Postman collection', () => {
    const world = useWorld({ topology: 'postgres', config: { egressHosts: SHOP_HOSTS } });
    const shop = useShop();
    let maker: Person;

    before(async () => {
        maker = await join(world, { plan: 'enterprise' });
    });

    /** Publishes these endpoints of the shop and downloads the collection. */
    async function collectionOf(endpoints: ReturnType<typeof shopPackage>['endpoints']): Promise<Collection> {
        const published = await maker.publish({ ...shopPackage(shop.port), endpoints });
        expect(published.status, JSON.stringify(published.body)).to.equal(201);
        const { status, body } = await stranger(world).call('GET', `/v1/schemas/${SHOP}/package?format=postman`);
        expect(status).to.equal(200);
        return new postman.Collection(body);
    }

    const at = (path: string) => `http://${SHOP}:${shop.port}${path}`;
    const id = { name: 'id', source: 'path' as const, required: true, schema: { type: 'integer' } };

    it('has requests that run unchanged once the key is filled in', async () => {
        const product = {
            name: 'product',
            method: 'GET' as const,
            url: at('/products/{id}'),
            params: [id],
            examples: [{ params: { id: 7 } }],
        };
        const collection = await collectionOf([product]);
        const { url, headers, body } = filledIn(collection, 'product', maker.apiKey ?? '');
        const answer = await fetch(url, { method: 'POST', headers, body });
        const read = await answer.json();
        expect(read, JSON.stringify(read)).to.have.nested.property('data.id', 7);
        expect(answer.status).to.equal(200);
    });

    it('does not send the caller’s key to the site', async () => {
        const q = { name: 'q', source: 'query' as const, required: true, schema: { type: 'string' } };
        const hostile = ['{{api_key}}', '{{{api_key}}}', '{{{{api_key}}}}', '{{$guid}}'];
        const collection = await collectionOf(
            hostile.map((value, index) => ({
                name: `take_${index}`,
                method: 'GET' as const,
                url: at('/list'),
                params: [q],
                examples: [{ params: { q: value } }],
            })),
        );
        for (const [index, value] of hostile.entries()) {
            const { body } = filledIn(collection, `take_${index}`, maker.apiKey ?? '');
            expect(JSON.parse(body)).to.have.nested.property('params.q', value);
        }
    });

    it('leaves out what hosted fetch cannot call', async () => {
        const list = { name: 'list', method: 'GET' as const, url: at('/list') };
        const collection = await collectionOf([list, { ...list, name: 'own_client', hosted: false }]);
        expect(collection.items.all().map(({ name }) => name)).to.deep.equal(['list']);
    });

    it('is valid for Postman, for every starter package', () => {
        for (const { document } of STARTERS) {
            const written = exportPostman(document, ABOUT);
            const collection = new postman.Collection(written);
            expect(collection.name).to.equal(written.info.name);
            expect(collection.items.all().length, document.site).to.equal(
                document.endpoints.filter(({ hosted }) => hosted !== false).length,
            );
            for (const endpoint of document.endpoints.filter(({ hosted }) => hosted !== false)) {
                const { url, headers, body } = filledIn(collection, endpoint.name, 'rb_live_any');
                expect(url).to.equal('https://routebook.example/v1/fetch');
                expect(headers).to.deep.equal({ 'content-type': 'application/json', authorization: 'Bearer rb_live_any' });
                expect(JSON.parse(body)).to.include({ site: document.site, endpoint: endpoint.name, version: ABOUT.versionHash });
                const [first] = endpoint.examples ?? [];
                if (first !== undefined) expect((JSON.parse(body) as JsonObject)['params']).to.deep.equal(first.params);
            }
        }
    });
});

/** The request that Postman sends once `api_key` is set. */
function filledIn(collection: Collection, name: string, key: string) {
    collection.variables.upsert(new postman.Variable({ key: 'api_key', value: key }));
    const item = collection.items.all().find((one) => one.name === name);
    if (item === undefined) throw new Error(`The collection has no request ${name}.`);
    const { url, headers, body } = item.request;
    const fill = (text: string) => postman.Property.replaceSubstitutions(text, collection.variables);
    return {
        url: fill(String(url)),
        headers: {
            ...Object.fromEntries(headers.all().map((header) => [header.key.toLowerCase(), header.value])),
            authorization: `Bearer ${fill(collection.auth.parameters().get('token'))}`,
        },
        body: fill(body.raw),
    };
}
