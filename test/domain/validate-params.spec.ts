import { expect } from 'chai';
import { createParamValidator } from '../../shared/domain/fetch/validate-params.ts';
import { check, goodPackage } from './good-package.ts';

describe('params with expensive schemas', () => {
    it('may have at most 30 schemas that must be compiled for an endpoint', () => {
        const withParams = (count: number) => {
            const document = goodPackage();
            const params = Array.from({ length: count }, (_, place) => ({
                name: `p${place}`,
                source: 'query',
                required: false,
                schema: { anyOf: [{ type: 'string', maxLength: place + 1 }] },
            }));
            document['endpoints'] = [{ name: 'many', method: 'GET', url: `https://${document['site']}/many`, params }];
            const verdict = check(document);
            return verdict.ok ? [] : verdict.problems.map(({ path, code }) => `${path} ${code}`);
        };
        expect(withParams(30)).to.deep.equal([]);
        expect(withParams(32)).to.deep.equal(['/endpoints/0/params/30/schema TOO_COMPLEX']);
    });

    it('may have any number of simple schemas, with at most 20 reported errors', () => {
        const validate = createParamValidator();
        const verdicts = Array.from({ length: 1000 }, (_, place) => validate({ type: 'string', maxLength: place + 1 }, place));
        const messages = verdicts.flatMap((verdict) => (verdict.ok ? [] : verdict.errors.map(({ message }) => message)));
        expect(messages).to.have.length(1000);
        expect(messages.filter((message) => message === 'must be a string')).to.have.length(20);
        expect(validate({ type: 'string', maxLength: 3 }, 'abc')).to.deep.equal({ ok: true });
        expect(validate({ anyOf: [{ type: 'string' }] }, 3).ok).to.equal(false);
    });
});
