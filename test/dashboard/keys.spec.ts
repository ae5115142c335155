import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { publishAsStarter } from '../../bin/demo/starter-registry.ts';
import { eventually } from '../support/eventually.ts';
import { withKey } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { SHOP_HOSTS, shopPackage, useShop } from '../support/shop.ts';
import { needs } from '../support/system-programs.ts';
import { useWorld } from '../support/world.ts';
import { settle } from './support/settled.ts';
import { signUp, type Visitor, visitor, wordsOf } from './support/visitor.ts';

const run = promisify(execFile);

describe('keys on the dashboard', () => {
    const world = useWorld({ config: { trustProxy: 1, egressHosts: SHOP_HOSTS } });
    const shop = useShop();

    before(async () => {
        const document = shopPackage(shop.port);
        const [product, ...rest] = document.endpoints;
        if (product === undefined) throw new Error('the shop has a product');
        await publishAsStarter(world.app, { ...document, endpoints: [{ ...product, examples: [{ params: { id: 7 } }] }, ...rest] });
    });

    /** Creates a key, and reads it from the page that shows it. */
    async function makeKey(person: Visitor, fields: Record<string, string> = {}): Promise<{ apiKey: string; keyId: string; html: string }> {
        const { status, html } = await person.send('/dashboard/keys', { name: 'laptop', expires: 'never', ...fields });
        expect(status, wordsOf(html)).to.equal(200);
        const apiKey = /rb_live_[0-9A-Za-z]{36}/.exec(html)?.[0] ?? '';
        const { key } = dataOf<{ key: { id: string } }>(await withKey(world, apiKey).call('GET', '/v1/account'));
        return { apiKey, keyId: key.id, html };
    }

    const statusOf = async (apiKey: string) => (await withKey(world, apiKey).call('GET', '/v1/account')).status;

    it('are shown once, with a curl line that works unchanged', async function () {
        needs(this, 'curl');
        const person = await signUp(world);
        const { apiKey, html } = await makeKey(person);
        const line = wordsOf(/<pre[^>]*id="curl"[^>]*>([\s\S]*?)<\/pre>/.exec(html)?.[1] ?? '');
        const { stdout } = await run('/bin/sh', ['-c', line.replaceAll('localhost', '127.0.0.1')]);
        expect(JSON.parse(stdout)).to.deep.include({ success: true }).and.to.have.nested.property('data.id', 7);
        const { html: list } = await person.get('/dashboard/keys');
        expect(list).to.include(apiKey.slice(0, 12)).and.not.include(apiKey);
        await eventually(
            async () => wordsOf((await person.get('/dashboard')).html),
            (words) => words.includes('shop.test product success 1'),
        );
        expect(wordsOf((await person.get('/dashboard')).html)).to.include('1,049 left');
    });

    it('are revoked only after a question that names the key', async () => {
        const person = await signUp(world);
        const { keyId } = await makeKey(person, { name: 'old laptop' });
        expect((await person.get(`/dashboard/keys/${keyId}`)).html).to.include('<p><strong>Revoke “old laptop”?</strong></p>');
    });

    it('say where a list of many that have ended is cut', async () => {
        const person = await signUp(world);
        const { keyId } = await makeKey(person, { name: 'old laptop' });
        await world.app.db.raw(
            `insert into api_keys (id, workspace_id, user_id, name, hash, prefix, created_at, revoked_at)
             select 'key_ended' || n, k.workspace_id, k.user_id, 'ended', sha256(('ended' || n)::bytea), 'rb_live_ende', app_now(), app_now()
             from api_keys k, generate_series(1, 1000) n where k.id = ?`,
            [keyId],
        );
        expect(wordsOf((await person.get('/dashboard/keys')).html)).to.include('The newest 50 keys revoked or expired');
        expect(wordsOf((await person.get('/dashboard/usage')).html)).to.include('all (only the newest 1,000 are listed)');
    });

    it('end at the chosen time, and show when they were last used', async () => {
        const person = await signUp(world);
        const { apiKey } = await makeKey(person, { expires: 'month' });
        await eventually(
            async () => wordsOf((await person.get('/dashboard/keys')).html),
            (words) => words.includes('just now in 30 days'),
            5000,
        );
        await world.clock.advance({ days: 29 });
        expect(await statusOf(apiKey)).to.equal(200);
        await world.clock.advance({ days: 2 });
        await eventually(
            () => statusOf(apiKey),
            (status) => status === 401,
            1000,
        );
    });

    it('that are rotated remain valid beside the new one, as long as was chosen', async () => {
        const person = await signUp(world);
        const old = await makeKey(person, { name: 'server' });
        const answer = await person.send(`/dashboard/keys/${old.keyId}/rotate`, { overlap: 'hour' });
        const fresh = /rb_live_[0-9A-Za-z]{36}/.exec(answer.html)?.[0] ?? '';
        expect(wordsOf(answer.html)).to.include('server').and.include('for another hour');
        expect([await statusOf(old.apiKey), await statusOf(fresh)]).to.deep.equal([200, 200]);
        await world.clock.advance({ hours: 1, seconds: 1 });
        await eventually(
            () => statusOf(old.apiKey),
            (status) => status === 401,
            1000,
        );
        expect(await statusOf(fresh)).to.equal(200);
    });

    it('that are rotated at once, or revoked, are refused within a second in every process', async () => {
        const other = await world.openAnotherApi();
        const person = await signUp(world);
        const statusThere = async (apiKey: string) =>
            (await withKey(world, apiKey).call('GET', '/v1/account', { base: other.base })).status;
        for (const [act, fields] of [
            ['rotate', { overlap: 'now' }],
            ['revoke', {}],
        ] as const) {
            const { apiKey, keyId } = await makeKey(person);
            expect([await statusOf(apiKey), await statusThere(apiKey)]).to.deep.equal([200, 200]);
            await person.send(`/dashboard/keys/${keyId}/${act}`, fields);
            await eventually(
                () => statusThere(apiKey),
                (status) => status === 401,
                1000,
            );
            expect(await statusOf(apiKey)).to.equal(401);
            expect(wordsOf((await person.get(`/dashboard/keys/${keyId}`)).html)).to.include('revoked');
        }
    });

    it('are renamed, with an error beside a wrong name', async () => {
        const person = await signUp(world);
        const { keyId } = await makeKey(person);
        expect((await person.send(`/dashboard/keys/${keyId}/rename`, { name: '  desk  ' })).to).to.equal(`/dashboard/keys/${keyId}`);
        expect(wordsOf((await person.get('/dashboard/keys')).html)).to.include('desk');
        const { status, html } = await person.send(`/dashboard/keys/${keyId}/rename`, { name: 'x'.repeat(61) });
        expect(status).to.equal(422);
        expect(wordsOf(html)).to.include('Use at most 60 characters.');
        const nameless = await person.send('/dashboard/keys', { name: ' ', expires: 'never' });
        expect(wordsOf(nameless.html)).to.include('Fill this in.');
    });

    it('of others are visible to owners and admins, who may revoke but not use them; members see their own', async () => {
        const owner = await settle(world);
        const { rows } = await world.app.db.raw('select id from api_keys where user_id = ? and workspace_id = ?', [
            owner.values.user_id,
            owner.workspaceId,
        ]);
        const theirs = rows[0].id;
        expect(wordsOf((await owner.get('/dashboard/keys')).html)).to.include('shared notebook');
        expect((await owner.send(`/dashboard/keys/${theirs}/rotate`, { overlap: 'now' })).status).to.equal(404);
        expect((await owner.send(`/dashboard/keys/${theirs}/revoke`)).to).to.equal('/dashboard/keys');

        const member = visitor(world);
        const { rows: people } = await world.app.db.raw('select email from users where id = ?', [owner.values.user_id]);
        await member.send('/login', { email: people[0].email, password: 'four words for ada' });
        await member.send('/dashboard/switch', { workspace: owner.workspaceId });
        const { html } = await member.get('/dashboard/keys');
        expect(wordsOf(html)).to.include('Your keys in this workspace.').and.not.include('laptop nightly');
        expect((await member.get(`/dashboard/keys/${owner.values.key_id}`)).status).to.equal(404);
        expect((await member.send(`/dashboard/keys/${owner.values.key_id}/revoke`)).status).to.equal(404);
        expect(await statusOf(owner.apiKey)).to.equal(200);
    });

    it('are at most a hundred working ones in a workspace', async () => {
        const person = await signUp(world);
        await makeKey(person);
        await world.app.db.raw(
            `insert into api_keys (id, workspace_id, user_id, name, hash, prefix)
             select 'key_many' || n, workspace_id, user_id, 'many', sha256(convert_to(id || n, 'UTF8')), prefix
             from api_keys, generate_series(1, 99) n where id = (select id from api_keys order by created_at desc limit 1)`,
        );
        const { status, html } = await person.send('/dashboard/keys', { name: 'one more', expires: 'never' });
        expect(status).to.equal(422);
        expect(wordsOf(html)).to.include('at most 100 active keys');
    });

    it('cannot exceed that by rotating, even many at once: the old one must end', async () => {
        const person = await signUp(world);
        const old = await makeKey(person);
        await fillUp(old.keyId, 97);
        const { rows } = await world.app.db.raw<{ rows: { id: string }[] }>(
            "select id from api_keys where id like 'key_full%' order by id limit 4",
        );
        const rotated = await Promise.all(rows.map(({ id }) => person.send(`/dashboard/keys/${id}/rotate`, { overlap: 'day' })));
        expect(rotated.map(({ status }) => status).toSorted()).to.deep.equal([200, 200, 422, 422]);
        const refused = await person.send(`/dashboard/keys/${old.keyId}/rotate`, { overlap: 'day' });
        expect(refused.status).to.equal(422);
        expect(wordsOf(refused.html)).to.include('at most 100 active keys').and.include('or expire this one immediately');
        expect(await statusOf(old.apiKey)).to.equal(200);
        const answer = await person.send(`/dashboard/keys/${old.keyId}/rotate`, { overlap: 'now' });
        expect(answer.html).to.match(/rb_live_[0-9A-Za-z]{36}/);
    });

    /** Adds keys to the workspace, as if they had been created one by one. */
    async function fillUp(keyId: string, count: number): Promise<void> {
        await world.app.db.raw(
            `insert into api_keys (id, workspace_id, user_id, name, hash, prefix)
             select 'key_full' || n, workspace_id, user_id, 'many', sha256(convert_to(id || n, 'UTF8')), prefix
             from api_keys, generate_series(1, ?) n where id = ?`,
            [count, keyId],
        );
    }
});
