import { expect } from 'chai';
import type { MailServer } from '../dashboard/support/mail-server.ts';
import { openMailWorld } from '../dashboard/support/mail-world.ts';
import { freshAddress, PASSWORD, signUp, type Visitor, visitor, wordsOf } from '../dashboard/support/visitor.ts';
import type { World } from '../support/world.ts';

describe('mails to addresses of others', () => {
    let world: World;
    let mail: MailServer;

    before(async () => {
        ({ world, mail } = await openMailWorld());
    });
    after(() => world.close());

    const change = (person: Visitor, email: string) => person.send('/dashboard/settings/address', { email, password: PASSWORD });

    async function confirmed(address?: string): Promise<Visitor> {
        const email = freshAddress();
        const person = await signUp(world, email, address === undefined ? {} : { address });
        await person.get((await mail.mailTo(email)).link ?? '');
        return person;
    }

    it('are limited to five an hour for one user, by any form', async () => {
        const person = await confirmed();
        expect((await person.send('/dashboard/invite', { email: freshAddress() })).status).to.equal(303);
        expect((await person.send('/dashboard/workspace/invitations', { email: freshAddress(), role: 'member' })).status).to.equal(200);
        for (let turn = 0; turn < 3; turn++) expect((await change(person, freshAddress())).status).to.equal(303);
        const refused = await change(person, freshAddress());
        expect(refused.status).to.equal(429);
        expect(Number(refused.headers['retry-after'])).to.be.within(3500, 3600);
        expect((await person.send('/dashboard/invite', { email: freshAddress() })).status).to.equal(422);
        await world.clock.advance({ hours: 1 });
        expect((await change(person, freshAddress())).status).to.equal(303);
    });

    it('are limited to twenty an hour for one client, over all its accounts', async () => {
        const address = '203.0.113.9';
        const people = [];
        for (let count = 0; count < 5; count++) people.push(await confirmed(address));
        // The mails of the five sign-ups count as well.
        const statuses: number[] = [];
        for (const person of people) for (let turn = 0; turn < 4; turn++) statuses.push((await change(person, freshAddress())).status);
        expect(statuses).to.deep.equal([...Array(15).fill(303), ...Array(5).fill(429)]);
        const elsewhere = visitor(world);
        for (const [name, value] of people[4]?.cookies ?? []) elsewhere.cookies.set(name, value);
        expect((await change(elsewhere, freshAddress())).status).to.equal(303);
    });

    it('do not reveal which addresses have an account', async () => {
        const taken = freshAddress();
        await signUp(world, taken);
        await mail.mailTo(taken);
        const asker = await confirmed();
        const [free, known] = [freshAddress(), taken];
        const seen = [];
        for (const email of [free, known]) {
            const { status, to } = await change(asker, email);
            const { html } = await asker.get(to ?? '');
            seen.push({ status, to, words: wordsOf(html) });
        }
        expect(seen[0]).to.deep.equal(seen[1]);
        expect((await mail.mailTo(free)).subject).to.equal('Confirm your new email address');
        expect((await mail.mailTo(taken)).subject).to.equal('Someone tried to use your email address');
    });

    it('are at most three invitations a day to one address, and keep nobody from inviting it: the next one gets the link', async () => {
        const [stranger, boss, colleague] = [await confirmed(), await confirmed(), freshAddress()];
        const invite = (person: Visitor) => person.send('/dashboard/workspace/invitations', { email: colleague, role: 'member' });
        for (let turn = 0; turn < 3; turn++) expect(wordsOf((await invite(stranger)).html)).to.include(`We emailed it to ${colleague}`);
        const { status, html } = await invite(boss);
        expect(status).to.equal(200);
        expect(wordsOf(html)).to.include(`Share this link with ${colleague} yourself`).and.not.include('We emailed');
        const [link = ''] = /\/invite\/[\w-]+/.exec(html) ?? [];
        expect((await visitor(world).get(link)).status).to.equal(200);
    });
});
