import { expect } from 'chai';
import { createPasswords } from '../../shared/platform/passwords/passwords.ts';
import { freshAddress, PASSWORD, signUp, type Visitor, visitor, wordsOf } from '../dashboard/support/visitor.ts';
import { openWorld, type World } from '../support/world.ts';

const CLIENTS = 100;
const asker = (client: string, more: { account?: string; isKnown?: boolean } = {}) => ({
    client,
    account: client,
    isKnown: false,
    ...more,
});

describe('many password checks', () => {
    let world: World;

    before(async () => {
        // About 20 ms a hash: long enough to queue for.
        world = await openWorld({ workers: 0, config: { trustProxy: 1, passwordCost: 11 } });
    });
    after(() => world.close());

    const signIn = (person: Visitor, email: string, password = PASSWORD) =>
        person.send('/login', { email, password }, { from: '/signup' }).then(({ status }) => status);

    it('of one client are limited to 10 a minute, even with right passwords of several accounts', async () => {
        const emails = [freshAddress(), freshAddress(), freshAddress(), freshAddress()];
        for (const email of emails) await signUp(world, email);
        const address = '203.0.113.7';
        const statuses = await Promise.all(
            Array.from({ length: 40 }, (_, turn) => signIn(visitor(world, { address }), emails[turn % 4] as string)),
        );
        expect(statuses.filter((status) => status === 303)).to.have.length.within(1, 10);
        expect(new Set(statuses)).to.deep.equal(new Set([303, 429]));
        for (let turn = 0; turn < 12; turn++) statuses.push(await signIn(visitor(world, { address }), emails[turn % 4] as string));
        expect(statuses.filter((status) => status === 303)).to.have.length(10);
        expect(statuses.at(-1)).to.equal(429);
        expect(await signIn(visitor(world), emails[0] as string), 'from elsewhere').to.equal(303);
        await world.clock.advance({ minutes: 1 });
        expect(await signIn(visitor(world, { address }), emails[0] as string), 'a minute later').to.equal(303);
    });

    it('of strangers do not lock a person out of a browser that signed in before', async () => {
        const email = freshAddress();
        const person = await signUp(world, email);
        await person.send('/logout');
        for (let client = 0; client < 7; client++) {
            const stranger = visitor(world, { address: `203.0.113.${20 + client}` });
            for (let turn = 0; turn < 10; turn++) await signIn(stranger, email, 'a guess of somebody else');
        }
        expect(await signIn(visitor(world), email), 'from a new browser').to.equal(429);
        expect(await signIn(person, email), 'from the browser of the account').to.equal(303);
        await person.send('/logout');
        // The right one was the first of ten in this minute.
        for (let turn = 0; turn < 9; turn++) expect(await signIn(person, email, 'a wrong password of mine')).to.equal(422);
        expect(await signIn(person, email, 'a wrong password of mine'), 'after ten attempts of its own').to.equal(429);
    });

    it('do not prevent a person from changing the password in a session', async () => {
        const email = freshAddress();
        const person = await signUp(world, email);
        for (let client = 0; client < 7; client++) {
            const stranger = visitor(world, { address: `203.0.113.${40 + client}` });
            for (let turn = 0; turn < 10; turn++) await signIn(stranger, email, 'a guess of somebody else');
        }
        const { status, html } = await person.send('/dashboard/settings/password', {
            password: PASSWORD,
            new_password: 'other words for ada',
        });
        expect(status, wordsOf(html)).to.equal(303);
    });

    it(`of ${CLIENTS} clients delay the check of another client by fewer than 15 of theirs`, async () => {
        const passwords = createPasswords({ cost: 12, atOnce: 1 });
        let hashed = 0;
        const stop = new AbortController();
        const crowd = Array.from({ length: CLIENTS }, async (_, client) => {
            while (!stop.signal.aborted) {
                await passwords.hash(PASSWORD, asker(`crowd ${client}`)).then(
                    () => hashed++,
                    () => new Promise((resolve) => setTimeout(resolve, 20)),
                );
            }
        });
        const hashedBefore = async (work: () => Promise<unknown>) => {
            const before = hashed;
            await work();
            return hashed - before;
        };
        const waits: number[] = [];
        for (let turn = 0; turn < 5; turn++) waits.push(await hashedBefore(() => passwords.hash(PASSWORD, asker('somebody else'))));
        for (let turn = 0; turn < 10; turn++)
            waits.push(await hashedBefore(() => passwords.hash(PASSWORD, asker('a person', { account: 'ada', isKnown: true }))));
        stop.abort();
        await Promise.all(crowd);
        // In order of arrival it would be 100 hashes.
        expect(Math.max(...waits), waits.join()).to.be.below(15);
    });
});
