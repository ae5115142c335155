import { expect } from 'chai';
import type { FetchOutcome } from '../../shared/domain/fetch/fetch-job.ts';
import { isLoginTitle } from '../../shared/domain/fetch/login-words.ts';
import { exampleOutcome } from '../../shared/domain/package/example-outcome.ts';
import { verdictOf } from '../../shared/domain/package/verification.ts';
import type { JsonObject, PackageEndpoint } from '../../shared/domain/types.ts';
import { anEndpoint } from './an-endpoint.ts';

function verdict(
    response: PackageEndpoint['response'],
    data: JsonObject,
    more: { login?: 'page' | 'form'; results?: number; said?: Partial<PackageEndpoint> } = {},
) {
    const { said, ...flags } = more;
    const outcome: FetchOutcome = {
        ok: true,
        text: JSON.stringify(data),
        results: 1,
        requests: 1,
        truncated: false,
        mayKeep: true,
        upstream: { status: 200, attempts: 1, durationMs: 1, bytes: 1 },
        startedAt: 0,
        ...flags,
    };
    return verdictOf(exampleOutcome(anEndpoint({ ...(response === undefined ? {} : { response }), ...said }), outcome));
}

describe('an example with status 200', () => {
    const select = { title: 'h1', rows: [{ selector: 'tr', value: { name: 'td' } }] };

    it('fails if a page of HTML has none of the selected fields', () => {
        for (const data of [{ title: null, rows: [] }, { title: '', rows: [{ name: null }] }, {}])
            expect(verdict({ type: 'html', select }, data), JSON.stringify(data)).to.equal('failed');
        expect(verdict({ select }, { title: null, rows: [] }), 'without a type').to.equal('failed');
    });

    it('passes with one of the fields, and for JSON with an empty list', () => {
        expect(verdict({ type: 'html', select }, { title: 'Tea', rows: [] })).to.equal('passed');
        expect(verdict({ type: 'html', select: { n: { selector: 'b', type: 'integer' } } }, { n: 0 })).to.equal('passed');
        expect(verdict({ type: 'json', select: { items: 'rows' } }, { items: [] })).to.equal('passed');
        expect(verdict({ select: { items: 'rows' } }, { items: [] })).to.equal('passed');
        expect(verdict({ type: 'html' }, { title: null })).to.equal('passed');
    });

    it('fails if a list of results that the package declares has no items in a page of HTML, whatever else the page has', () => {
        const listed = { title: 'h1', items: select.rows };
        const empty = { title: 'Tea', items: [] };
        const declared: Partial<PackageEndpoint>[] = [
            { billing: { results: 'items' } },
            { billing: { unit: 'result' } },
            { pagination: { param: 'page' } },
            { kind: 'search' },
        ];
        for (const said of declared)
            expect(verdict({ type: 'html', select: listed }, empty, { results: 0, said }), JSON.stringify(said)).to.equal('failed');
        const said: Partial<PackageEndpoint> = { kind: 'search' };
        expect(verdict({ select: listed }, empty, { results: 0, said }), 'without a type').to.equal('failed');
        expect(verdict({ type: 'html', select: listed }, { title: 'Tea', items: [{ name: 'Green' }] }, { said })).to.equal('passed');
        const json = { type: 'json', select: { title: 'title', items: 'rows' } } as const;
        expect(verdict(json, empty, { results: 0, said }), 'JSON').to.equal('passed');
        const detail = { type: 'html', select: listed } as const;
        expect(verdict(detail, empty, { results: 0, said: { billing: { unit: 'request' } } }), 'an optional list').to.equal('passed');
    });

    it('fails for a sign-in page, unless the endpoint is for that', () => {
        const data = { title: 'Sign in' };
        expect(verdict({ type: 'html', select: { title: 'h1' } }, data, { login: 'page' })).to.equal('failed');
        expect(verdict(undefined, data, { login: 'page', said: { name: 'show_login' } })).to.equal('passed');
        expect(verdict(undefined, data, { login: 'page', said: { url: 'https://shop.example/account/sign-in' } })).to.equal('passed');
    });

    it('recognises such a page by its words', () => {
        for (const text of ['Log in', 'Sign-in to Tea', '/login', '/users/sign_in', 'Anmelden – Tee', 'Connexion', 'Вход'])
            expect(isLoginTitle(text), text).to.equal(true);
        for (const text of ['Blogging', 'Signing', 'Catalogins', 'Tea', 'Sign on the dotted line'.slice(0, 4)])
            expect(isLoginTitle(text), text).to.equal(false);
    });
});
