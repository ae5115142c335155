import { expect } from 'chai';
import { createParamJudge } from '../../shared/domain/fetch/judge-params.ts';
import { goodPackage, judge } from './good-package.ts';

describe('params whose schemas cost something to judge', () => {
    it('have schemas that must be compiled only up to 30 times an endpoint', () => {
        const withParams = (count: number) => {
            const document = goodPackage();
            const params = Array.from({ length: count }, (_, place) => ({
                name: `p${place}`,
                source: 'query',
                required: false,
                schema: { anyOf: [{ type: 'string', maxLength: place + 1 }] },
            }));
            document['endpoints'] = [{ name: 'many', method: 'GET', url: `https://${document['site']}/many`, params }];
            const verdict = judge(document);
            return verdict.ok ? [] : verdict.problems.map(({ path, code }) => `${path} ${code}`);
        };
        expect(withParams(30)).to.deep.equal([]);
        expect(withParams(32)).to.deep.equal(['/endpoints/0/params/30/schema TOO_COMPLEX']);
    });

    it('are judged by simple schemas in any number, and told why they do not fit 20 times', () => {
        const validate = createParamJudge();
        const verdicts = Array.from({ length: 1000 }, (_, place) => validate({ type: 'string', maxLength: place + 1 }, place));
        const messages = verdicts.flatMap((verdict) => (verdict.ok ? [] : verdict.errors.map(({ message }) => message)));
        expect(messages).to.have.length(1000);
        expect(messages.filter((message) => message === 'must be string')).to.have.length(20);
        expect(validate({ type: 'string', maxLength: 3 }, 'abc')).to.deep.equal({ ok: true });
        expect(validate({ anyOf: [{ type: 'string' }] }, 3).ok).to.equal(false);
    });
});
