import { once } from 'node:events';
import { request } from 'node:http';
import { expect } from 'chai';
import type { DeliveryEntry, WebhookEntry } from '../../shared/contracts/webhooks.ts';
import type { Role } from '../../shared/domain/accounts/roles.ts';
import { EVERY_SCOPE } from '../../shared/domain/accounts/scopes.ts';
import { mailNews } from '../../shared/mail/news.ts';
import { createKey, listKeys } from '../../shared/store/accounts/api-keys.ts';
import { deleteAccount } from '../../shared/store/accounts/delete-account.ts';
import { inviteToWorkspace, listInvitations, MAX_INVITATIONS } from '../../shared/store/accounts/invitations.ts';
import { findSignedIn, type SignedIn } from '../../shared/store/accounts/user-sessions.ts';
import { createWorkspace } from '../../shared/store/accounts/workspaces.ts';
import { disableWebhooks, stopDisabled, warnOfFailing } from '../../shared/store/events/disable-webhooks.ts';
import { eventually } from '../support/eventually.ts';
import { holdMails, mailsTo } from '../support/mails.ts';
import { type Person, withKey } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { findPlanted, readStored } from '../support/stored.ts';
import { useWorld } from '../support/world.ts';
import { freshAddress, hiddenOf, signUp, type Visitor, visitor, wordsOf } from './support/visitor.ts';

describe('workspaces on the dashboard', () => {
    const world = useWorld({ workers: 0, config: { trustProxy: 1 } });

    async function me(person: Visitor): Promise<SignedIn> {
        const found = await findSignedIn(world.app.db, person.cookies.get('routebook_session') ?? '');
        if (found === undefined) throw new Error('not signed in');
        return found;
    }

    /** A person with a confirmed address. */
    async function confirmed(email = freshAddress()): Promise<Visitor> {
        const person = await signUp(world, email);
        await world.app.db.raw('update users set verified_at = app_now() where email = ?', [email]);
        return person;
    }

    /** An invitation's link from the owner's page. */
    async function invitation(owner: Visitor, role: Role, email = ''): Promise<string> {
        const { status, html } = await owner.send('/dashboard/workspace/invitations', { email, role });
        expect(status, wordsOf(html)).to.equal(200);
        return new URL(wordsOf(/<pre[^>]*id="invitation-link"[^>]*>([\s\S]*?)<\/pre>/.exec(html)?.[1] ?? '')).pathname;
    }

    const waitingForLocks = async () => {
        const { rows } = await world.app.db.raw<{ rows: [{ count: number }] }>(
            "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
        return rows[0].count;
    };

    async function team(role: Role): Promise<{ owner: Visitor; member: Visitor; workspaceId: string; memberId: string }> {
        const owner = await confirmed();
        const member = await confirmed();
        const workspaceId = (await me(owner)).current?.workspaceId ?? '';
        const link = await invitation(owner, role);
        expect((await member.send(link, {}, { from: link })).to).to.equal('/dashboard');
        return { owner, member, workspaceId, memberId: (await me(member)).userId };
    }

    it('cannot have a name that looks like Routebook on cards', async () => {
        const owner = await confirmed();
        for (const path of ['/dashboard/workspace/rename', '/dashboard/workspaces']) {
            for (const name of ['Routebook', 'R0utebооk official']) {
                const { status, html } = await owner.send(path, { name });
                expect([status, wordsOf(html).includes('could be mistaken for Routebook')], `${path} ${name}`).to.deep.equal([422, true]);
            }
        }
        expect((await me(owner)).workspaces.map(({ name }) => name).join()).to.match(/^workspace-/);
    });

    it('cannot have a name with a web address, since invitations name it to strangers', async () => {
        const owner = await confirmed();
        for (const path of ['/dashboard/workspace/rename', '/dashboard/workspaces']) {
            for (const name of [
                'Log in: https://evil.example',
                'Your prize: www.evil.example',
                'evil.example/login',
                'evil.example:8080/a',
            ]) {
                const { status, html } = await owner.send(path, { name });
                expect([status, wordsOf(html).includes('Choose a name without a web address.')], `${path} ${name}`).to.deep.equal([
                    422,
                    true,
                ]);
            }
        }
        for (const name of ['evil.example', 'Ferries / Trains', 'Who? Us.', 'Smith & Co.'])
            expect((await owner.send('/dashboard/workspace/rename', { name })).status, name).to.equal(303);
    });

    it('have their name in quotation marks in the mail of an invitation, so that none of it looks like our words', async () => {
        const owner = await confirmed();
        expect((await owner.send('/dashboard/workspace/rename', { name: 'Ferries" now. Call "us' })).status).to.equal(303);
        await holdMails(world.app);
        const email = freshAddress();
        await invitation(owner, 'member', email);
        const [mail] = await mailsTo(world.app, email);
        expect(mail?.body).to.include(`join the workspace "Ferries' now. Call 'us" on Routebook`);
    });

    it('cannot have a name that only reads like Routebook because it changes the direction of text', async () => {
        const owner = await confirmed();
        for (const path of ['/dashboard/workspace/rename', '/dashboard/workspaces']) {
            for (const [name, code] of [
                ['\u202ekoobetuoR', 'U+202E'],
                ['\u2067koobetuoR', 'U+2067'],
                ['Shop \u202d.', 'U+202D'],
            ] as const) {
                const { status, html } = await owner.send(path, { name });
                const isTold = wordsOf(html).includes(`Remove the invisible character ${code}.`);
                expect([status, isTold], `${path} ${name}`).to.deep.equal([422, true]);
            }
        }
    });

    it('can have a name in Arabic or Hebrew with the marks of these scripts', async () => {
        const owner = await confirmed();
        const names = ['متجر\u061c 24', 'חנות\u200f (A)', 'חנות \u200eC++'];
        for (const name of names) {
            expect((await owner.send('/dashboard/workspace/rename', { name })).status, name).to.equal(303);
            expect((await me(owner)).current).to.include({ name });
        }
    });

    it('admit whoever has the link of an invitation, once', async () => {
        const owner = await confirmed();
        await owner.send('/dashboard/workspace/rename', { name: 'The Harbour' });
        const link = await invitation(owner, 'admin');
        expect(wordsOf((await visitor(world).get(link)).html))
            .to.include('Join The Harbour')
            .and.include('Sign in or sign up');
        const [first, second] = [await confirmed(), await confirmed()];
        // Both open the form before either sends it, since the page of a used invitation has none.
        const answers = await Promise.all([first.send(link), second.send(link)]);
        expect(answers.map(({ status }) => status).toSorted()).to.deep.equal([303, 404]);
        const winner = answers[0]?.status === 303 ? first : second;
        expect((await me(winner)).current).to.include({ name: 'The Harbour', role: 'admin' });
        expect((await visitor(world).get(link)).status).to.equal(404);
    });

    it('admit only the address that an invitation was mailed to, and only once it is confirmed', async () => {
        const owner = await confirmed();
        const email = freshAddress();
        const link = await invitation(owner, 'member', email);
        const other = await confirmed();
        const refused = await other.send(link);
        expect(refused.status).to.equal(403);
        expect(wordsOf(refused.html)).to.include('This invitation is for');
        const guest = await signUp(world, email);
        const early = await guest.send(link);
        expect(wordsOf(early.html)).to.include('Confirm your email address before you join');
        expect((await me(guest)).workspaces).to.have.length(1);
        await world.app.db.raw('update users set verified_at = app_now() where email = ?', [email]);
        expect((await guest.send(link, {}, { from: link })).to).to.equal('/dashboard');
        expect((await me(guest)).workspaces).to.have.length(2);
    });

    it('let somebody with another account sign out, and come back to the invitation', async () => {
        const email = freshAddress();
        const link = await invitation(await confirmed(), 'member', email);
        const other = await confirmed();
        const { html } = await other.get(link);
        expect(wordsOf(html)).to.include(`Sign out and use ${email}`);
        expect(html).to.include(`<input type="hidden" name="next" value="${link}">`);
        const { to } = await other.send('/logout', { next: link }, { from: link });
        expect(to).to.equal(`/login?next=${encodeURIComponent(link)}`);
        for (const next of ['https://elsewhere.example/', '//elsewhere.example']) {
            const somebody = await confirmed();
            expect((await somebody.send('/logout', { next })).to).to.equal('/login');
        }
    });

    it('admit nobody with an invitation of a person who may not invite any more', async () => {
        const { owner, member: admin, memberId } = await team('admin');
        const [first, second] = [await invitation(admin, 'admin'), await invitation(admin, 'member')];
        const own = await invitation(owner, 'member');
        expect((await owner.send(`/dashboard/workspace/members/${memberId}/role`, { role: 'member' })).status).to.equal(303);
        expect((await admin.get(first)).status).to.equal(404);
        expect((await visitor(world).get(second)).status).to.equal(404);
        await owner.send(`/dashboard/workspace/members/${memberId}/role`, { role: 'owner' });
        const [high, low] = [await invitation(admin, 'owner'), await invitation(admin, 'admin')];
        await owner.send(`/dashboard/workspace/members/${memberId}/role`, { role: 'admin' });
        expect((await visitor(world).get(high)).status).to.equal(404);
        expect((await visitor(world).get(low)).status).to.equal(200);
        expect((await owner.send(`/dashboard/workspace/members/${memberId}/remove`)).status).to.equal(303);
        expect((await admin.send(low, {}, { from: '/dashboard' })).status).to.equal(404);
        expect((await visitor(world).get(own)).status).to.equal(200);
    });

    it('create no invitation for a person who was removed while the request ran', async () => {
        const { owner, member: admin, workspaceId, memberId } = await team('admin');
        await admin.send('/dashboard/switch', { workspace: workspaceId });
        const answers: Promise<{ status: number }>[] = [];
        await world.app.db.transaction(async (trx) => {
            await trx.raw('select from workspaces where id = ? for update', [workspaceId]);
            const forms = [
                () => owner.send(`/dashboard/workspace/members/${memberId}/remove`),
                () => admin.send('/dashboard/workspace/invitations', { email: '', role: 'admin' }),
            ];
            for (const send of forms) {
                answers.push(send());
                await eventually(waitingForLocks, (count) => count === answers.length, 10_000);
            }
        });
        const [removed, invited] = await Promise.all(answers);
        expect([removed?.status, invited?.status]).to.deep.equal([303, 422]);
        expect(await listInvitations(world.app.db, workspaceId)).to.deep.equal([]);
    });

    const removed = { who: 'was removed', path: 'remove', fields: {}, says: 'You are no longer a member of this workspace.' };
    const billing = {
        who: 'got the role billing',
        path: 'role',
        fields: { role: 'billing' },
        says: 'With the role billing you cannot have keys, apps or webhooks.',
    };
    for (const { who, path, fields, says } of [removed, billing])
        it(`get no key and no webhook from a person who ${who} while the request ran`, async () => {
            const { owner, member, workspaceId, memberId } = await team('member');
            await member.send('/dashboard/switch', { workspace: workspaceId });
            const keyOf = async (userId: string) =>
                withKey(world, (await createKey(world.app.db, { workspaceId, userId, name: 'mine', scopes: EVERY_SCOPE })).apiKey);
            const [ofOwner, ofMember] = [await keyOf((await me(owner)).userId), await keyOf(memberId)];
            const body = { url: 'https://receiver.example/', events: ['job.*'] };
            const { webhook_id } = dataOf<WebhookEntry>(await ofOwner.call('POST', '/v1/webhooks', { body }));
            const stopped = dataOf<WebhookEntry>(await ofMember.call('POST', '/v1/webhooks', { body: { ...body, enabled: false } }));
            const keysBefore = await listKeys(world.app.db, workspaceId);
            const answers: Promise<{ status: number }>[] = [];
            await world.app.db.transaction(async (trx) => {
                await trx.raw('select from workspaces where id = ? for update', [workspaceId]);
                const url = 'https://elsewhere.example/';
                const requests = [
                    () => owner.send(`/dashboard/workspace/members/${memberId}/${path}`, fields),
                    () => member.send('/dashboard/keys', { name: 'late', expires: 'never', cap: '' }),
                    () => ofMember.call('POST', '/v1/webhooks', { body: { ...body, url } }),
                    () => ofMember.call('PATCH', `/v1/webhooks/${webhook_id}`, { body: { url } }),
                    () => ofMember.call('PATCH', `/v1/webhooks/${stopped.webhook_id}`, { body: { enabled: true } }),
                    () => ofMember.call('POST', `/v1/webhooks/${webhook_id}/rotate`),
                ];
                for (const send of requests) {
                    answers.push(send());
                    await eventually(waitingForLocks, (count) => count >= Math.min(answers.length, 3), 10_000);
                }
            });
            const [changed, ...late] = await Promise.all(answers);
            expect(changed?.status).to.equal(303);
            // The last three waited in the account's line, and their key was revoked by then.
            expect(late.map(({ status }) => status)).to.deep.equal([403, 403, 401, 401, 401]);
            for (const answer of late.slice(0, 2)) expect(JSON.stringify(answer)).to.include(says);
            expect(await listKeys(world.app.db, workspaceId)).to.have.length(keysBefore.length);
            const webhooks = dataOf<WebhookEntry[]>(await ofOwner.call('GET', '/v1/webhooks'));
            expect(webhooks.map(({ url, enabled }) => [url, enabled])).to.deep.equal([
                [body.url, false],
                [body.url, true],
            ]);
        });

    it('accept no form from a person who was removed while it arrived', async () => {
        const { owner, member: admin, workspaceId, memberId } = await team('admin');
        await admin.send('/dashboard/switch', { workspace: workspaceId });
        const { html } = await admin.get('/dashboard/workspace');
        const body = new URLSearchParams({ _form: hiddenOf(html, '_form') ?? '', _workspace: workspaceId, name: 'Mine still' }).toString();
        const cookie = [...admin.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
        const form = request(new URL('/dashboard/workspace/rename', world.base), {
            method: 'POST',
            headers: { cookie, 'content-type': 'application/x-www-form-urlencoded', 'content-length': body.length },
        });
        const answered = once(form, 'response');
        form.write(body.slice(0, 10));
        expect((await owner.send(`/dashboard/workspace/members/${memberId}/remove`)).status).to.equal(303);
        form.end(body.slice(10));
        const [{ statusCode }] = await answered;
        expect(statusCode).to.equal(404);
        expect((await me(owner)).current?.name).to.not.equal('Mine still');
    });

    it('show the role that each member has, whatever was chosen in another form of the page', async () => {
        const owner = await confirmed();
        const { html } = await owner.send('/dashboard/workspace/invitations', { email: '', role: 'billing' });
        expect([...html.matchAll(/<option value="(\w+)" selected>/g)].map(([, role]) => role)).to.deep.equal(['owner', 'member']);
    });

    it('delete invitations that were cancelled or are older than a week', async () => {
        const owner = await confirmed();
        const [taken, old] = [await invitation(owner, 'member'), await invitation(owner, 'member')];
        const { html } = await owner.get('/dashboard/workspace');
        const paths = [...html.matchAll(/action="(\/dashboard\/workspace\/invitations\/inv_[^"]+)"/g)].map(([, path]) => path ?? '');
        expect((await owner.send(paths[1] ?? '')).to).to.equal('/dashboard/workspace');
        expect((await visitor(world).get(taken)).status).to.equal(404);
        expect((await visitor(world).get(old)).status).to.equal(200);
        await world.clock.advance({ days: 7, seconds: 1 });
        expect((await visitor(world).get(old)).status).to.equal(404);
    });

    it('can be joined only with a confirmed address', async () => {
        const person = await signUp(world);
        expect(wordsOf((await person.get('/dashboard/workspace')).html)).to.include('Confirm your email address to send invitations.');
        expect((await person.send('/dashboard/workspace/invitations', { email: '', role: 'member' })).status).to.equal(422);
    });

    it('revoke the keys of a member who leaves or is removed, within a second and for good', async () => {
        for (const goes of ['leave', 'remove'] as const) {
            const { owner, member, workspaceId, memberId } = await team('member');
            const { apiKey } = await createKey(world.app.db, { workspaceId, userId: memberId, name: 'mine' });
            const caller = withKey(world, apiKey);
            expect((await caller.call('GET', '/v1/account')).status).to.equal(200);
            if (goes === 'leave') await member.send('/dashboard/workspace/leave');
            else await owner.send(`/dashboard/workspace/members/${memberId}/remove`);
            await eventually(
                async () => (await caller.call('GET', '/v1/account')).status,
                (status) => status === 401,
                1000,
            );
            expect((await me(member)).workspaces.map((membership) => membership.workspaceId)).to.not.include(workspaceId);
            const link = await invitation(owner, 'member');
            await member.send(link, {}, { from: link });
            await world.app.keys.flush();
            expect((await caller.call('GET', '/v1/account')).status).to.equal(401);
        }
    });

    it('tell the webhooks of a member nothing more once the member leaves, is removed or deletes the account', async () => {
        for (const goes of ['leave', 'remove', 'billing', 'delete'] as const) {
            const { owner, member, workspaceId, memberId } = await team('member');
            const keyOf = async (userId: string) =>
                withKey(world, (await createKey(world.app.db, { workspaceId, userId, name: 'mine', scopes: EVERY_SCOPE })).apiKey);
            const [ofOwner, ofMember] = [await keyOf((await me(owner)).userId), await keyOf(memberId)];
            const body = { url: 'https://receiver.example/hook?token=abc', events: ['job.*'] };
            const add = async (by: Person) => dataOf<WebhookEntry>(await by.call('POST', '/v1/webhooks', { body })).webhook_id;
            const [own, kept, moved] = [await add(ofMember), await add(ofOwner), await add(ofOwner)];
            await ofMember.call('PATCH', `/v1/webhooks/${moved}`, { body: { url: 'https://elsewhere.example/' } });
            await ofMember.call('POST', `/v1/webhooks/${own}/test`);
            await member.send('/dashboard/switch', { workspace: workspaceId });
            expect(wordsOf((await member.get('/dashboard/workspace')).html)).to.include('webhooks whose URL you last chose');
            expect(wordsOf((await owner.get('/dashboard/workspace')).html)).to.include('disables the webhooks whose URL they last chose');
            if (goes === 'leave') await member.send('/dashboard/workspace/leave');
            else if (goes === 'remove') await owner.send(`/dashboard/workspace/members/${memberId}/remove`);
            else if (goes === 'billing') await owner.send(`/dashboard/workspace/members/${memberId}/role`, { role: 'billing' });
            else expect(await deleteAccount(world.app.db, memberId)).to.equal(true);
            for (const [id, enabled] of [
                [own, false],
                [moved, false],
                [kept, true],
            ] as const) {
                const webhook = dataOf<WebhookEntry>(await ofOwner.call('GET', `/v1/webhooks/${id}`));
                expect(webhook, `${goes} ${id === moved}`).to.include({ enabled, disabled_reason: enabled ? null : 'caller' });
            }
            await stopDisabled(world.app.db);
            const sent = dataOf<DeliveryEntry[]>(await ofOwner.call('GET', `/v1/webhooks/${own}/deliveries`));
            expect(sent.map(({ status }) => status)).to.deep.equal(['stopped']);
            const news: { line: string }[] = await world.app.db('workspace_news').where({ workspace_id: workspaceId });
            expect(news.filter(({ line }) => line.includes(`(${own}) was disabled`) && !line.includes('token=abc'))).to.have.length(1);
        }
    });

    it('lose a member while workers disable or warn of webhooks of that member', async () => {
        const disable = (id: string) => disableWebhooks(world.app.db, [id], 'gone');
        const warn = (id: string) => warnOfFailing(world.app.db, [id]);
        for (const work of [disable, warn]) {
            const { owner, workspaceId, memberId } = await team('member');
            const { apiKey } = await createKey(world.app.db, { workspaceId, userId: memberId, name: 'mine', scopes: EVERY_SCOPE });
            const body = { url: 'https://receiver.example/', events: ['job.*'] };
            const { webhook_id } = dataOf<WebhookEntry>(await withKey(world, apiKey).call('POST', '/v1/webhooks', { body }));
            const webhook = () => world.app.db('webhooks').where({ id: webhook_id });
            await webhook().update({ failing_since: world.app.db.raw('app_now()') });
            const started: Promise<unknown>[] = [];
            await world.app.db.transaction(async (trx) => {
                await trx.raw('select from webhooks where id = ? for update', [webhook_id]);
                for (const start of [() => work(webhook_id), () => owner.send(`/dashboard/workspace/members/${memberId}/remove`)]) {
                    started.push(start());
                    await eventually(waitingForLocks, (count) => count === started.length, 10_000);
                }
            });
            const [, removed] = await Promise.all(started);
            expect(removed).to.include({ status: 303 });
            expect(await webhook().first('is_enabled')).to.deep.equal({ is_enabled: false });
        }
    });

    it('tell their owners who joined, and an owner who is removed or loses the role', async () => {
        await holdMails(world.app);
        const { owner, member, workspaceId } = await team('owner');
        const [{ email: mine, userId }, { email: theirs }] = [await me(owner), await me(member)];
        const lastMail = async (email: string) => {
            await mailNews(world.app.db, world.app.secrets, world.app.publicUrl());
            return (await mailsTo(world.app, email)).at(-1)?.body ?? '';
        };
        expect(await lastMail(mine))
            .to.include(`${theirs} joined`)
            .and.include('owner');
        const change = (path: string, fields = {}) => member.send(path, { _workspace: workspaceId, ...fields });
        expect((await change(`/dashboard/workspace/members/${userId}/role`, { role: 'member' })).status).to.equal(303);
        expect(await lastMail(mine))
            .to.include('Your role in the workspace')
            .and.include('is now member')
            .and.include(theirs);
        expect((await change(`/dashboard/workspace/members/${userId}/remove`)).status).to.equal(303);
        expect(await lastMail(mine))
            .to.include('You were removed from the workspace')
            .and.include(theirs);
    });

    it('are left only after a question that names the workspace', async () => {
        const { member, workspaceId } = await team('member');
        const { name } = await world.app.db('workspaces').where({ id: workspaceId }).first('name');
        expect((await member.get('/dashboard/workspace')).html).to.include(`<p><strong>Leave ${name}?</strong></p>`);
    });

    it('keep at least one owner, even if two leave at the same time', async () => {
        const { owner, member, workspaceId } = await team('owner');
        const both = [owner, member];
        await Promise.all(both.map((person) => person.send('/dashboard/switch', { workspace: workspaceId })));
        const answers = await Promise.all(both.map((person) => person.send('/dashboard/workspace/leave')));
        expect(answers.map(({ status }) => status).toSorted()).to.deep.equal([303, 422]);
        const { rows } = await world.app.db.raw(`select count(*) from memberships where workspace_id = ? and role = 'owner'`, [
            workspaceId,
        ]);
        expect(rows[0].count).to.equal(1);
    });

    it('do not let the only owner take a lower role', async () => {
        const owner = await confirmed();
        const { userId } = await me(owner);
        const { status, html } = await owner.send(`/dashboard/workspace/members/${userId}/role`, { role: 'member' });
        expect(status).to.equal(422);
        expect(wordsOf(html)).to.include('needs at least one owner');
        expect((await me(owner)).current?.role).to.equal('owner');
    });

    describe('have four roles:', () => {
        const managing = (id: string): readonly (readonly [string, Record<string, string>])[] => [
            ['/dashboard/workspace/rename', { name: 'Renamed' }],
            ['/dashboard/workspace/invitations', { email: '', role: 'member' }],
            [`/dashboard/workspace/members/${id}/role`, { role: 'admin' }],
            [`/dashboard/workspace/members/${id}/remove`, {}],
        ];

        for (const role of ['member', 'billing'] as const) {
            it(`${role} changes neither the name nor the members`, async () => {
                const { owner, member } = await team(role);
                const ownerId = (await me(owner)).userId;
                for (const [path, fields] of managing(ownerId)) expect((await member.send(path, fields)).status, path).to.equal(403);
                expect((await me(owner)).current?.role).to.equal('owner');
            });
        }

        it('billing has no keys, and loses existing ones', async () => {
            const { owner, member, workspaceId, memberId } = await team('member');
            const { apiKey } = await createKey(world.app.db, { workspaceId, userId: memberId, name: 'mine' });
            expect((await owner.send(`/dashboard/workspace/members/${memberId}/role`, { role: 'billing' })).to).to.equal(
                '/dashboard/workspace',
            );
            await eventually(
                async () => (await withKey(world, apiKey).call('GET', '/v1/account')).status,
                (status) => status === 401,
                1000,
            );
            expect((await member.get('/dashboard/keys')).status).to.equal(403);
            expect((await member.send('/dashboard/keys', { name: 'new', expires: 'never' })).status).to.equal(403);
            expect(wordsOf((await member.get('/dashboard')).html)).to.not.include('New key');
        });

        it('admin manages members, but creates and changes no owner', async () => {
            const { owner, member, workspaceId, memberId } = await team('admin');
            const ownerId = (await me(owner)).userId;
            expect((await member.send(`/dashboard/workspace/members/${ownerId}/role`, { role: 'member' })).status).to.equal(422);
            expect((await member.send(`/dashboard/workspace/members/${ownerId}/remove`)).status).to.equal(422);
            expect((await member.send(`/dashboard/workspace/members/${memberId}/role`, { role: 'owner' })).status).to.equal(422);
            expect((await member.send('/dashboard/workspace/invitations', { email: '', role: 'owner' })).status).to.equal(422);
            const third = await confirmed();
            const link = await invitation(member, 'member');
            await third.send(link, {}, { from: link });
            const thirdId = (await me(third)).userId;
            expect((await member.send(`/dashboard/workspace/members/${thirdId}/role`, { role: 'admin' })).to).to.equal(
                '/dashboard/workspace',
            );
            expect((await member.send(`/dashboard/workspace/members/${thirdId}/remove`)).to).to.equal('/dashboard/workspace');
            const { rows } = await world.app.db.raw('select role from memberships where workspace_id = ? order by role', [workspaceId]);
            expect(rows.map(({ role }: { role: string }) => role)).to.deep.equal(['admin', 'owner']);
        });
    });

    it('can be switched, while a form acts on the workspace of its page', async () => {
        const person = await confirmed();
        const first = (await me(person)).current?.workspaceId ?? '';
        expect((await person.send('/dashboard/workspaces', { name: 'Second' })).to).to.equal('/dashboard/workspace');
        expect((await me(person)).current).to.include({ name: 'Second', role: 'owner' });
        await person.send('/dashboard/switch', { workspace: first });
        const { html } = await person.get('/dashboard/workspace');
        expect(hiddenOf(html, '_workspace')).to.equal(first);
        const second = (await me(person)).workspaces.find(({ name }) => name === 'Second')?.workspaceId ?? '';
        await person.send('/dashboard/switch', { workspace: second });
        await person.send('/dashboard/workspace/rename', { name: 'First', _workspace: first });
        expect((await me(person)).workspaces.map(({ name }) => name)).to.have.members(['First', 'Second']);
    });

    it('are at most twenty for one person', async () => {
        const person = await confirmed();
        for (let count = 1; count < 20; count++) {
            expect((await person.send('/dashboard/workspaces', { name: `Number ${count}` })).status).to.equal(303);
        }
        const { status, html } = await person.send('/dashboard/workspaces', { name: 'One too many' });
        expect(status).to.equal(422);
        expect(wordsOf(html)).to.include('You can be in at most 20 workspaces');
    });

    it('are at most twenty for one person, however many invitations are used at once', async () => {
        const person = await confirmed();
        const { userId } = await me(person);
        for (let count = 1; count < 19; count++) await createWorkspace(world.app.db, userId, `Number ${count}`);
        const owners = await Promise.all([confirmed(), confirmed(), confirmed()]);
        const links = await Promise.all(owners.map((owner) => invitation(owner, 'member')));
        const answers = await Promise.all(links.map((link) => person.send(link, {}, { from: link })));
        expect(answers.map(({ status }) => status).toSorted()).to.deep.equal([303, 403, 403]);
        expect((await me(person)).workspaces).to.have.length(20);
        const refused = answers.find(({ status }) => status === 403);
        expect(wordsOf(refused?.html ?? '')).to.include('You are in too many workspaces');
    });

    it('store nothing of an invitation from which its link could be made', async () => {
        const owner = await confirmed();
        await owner.send('/dashboard/workspace/rename', { name: 'The {token}' });
        const email = freshAddress();
        await holdMails(world.app);
        const link = await invitation(owner, 'member', email);
        const [letter] = await mailsTo(world.app, email);
        // The decrypted mail before it is sent. The link is generated when it is sent.
        expect(letter?.body).to.include('/invite/{token}').and.not.include(link);
        const token = link.slice('/invite/'.length);
        expect(findPlanted(await readStored(world.app, world.logged), { token, mac: token.slice(22) })).to.deep.equal([]);
        const { rows } = await world.app.db.raw<{ rows: { id: string; token_hash: Buffer }[] }>(
            'select id, token_hash from workspace_invitations where address = ?',
            [email],
        );
        const [{ id, token_hash: hash }] = rows as [{ id: string; token_hash: Buffer }];
        const guesses = [
            id,
            hash.toString('base64url'),
            hash.toString('hex'),
            token.slice(0, 22),
            `${token.slice(0, 22)}${'A'.repeat(43)}`,
        ];
        for (const guess of guesses) expect((await visitor(world).get(`/invite/${guess}`)).status, guess).to.equal(404);
        expect((await visitor(world).get(link)).status).to.equal(200);
    });

    it('have at most fifty open invitations, however many are created at once', async () => {
        const owner = await confirmed();
        const { userId, current } = await me(owner);
        const order = { workspaceId: current?.workspaceId ?? '', role: 'member', email: undefined, by: userId } as const;
        for (let count = 0; count < MAX_INVITATIONS - 4; count++) await inviteToWorkspace(world.app.db, order);
        const made = await Promise.all(Array.from({ length: 12 }, () => inviteToWorkspace(world.app.db, order)));
        expect(made.filter(({ ok }) => ok)).to.have.length(4);
        const { status, html } = await owner.send('/dashboard/workspace/invitations', { email: '', role: 'member' });
        expect(status).to.equal(422);
        expect(wordsOf(html)).to.include('You can have at most 50 pending invitations.');
    });

    it('that a person left completely are created again', async () => {
        const { member } = await team('member');
        for (const membership of (await me(member)).workspaces)
            await world.app.db.raw('delete from memberships where workspace_id = ? and user_id = ?', [
                membership.workspaceId,
                (await me(member)).userId,
            ]);
        expect((await member.get('/dashboard')).to).to.equal('/dashboard/workspace');
        expect((await member.get('/dashboard/keys')).to).to.equal('/dashboard/workspace');
        const page = await member.get('/dashboard/workspace');
        expect(wordsOf(page.html)).to.include('You have no workspace.');
        expect((await member.send('/dashboard/workspaces', { name: 'Again' })).to).to.equal('/dashboard/workspace');
        expect((await member.get('/dashboard')).status).to.equal(200);
    });
});
