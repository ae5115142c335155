import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { versionHash } from '../../shared/domain/package/version-hash.ts';
import type { PackageDocument } from '../../shared/domain/types.ts';

const small: PackageDocument = {
    format: 'routebook/1',
    site: 'shop.example.com',
    title: 'Läden €',
    intent_category: 'commerce/reviews',
    endpoints: [{ name: 'a', method: 'GET', url: 'https://shop.example.com/', billing: { unit: 'request', max_results: 10 } }],
};

describe('the hash of a version', () => {
    it('is the SHA-256 of the canonical JSON, which anybody can compute', () => {
        const canonical =
            '{"endpoints":[{"billing":{"max_results":10,"unit":"request"},"method":"GET","name":"a","url":"https://shop.example.com/"}],' +
            '"format":"routebook/1","intent_category":"commerce/reviews","site":"shop.example.com","title":"Läden €"}';
        expect(versionHash(small)).to.equal(createHash('sha256').update(canonical).digest('hex'));
    });

    it('does not depend on the order of keys or the spelling of numbers', () => {
        const shuffled: unknown = JSON.parse(
            '{"title":"L\\u00e4den \\u20ac","endpoints":[{"url":"https://shop.example.com/","billing":{"max_results":1e1,"unit":"request"},"name":"a","method":"GET"}],' +
                '"site":"shop.example.com","intent_category":"commerce/reviews","format":"routebook/1"}',
        );
        expect(versionHash(shuffled as PackageDocument)).to.equal(versionHash(small));
    });

    it('changes with any content', () => {
        expect(versionHash({ ...small, title: 'Läden' })).not.to.equal(versionHash(small));
        expect(versionHash({ ...small, description: '' })).not.to.equal(versionHash(small));
        expect(versionHash({ ...small, endpoints: [...small.endpoints, ...small.endpoints] })).not.to.equal(versionHash(small));
    });
});
