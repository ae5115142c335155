import { expect } from 'chai';
import { useWorld } from '../support/world.ts';
import { visitor, wordsOf } from './support/visitor.ts';

describe('the well-known addresses', () => {
    const world = useWorld({
        workers: 0,
        config: { publicUrl: 'https://routebook.example', operatorEmails: ['ops@routebook.example', 'second@routebook.example'] },
    });

    const fieldsOf = (text: string) =>
        Object.fromEntries(
            text
                .trim()
                .split('\n')
                .map((line) => line.split(/: (.*)/).slice(0, 2)),
        );

    it('name the contact for vulnerabilities, according to RFC 9116', async () => {
        const { status, headers, html } = await visitor(world).get('/.well-known/security.txt');
        expect([status, headers['content-type']]).to.deep.equal([200, 'text/plain; charset=utf-8']);
        const { Expires, ...rest } = fieldsOf(html);
        expect(rest).to.deep.equal({
            Contact: 'mailto:ops@routebook.example',
            'Preferred-Languages': 'en',
            Canonical: 'https://routebook.example/.well-known/security.txt',
            Policy: 'https://routebook.example/security',
        });
        const days = (Date.parse(Expires ?? '') - world.app.clock.now()) / 86_400_000;
        expect(days).to.be.within(30, 364);
        await world.clock.advance({ days: 400 });
        const later = fieldsOf((await visitor(world).get('/.well-known/security.txt')).html);
        expect(Date.parse(later['Expires'] ?? '')).to.be.greaterThan(world.app.clock.now());
    });

    it('have the page of the policy that they name', async () => {
        const words = wordsOf((await visitor(world).get('/security')).html);
        expect(words).to.include('Report a vulnerability').and.include('ops@routebook.example');
    });

    it('name the page where a password is changed', async () => {
        const { status, to } = await visitor(world).get('/.well-known/change-password');
        expect([status, to]).to.deep.equal([302, '/dashboard/settings#password']);
    });
});
