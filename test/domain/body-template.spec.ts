import { expect } from 'chai';
import { encodeForm, fillTemplate, flatBody, placeholderIn } from '../../shared/domain/fetch/body-template.ts';
import type { Json } from '../../shared/domain/types.ts';

const NAMES = new Set(['q', 'page', 'filter']);
const graphql = { operationName: 'Search', variables: { q: '{q}', page: '{page}', list: ['{q}', '{page}', 7] } };

describe('the body of a request', () => {
    it('has values in their own types in place of their placeholders', () => {
        expect(fillTemplate(graphql, NAMES, { q: 'shoes', page: 2 })).to.deep.equal({
            operationName: 'Search',
            variables: { q: 'shoes', page: 2, list: ['shoes', 2, 7] },
        });
        expect(fillTemplate('{filter}', NAMES, { filter: { a: [null] } })).to.deep.equal({ a: [null] });
        expect(fillTemplate({ f: '{filter}' }, NAMES, { filter: null })).to.deep.equal({ f: null });
    });

    it('has the values of params of any name that a package may use', () => {
        const template = { a: '{first-name}', b: '{page[number]}', c: '{a.b}' };
        const values = { 'first-name': 'Ada', 'page[number]': 2, 'a.b': true };
        expect(fillTemplate(template, new Set(Object.keys(values)), values)).to.deep.equal({ a: 'Ada', b: 2, c: true });
    });

    it('ignores inherited properties of objects as params', () => {
        const names = new Set(['toString', 'valueOf', 'hasOwnProperty']);
        expect(fillTemplate({ a: '{toString}', b: '{valueOf}' }, names, {})).to.deep.equal({});
        expect(flatBody(names, {})).to.deep.equal({});
    });

    it('leaves out absent params with their key', () => {
        expect(fillTemplate(graphql, NAMES, { page: 2 })).to.deep.equal({ operationName: 'Search', variables: { page: 2, list: [2, 7] } });
        expect(fillTemplate({ a: { b: '{q}' } }, NAMES, {})).to.deep.equal({ a: {} });
        expect(fillTemplate('{q}', NAMES, {})).to.equal(undefined);
    });

    it('inserts values without reading placeholders in them', () => {
        const values = { q: '{page}', page: '","admin":true,"x":"', filter: ['{q}'] };
        const filled = fillTemplate({ a: '{q}', b: '{page}', c: '{filter}' }, NAMES, values) as Json;
        expect(JSON.parse(JSON.stringify(filled))).to.deep.equal({ a: '{page}', b: '","admin":true,"x":"', c: ['{q}'] });
    });

    it('replaces only complete strings, and only with body params', () => {
        const template = { a: 'x{q}', b: '{q} ', c: '{other}', d: '{{q}}', e: '{}', '{q}': 1 };
        expect(fillTemplate(template, NAMES, { q: 'shoes' })).to.deep.equal(template);
        expect(placeholderIn('{q}')).to.equal('q');
        expect(placeholderIn('{page[number]}')).to.equal('page[number]');
        expect(placeholderIn('{q}\n')).to.equal(undefined);
    });

    it('is without a template a flat object of the present params', () => {
        expect(flatBody(NAMES, { page: 2, q: 'shoes' })).to.deep.equal({ q: 'shoes', page: 2 });
        expect(Object.keys(flatBody(NAMES, { page: 2, q: 'shoes' }))).to.deep.equal(['q', 'page']);
        expect(flatBody(NAMES, {})).to.deep.equal({});
    });

    it('keeps odd names as own properties', () => {
        const template = JSON.parse('{"__proto__": "{q}"}') as Json;
        expect(JSON.stringify(fillTemplate(template, NAMES, { q: 1 }))).to.equal('{"__proto__":1}');
    });

    it('is plus-encoded for a form, with repeated names for lists', () => {
        expect(encodeForm({ q: 'a b&c=d', tags: ['x', 2, true], 'n ä': '€+', none: null, empty: [] })).to.equal(
            'q=a+b%26c%3Dd&tags=x&tags=2&tags=true&n+%C3%A4=%E2%82%AC%2B',
        );
        expect(encodeForm({ x: [[1, 2], 'z'] })).to.equal('x=1&x=2&x=z');
        expect(encodeForm({})).to.equal('');
        expect(encodeForm('text')).to.equal('');
    });
});
