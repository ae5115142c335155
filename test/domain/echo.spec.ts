import { expect } from 'chai';
import { createEchoMask } from '../../shared/domain/connections/echo.ts';

describe('a credential of digits in an answer of JSON', () => {
    const mask = createEchoMask({ username: 'ada', password: '20240101' });
    const shown = (text: string) => Buffer.from(mask?.bytes(Buffer.from(text), true) ?? '').toString('utf8');
    const cases: [title: string, sent: string, expected: unknown][] = [
        ['is hidden as a number', '{"a": 20240101}', { a: '•••' }],
        ['is hidden among the words of a text', '{"a":"pin 20240101 ok, \\"20240101\\""}', { a: 'pin ••• ok, "•••"' }],
        ['hides a longer number that holds it', '[1202401015,-20240101.5e3,7]', ['•••', '•••', 7]],
        ['is hidden where it is the whole answer', '20240101', '•••'],
    ];
    for (const [title, sent, expected] of cases) {
        it(`${title}, and the answer stays JSON`, () => {
            expect(JSON.parse(shown(sent))).to.deep.equal(expected);
        });
    }
});
