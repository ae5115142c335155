import { expect } from 'chai';
import { passwordProblem } from '../shared/domain/accounts/password-rules.ts';
import { readConfig } from '../shared/platform/config.ts';
import { isCommonPassword } from '../shared/platform/passwords/common-passwords.ts';
import { createPasswords } from '../shared/platform/passwords/passwords.ts';
import { Refusal } from '../shared/refusals.ts';

describe('passwords', () => {
    it('are stored as a salted hash that needs memory, and no two hashes of one password are equal', async () => {
        const passwords = createPasswords({ cost: readConfig({}).passwordCost });
        const [one, two] = [await passwords.hash('four words for ada'), await passwords.hash('four words for ada')];
        expect(one)
            .to.match(/^scrypt\$15\$8\$3\$[A-Za-z0-9_-]{22}\$[A-Za-z0-9_-]{43}$/)
            .and.not.equal(two);
        expect(await passwords.matches('four words for ada', one)).to.equal(true);
        expect(await passwords.matches('four words for eve', one)).to.equal(false);
    });

    it('match from any keyboard, and after the cost was raised', async () => {
        const hash = await createPasswords({ cost: 4 }).hash('cafe\u0301 au lait');
        expect(await createPasswords({ cost: 5 }).matches('caf\u00e9 au lait', hash)).to.equal(true);
    });

    it('of unknown users take as long as of known ones, and never match', async () => {
        const passwords = createPasswords({ cost: 14 });
        // The least of three: anything else that the process does adds to one of them.
        const microsecondsFor = async (hash: string | null | undefined) => {
            const taken: number[] = [];
            for (let run = 0; run < 3; run++) {
                const before = process.cpuUsage();
                expect(await passwords.matches('four words for eve', hash)).to.equal(false);
                const { user, system } = process.cpuUsage(before);
                taken.push(user + system);
            }
            return Math.min(...taken);
        };
        const known = await microsecondsFor(await passwords.hash('four words for ada'));
        for (const hash of [undefined, null]) expect(await microsecondsFor(hash)).to.be.within(known / 2, known * 2);
    });

    it('wait for their turn, and are refused if too many wait', async () => {
        const passwords = createPasswords({ cost: 12, atOnce: 1, maxWaiting: 3 });
        const order: number[] = [];
        const outcomes = await Promise.allSettled(
            Array.from({ length: 6 }, async (_, index) => {
                await passwords.hash('four words for ada');
                order.push(index);
            }),
        );
        expect(outcomes.map(({ status }) => status)).to.deep.equal([
            'fulfilled',
            'fulfilled',
            'fulfilled',
            'fulfilled',
            'rejected',
            'rejected',
        ]);
        expect(order).to.deep.equal([0, 1, 2, 3]);
        const [refused] = outcomes.filter((outcome) => outcome.status === 'rejected');
        expect(refused?.reason).to.be.instanceOf(Refusal);
        await passwords.hash('four words for ada');
    });

    it('that are easy to guess are refused, and long ones of any characters are accepted', () => {
        for (const weak of [
            'ada@x',
            'adalovelace1',
            'Password2026!',
            'qwertyuiop',
            'abcdefghijkl',
            '987654321098',
            'ababababab',
            'x'.repeat(201),
        ]) {
            expect(passwordProblem(weak, 'adalovelace@people.example', isCommonPassword), weak).to.be.a('string');
        }
        for (const good of [
            'four words for ada',
            'пароль из четырёх слов',
            'correct horse battery',
            '🦊🐢🦉🐙🐝🦋🐌🐬🦔🐿',
            'Tr0ub4dor&3x',
        ]) {
            expect(passwordProblem(good, 'adalovelace@people.example', isCommonPassword), good).to.equal(undefined);
        }
    });

    it('may not be one of the 10,000 most common, nor one of them with digits and signs around it', () => {
        for (const common of ['q1w2e3r4t5y6', 'basketball', 'Christopher', '1qaz2wsx3edc', 'dragon12345', '!!sunshine99!!']) {
            expect(passwordProblem(common, 'ada@people.example', isCommonPassword), common).to.equal('This password is too common.');
        }
        for (const rare of ['dragon sunshine', 'sunshine-1987-12-24', 'kuckucksuhrwerk']) {
            expect(passwordProblem(rare, 'ada@people.example', isCommonPassword), rare).to.equal(undefined);
        }
    });
});
