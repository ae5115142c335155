import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { ExpressionFault } from '../../shared/domain/jmespath/tokens.ts';
import type { Json } from '../../shared/domain/types.ts';
import { search } from '../../workers/select/jmespath/search.ts';

/** The published compliance tests of JMESPath, as a package carries them. */
const FOLDER = join(dirname(createRequire(import.meta.url).resolve('@cloudelements/jmespath/package.json')), 'test/compliance');

interface Suite {
    given: Json;
    cases: { expression: string; result?: Json; error?: string }[];
}

/** What that package adds to the language: arithmetic, and times that are numbers. */
const OWN = /^(?:add|sub)\(|^to_number\('1970-/;

describe('JMESPath, by its compliance tests', () => {
    for (const file of readdirSync(FOLDER)) {
        it(`holds for ${file}`, () => {
            const suites = JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as Suite[];
            const rows = suites.flatMap(({ given, cases }) => cases.map((row) => ({ given, ...row })));
            expect(rows).not.to.be.empty;
            for (const { given, expression, result, error } of rows) {
                if (OWN.test(expression)) continue;
                if (error === 'syntax') expect(() => search(given, expression), expression).to.throw(ExpressionFault);
                else if (error !== undefined) expect(() => search(given, expression), expression).to.throw();
                else if (result !== undefined) expect(search(given, expression), expression).to.deep.equal(result);
            }
        });
    }
});
