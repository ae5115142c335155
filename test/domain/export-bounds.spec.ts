import { expect } from 'chai';
import { exportBruno } from '../../shared/domain/package/bruno-export.ts';
import { exportOpenApi } from '../../shared/domain/package/openapi-export.ts';
import { exportPostman } from '../../shared/domain/package/postman-export.ts';
import { exportPython } from '../../shared/domain/package/python-export.ts';
import { exportTools } from '../../shared/domain/package/tool-export.ts';
import { exportTypeScript } from '../../shared/domain/package/typescript-export.ts';
import type { JsonObject, PackageDocument } from '../../shared/domain/types.ts';
import { check } from './good-package.ts';
import { endpoint, onePackage, pathParam } from './one-package.ts';

const STAMP = { version: 1, versionHash: 'a'.repeat(64), publishedAt: new Date(0) };
const ABOUT = { ...STAMP, base: 'http://routebook.test' };
const EXPORTS: Readonly<Record<string, (document: PackageDocument) => unknown>> = {
    openapi: (document) => exportOpenApi(document, STAMP),
    python: (document) => exportPython(document, STAMP),
    typescript: (document) => exportTypeScript(document, STAMP),
    tools: exportTools,
    postman: (document) => exportPostman(document, ABOUT),
    bruno: (document) => exportBruno(document, ABOUT),
};

const times = (count: number) => Array.from({ length: count }, (_, index) => index);
const fields = (count: number, value: JsonObject): JsonObject => Object.fromEntries(times(count).map((index) => [`f${index}`, value]));

/** Valid packages with parts that an export may write many times. */
const HOSTILE: Readonly<Record<string, PackageDocument>> = {
    'one described param in a hundred places of each URL': onePackage(
        ...times(20).map((index) =>
            endpoint(`e${index}`, `/${index}/${'{a}'.repeat(100)}`, {
                params: [{ ...pathParam('a'), description: 'x'.repeat(10_000), example: 'y'.repeat(1000) }],
            }),
        ),
    ),
    'one described param in thousands of places of a body': onePackage(
        endpoint('e', '/', {
            method: 'POST',
            body: times(5000).map(() => '{a}'),
            params: [{ name: 'a', source: 'body', required: true, description: 'x'.repeat(10_000) }],
        }),
    ),
    'a long name above hundreds of objects': onePackage(
        endpoint('e', '/', {
            response: {
                type: 'json',
                schema: {
                    type: 'object',
                    properties: {
                        ['k'.repeat(60_000)]: {
                            type: 'object',
                            properties: fields(400, { type: 'object', properties: { a: { type: 'string' } } }),
                        },
                    },
                },
            },
        }),
    ),
};

/** The maximum size of a package's exports, whatever it repeats. */
const room = (document: PackageDocument) => 1024 * 1024 + 4 * JSON.stringify(document).length;

describe('exports of hostile packages', () => {
    for (const [name, document] of Object.entries(HOSTILE)) {
        it(`are in proportion to a package with ${name}`, () => {
            expect(check(document)).to.include({ ok: true });
            for (const [format, write] of Object.entries(EXPORTS)) {
                expect(JSON.stringify(write(document)).length, format).to.be.below(room(document));
            }
        });
    }

    it('describe every param of a package that repeats a few', () => {
        const document = onePackage(
            endpoint('e', `/${'{a}'.repeat(20)}`, { params: [{ ...pathParam('a'), description: 'Number of the product.' }] }),
        );
        expect(JSON.stringify(EXPORTS['openapi']?.(document)).split('Number of the product.')).to.have.length(21);
    });
});
