import { expect } from 'chai';

import { join } from '../support/people.ts';
import { aPackage } from '../support/schemas.ts';
import { openWorld, type World } from '../support/world.ts';

describe('the package format on a server', () => {
    let world: World;

    before(async () => {
        world = await openWorld({ workers: 0 });
    });
    after(() => world?.close());

    it('is a JSON Schema at the address in drafts’ $schema, for any editor', async () => {
        const answer = await fetch(`${world.base}/schemas/routebook-1.json`);
        expect(answer.status).to.equal(200);
        expect(answer.headers.get('content-type')).to.match(/^application\/schema\+json/);
        expect(answer.headers.get('access-control-allow-origin')).to.equal('*');
        const schema = (await answer.json()) as { $id: string; properties: { endpoints: { items: { required: string[] } } } };
        expect(schema.$id).to.equal(`${world.app.publicUrl()}/schemas/routebook-1.json`);
        expect(schema.properties.endpoints.items.required).to.deep.equal(['name', 'method', 'url']);
    });

    it('has a type in the OpenAPI document, for publishing and for downloads', async () => {
        const document = (await (await fetch(`${world.base}/v1/openapi.json`)).json()) as Record<string, never>;
        const text = JSON.stringify(document);
        expect(text).to.include('"$ref":"#/components/schemas/Package"').and.include('"$ref":"#/components/schemas/PublishedPackage"');
    });

    it('gives the same version with and without an editor’s $schema', async () => {
        const ada = await join(world);
        const draft = aPackage('drafts.example');
        const first = await ada.publish({ $schema: `${world.base}/schemas/routebook-1.json`, ...draft });
        expect(first.status).to.equal(201);
        const again = await ada.publish(draft);
        expect(again.status).to.equal(200);
        const download = await ada.call('GET', '/v1/schemas/drafts.example/package');
        expect(JSON.stringify(download.body)).not.to.include('$schema');
    });
});
