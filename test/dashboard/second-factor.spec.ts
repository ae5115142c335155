import { expect } from 'chai';
import { generate } from 'otplib';
import { PAGES } from '../../api/dashboard/pages.ts';
import { createKey } from '../../shared/store/accounts/api-keys.ts';
import { addMember } from '../../shared/store/accounts/workspaces.ts';
import { eventually } from '../support/eventually.ts';
import { withKey } from '../support/people.ts';
import { newTestSecretKeys } from '../support/secrets.ts';
import { openWorld, type World } from '../support/world.ts';
import { givePasskey } from './support/factor.ts';
import type { MailServer } from './support/mail-server.ts';
import { openMailWorld } from './support/mail-world.ts';
import { absentValues, pathOf } from './support/places.ts';
import { userOf } from './support/settled.ts';
import { freshAddress, hiddenOf, PASSWORD, type PageAnswer, signUp, type Visitor, visitor, wordsOf } from './support/visitor.ts';

const FACTORS = '/dashboard/settings/factors';
const OPERATOR = 'root@factors.example';

describe('a second factor', () => {
    let world: World;
    let mail: MailServer;

    before(async () => {
        ({ world, mail } = await openMailWorld({ operatorEmails: [OPERATOR] }));
    });
    after(() => world.close());

    const mayEnter = async (person: Visitor) => (await person.get('/dashboard')).status === 200;
    const codeNow = (secret: string, seconds = 0) => generate({ secret, epoch: Math.floor(world.app.clock.now() / 1000) + seconds });
    const nextCode = async (secret: string) => {
        await world.clock.advance({ seconds: 31 });
        return codeNow(secret);
    };

    const shownSecret = async (person: Visitor) => {
        const { html } = await person.get(`${FACTORS}/totp`);
        return (/<pre id="totp-secret"[^>]*><code>([^<]+)/.exec(html)?.[1] ?? '').replaceAll(' ', '');
    };

    /** Enables an authenticator app. Resolves with its secret and the recovery codes. */
    async function turnOn(person: Visitor): Promise<{ secret: string; codes: string[] }> {
        const secret = await shownSecret(person);
        const done = await person.send(`${FACTORS}/totp`, { code: await codeNow(secret) }, { from: FACTORS });
        const codes = (/<pre id="recovery-codes"[^>]*><code>([^<]+)/.exec(done.html)?.[1] ?? '').trim().split('\n');
        return { secret, codes };
    }

    async function confirmed(email: string): Promise<Visitor> {
        const person = await signUp(world, email);
        await world.app.db.raw('update users set verified_at = app_now() where email = ?', [email]);
        return person;
    }

    async function withApp({ isConfirmed = true } = {}) {
        const email = freshAddress();
        const person = isConfirmed ? await confirmed(email) : await signUp(world, email);
        return { email, person, userId: await userOf(world, email), ...(await turnOn(person)) };
    }

    /** Enters the password in a new browser. Resolves with the next page. */
    async function givePassword(email: string, password = PASSWORD) {
        const browser = visitor(world);
        const asked = await browser.send('/login', { email, password });
        return { browser, asked, ticket: hiddenOf(asked.html, 'ticket') ?? '' };
    }

    async function giveCode({ browser, ticket }: { browser: Visitor; ticket: string }, code: string): Promise<PageAnswer> {
        return browser.send('/login/factor', { ticket, code, next: '/dashboard/keys' }, { from: '/login' });
    }

    describe('by an authenticator app', () => {
        it('is set up with a secret, a link, a QR code and a first code, and gives ten recovery codes', async () => {
            const email = freshAddress();
            const person = await confirmed(email);
            const { html } = await person.get(`${FACTORS}/totp`);
            expect(html).to.include('otpauth://totp/').and.include('<svg').and.include('totp-secret');
            expect((await person.send(`${FACTORS}/totp`, { code: '000000' })).status).to.equal(422);
            expect((await givePassword(email)).asked.to).to.equal('/dashboard');
            const { codes } = await turnOn(person);
            expect(codes).to.have.length(10);
            expect(new Set(codes).size).to.equal(10);
            for (const code of codes) expect(code).to.match(/^[a-z2-9]{4}(-[a-z2-9]{4}){3}$/);
            expect(wordsOf((await person.get(FACTORS)).html)).to.include('10 of 10 left');
            for (const code of codes) expect((await person.get(FACTORS)).html).to.not.include(code);
        });

        it('gets another secret than an ended session saw, or than one that was not used for an hour', async () => {
            const email = freshAddress();
            const person = await confirmed(email);
            const { browser: thief } = await givePassword(email);
            const read = await shownSecret(thief);
            expect(read).to.match(/^[A-Z2-7]{32}$/);
            expect(await shownSecret(person)).to.equal(read);
            await person.send('/dashboard/settings/sessions', {});
            const second = await shownSecret(person);
            expect([second === read, await mayEnter(thief)]).to.deep.equal([false, false]);

            const { browser: another } = await givePassword(email);
            expect(await shownSecret(another)).to.equal(second);
            const { html } = await person.get('/dashboard/settings');
            const [, end = ''] = /action="([^"]+\/sessions\/ses_[^"]+\/end)"/.exec(html) ?? [];
            await person.send(end, {});
            const third = await shownSecret(person);
            expect([third === second, await mayEnter(another)]).to.deep.equal([false, false]);

            await world.clock.advance({ minutes: 61 });
            await person.send('/dashboard/confirm', { password: PASSWORD });
            expect(await shownSecret(person))
                .to.match(/^[A-Z2-7]{32}$/)
                .and.not.equal(third);
        });

        it('is required after the password, which does not suffice', async () => {
            const { email, secret } = await withApp();
            const step = await givePassword(email);
            expect([step.asked.status, await mayEnter(step.browser)]).to.deep.equal([200, false]);
            expect((await giveCode(step, '12')).status).to.equal(422);
            expect(await mayEnter(step.browser)).to.equal(false);
            expect((await giveCode(step, await nextCode(secret))).to).to.equal('/dashboard/keys');
            expect(await mayEnter(step.browser)).to.equal(true);
        });

        it('accepts each code once, even from two concurrent requests, and none older than a minute', async () => {
            const { email, secret } = await withApp();
            const code = await nextCode(secret);
            const steps = [await givePassword(email), await givePassword(email)];
            const entered = await Promise.all(steps.map((step) => giveCode(step, code)));
            expect(entered.filter(({ status }) => status === 303)).to.have.length(1);
            expect((await giveCode(await givePassword(email), code)).status).to.equal(422);
            await world.clock.advance({ seconds: 180 });
            expect((await giveCode(await givePassword(email), await codeNow(secret, -90))).status).to.equal(422);
        });

        it('accepts five attempts, over all sign-ins of the account, then waits', async () => {
            const { email, secret } = await withApp();
            for (let attempt = 0; attempt < 5; attempt++) {
                expect((await giveCode(await givePassword(email), `00000${attempt}`)).status).to.equal(422);
            }
            const late = await giveCode(await givePassword(email), await nextCode(secret));
            expect([late.status, wordsOf(late.html).includes('Too many attempts')]).to.deep.equal([429, true]);
            await world.clock.advance({ minutes: 16 });
            expect((await giveCode(await givePassword(email), await codeNow(secret))).status).to.equal(303);
        });

        it('asks for the password again after ten minutes, and accepts the ticket of a sign-in once', async () => {
            const { email, secret } = await withApp();
            const late = await givePassword(email);
            await world.clock.advance({ minutes: 11 });
            expect((await giveCode(late, await codeNow(secret))).to).to.equal('/login');
            const step = await givePassword(email);
            await giveCode(step, await nextCode(secret));
            expect((await giveCode({ browser: visitor(world), ticket: step.ticket }, await nextCode(secret))).to).to.equal('/login');
        });

        it('stores its secret encrypted', async () => {
            const { userId, secret, codes } = await withApp();
            const { rows } = await world.app.db.raw('select sealed::text from totp_secrets where user_id = ?', [userId]);
            expect(Buffer.from(rows[0].sealed.slice(2), 'hex').toString('latin1')).to.not.include(secret);
            const kept = await world.app.db.raw('select code_hash::text from recovery_codes where user_id = ?', [userId]);
            for (const code of codes) expect(JSON.stringify(kept.rows)).to.not.include(Buffer.from(code).toString('hex'));
        });

        it('is required after a new password by mail: access to the mail does not suffice', async () => {
            const { email, secret } = await withApp();
            await world.app.db.raw('update users set verified_at = app_now() where email = ?', [email]);
            const browser = visitor(world);
            await browser.send('/forgot', { email }, { from: '/forgot' });
            let message = await mail.mailTo(email);
            while (message.subject !== 'Reset your password') message = await mail.mailTo(email);
            const token = new URL(message.link ?? '', world.base).searchParams.get('token') ?? '';
            const asked = await browser.send('/reset', { token, password: 'another long sentence' }, { from: message.link ?? '' });
            expect([asked.status, await mayEnter(browser)]).to.deep.equal([200, false]);
            const entered = await giveCode({ browser, ticket: hiddenOf(asked.html, 'ticket') ?? '' }, await nextCode(secret));
            expect(entered.status).to.equal(303);
        });

        it('ends the other sessions, which had proved a password only', async () => {
            const email = freshAddress();
            const person = await confirmed(email);
            const { browser: other } = await givePassword(email);
            expect(await mayEnter(other)).to.equal(true);
            await turnOn(person);
            expect([await mayEnter(other), await mayEnter(person)]).to.deep.equal([false, true]);
        });

        it('is mailed about to confirmed addresses only', async () => {
            const { email, person } = await withApp({ isConfirmed: false });
            await person.send(`${FACTORS}/totp/remove`);
            const { email: sentinel } = await withApp({ isConfirmed: false });
            await mail.mailTo(sentinel);
            expect(mail.mails.filter(({ to }) => to === email).map(({ subject }) => subject)).to.deep.equal(['Confirm your email address']);
        });

        it('refuses a code if the password was changed meanwhile', async () => {
            const { email, person, secret } = await withApp();
            const step = await givePassword(email);
            await person.send('/dashboard/settings/password', { password: PASSWORD, new_password: 'another long sentence' });
            expect((await giveCode(step, await nextCode(secret))).to).to.equal('/login');
        });

        it('that a stranger set up on somebody’s address is removed with the stranger', async () => {
            const { email } = await withApp({ isConfirmed: false });
            const { link = '' } = await mail.mailTo(email);
            const token = new URL(link, world.base).searchParams.get('token') ?? '';
            const owner = visitor(world);
            const done = await owner.send('/verify', { token, new_password: 'another long sentence' }, { from: link });
            expect([done.to, await mayEnter(owner)]).to.deep.equal(['/dashboard', true]);
        });

        it('is disabled after the password was confirmed, with a mail', async () => {
            const email = freshAddress();
            const person = await signUp(world, email);
            await mail.mailTo(email);
            await world.app.db.raw('update users set verified_at = app_now() where email = ?', [email]);
            await turnOn(person);
            expect((await mail.mailTo(email)).text)
                .to.include('An authenticator app was added')
                .and.include('/dashboard/settings');
            await world.clock.advance({ minutes: 16 });
            expect((await person.send(`${FACTORS}/totp/remove`)).to).to.match(/^\/dashboard\/confirm/);
            await person.send('/dashboard/confirm', { password: PASSWORD });
            expect((await person.send(`${FACTORS}/totp/remove`)).to).to.equal(FACTORS);
            expect((await mail.mailTo(email)).text).to.include('was removed from your Routebook account');
            expect((await givePassword(email)).asked.to).to.equal('/dashboard');
        });

        it('whose secret no key of the ring decrypts asks for a recovery code', async () => {
            const { email, secret, codes, userId } = await withApp();
            const other = newTestSecretKeys();
            const sealed = other.seal(secret, 'totp');
            await world.app.db.raw('update totp_secrets set sealed = ? where user_id = ?', [sealed, userId]);
            const step = await givePassword(email);
            const asked = await giveCode(step, await nextCode(secret));
            expect([asked.status, wordsOf(asked.html).includes('Enter a recovery code')]).to.deep.equal([422, true]);
            expect((await giveCode(step, codes[0] ?? '')).status).to.equal(303);
        });
    });

    describe('by a recovery code', () => {
        it('signs in once, after the password, with a mail', async () => {
            const { email, codes } = await withApp();
            await world.app.db.raw('update users set verified_at = app_now() where email = ?', [email]);
            const [code = ''] = codes;
            const typed = ` ${code.toUpperCase().replaceAll('-', ' ')} `;
            expect((await giveCode(await givePassword(email), typed)).status).to.equal(303);
            expect((await giveCode(await givePassword(email), code)).status).to.equal(422);
            let message = await mail.mailTo(email);
            while (message.subject !== 'A recovery code was used') message = await mail.mailTo(email);
            expect(message.text).to.include('You have 9 left').and.include('/dashboard/settings');
        });

        it('is invalid once new ones are made', async () => {
            const { email, person, codes } = await withApp();
            const { html } = await person.send(`${FACTORS}/codes`);
            const fresh = (/<pre id="recovery-codes"[^>]*><code>([^<]+)/.exec(html)?.[1] ?? '').split('\n');
            expect((await giveCode(await givePassword(email), codes[1] ?? '')).status).to.equal(422);
            expect((await giveCode(await givePassword(email), fresh[1] ?? '')).status).to.equal(303);
        });

        it('is one of ten, even if two tabs make new ones by two processes at once', async () => {
            const { person, userId } = await withApp();
            const other = visitor(world, { base: (await world.openAnotherApi()).base });
            for (const [name, value] of person.cookies) other.cookies.set(name, value);
            const held = await world.app.db.transaction();
            await held('recovery_codes').where({ user_id: userId }).forUpdate();
            const made = [person, other].map((tab) => tab.send(`${FACTORS}/codes`));
            const isWaiting = "datname = current_database() and wait_event_type = 'Lock'";
            try {
                await eventually(
                    async () => (await world.app.db('pg_stat_activity').whereRaw(isWaiting)).length,
                    (count) => count === 2,
                );
            } finally {
                await held.rollback();
            }
            expect((await Promise.all(made)).map(({ status }) => status)).to.deep.equal([200, 200]);
            expect(await world.app.db('recovery_codes').where({ user_id: userId })).to.have.length(10);
        });

        it('of another user signs nobody in', async () => {
            const [mine, theirs] = [await withApp(), await withApp()];
            expect((await giveCode(await givePassword(mine.email), theirs.codes[0] ?? '')).status).to.equal(422);
        });
    });

    describe('that is required', () => {
        const openToAll = PAGES.filter(({ worksWithoutFactor }) => worksWithoutFactor === true);

        async function team() {
            const [ownerEmail, memberEmail] = [freshAddress(), freshAddress()];
            const [owner, member] = [await signUp(world, ownerEmail), await signUp(world, memberEmail)];
            const [ownerId, memberId] = [await userOf(world, ownerEmail), await userOf(world, memberEmail)];
            const { rows } = await world.app.db.raw('select workspace_id from memberships where user_id = ?', [ownerId]);
            const workspaceId: string = rows[0].workspace_id;
            await addMember(world.app.db, { workspaceId, userId: memberId, role: 'member' });
            const { apiKey } = await createKey(world.app.db, { workspaceId, userId: memberId, name: 'nightly' });
            const { rows: own } = await world.app.db.raw('select workspace_id from memberships where user_id = ? and role = ?', [
                memberId,
                'owner',
            ]);
            const lookAt = (workspace: string) => member.send('/dashboard/switch', { workspace }, { from: FACTORS });
            const look = () => lookAt(workspaceId);
            await lookAt(own[0].workspace_id);
            return { owner, ownerId, member, memberId, workspaceId, apiKey, look };
        }

        it('by a workspace shows its members their own set-up and nothing else; their keys still work', async () => {
            const { owner, member, apiKey, look } = await team();
            await turnOn(owner);
            expect((await owner.send('/dashboard/workspace/factor', { demands_factor: 'yes' })).to).to.equal('/dashboard/workspace');
            await look();
            for (const page of PAGES.filter((row) => !openToAll.includes(row))) {
                const path = pathOf(page, absentValues());
                const { status, to } = page.method === 'GET' ? await member.get(path) : await member.send(path, {}, { from: FACTORS });
                if (page.audience === 'operator') expect(status, path).to.be.oneOf([303, 404]);
                else expect([status, to], path).to.deep.equal([303, FACTORS]);
            }
            expect(wordsOf((await member.get(FACTORS)).html)).to.include('must have a second factor');
            expect((await withKey(world, apiKey).call('GET', '/v1/account')).status).to.equal(200);
            await turnOn(member);
            expect((await member.get('/dashboard/keys')).status).to.equal(200);
        });

        it('by one workspace leaves the other ones of its members alone', async () => {
            const { owner, member, look } = await team();
            await turnOn(owner);
            await owner.send('/dashboard/workspace/factor', { demands_factor: 'yes' });
            expect((await member.get('/dashboard/keys')).status).to.equal(200);
            const access = wordsOf((await member.get('/dashboard/settings/access')).html);
            expect(access).to.include('Not shown').and.not.include('nightly');
            await look();
            expect((await member.get('/dashboard/keys')).to).to.equal(FACTORS);
        });

        it('by a workspace is required wherever it is named, while another one is open', async () => {
            const { owner, member, memberId, workspaceId } = await team();
            await turnOn(owner);
            await owner.send('/dashboard/workspace/rename', { name: 'The Harbour' });
            await owner.send('/dashboard/workspace/factor', { demands_factor: 'yes' });
            await world.app.db.raw("update memberships set role = 'owner' where workspace_id = ? and user_id = ?", [workspaceId, memberId]);
            const stays = async () => {
                const { rows } = await world.app.db.raw('select name, demands_factor from workspaces where id = ?', [workspaceId]);
                expect(rows[0]).to.deep.equal({ name: 'The Harbour', demands_factor: true });
            };
            for (const page of PAGES.filter(({ audience }) => Array.isArray(audience))) {
                const path = pathOf(page, absentValues());
                const asked = `${path}?workspace=${workspaceId}&_workspace=${workspaceId}`;
                if (page.method === 'GET') {
                    const { html } = await member.get(asked);
                    const content = html.slice(html.indexOf('<main'));
                    expect(content, path).to.not.include('The Harbour').and.not.include(workspaceId);
                } else {
                    const { status, to } = await member.send(path, { _workspace: workspaceId, name: 'Taken' }, { from: FACTORS });
                    expect([status, to], path).to.deep.equal([303, FACTORS]);
                }
            }
            expect((await member.get(`/upgrade?plan=starter&workspace=${workspaceId}`)).html).to.not.include('The Harbour');
            await stays();
            expect((await member.get('/dashboard/keys')).status).to.equal(200);
            expect(wordsOf((await member.get(FACTORS)).html)).to.include('Members of The Harbour must have a second factor');
        });

        it('by a workspace does not prevent its members from deleting their account', async () => {
            const { owner, member, memberId, workspaceId } = await team();
            await turnOn(owner);
            await owner.send('/dashboard/workspace/factor', { demands_factor: 'yes' });
            const refused = await member.send('/dashboard/settings/delete', { password: PASSWORD });
            expect(refused.status).to.equal(422);
            expect(wordsOf(refused.html)).to.include('Set up a second factor first');
            const { rows } = await world.app.db.raw('select role from memberships where workspace_id = ? and user_id = ?', [
                workspaceId,
                memberId,
            ]);
            expect(rows).to.have.length(1);
            await turnOn(member);
            expect((await member.send('/dashboard/settings/delete', { password: PASSWORD })).to).to.equal('/');
        });

        it('is required only by owners who have one themselves', async () => {
            const { owner, member, workspaceId, look } = await team();
            const isDemanded = async () => {
                const { rows } = await world.app.db.raw('select demands_factor from workspaces where id = ?', [workspaceId]);
                return rows[0].demands_factor;
            };
            expect((await owner.send('/dashboard/workspace/factor', { demands_factor: 'yes' })).status).to.equal(422);
            expect(await isDemanded()).to.equal(false);
            await look();
            expect((await member.send('/dashboard/workspace/factor', { demands_factor: 'yes' })).status).to.equal(403);
            await turnOn(owner);
            await owner.send('/dashboard/workspace/factor', { demands_factor: 'yes' });
            expect(await isDemanded()).to.equal(true);
            await owner.send('/dashboard/workspace/factor');
            expect(await isDemanded()).to.equal(false);
            const { rows } = await world.app.db.raw('select action, details from workspace_audit where workspace_id = ? order by id', [
                workspaceId,
            ]);
            expect(rows).to.deep.equal([true, false].map((demanded) => ({ action: 'workspace.factor_changed', details: { demanded } })));
        });

        it('of operators shows them their set-up and nothing else', async () => {
            const operator = await signUp(world, OPERATOR);
            expect((await operator.get('/dashboard')).status).to.equal(200);
            await world.app.db.raw('update users set verified_at = app_now() where email = ?', [OPERATOR]);
            for (const path of ['/dashboard', '/dashboard/operations', '/dashboard/keys', '/registry', '/dashboard/settings']) {
                expect((await operator.get(path)).to, path).to.equal(FACTORS);
            }
            await turnOn(operator);
            expect((await operator.get('/dashboard/operations')).status).to.equal(200);
        });
    });

    it('and is a passkey needs the passkey instead of a code: the password does not suffice', async () => {
        const email = freshAddress();
        await confirmed(email);
        await givePasskey(world, await userOf(world, email));
        const { asked, browser } = await givePassword(email);
        expect([asked.status, await mayEnter(browser)]).to.deep.equal([200, false]);
        expect(asked.html).to.include('data-passkey="get"');
        for (const credential of ['', '{}', 'null', '{"id":"x"}', '[]', '{"id":"AAAA","type":"public-key","response":{}}']) {
            expect((await browser.send('/login/passkey', { credential }, { from: '/login' })).status, credential).to.equal(422);
        }
        expect(await mayEnter(browser)).to.equal(false);
    });

    it('and is a passkey stores 60 challenges of a client in a quarter of an hour, however often the form is sent', async () => {
        const email = freshAddress();
        await confirmed(email);
        await givePasskey(world, await userOf(world, email));
        const { asked, browser } = await givePassword(email);
        await world.app.db('passkey_challenges').delete();
        const hidden = { _form: hiddenOf(asked.html, '_form') ?? '', ticket: hiddenOf(asked.html, 'ticket') ?? '' };
        const answers: PageAnswer[] = [];
        for (let turn = 0; turn < 70; turn++) {
            answers.push(await browser.post('/login/factor', new URLSearchParams({ ...hidden, code: '' }).toString()));
        }
        expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([422]));
        expect(answers[0]?.html).to.include('data-passkey="get"');
        expect(answers.at(-1)?.html).not.to.include('data-passkey');
        expect(wordsOf(answers.at(-1)?.html ?? '')).to.match(/Too many attempts with passkeys; try again in \d+ minutes\./);
        const again = await browser.send('/login', { email, password: PASSWORD });
        expect(again.status).to.equal(429);
        expect(Number(again.headers['retry-after'])).to.be.within(1, 900);
        expect(wordsOf(again.html)).to.include('Too many attempts with passkeys');
        expect(Number((await world.app.db('passkey_challenges').count({ all: '*' }))[0]?.['all'])).to.be.within(1, 60);
    });

    it('and is a passkey needs https, except on localhost', async () => {
        const bare = await openWorld({ workers: 0, config: { publicUrl: 'http://routebook.example' } });
        try {
            const person = await signUp(bare);
            expect(wordsOf((await person.get(`${FACTORS}/passkey`)).html)).to.include('Passkeys need HTTPS');
            expect((await visitor(bare).get('/login/passkey')).html).to.not.include('data-passkey');
        } finally {
            await bare.close();
        }
        expect((await visitor(world).get('/login/passkey')).html).to.include('data-passkey="get"');
    });
});
