import { expect } from 'chai';
import { departures, EXCERPTS } from './openapi-documents.ts';
import { STARTERS } from './packages.ts';

describe('starter packages of services that publish an OpenAPI document', () => {
    for (const excerpt of EXCERPTS) {
        it(`${excerpt.site} calls documented paths and params, with all required ones`, () => {
            const starter = STARTERS.find(({ document }) => document.site === excerpt.site);
            if (starter === undefined) throw new Error(`an excerpt is of ${excerpt.site}, which has no package`);
            expect(URL.canParse(excerpt.source), 'the excerpt names its source').to.equal(true);
            const { beyond = [] } = excerpt;
            const found = new Map(starter.document.endpoints.map((endpoint) => [endpoint.name, departures(endpoint, excerpt)]));
            for (const name of beyond) expect(found.get(name), `${name} goes beyond the document`).to.be.an('array').that.is.not.empty;
            for (const [name, departs] of found) if (!beyond.includes(name)) expect(departs).to.deep.equal([]);
        });
    }
});
