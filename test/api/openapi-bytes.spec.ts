import { expect } from 'chai';
import { openApiBytes } from '../../api/answers/openapi-bytes.ts';
import { CONTRACTS } from '../../shared/contracts/index.ts';

describe('the OpenAPI document', () => {
    it('is built once for all who read it, and others get a turn after each route', async () => {
        let turns = 0;
        const count = () => {
            turns += 1;
            next = setImmediate(count);
        };
        let next = setImmediate(count);
        const first = openApiBytes('https://first.test');
        expect(openApiBytes('https://first.test')).to.equal(first);
        await first;
        clearImmediate(next);
        expect(turns).to.be.at.least(CONTRACTS.length);
    });

    it('is built again for another public URL', async () => {
        await openApiBytes('https://first.test');
        const { plain } = await openApiBytes('https://second.test');
        expect(JSON.parse(plain.toString()).servers).to.deep.equal([{ url: 'https://second.test' }]);
    });
});
