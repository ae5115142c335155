import { readFileSync, writeFileSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import { expect } from 'chai';
import type { PackageDocument } from '../../shared/domain/types.ts';
import { type CommandLine, openCommandLine } from '../support/command-line.ts';
import { join, type Person, stranger } from '../support/people.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { openWorld, type World } from '../support/world.ts';

describe('publishing from the command line', () => {
    let world: World;
    let shop: Shop;
    let ada: Person;
    let shell: CommandLine;

    before(async () => {
        shop = await openShop();
        world = await openWorld({ workers: 0, config: { egressHosts: SHOP_HOSTS } });
        ada = await join(world);
        shell = openCommandLine({
            ROUTEBOOK_URL: world.base,
            ROUTEBOOK_API_KEY: ada.apiKey ?? '',
            EGRESS_ALLOW: `127.0.0.1/32:${shop.port}`,
        });
    });

    after(async () => {
        shell.close();
        await world.close();
        await shop.close();
    });

    function write(document: PackageDocument): string {
        writeFileSync(joinPath(shell.folder, 'package.json'), JSON.stringify(document, undefined, 2));
        return 'package.json';
    }

    const read = (name: string) => JSON.parse(readFileSync(joinPath(shell.folder, name), 'utf8')) as PackageDocument;

    async function versionOf(site: string): Promise<unknown> {
        const { status, body } = await stranger(world).call('GET', `/v1/schemas/${site}`);
        return status === 404 ? undefined : (body['data'] as Record<string, unknown>)['version'];
    }

    it('drafts a valid package, tries it as a dry run, publishes it, and recognises an unchanged one', async () => {
        const url = `http://${SHOP}:${shop.port}/products/{id}?lang=de`;
        const flags = ['--url', url, '--category', 'commerce/product-detail', '--example', 'id=7', '--title', 'The shop'];
        const init = await shell.run(['init', ...flags, '--json']);
        expect(init.code, init.stderr).to.equal(0);
        expect(init.json['file']).to.equal(`${SHOP}.json`);
        expect(read(`${SHOP}.json`)).to.include({ $schema: `${world.base}/schemas/routebook-1.json` });
        const [endpoint] = read(`${SHOP}.json`).endpoints;
        expect(endpoint).to.deep.include({ name: 'products', url: `http://${SHOP}:${shop.port}/products/{id}` });
        expect(endpoint?.params?.map(({ name, source, schema }) => ({ name, source, schema }))).to.deep.equal([
            { name: 'id', source: 'path', schema: { type: 'integer' } },
            { name: 'lang', source: 'query', schema: { type: 'string' } },
        ]);
        expect(endpoint?.examples).to.deep.equal([{ params: { id: 7, lang: 'de' } }]);

        const again = await shell.run(['init', ...flags, '--json']);
        expect(again.code).to.equal(1);
        expect(again.error['code']).to.equal('FILE_EXISTS');

        const dry = await shell.run(['push', `${SHOP}.json`, '--dry-run', '--json']);
        expect(dry.code, dry.stderr).to.equal(0);
        expect(dry.json).to.deep.include({
            version: 1,
            created: false,
            changes: { added: ['products'], removed: [], changed: [], hosts_added: [SHOP] },
        });
        expect(await versionOf(SHOP)).to.equal(undefined);

        const push = await shell.run(['push', `${SHOP}.json`, '--json']);
        expect(push.code, push.stderr).to.equal(0);
        expect(push.json).to.include({ site: SHOP, version: 1, created: true, credits_earned: 50 });
        expect(await versionOf(SHOP)).to.equal(1);
        const same = await shell.run(['push', `${SHOP}.json`]);
        expect(same.code).to.equal(0);
        expect(same.stdout).to.include('nothing was published');
        const diff = await shell.run(['diff', `${SHOP}.json`, '--json']);
        expect(diff.json).to.deep.include({ is_same: true, change: null, published_version: 1 });
    });

    it('refuses an example of init that the URL does not have', async () => {
        const flags = ['--url', 'https://typo.test/products/{id}?lang=de', '--category', 'weather', '--example', 'id=7'];
        expect((await shell.run(['init', ...flags, '--example', 'lang=en', '--out', '-'])).code).to.equal(0);
        const wrong = await shell.run(['init', ...flags, '--example', 'idd=7', '--out', '-']);
        expect(wrong.code).to.equal(2);
        expect(wrong.stderr).to.include('--example idd');
    });

    it('warns of a new host only from the second version on', async () => {
        const site = 'hosts.test';
        const first = await shell.run(['push', write(aPackage(site))]);
        expect(first.stdout).to.include(`calls ${site}`).and.not.include('did not call before');
        const moved = anEndpoint(site, { url: `https://api.${site}/products/{id}` });
        const second = await shell.run(['diff', write(aPackage(site, { endpoints: [moved] }))]);
        expect(second.stdout).to.include(`calls a host that it did not call before: api.${site}`);
    });

    it('classifies a change for callers, like the server', async () => {
        const site = 'change.test';
        const two = [anEndpoint(site), anEndpoint(site, { name: 'offers', url: `https://${site}/offers`, params: [] })];
        const first = write(aPackage(site));
        expect((await shell.run(['diff', first, '--json'])).json).to.deep.include({ published_version: null, change: 'major' });
        expect((await shell.run(['push', first])).stdout).to.include(`${world.base}/registry/`);
        const steps: [PackageDocument, string, object][] = [
            [aPackage(site, { title: 'Another title' }), 'patch', { added: [], removed: [], changed: [], hosts_added: [] }],
            [aPackage(site, { endpoints: two }), 'minor', { added: ['offers'], removed: [], changed: [], hosts_added: [] }],
            [aPackage(site, { endpoints: two.slice(1) }), 'major', { added: [], removed: ['product'], changed: [], hosts_added: [] }],
        ];
        for (const [document, change, changes] of steps) {
            const diff = await shell.run(['diff', write(document), '--json']);
            const push = await shell.run(['push', 'package.json', '--json']);
            expect(diff.json).to.deep.include({ is_same: false, change, changes });
            expect(push.json).to.deep.include({ change, changes });
        }
    });

    it('shows the differences of two versions, by the names of endpoints and params', async () => {
        const site = 'where.test';
        await shell.run(['push', write(aPackage(site))]);
        const [param] = anEndpoint(site).params ?? [];
        const changed = { ...param, name: 'id', source: 'path', required: true, schema: { type: 'integer', minimum: 5 } } as const;
        const diff = await shell.run(['diff', write(aPackage(site, { endpoints: [anEndpoint(site, { params: [changed] })] })), '--json']);
        expect(diff.json['differences']).to.deep.equal([{ path: '/endpoints/product/params/id/schema/minimum', before: 1, after: 5 }]);
    });

    it('prevents a lost update with --if-match', async () => {
        const site = 'match.test';
        const first = await shell.run(['push', write(aPackage(site)), '--json']);
        const hash = String(first.json['version_hash']);
        const second = await shell.run(['push', write(aPackage(site, { title: 'Two' })), '--if-match', hash, '--json']);
        expect(second.code, second.stderr).to.equal(0);
        const late = await shell.run(['push', write(aPackage(site, { title: 'Three' })), '--if-match', hash, '--json']);
        expect(late.code).to.equal(1);
        expect(late.error).to.include({ code: 'VERSION_CONFLICT', status: 409 });
        expect(await versionOf(site)).to.equal(2);
        expect((await shell.run(['push', 'package.json', '--if-match', 'what'])).code).to.equal(2);
    });

    it('pulls what was published so that it can be pushed again', async () => {
        const site = 'pull.test';
        const document = aPackage(site);
        const { json } = await shell.run(['push', write(document), '--json']);
        const pull = await shell.run(['pull', site, '--out', 'pulled.json', '--json']);
        expect(pull.json).to.include({ site, version: 1, version_hash: json['version_hash'] });
        expect(read('pulled.json')).to.deep.equal({ $schema: `${world.base}/schemas/routebook-1.json`, ...document });
        const again = await shell.run(['pull', site, '--out', 'pulled.json', '--json']);
        expect(again.error).to.include({ code: 'FILE_EXISTS' });
        expect(again.error['message']).to.include('--force');
        expect((await shell.run(['pull', site, '--out', 'pulled.json', '--force'])).code).to.equal(0);
        const printed = await shell.run(['pull', `WWW.${site}`, '--version', String(json['version_hash'])]);
        expect(JSON.parse(printed.stdout)).to.deep.equal(document);
        expect((await shell.run(['push', 'pulled.json', '--json'])).json).to.include({ created: false });
        const none = await shell.run(['pull', site, '--version', '9', '--json']);
        expect(none.error).to.include({ code: 'VERSION_NOT_FOUND' });
    });

    it('sends no package to the server that breaks the rules', async () => {
        const ran = await shell.run(['push', write({ ...aPackage('rules.test'), title: '' }), '--json', '--server', 'http://127.0.0.1:9']);
        expect(ran.code).to.equal(1);
        expect(ran.error).to.include({ code: 'SCHEMA_INVALID', file: 'package.json' });
        expect((ran.error['details'] as object[])[0]).to.include({ path: '/title', line: 4 });
    });

    it('shows problems that only the server finds with their line too', async () => {
        const elsewhere = await openWorld({ workers: 0, config: { egressAllow: [] } });
        const bob = await join(elsewhere);
        const env = { ROUTEBOOK_URL: elsewhere.base, ROUTEBOOK_API_KEY: bob.apiKey ?? '' };
        const ran = await shell.run(['push', write(shopPackage(shop.port)), '--json'], { env });
        await elsewhere.close();
        expect(ran.code).to.equal(1);
        expect(ran.error['code']).to.equal('SCHEMA_INVALID');
        const [problem] = ran.error['details'] as { path: string; line: number }[];
        expect(problem?.path).to.equal('/endpoints/0/url');
        const line = readFileSync(joinPath(shell.folder, 'package.json'), 'utf8').split('\n')[(problem?.line ?? 0) - 1];
        expect(line).to.include('"url"');
    });

    it('says that the caller does not maintain the site', async () => {
        const site = 'theirs.test';
        await shell.run(['push', write(aPackage(site))]);
        const bob = await join(world);
        const ran = await shell.run(['push', write(aPackage(site, { title: 'Mine now' })), '--json'], {
            env: { ROUTEBOOK_API_KEY: bob.apiKey ?? '' },
        });
        expect(ran.code).to.equal(1);
        expect(ran.error).to.include({ code: 'NOT_MAINTAINER', status: 403, fault: 'caller' });
    });
});
