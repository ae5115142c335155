import { expect } from 'chai';
import { readEmail } from '../../shared/domain/accounts/email.ts';

function normalised(text: string): string | undefined {
    const email = readEmail(text);
    return email.ok ? email.normalised : undefined;
}

describe('an email address', () => {
    it('belongs to one person in every spelling', () => {
        for (const [written, same] of [
            ['Ada@Example.COM', 'ada@example.com'],
            [' ada@example.com ', 'ada@example.com'],
            ['ada+news@example.com', 'ada@example.com'],
            ['a.d.a@example.com', 'a.d.a@example.com'],
            ['A.d.a+x+y@gmail.com', 'ada@gmail.com'],
            ['ada@googlemail.com', 'ada@gmail.com'],
            ['ada@bücher.example', 'ada@xn--bcher-kva.example'],
            ['+ada@example.com', '+ada@example.com'],
        ] as const) {
            expect(normalised(written), written).to.equal(same);
        }
    });

    it('gets mails in its owner’s spelling', () => {
        expect(readEmail(' Ada+News@Example.com')).to.include({ ok: true, address: 'Ada+News@Example.com' });
    });

    it('gets mails at the domain that it counts for, if IDNA maps the written one to another', () => {
        for (const [written, address] of [
            ['ada@exam\u00adple.com', 'ada@example.com'],
            ['ada@\uff45xample.com', 'ada@example.com'],
            ['ada@example\u3002com', 'ada@example.com'],
            ['ada@Bücher.example', 'ada@Bücher.example'],
            ['ada@bu\u0308cher.example', 'ada@bu\u0308cher.example'],
            ['ada@xn--bcher-kva.example', 'ada@xn--bcher-kva.example'],
        ] as const) {
            expect(readEmail(written), written).to.include({ ok: true, address });
        }
    });

    it('is refused if it is invalid', () => {
        const wrong = [
            '',
            'ada',
            '@example.com',
            'ada@',
            'ada@localhost',
            'a b@example.com',
            'ada@exa mple.com',
            '<ada@example.com>',
            'a@b@c.example',
        ];
        for (const text of [...wrong, `${'a'.repeat(65)}@example.com`, 'ada\u0000@example.com', '\ud800@example.com']) {
            expect(normalised(text), JSON.stringify(text)).to.equal(undefined);
        }
    });
});
