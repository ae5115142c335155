import { expect } from 'chai';
import type { AuditEntry } from '../../shared/contracts/audit.ts';
import type { Scopes } from '../../shared/domain/accounts/scopes.ts';
import { eventually } from '../support/eventually.ts';
import { withKey } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { lackOf } from '../support/scopes.ts';
import { useWorld } from '../support/world.ts';
import { PASSWORD, signUp, type Visitor, wordsOf } from './support/visitor.ts';

const FIRST = {
    route_fetch: 'yes',
    route_catalog: 'yes',
    route_jobs: 'yes',
    route_account: 'yes',
    effect_read: 'yes',
    effect_write: 'yes',
};

describe('scopes of keys on the dashboard', () => {
    const world = useWorld({ workers: 0, config: { trustProxy: 1 } });

    async function makeKey(person: Visitor, fields: Record<string, string> = {}): Promise<{ apiKey: string; keyId: string }> {
        const { status, html } = await person.send('/dashboard/keys', { name: 'laptop', expires: 'never', ...fields });
        expect(status, wordsOf(html)).to.equal(200);
        const apiKey = /rb_live_[0-9A-Za-z]{36}/.exec(html)?.[0] ?? '';
        return { apiKey, keyId: (await keyOf(apiKey)).id };
    }

    const keyOf = async (apiKey: string) =>
        dataOf<{ key: { id: string; scopes: Scopes } }>(await withKey(world, apiKey).call('GET', '/v1/account')).key;
    const publishes = async (apiKey: string) => lackOf(await withKey(world, apiKey).publish(aPackage('mine.test'), '?dry_run=true'));

    /** Confirms with the password where a form led to. Returns the path back to the form. */
    async function confirmed(person: Visitor, { to = '' }: { to: string | undefined }): Promise<string> {
        const next = new URL(to, world.base).searchParams.get('next') ?? '';
        expect(to).to.equal(`/dashboard/confirm?next=${encodeURIComponent(next)}`);
        const back = await person.send('/dashboard/confirm', { password: PASSWORD, next });
        expect(back.to).to.equal(next);
        return next;
    }

    it('are asked for without the example of a name in their fields', async () => {
        const person = await signUp(world);
        for (const [path, example] of [
            ['/dashboard/keys', 'laptop'],
            ['/dashboard/keys?for=agent', 'my agent'],
        ] as const) {
            const { html } = await person.get(path);
            expect([...html.matchAll(/name="(\w+)"[^>]* placeholder="([^"]*)"/g)].map(([, ...field]) => field)).to.deep.equal([
                ['name', example],
            ]);
        }
    });

    it('are checked together with the other fields, and each problem stands beside its field', async () => {
        const person = await signUp(world);
        const fields = {
            scopes: 'shown',
            effect_read: 'yes',
            route_fetch: 'yes',
            sites: 'not a site',
            name: 'laptop',
            expires: 'never',
            cap: '-5',
        };
        const { status, html } = await person.send('/dashboard/keys', fields);
        expect(status).to.equal(422);
        expect(html).to.include('id="field-cap-problem"').and.include('id="field-sites-problem"').and.include('not a site');
    });

    it('begin with calls, look-ups, jobs and the account, and store what was ticked', async () => {
        const person = await signUp(world);
        const { html } = await person.get('/dashboard/keys');
        const ticked = [...html.matchAll(/name="(route_\w+|effect_\w+)" value="yes" checked/g)].map(([, name]) => name);
        expect(ticked).to.have.members(Object.keys(FIRST));
        expect((await keyOf((await makeKey(person)).apiKey)).scopes.routes).to.deep.equal(['fetch', 'catalog', 'jobs', 'account']);
        const fields = {
            scopes: 'shown',
            route_publish: 'yes',
            effect_read: 'yes',
            sites: 'Mine.test\nother.test',
            ip_allow: '127.0.0.0/8',
        };
        const { scopes } = await keyOf((await makeKey(person, fields)).apiKey);
        expect(scopes).to.deep.equal({
            effects: ['read'],
            sites: ['mine.test', 'other.test'],
            endpoints: null,
            connections: [],
            routes: ['publish'],
            ip_allow: ['127.0.0.0/8'],
        });
    });

    it('of a key for an agent begin with reads and a daily cap, without access to the account', async () => {
        const person = await signUp(world);
        const { html } = await person.get('/dashboard/keys?for=agent');
        const ticked = [...html.matchAll(/name="(route_\w+|effect_\w+)" value="yes" checked/g)].map(([, name]) => name);
        expect(ticked).to.have.members(['route_fetch', 'route_catalog', 'route_jobs', 'effect_read']);
        const shown = Object.fromEntries(
            [...html.matchAll(/<input [^>]*name="(preset|cap)"[^>]* value="(\w*)"/g)].map(([, k, v]) => [k, v]),
        );
        expect(shown).to.deep.equal({ preset: 'agent', cap: '100' });
        const { apiKey, keyId } = await makeKey(person, { preset: 'agent', cap: '25' });
        expect((await keyOf(apiKey)).scopes).to.deep.equal({
            effects: ['read'],
            sites: null,
            endpoints: null,
            connections: [],
            routes: ['fetch', 'catalog', 'jobs'],
            ip_allow: null,
        });
        expect(await publishes(apiKey)).to.equal('routes: publish');
        expect(wordsOf((await person.get(`/dashboard/keys/${keyId}`)).html)).to.include('of 25 spent today');
        const uncapped = await person.send('/dashboard/keys', { name: 'x', expires: 'never', preset: 'agent', cap: '' });
        expect(uncapped.status).to.equal(422);
        expect(wordsOf(uncapped.html)).to.include('how many credits a day the agent may spend').and.include('New key for an agent');
    });

    it('name the connections that the key may use: none, some, or all', async () => {
        const person = await signUp(world);
        const connectionsOf = async (connections: string) => {
            const { apiKey } = await makeKey(person, { ...FIRST, scopes: 'shown', connections });
            return (await keyOf(apiKey)).scopes.connections;
        };
        expect([await connectionsOf(''), await connectionsOf('con_one\ncon_two'), await connectionsOf('all')]).to.deep.equal([
            [],
            ['con_one', 'con_two'],
            null,
        ]);
        const { html } = await person.send('/dashboard/keys', {
            ...FIRST,
            name: 'x',
            expires: 'never',
            scopes: 'shown',
            connections: 'mine',
        });
        expect(wordsOf(html)).to.include('mine is not the id of a connection');
    });

    it('show an error beside its list, and keep what was typed', async () => {
        const person = await signUp(world);
        const fields = { name: 'x', expires: 'never', scopes: 'shown', route_maintain: 'yes', sites: 'localhost', ip_allow: '10.0.0.0/99' };
        const { status, html } = await person.send('/dashboard/keys', fields);
        expect(status).to.equal(422);
        expect(wordsOf(html)).to.include('localhost is not the name of a site').and.include('10.0.0.0/99 is not an address');
        expect(html)
            .to.match(/name="route_maintain" value="yes" checked/)
            .and.not.match(/name="route_fetch" value="yes" checked/);
        expect(wordsOf(html)).to.include('Choose at least one of these');
    });

    it('are reduced at once, and extended only with a recent confirmation', async () => {
        const person = await signUp(world);
        const { apiKey, keyId } = await makeKey(person, { scopes: 'shown', ...FIRST, route_publish: 'yes' });
        expect(await publishes(apiKey)).to.equal(undefined);
        await world.app.db.raw("update web_sessions set confirmed_at = app_now() - interval '1 hour'");
        const path = `/dashboard/keys/${keyId}`;
        const set = (fields: Record<string, string>) => person.send(`${path}/scopes`, { scopes: 'shown', ...fields }, { from: path });
        expect((await set(FIRST)).to).to.equal(path);
        await eventually(
            () => keyOf(apiKey),
            ({ scopes }) => !scopes.routes.includes('publish'),
            1000,
        );
        expect(await publishes(apiKey)).to.equal('routes: publish');
        const wider = { ...FIRST, route_publish: 'yes' };
        const next = await confirmed(person, await set(wider));
        expect(next).to.match(new RegExp(`^${path}\\?typed=[\\w.-]+$`));
        expect((await keyOf(apiKey)).scopes.routes).not.to.include('publish');
        expect((await person.get(next)).html).to.match(/name="route_publish" value="yes" checked/);
        expect((await set(wider)).to).to.equal(path);
        await eventually(
            () => publishes(apiKey),
            (lack) => lack === undefined,
            1000,
        );
    });

    it('need a password before fewer writes are confirmed', async () => {
        const person = await signUp(world);
        const { keyId } = await makeKey(person);
        await world.app.db.raw("update web_sessions set confirmed_at = app_now() - interval '1 hour'");
        const path = `/dashboard/keys/${keyId}`;
        const set = async (credits: string) => (await person.send(`${path}/confirmation`, { confirm_above: credits }, { from: path })).to;
        const confirm = `/dashboard/confirm?next=${encodeURIComponent(`${path}?typed=`)}`;
        const limit = async () => (await world.app.db('api_keys').where({ id: keyId }).first('confirm_above')).confirm_above;
        expect([await set('5'), await set('3')]).to.deep.equal([path, path]);
        for (const looser of ['4', '']) expect((await set(looser))?.startsWith(confirm), looser).to.equal(true);
        expect(await limit()).to.equal(3);
        await person.send('/dashboard/confirm', { password: PASSWORD, next: path });
        expect([await set('4'), await set('')]).to.deep.equal([path, path]);
        expect(await limit()).to.equal(null);
    });

    it('come back after the confirmation with all that was typed, and only the person saves them', async () => {
        const person = await signUp(world);
        await world.app.db.raw("update web_sessions set confirmed_at = app_now() - interval '1 hour'");
        const fields = {
            preset: 'agent',
            name: 'robot & co',
            expires: 'month',
            cap: '7',
            scopes: 'shown',
            ...FIRST,
            sites: 'a.test\nb.test',
        };
        const next = await confirmed(person, await person.send('/dashboard/keys', { ...fields, route_maintain: 'yes' }));
        const { html } = await person.get(next);
        expect(wordsOf(html)).to.include('Identity confirmed').and.include('No keys yet');
        expect(html)
            .to.include('value="robot &amp; co"')
            .and.include('value="month" selected')
            .and.include('name="cap" type="text" value="7"')
            .and.include('name="preset" value="agent"')
            .and.match(/name="route_maintain" value="yes" checked/)
            .and.match(/a\.test\nb\.test<\/textarea>/)
            .and.match(/<details [^>]*open><summary>Permissions/);
        const stranger = await signUp(world);
        expect((await stranger.get(next)).html, "another person's link").not.to.match(/name="route_maintain" value="yes" checked/);
        await person.get('/dashboard/keys');
        const sites = Array.from({ length: 40 }, (_, at) => `${'long-'.repeat(10)}${at}.${'name-'.repeat(10)}x.test`).join('\n');
        const long = { ...fields, route_maintain: 'yes', sites };
        await world.app.db.raw("update web_sessions set confirmed_at = app_now() - interval '1 hour'");
        expect(await confirmed(person, await person.send('/dashboard/keys', long))).to.equal('/dashboard/keys');
    });

    it('exceed the initial ones only with a recent confirmation, in a new key and in a rotated one', async () => {
        const person = await signUp(world);
        const { keyId } = await makeKey(person, { scopes: 'shown', ...FIRST, route_maintain: 'yes' });
        const { keyId: plain } = await makeKey(person);
        await world.app.db.raw("update web_sessions set confirmed_at = app_now() - interval '1 hour'");
        const fields = { name: 'taken', expires: 'never', scopes: 'shown', ...FIRST, route_maintain: 'yes' };
        const made = await person.send('/dashboard/keys', fields);
        expect(made.status).to.equal(303);
        expect(await confirmed(person, made)).to.match(/^\/dashboard\/keys\?typed=[\w.-]+$/);
        await world.app.db.raw("update web_sessions set confirmed_at = app_now() - interval '1 hour'");
        const rotated = await person.send(`/dashboard/keys/${keyId}/rotate`, { overlap: 'week' });
        expect(rotated.status).to.equal(303);
        expect(await confirmed(person, rotated)).to.match(new RegExp(`^/dashboard/keys/${keyId}\\?typed=[\\w.-]+$`));
        const { rows } = await world.app.db.raw<{ rows: unknown[] }>("select from api_keys where name = 'taken'");
        expect(rows).to.have.lengthOf(0);
        expect((await person.send(`/dashboard/keys/${plain}/rotate`, { overlap: 'week' })).html).to.match(/rb_live_/);
        await makeKey(person);
    });

    it('are kept by a rotated key, with its cap and its confirmation price', async () => {
        const person = await signUp(world);
        const { apiKey, keyId } = await makeKey(person, { scopes: 'shown', route_fetch: 'yes', effect_read: 'yes', sites: 'shop.test' });
        await person.send(`/dashboard/keys/${keyId}/cap`, { cap: '30' });
        await person.send(`/dashboard/keys/${keyId}/confirmation`, { confirm_above: '5' });
        const { html } = await person.send(`/dashboard/keys/${keyId}/rotate`, { overlap: 'hour' });
        const next = await keyOf(/rb_live_[0-9A-Za-z]{36}/.exec(html)?.[0] ?? '');
        expect(next.scopes).to.deep.equal((await keyOf(apiKey)).scopes);
        const row = await world.app.db('api_keys').where({ id: next.id }).first('day_cap', 'confirm_above');
        expect(row).to.deep.equal({ day_cap: 30, confirm_above: 5 });
    });

    it('are in the audit with every other change of keys, and with the address', async () => {
        const person = await signUp(world);
        const { apiKey, keyId } = await makeKey(person, { name: 'server' });
        const audit = async () => dataOf<AuditEntry[]>(await withKey(world, apiKey).call('GET', '/v1/audit'));
        await person.send(`/dashboard/keys/${keyId}/rename`, { name: 'renamed' });
        await person.send(`/dashboard/keys/${keyId}/cap`, { cap: '100' });
        await person.send(`/dashboard/keys/${keyId}/scopes`, { scopes: 'shown', route_account: 'yes', effect_read: 'yes' });
        await person.send('/dashboard/billing/cap', { cap: '500' });
        await person.send('/dashboard/workspace/rename', { name: 'The workspace' });
        await person.send('/dashboard/workspace/invitations', { email: '', role: 'member' });
        const acts = await audit();
        expect(acts.map(({ action }) => action).toReversed()).to.include.members([
            'key.created',
            'key.renamed',
            'cap.changed',
            'key.scopes_changed',
            'workspace.renamed',
        ]);
        for (const { actor, ip } of acts) {
            expect(actor).to.match(/^usr_/);
            expect(ip).to.match(/^10\./);
        }
        const { html } = await person.get('/dashboard/audit');
        expect(wordsOf(html)).to.include('changed the scopes of a key the key renamed').and.include('renamed the workspace');
        expect(wordsOf(html)).to.include('scopes: routes=').and.not.include('{"');
        const { html: some } = await person.get('/dashboard/audit?action=key.renamed');
        expect(wordsOf(some)).to.include('to: renamed, from: server').and.not.include('changed a spending cap');
        await person.send(`/dashboard/keys/${keyId}/revoke`, {});
        expect(wordsOf((await person.get('/dashboard/audit')).html)).to.include('revoked a key');
    });
});
