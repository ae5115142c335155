import { expect } from 'chai';
import { buildRequest } from '../../shared/domain/fetch/build-request.ts';
import type { PreparedForm } from '../../shared/domain/fetch/prepared-form.ts';
import type { JsonObject, PackageEndpoint } from '../../shared/domain/types.ts';
import { anEndpoint, bodyParam, queryParam } from './an-endpoint.ts';

const FORM: PreparedForm = {
    action: 'https://shop.example/do/search?lang=en&x={q}',
    fields: [
        ['csrf', 't+0/='],
        ['tag', 'a'],
        ['tag', 'b'],
        ['q', '{q}'],
        ['__proto__', 'x'],
    ],
};

function submitted(said: Partial<PackageEndpoint>, values: JsonObject = {}) {
    return buildRequest(anEndpoint({ kind: 'submit_form', ...said }), values, 'Routebook/test', FORM);
}

describe('the request that submits a form', () => {
    it('goes to the action with the hidden inputs first, which params override', () => {
        const said: Partial<PackageEndpoint> = { method: 'POST', params: [bodyParam('q'), bodyParam('size'), queryParam('page')] };
        const request = submitted(said, { q: 'green tea', size: 3, page: 2 });
        expect(request.url).to.equal('https://shop.example/do/search?lang=en&x={q}&page=2');
        expect(request.body).to.equal('csrf=t%2B0%2F%3D&tag=a&tag=b&q=green+tea&__proto__=x&size=3');
        expect(request.bodyShown).to.equal(request.body);
        expect(request.headers['content-type']).to.equal('application/x-www-form-urlencoded');
    });

    it('sends only the hidden inputs without params, as text without placeholders', () => {
        expect(submitted({ method: 'POST' }).body).to.equal('csrf=t%2B0%2F%3D&tag=a&tag=b&q=%7Bq%7D&__proto__=x');
        expect(submitted({ method: 'POST', params: [bodyParam('q')] }).body).to.include('q=%7Bq%7D');
    });

    it('sends them as JSON if the package says so, beside its template', () => {
        const said: Partial<PackageEndpoint> = {
            method: 'POST',
            body_format: 'json',
            params: [bodyParam('q')],
            body: { query: { words: '{q}' }, q: 'template' },
        };
        expect(submitted(said, { q: '{csrf}' }).body).to.equal(
            '{"csrf":"t+0/=","tag":["a","b"],"q":"template","__proto__":"x","query":{"words":"{csrf}"}}',
        );
        expect(submitted({ ...said, body: ['{q}'] }, { q: 1 }).body).to.equal('[1]');
    });

    it('puts the fields in place of the query of the action if the form uses GET', () => {
        const request = submitted({ method: 'GET', params: [queryParam('q'), queryParam('n')] }, { q: 'a b' });
        expect(request.url).to.equal('https://shop.example/do/search?csrf=t%2B0%2F%3D&tag=a&tag=b&__proto__=x&q=a%20b');
        expect(request.body).to.equal(undefined);
    });
});
