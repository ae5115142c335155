import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { CONTRACTS } from '../../shared/contracts/index.ts';
import { REFUSALS } from '../../shared/refusals.ts';
import { type OpenApi, operationsOf } from '../support/generate/document.ts';
import { type GeneratorWorld, openGeneratorWorld } from '../support/generate/generator-world.ts';
import { REACH } from '../support/generate/reach.ts';
import { gapsOf, runCases } from '../support/generate/run.ts';
import { stranger } from '../support/people.ts';

describe('requests made from the OpenAPI document', () => {
    let fixture: GeneratorWorld;
    let document: OpenApi;

    before(async () => {
        fixture = await openGeneratorWorld();
        document = (await stranger(fixture.world).call('GET', '/v1/openapi.json')).body as unknown as OpenApi;
    });
    after(() => fixture?.close());

    it('are classified for every code: whether a request alone triggers it', () => {
        expect(Object.keys(REACH)).to.have.members([...REFUSALS.keys()]);
        expect(operationsOf(document)).to.have.length(CONTRACTS.length);
    });

    it('are answered as it says, whether they are right or changed in one place (I3)', async () => {
        const run = await runCases(fixture, document, { seed: 20_261_121, oneOfMutations: 29 });
        expect(run.faults, run.faults.join('\n')).to.deep.equal([]);
        const gaps = gapsOf(run, document, 4);
        expect(gaps, gaps.join('\n')).to.deep.equal([]);
    });

    it('leave the service healthy, and no bug in its log', async () => {
        expect((await stranger(fixture.world).call('GET', '/v1/health')).status).to.equal(200);
        const bugs = fixture.world.logged.filter(({ level }) => level === 'error' || level === 'fatal');
        expect(bugs, JSON.stringify(bugs[0])).to.deep.equal([]);
    });

    it('match the document’s own examples', () => {
        const ajv = new Ajv2020({ strict: false });
        ajv.addSchema(document, 'doc');
        const shown: string[] = [];
        const hold = (what: string, media: { schema: object; example?: unknown } | undefined) => {
            if (media?.example === undefined) return;
            const validate = ajv.compile({ ...media.schema, components: document.components });
            expect(validate(media.example), `${what}: ${ajv.errorsText(validate.errors)}`).to.equal(true);
            shown.push(what);
        };
        for (const [path, methods] of Object.entries(document.paths)) {
            for (const [method, { requestBody, responses }] of Object.entries(methods)) {
                hold(`body of ${method} ${path}`, requestBody?.content['application/json']);
                for (const [status, { content }] of Object.entries(responses))
                    hold(`${status} of ${method} ${path}`, content?.['application/json']);
            }
        }
        const bodies = CONTRACTS.filter(({ body }) => body !== undefined).length;
        // The OpenAPI document has no example of itself. Publishing and batches have two success statuses.
        expect(shown).to.have.length(bodies + CONTRACTS.length - 1 + 2);
    });
});
