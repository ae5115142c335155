import { expect } from 'chai';
import { departures, EXCERPTS } from './openapi-documents.ts';
import { STARTERS } from './packages.ts';

describe('starter packages of services that publish an OpenAPI document', () => {
    for (const excerpt of EXCERPTS) {
        it(`${excerpt.site} calls paths and params that the document has, and gives all that it requires`, () => {
            const starter = STARTERS.find(({ document }) => document.site === excerpt.site);
            if (starter === undefined) throw new Error(`an excerpt is of ${excerpt.site}, which has no package`);
            expect(URL.canParse(excerpt.source), 'the excerpt names its source').to.equal(true);
            const endpoints = starter.document.endpoints.flatMap((endpoint) => departures(endpoint, excerpt));
            expect(endpoints).to.deep.equal([]);
        });
    }
});
