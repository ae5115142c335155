import { expect } from 'chai';
import { NO_POLICY, type SitePolicy } from '../../shared/domain/site/site-policy.ts';
import { addMember } from '../../shared/store/accounts/workspaces.ts';
import { endCheck } from '../../shared/store/registry/claim-checks.ts';
import { setPolicy } from '../../shared/store/registry/site-policies.ts';
import { blockDomain } from '../../shared/store/registry/sites.ts';
import { type NameServer, openNameServer } from '../support/name-server.ts';
import { withKey } from '../support/people.ts';
import { dataOf, makeOwner } from '../support/routes.ts';
import { openWorld, type World } from '../support/world.ts';
import { openBrowser, openTab, PHONE } from './support/browser.ts';
import { type Settled, settle } from './support/settled.ts';
import { hiddenOf, PASSWORD, signUp, type Visitor, wordsOf } from './support/visitor.ts';

describe('the domains of a workspace on the dashboard', () => {
    let world: World;
    let names: NameServer;
    const hosts = new Map<string, string[]>();

    before(async () => {
        names = await openNameServer();
        // These domains have only a forbidden address, so that the proof by file always fails.
        for (let index = 1; index <= 20; index++) hosts.set(`held${index}.example`, ['10.1.2.3']);
        world = await openWorld({ config: { trustProxy: 1, egressHosts: hosts, claimResolvers: [names.resolver] } });
    });
    after(async () => {
        await world.close();
        await names.close();
    });

    let number = 0;
    const freshDomain = () => `held${++number}.example`;
    const valueIn = (html: string) => /routebook-claim=[0-9A-Za-z]{32}/.exec(html)?.[0] ?? '';
    const idIn = (html: string) => /clm_[0-9A-Za-z]+/.exec(html)?.[0] ?? '';

    async function claim(person: Visitor, domain: string) {
        const made = await person.send('/dashboard/domains', { domain });
        expect([made.status, made.to]).to.deep.equal([303, `/dashboard/domains/${domain}`]);
        const { html } = await person.get(made.to ?? '');
        return { html, value: valueIn(html), at: `/dashboard/domains/${domain}/claims/${idIn(html)}` };
    }

    it('are claimed by name, with both methods of proof to copy', async () => {
        const person = await signUp(world);
        expect(wordsOf((await person.get('/dashboard/domains')).html)).to.include('No domains yet');
        const from = await person.get('/dashboard/domains?domain=shop.held0.example');
        expect(from.html).to.include('value="held0.example"');
        const made = await person.send('/dashboard/domains', { domain: 'https://www.Shop.held0.co.uk/' });
        expect(made.to).to.equal('/dashboard/domains/held0.co.uk');
        const { html, value } = await claim(person, freshDomain());
        const domain = `held${number}.example`;
        expect(wordsOf(html)).to.include('Claim created.').and.include('not checked yet').and.include('this claim expires on');
        for (const text of [`_routebook.${domain}`, `https://${domain}/.well-known/routebook.txt`, value])
            expect(html).to.include(`<code>${text}</code>`);
        const list = wordsOf((await person.get('/dashboard/domains')).html);
        expect(list).to.include(domain).and.include('not verified').and.include('Verify');
    });

    it('that are public suffixes are proved by their file only, and the page shows nothing else', async () => {
        const { html } = await claim(await signUp(world), 'duckdns.org');
        expect(html).to.include('https://duckdns.org/.well-known/routebook.txt').and.not.include('_routebook.duckdns.org');
        expect(wordsOf(html)).to.include('This domain is a public suffix');
    });

    it('are refused if they are not domains, and beyond ten open claims', async () => {
        const person = await signUp(world);
        for (const [domain, words] of [
            ['', 'Fill this in.'],
            ['localhost', 'is a single label without a domain'],
            ['a b', ''],
        ] as const) {
            const { status, html } = await person.send('/dashboard/domains', { domain });
            expect([domain, status]).to.deep.equal([domain, 422]);
            expect(wordsOf(html)).to.include(words);
            expect(html).to.include('id="field-domain-problem"');
        }
        for (let index = 0; index < 10; index++) await claim(person, `many${index}.example`);
        const full = await person.send('/dashboard/domains', { domain: 'many10.example' });
        expect([full.status, full.headers['retry-after'] === undefined]).to.deep.equal([429, false]);
        expect(wordsOf(full.html)).to.include('10 unproven claims, which is the limit');
    });

    it('are claimed once: a second time leads to the value that waits for its proof', async () => {
        const person = await signUp(world);
        const domain = freshDomain();
        const { value } = await claim(person, domain);
        const again = await person.send('/dashboard/domains', { domain: `www.${domain}` });
        expect(again.to).to.equal(`/dashboard/domains/${domain}`);
        const { html } = await person.get(again.to ?? '');
        expect(wordsOf(html)).to.include('already has a claim on this domain');
        expect(html.match(/clm_[0-9A-Za-z]+\/check/g)).to.have.length(1);
        expect(valueIn(html)).to.equal(value);
    });

    it('are checked on request: first with the reason for a failure, then proved', async () => {
        const person = await signUp(world);
        const domain = freshDomain();
        const { at, value } = await claim(person, domain);
        const failed = await person.send(`${at}/check`);
        expect([failed.status, failed.to]).to.deep.equal([303, `/dashboard/domains/${domain}`]);
        const { html: after } = await person.get(failed.to ?? '');
        expect(after).to.include('<p class="notice warn" role="status">No proof found');
        const words = wordsOf(after);
        expect(words).to.include('No proof found').and.include('The last check').and.include(`_routebook.${domain}`);
        const soon = await person.send(`${at}/check`);
        expect([soon.status, Number(soon.headers['retry-after']) > 0]).to.deep.equal([429, true]);
        expect(wordsOf(soon.html)).to.include('check a claim once a minute');
        expect((await person.get(`/dashboard/domains/${domain}/policy`)).to).to.equal(`/dashboard/domains/${domain}`);

        names.names.set(`_routebook.${domain}`, { txt: [value] });
        await world.clock.advance({ minutes: 2 });
        const proved = await person.send(`${at}/check`);
        const shown = wordsOf((await person.get(proved.to ?? '')).html);
        expect(shown).to.include('Verified. Your workspace owns this domain.').and.include('Keep the record or file in place');
        expect(wordsOf((await person.get('/dashboard/domains')).html)).to.include(`${domain} yours since`);

        await endCheck(world.app.db, at.slice(at.lastIndexOf('/') + 1), { result: 'failed', reason: 'The record is gone.' });
        const lapsing = wordsOf((await person.get(`/dashboard/domains/${domain}`)).html);
        expect(lapsing).to.include('did not find it: The record is gone.').and.include('After three failed checks');

        const deleted = await person.send(`${at}/delete`);
        expect(deleted.to).to.equal('/dashboard/domains');
        expect(wordsOf((await person.get('/dashboard/domains')).html))
            .to.include('Claim deleted.')
            .and.include('No domains');
        expect((await person.get(`/dashboard/domains/${domain}`)).status).to.equal(404);
        const audit = wordsOf((await person.get('/dashboard/audit')).html);
        for (const named of [
            `claimed a domain ${domain}`,
            `Routebook found the proof of a claim ${domain} in the DNS`,
            `did not find the proof of a claim again ${domain} failure 1 of 3 in a row; The record is gone.`,
            `deleted a claim ${domain} it was verified`,
        ])
            expect(audit).to.include(named);
    });

    it('are for owners and admins with a recent confirmation', async () => {
        const owner = await settle(world);
        const { domain, claim_id: id } = owner.values;
        const at = `/dashboard/domains/${domain}`;
        const forms = ['/dashboard/domains', `${at}/claims/${id}/check`, `${at}/claims/${id}/delete`, `${at}/policy`];
        await world.clock.advance({ minutes: 16 });
        for (const path of forms)
            expect((await owner.send(path, { domain: 'x.example' })).to, path).to.match(/^\/dashboard\/confirm\?next=/);
        expect((await owner.get(`${at}/policy`)).to).to.match(/^\/dashboard\/confirm\?next=/);
        expect((await owner.get(at)).status, 'nothing was deleted').to.equal(200);

        const member = await signUp(world);
        await addMember(world.app.db, { workspaceId: owner.workspaceId, userId: await userIn(member), role: 'member' });
        await member.send('/dashboard/workspace/switch', { workspace: owner.workspaceId });
        for (const path of ['/dashboard/domains', at, `${at}/policy`]) expect((await member.get(path)).status, path).to.equal(403);
        for (const path of forms) expect((await member.send(path)).status, path).to.equal(403);
    });

    async function userIn(person: Visitor): Promise<string> {
        const { rows } = await world.app.db.raw<{ rows: [{ id: string }] }>('select id from users where email = ?', [
            /[\w.]+@pages\.example/.exec((await person.get('/dashboard/settings')).html)?.[0] ?? '',
        ]);
        return rows[0].id;
    }

    describe('have a policy', () => {
        let owner: Settled;
        let at: string;
        const policyOf = async ({ apiKey, values }: Settled) =>
            dataOf<SitePolicy>(await withKey(world, apiKey).call('GET', `/v1/sites/${values.domain}/policy`));

        beforeEach(async () => {
            owner = await settle(world);
            at = `/dashboard/domains/${owner.values.domain}/policy`;
            await world.app.db.raw(
                `update api_keys set scopes = jsonb_set(coalesce(scopes, '{}'), '{routes}', (coalesce(scopes->'routes', '[]'::jsonb) || '["maintain"]'))
                 where workspace_id = ? and scopes is not null`,
                [owner.workspaceId],
            );
        });

        it('that their owner sets and that equals the API’s', async () => {
            const { domain } = owner.values;
            const saved = await owner.send(at, {
                writes: 'yes',
                host_0: `www.${domain}`,
                path_0: '/admin',
                host_2: domain.toUpperCase(),
                path_2: '/Private/',
                requests_per_minute: '90',
                from: '22:00',
                to: '06:00',
                timezone: 'Europe/Berlin',
            });
            expect([saved.status, saved.to]).to.deep.equal([303, at]);
            const policy: SitePolicy = {
                blocked: false,
                writes: true,
                blocked_paths: [
                    { host: `www.${domain}`, path_prefix: '/admin' },
                    { host: domain, path_prefix: '/Private/' },
                ],
                requests_per_minute: 90,
                hours: { from: '22:00', to: '06:00', timezone: 'Europe/Berlin' },
            };
            expect(await policyOf(owner)).to.deep.equal(policy);
            const { html } = await owner.get(at);
            expect(wordsOf(html)).to.include('Policy saved. It takes effect within a second.');
            for (const value of [`www.${domain}`, '/admin', '/Private/', '90', '22:00', '06:00'])
                expect(html).to.include(`value="${value}"`);
            expect(html)
                .to.match(/<option value="Europe\/Berlin" selected>/)
                .and.match(/name="writes" value="yes" checked/);
            expect(html).not.to.match(/name="blocked" value="yes" checked/);
            const audit = wordsOf((await owner.get('/dashboard/audit?action=policy.changed')).html);
            expect(audit).to.include(
                `changed what a domain allows ${domain} blocks www.${domain}/admin, ${domain}/Private/; 90 requests a minute; only from 22:00 to 06:00 (Europe/Berlin)`,
            );

            expect((await owner.send(at, { blocked: 'yes', timezone: 'UTC' })).status).to.equal(303);
            expect(await policyOf(owner)).to.deep.equal({ ...NO_POLICY, blocked: true, writes: false });
        });

        it('that comes back as it was typed if it was sent too late', async () => {
            await world.clock.advance({ minutes: 16 });
            const { to = '' } = await owner.send(at, { requests_per_minute: '7', from: '22:00', to: '06:00', timezone: 'Europe/Berlin' });
            const next = new URL(to, world.base).searchParams.get('next') ?? '';
            expect((await owner.send('/dashboard/confirm', { password: PASSWORD, next })).to).to.equal(next);
            expect((await owner.get(next)).html)
                .to.include('value="7"')
                .and.include('value="22:00"')
                .and.match(/<option value="Europe\/Berlin" selected>/)
                .and.not.match(/name="writes" value="yes" checked/);
            expect(await policyOf(owner)).to.deep.equal(NO_POLICY);
        });

        it('with a hundred paths of maximum length', async () => {
            const { domain } = owner.values;
            const rows = Array.from({ length: 100 }, (_, place) => [
                [`host_${place}`, domain],
                [`path_${place}`, `/${place}/`.padEnd(1001, '%')],
            ]).flat();
            const saved = await owner.send(at, { writes: 'yes', ...Object.fromEntries(rows) });
            expect(saved.status, saved.html).to.equal(303);
            expect((await policyOf(owner)).blocked_paths).to.have.length(100);
            expect((await owner.get(at)).html)
                .to.include('name="path_99"')
                .and.not.include('name="path_100"');
        });

        it('with errors at their fields, and everything else as it was typed', async () => {
            const wrong: [fields: Record<string, string>, at: string[]][] = [
                [{ host_1: 'elsewhere.example', path_1: '/x' }, ['host_1']],
                [{ host_0: owner.values.domain, path_0: 'admin' }, ['path_0']],
                [{ host_4: owner.values.domain }, ['path_4']],
                [{ path_0: '/admin' }, ['host_0']],
                [{ requests_per_minute: '0' }, ['requests_per_minute']],
                [{ requests_per_minute: 'a few' }, ['requests_per_minute']],
                [{ requests_per_minute: '1.5', from: '9', to: '10:00' }, ['requests_per_minute', 'from']],
                [{ from: '09:00' }, ['to']],
                [{ from: '09:00', to: '09:00' }, ['to']],
                [{ from: '09:00', to: '10:00', timezone: 'Moon/Base' }, ['timezone']],
            ];
            for (const [fields, places] of wrong) {
                const { status, html } = await owner.send(at, { writes: 'yes', timezone: 'UTC', ...fields });
                expect(status, JSON.stringify(fields)).to.equal(422);
                const named = [...html.matchAll(/id="field-(\w+)-problem"/g)].map(([, name]) => name);
                expect(named, JSON.stringify(fields)).to.deep.equal(places);
                for (const value of Object.values(fields)) expect(html).to.include(`"${value}"`);
            }
            expect(await policyOf(owner), 'nothing was saved').to.deep.equal(NO_POLICY);
        });

        it('that the site’s page shows at the endpoints that it forbids', async () => {
            const { site } = owner.values;
            const page = async () => (await owner.get(`/registry/${site}`)).html;
            expect(await page())
                .to.include(`/registry/${site}/try/book_berth`)
                .and.not.include('does not allow calls');
            expect((await owner.send(at, { timezone: 'UTC' })).status).to.equal(303);
            const html = await page();
            expect(html.split('does not allow calls to this endpoint')).to.have.length(2);
            expect(html).to.include(`/registry/${site}/try/find_berth`).and.not.include(`/registry/${site}/try/book_berth`);
        });

        it('beside an operator’s policy', async () => {
            const { domain } = owner.values;
            expect(wordsOf((await owner.get(at)).html)).not.to.include('The operator of this service also set');
            await world.app.db.transaction((trx) => blockDomain(trx, domain, 'asked by mail'));
            expect(wordsOf((await owner.get(at)).html)).to.include('The operator of this service also set: all calls are blocked.');
            await world.app.db.transaction((trx) => setPolicy(trx, domain, { ...NO_POLICY, requests_per_minute: 30 }));
            expect((await owner.get(at)).html).to.include('value="30"');
            expect(wordsOf((await owner.get('/dashboard/audit')).html)).to.include(
                `an operator of this service changed what a domain allows ${domain} 30 requests a minute`,
            );
        });
    });

    it('are linked from the site’s public page, its maintainers, the list of sites and the page for site owners', async () => {
        const owner = await settle(world);
        const { domain, site } = owner.values;
        const other = await signUp(world);
        const link = `/dashboard/domains?domain=${domain}`;
        const publicPage = (await other.get(`/registry/${site}`)).html;
        expect(wordsOf(publicPage)).to.include('Is this your site? Verify it and set its policy');
        expect(publicPage).to.include(link);
        expect((await other.get(link)).html).to.include(`value="${domain}"`);
        expect((await owner.get(`/dashboard/schemas/${site}`)).html).to.include(link);
        const card = wordsOf((await other.get(`/registry?q=${site}`)).html);
        expect(card).to.include('by its owner').and.include(`Calls ${site}`);
        await world.app.db.raw('update maintainers set proven_at = null where registrable = ?', [domain]);
        expect(wordsOf((await other.get(`/registry?q=${site}`)).html)).to.include('by a contributor, not the site');
        await makeOwner(world.app.db, domain, owner.workspaceId);
        const abuse = await other.get('/abuse');
        expect(abuse.html).to.include('href="/docs/owners"');
        expect(wordsOf((await other.get('/docs/owners')).html))
            .to.include('_routebook.example.com')
            .and.include('Claim the domain');
    });

    it('are claimed, proved and given a policy in a browser', async function () {
        const browser = await openBrowser(this);
        try {
            for (const viewport of [undefined, PHONE]) {
                const person = await signUp(world);
                const domain = freshDomain();
                const tab = await openTab(browser, world.base, viewport === undefined ? {} : { viewport });
                await tab.context.addCookies([...person.cookies].map(([name, value]) => ({ name, value, url: world.base })));
                const { page } = tab;
                await tab.visit(`/dashboard/domains?domain=www.${domain}`);
                await page.getByRole('button', { name: 'Claim domain' }).click();
                await page.getByRole('button', { name: 'Copy Value of the TXT record' }).waitFor();
                await tab.look();
                names.names.set(`_routebook.${domain}`, { txt: [(await page.locator('#claim-0-text').textContent()) ?? ''] });
                await page.getByRole('button', { name: 'Check now' }).click();
                await page.getByText('Verified. Your workspace owns').waitFor();
                await page.getByText('Delete …').click();
                await tab.look();
                await page.getByRole('link', { name: 'Edit policy' }).click();
                await page.getByLabel('Host').first().fill(`www.${domain}`);
                await page.getByLabel('Path begins with').first().fill('admin');
                await page.getByLabel('Calls from').fill('09:00');
                await page.getByLabel('Until').fill('17:30');
                await page.getByLabel('Time zone').selectOption('Europe/Lisbon');
                await page.getByRole('button', { name: 'Save' }).click();
                await page.getByText('Start with /.').waitFor();
                await tab.look();
                await page.getByLabel('Path begins with').first().fill('/admin');
                await page.getByRole('button', { name: 'Save' }).click();
                await page.getByText('Policy saved. It takes effect').waitFor();
                expect(await page.getByLabel('Until').inputValue()).to.equal('17:30');
                await tab.look();
                await tab.close();
            }
        } finally {
            await browser.close();
        }
    });

    it('are not visible in another workspace', async () => {
        const [owner, other] = [await settle(world), await settle(world)];
        const { domain, claim_id: id } = owner.values;
        for (const path of [`/dashboard/domains/${domain}`, `/dashboard/domains/${domain}/policy`])
            expect((await other.get(path)).status, path).to.equal(404);
        for (const path of [`/claims/${id}/check`, `/claims/${id}/delete`, '/policy'])
            expect((await other.send(`/dashboard/domains/${domain}${path}`)).status, path).to.equal(404);
        const own = `/dashboard/domains/${other.values.domain}`;
        expect((await other.send(`${own}/claims/${id}/delete`)).status, 'by the own domain').to.equal(404);
        expect(hiddenOf((await owner.get(`/dashboard/domains/${domain}`)).html, '_form')).not.to.equal(undefined);
    });
});
