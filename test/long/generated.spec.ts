import { expect } from 'chai';
import type { OpenApi } from '../support/generate/document.ts';
import { type GeneratorWorld, openGeneratorWorld } from '../support/generate/generator-world.ts';
import { gapsOf, runCases } from '../support/generate/run.ts';
import { stranger } from '../support/people.ts';
import { TOPOLOGIES } from '../support/world.ts';

const CASES = Number(process.env['CASES'] ?? 100_000);

/** The full count of test/api/generated.spec.ts, which uses a sample. The seed changes daily; SEED and CASES repeat a run. */
for (const topology of TOPOLOGIES) {
    describe(`100,000 requests generated from the OpenAPI document, the half that runs on ${topology},`, () => {
        let fixture: GeneratorWorld;

        before(async () => {
            fixture = await openGeneratorWorld(topology);
        });
        after(() => fixture?.close());

        it('are answered as the document says, whether they are valid or wrong in one place (I3)', async () => {
            const document = (await stranger(fixture.world).call('GET', '/v1/openapi.json')).body as unknown as OpenApi;
            const seed = Number(process.env['SEED'] ?? Math.floor(Date.now() / 86_400_000));
            const run = await runCases(fixture, document, { seed, cases: Math.ceil(CASES / TOPOLOGIES.length) });
            const wrong = [...run.faults, ...gapsOf(run, document, 50)];
            expect(wrong, wrong.join('\n')).to.deep.equal([]);
            const bugs = fixture.world.logged.filter(({ level }) => level === 'error' || level === 'fatal');
            expect(bugs, JSON.stringify(bugs[0])).to.deep.equal([]);
        });
    });
}
