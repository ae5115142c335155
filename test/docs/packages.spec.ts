import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { expect } from 'chai';
import { packageSchema } from '../../shared/domain/package/package-schema.ts';
import { readPackage } from '../../shared/domain/package/rules/structure.ts';
import { checkPackage } from '../../shared/domain/package/rules.ts';
import { KINDS, SOURCES } from '../../shared/domain/types.ts';

const page = readFileSync(new URL('../../docs/packages.md', import.meta.url), 'utf8');
const shown = [...page.matchAll(/^```json\n(.*?)^```$/gms)].map(([, text = '']) => JSON.parse(text) as { format?: string; name?: string });
const [whole = {}] = shown;
const endpoints = shown.slice(1).flatMap((example) => ('endpoints' in example ? (example.endpoints as object[]) : [example]));
const fits = new Ajv({ strict: true, allowUnionTypes: true }).compile(packageSchema('http://localhost:8080'));

/** The package of an author who pastes an example of the page. An endpoint is put into the package at the top of the page. */
function published(example: { format?: string }): object {
    return example.format === undefined ? { ...whole, endpoints: [example] } : example;
}

describe('the page of the package format', () => {
    for (const example of shown) {
        it(`shows a valid example: ${example.name ?? 'the complete package'}`, () => {
            const document = published(example);
            const verdict = checkPackage(document, { isPortAllowed: () => false });
            expect(verdict.ok ? [] : verdict.problems).to.deep.equal([]);
            expect(fits(document), JSON.stringify(fits.errors)).to.equal(true);
        });
    }

    it('shows every kind, source of params, and part of an endpoint', () => {
        const text = JSON.stringify(shown);
        for (const kind of KINDS.filter((one) => one !== 'api_call')) expect(text).to.include(`"kind":"${kind}"`);
        for (const source of SOURCES) expect(text).to.include(`"source":"${source}"`);
        const { properties } = readPackage.schema as { properties: { endpoints: { items: { properties: object } } } };
        const fields = Object.keys(properties.endpoints.items.properties);
        // These are named in the text.
        const used = new Set([...endpoints.flatMap((endpoint) => Object.keys(endpoint)), 'body_required']);
        expect(fields.filter((field) => !used.has(field))).to.deep.equal([]);
    });
});
