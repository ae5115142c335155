import { expect } from 'chai';
import { holdsName, joinNames, type NameList, readNames } from '../../shared/domain/site/name-list.ts';
import { shippedReserved, userContentHosts } from '../../shared/platform/reserved-names.ts';

const listOf = (text: string): NameList => {
    const read = readNames(text);
    if (!read.ok) throw new Error(`${read.line} ${read.problem}`);
    return read.list;
};

describe('a list of names', () => {
    it('contains a name with every name below it, and below a suffix every name but itself', () => {
        const list = listOf('# ours\nBank.Example # a comment\n\n*.pay.example\r\nbücher.example\n');
        for (const name of ['bank.example', 'a.b.bank.example', 'x.pay.example', 'xn--bcher-kva.example'])
            expect(holdsName(list, name), name).to.equal(true);
        for (const name of ['notbank.example', 'pay.example', 'example', 'bank.example.org'])
            expect(holdsName(list, name), name).to.equal(false);
    });

    it('excludes the names of another list, with every name below them', () => {
        const list = joinNames(listOf('bank.example\n*.bank'), listOf('!bank.example\n!mine.bank\nother.example'));
        for (const name of ['bank.example', 'a.bank.example', 'mine.bank']) expect(holdsName(list, name), name).to.equal(false);
        for (const name of ['yours.bank', 'other.example']) expect(holdsName(list, name), name).to.equal(true);
    });

    it('reports invalid lines', () => {
        for (const text of [
            'a.example\nhttps://b.example',
            'a.example\n*',
            'a.example\nword',
            'a.example\n!*.b.example',
            'a.example\na b.example',
        ])
            expect(readNames(text), text).to.deep.equal({ ok: false, line: 2, problem: 'is not a domain name, *.suffix or !name' });
    });

    it('is shipped with institutions, and with hosts of user content', () => {
        expect(shippedReserved().names.size).to.be.greaterThan(150);
        expect(userContentHosts().names.size + userContentHosts().suffixes.size).to.be.greaterThan(80);
        for (const name of ['google.com', 'stripe.com', 'paypal.com', 'chase.com', 'irs.gov', 'any.bank', 'www.paypal.com'])
            expect(holdsName(shippedReserved(), name), name).to.equal(true);
        for (const name of ['github.com', 'wikipedia.org', 'openlibrary.org', 'shop.example'])
            expect(holdsName(shippedReserved(), name), name).to.equal(false);
        for (const host of ['script.google.com', 'docs.google.com', 'a.zendesk.com', 'a.notion.site', 'raw.githubusercontent.com'])
            expect(holdsName(userContentHosts(), host), host).to.equal(true);
        for (const host of ['www.google.com', 'zendesk.com', 'a.github.io'])
            expect(holdsName(userContentHosts(), host), host).to.equal(false);
    });
});
