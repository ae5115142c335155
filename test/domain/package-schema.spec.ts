import { readdirSync, readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { expect } from 'chai';
import fc from 'fast-check';
import { demoPackage } from '../../bin/demo/package.ts';
import { packageSchema } from '../../shared/domain/package/package-schema.ts';
import type { Json, JsonObject } from '../../shared/domain/types.ts';
import { check, DROP, editedPackage, goodPackage } from './good-package.ts';

const fits = new Ajv({ strict: true, allowUnionTypes: true, formats: {} }).compile(packageSchema('https://routebook.example'));

/** Pointers to all values of a package. */
function placesIn(value: Json, at = ''): string[] {
    if (typeof value !== 'object' || value === null) return [at];
    const below = Object.entries(value).flatMap(([key, item]) => placesIn(item, `${at}/${key}`));
    return at === '' ? below : [at, ...below];
}

const PLACES = placesIn(goodPackage());
const FAULTS = [DROP, null, 0, -1, 1.5, 1e9, '', ' ', 'x', 'GET', 'a\tb', 'x'.repeat(70), true, [], {}, [null], [{}], { $schema: 'x' }];

describe('the JSON Schema of the package format', () => {
    it('accepts every package of the starter registry and the demo shop', () => {
        const folder = new URL('../../schemas/', import.meta.url);
        const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
        const packages = files.map((file) => JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as unknown);
        expect(packages).not.to.have.length(0);
        for (const document of [...packages, demoPackage(8081), goodPackage()])
            expect(fits(document), JSON.stringify(fits.errors)).to.equal(true);
    });

    it('accepts whatever the rules accept, so that an editor never marks a valid package', () => {
        fc.assert(
            fc.property(
                fc.array(fc.tuple(fc.constantFrom(...PLACES), fc.constantFrom(...FAULTS)), { minLength: 1, maxLength: 2 }),
                (edits) => {
                    const edited = tryEdits(edits);
                    if (edited !== undefined && check(edited).ok) expect(fits(edited), JSON.stringify([edits, fits.errors])).to.equal(true);
                },
            ),
            { numRuns: 4000, seed: 24 },
        );
    });

    const refused: [what: string, edits: Record<string, unknown>][] = [
        ['an unknown field', { '/homepage': 'x' }],
        ['an unknown field of an endpoint', { '/endpoints/0/path': '/x' }],
        ['an unknown field of a param', { '/endpoints/0/params/0/type': 'string' }],
        ['a missing site', { '/site': DROP }],
        ['an endpoint without a method', { '/endpoints/0/method': DROP }],
        ['another format', { '/format': 'routebook/2' }],
        ['an unknown category', { '/intent_category': 'commerce/gossip' }],
        ['an unknown kind', { '/endpoints/0/kind': 'scrape' }],
        ['a name with capitals', { '/endpoints/0/name': 'SearchProducts' }],
        ['a list for the end of pages', { '/endpoints/0/pagination/end': ['total'] }],
        ['more than 20 pages', { '/endpoints/0/pagination/max_pages': 21 }],
        ['a number for a flag', { '/endpoints/0/hosted': 1 }],
        ['a header that is a number', { '/endpoints/0/headers/accept': 1 }],
        ['a select that is a list', { '/endpoints/0/response/select': [] }],
        ['no endpoints', { '/endpoints': [] }],
        ['a type that JSON Schema lacks', { '/endpoints/0/params/0/schema': { type: 'int' } }],
        ['a text as bound of a schema', { '/endpoints/0/response/schema/minProperties': '1' }],
        ['an output that is a number', { '/endpoints/0/response/select/items': 1 }],
        ['a select without outputs', { '/endpoints/2/response/select': {} }],
        ['a list of two selectors', { '/endpoints/2/response/select/links': ['a', 'b'] }],
        ['an unknown field of an output', { '/endpoints/2/response/select/notice': { selector: 'a', attr: 'href' } }],
        ['an unknown field inside an element', { '/endpoints/2/response/select/links/0/value/href/attr': 'href' }],
        ['an unknown type of an output', { '/endpoints/2/response/select/notice': { selector: 'a', type: 'int' } }],
        ['an extracted list', { '/endpoints/3/prepare/0/extract/csrf': ['meta'] }],
        ['a cookie with another field', { '/endpoints/3/prepare/1/extract/seen/selector': 'a' }],
        ['more than 20 extracted values', { '/endpoints/3/prepare/1/extract': manyOutputs(21) }],
    ];
    for (const [what, edits] of refused) {
        it(`marks ${what}`, () => {
            const edited = editedPackage(edits);
            expect(check(edited).ok).to.equal(false);
            expect(fits(edited)).to.equal(false);
        });
    }

    it('describes every field', () => {
        const silent: string[] = [];
        const walk = (schema: JsonObject, at: string) => {
            for (const [name, field] of Object.entries((schema['properties'] ?? {}) as Record<string, JsonObject>)) {
                if (typeof field['description'] !== 'string' || !field['description'].endsWith('.')) silent.push(`${at}/${name}`);
                walk((field['items'] as JsonObject | undefined) ?? field, `${at}/${name}`);
            }
        };
        walk(packageSchema('https://routebook.example'), '');
        expect(silent).to.deep.equal([]);
    });
});

/** A map of so many selectors. */
function manyOutputs(count: number): Record<string, string> {
    return Object.fromEntries(Array.from({ length: count }, (_, index) => [`value_${index}`, 'a']));
}

/** Undefined if the place of the second edit does not exist any more. */
function tryEdits(edits: readonly (readonly [string, unknown])[]): JsonObject | undefined {
    try {
        return editedPackage(Object.fromEntries(edits));
    } catch {
        return undefined;
    }
}

describe('$schema in a package', () => {
    it('is for the editor and not published', () => {
        const verdict = check({ $schema: 'https://routebook.example/schemas/routebook-1.json', ...goodPackage() });
        expect(verdict.ok && verdict.document).to.deep.equal(goodPackage());
    });
});
