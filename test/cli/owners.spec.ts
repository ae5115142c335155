import { writeFileSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import { expect } from 'chai';
import type { ClaimEntry } from '../../shared/contracts/claims.ts';
import { NO_POLICY, type SitePolicy } from '../../shared/domain/site/site-policy.ts';
import { type CommandLine, openCommandLine } from '../support/command-line.ts';
import { type NameServer, openNameServer } from '../support/name-server.ts';
import { join, type Person } from '../support/people.ts';
import { aProvenClaim } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { scopedKey } from '../support/scopes.ts';
import { openWorld, type World } from '../support/world.ts';

describe('claiming a domain on the command line', () => {
    let world: World;
    let names: NameServer;
    let ada: Person;
    let shell: CommandLine;

    before(async () => {
        names = await openNameServer();
        world = await openWorld({ config: { claimResolvers: [names.resolver], egressHosts: new Map([['proved.test', ['127.0.0.1']]]) } });
        ada = await join(world);
        shell = openCommandLine({ ROUTEBOOK_URL: world.base, ROUTEBOOK_API_KEY: ada.apiKey ?? '' });
    });

    after(async () => {
        shell.close();
        await world.close();
        await names.close();
    });

    const policyOf = async (domain: string, ...options: string[]) => {
        const ran = await shell.run(['policy', domain, ...options, '--json']);
        expect(ran.code, ran.stderr).to.equal(0);
        return ran.json as unknown as SitePolicy;
    };

    it('starts a proof, says what to publish where, and finds it', async () => {
        const started = await shell.run(['claim', 'start', 'www.proved.test']);
        expect(started.code, started.stderr).to.equal(0);
        const [value = ''] = /routebook-claim=\w{32}/.exec(started.stdout) ?? [];
        expect(started.stdout)
            .to.include(`_routebook.proved.test TXT ${value}`)
            .and.include('https://proved.test/.well-known/routebook.txt')
            .and.match(/routebook claim check proved\.test clm_/);

        const missing = await shell.run(['claim', 'check', 'proved.test']);
        expect(missing.code, 'scripts see that nothing is proved yet').to.equal(1);
        expect(missing.stdout).to.include('No proof was found').and.include('_routebook.proved.test');
        names.names.set('_routebook.proved.test', { txt: [value] });
        await world.clock.advance({ minutes: 2 });
        const found = await shell.run(['claim', 'check', 'proved.test', '--json']);
        expect(found.code, found.stderr).to.equal(0);
        expect(found.json).to.include({ domain: 'proved.test', status: 'proven', reason: null });
        expect((await policyOf('proved.test')).blocked).to.equal(false);
    });

    it('offers only the file where the domain is a public suffix', async () => {
        const started = await shell.run(['claim', 'start', 'github.io']);
        expect(started.code, started.stderr).to.equal(0);
        expect(started.stdout).to.include('https://github.io/.well-known/routebook.txt').and.not.include('TXT');
    });

    it('lists claims, deletes one, and asks which of several is meant', async () => {
        expect((await shell.run(['claim', 'list', 'several.test'])).stdout).to.include('routebook claim start several.test');
        const none = await shell.run(['claim', 'check', 'several.test', '--json']);
        expect([none.code, none.error['code']]).to.deep.equal([1, 'CLAIM_NOT_FOUND']);
        for (let turn = 0; turn < 2; turn++) await shell.run(['claim', 'start', 'several.test']);
        const listed = await shell.run(['claim', 'list', 'several.test', '--json']);
        const [first, second] = listed.json['claims'] as ClaimEntry[];
        const shown = await shell.run(['claim', 'list', 'several.test']);
        expect(shown.stdout).to.include(first?.claim_id).and.include(second?.value).and.include('pending');

        const unclear = await shell.run(['claim', 'delete', 'several.test', '--json']);
        expect([unclear.code, unclear.error['code']]).to.deep.equal([2, 'WRONG_USAGE']);
        expect(unclear.stderr).to.include(first?.claim_id).and.include(second?.claim_id);
        const deleted = await shell.run(['claim', 'delete', 'several.test', first?.claim_id ?? '', '--json']);
        expect(deleted.json).to.deep.equal({ claim_id: first?.claim_id, deleted: true });
        const again = await shell.run(['claim', 'delete', 'several.test', first?.claim_id ?? '', '--json']);
        expect([again.code, again.error['code']]).to.deep.equal([1, 'CLAIM_NOT_FOUND']);
        expect((await shell.run(['claim', 'delete', 'several.test'])).code, 'the only one that is left').to.equal(0);
    });

    it('changes what its options name, and leaves the rest of the policy', async () => {
        const domain = 'allowed.test';
        await aProvenClaim(world, ada, domain);
        expect(await policyOf(domain)).to.deep.equal(NO_POLICY);
        const slow = await policyOf(domain, '--writes', 'off', '--rpm', '60');
        expect(slow).to.deep.equal({ ...NO_POLICY, writes: false, requests_per_minute: 60 });
        const night = await policyOf(domain, '--hours', '22:00-06:00', '--timezone', 'Europe/Berlin');
        expect(night).to.deep.equal({ ...slow, hours: { from: '22:00', to: '06:00', timezone: 'Europe/Berlin' } });
        const paths = ['--block-path', 'WWW.allowed.test/admin', '--block-path', 'allowed.test/cart'];
        const parts = await policyOf(domain, '--rpm', 'none', '--hours', '23:00-05:00', ...paths);
        expect(parts).to.deep.equal({
            ...night,
            requests_per_minute: null,
            hours: { from: '23:00', to: '05:00', timezone: 'Europe/Berlin' },
            blocked_paths: [
                { host: 'www.allowed.test', path_prefix: '/admin' },
                { host: 'allowed.test', path_prefix: '/cart' },
            ],
        });
        const fewer = await policyOf(domain, '--unblock-path', 'allowed.test/cart', '--no-hours', '--block', ...paths.slice(0, 2));
        expect(fewer).to.deep.equal({
            ...parts,
            blocked: true,
            hours: null,
            blocked_paths: [{ host: 'www.allowed.test', path_prefix: '/admin' }],
        });
        expect(await policyOf(domain), 'as the server has it').to.deep.equal(fewer);
        const shown = await shell.run(['policy', domain]);
        expect(shown.stdout).to.include('www.allowed.test/admin').and.include('nothing is called').and.include('not limited');
        expect((await policyOf(domain, '--unblock')).blocked).to.equal(false);
        expect(await policyOf(domain, '--clear')).to.deep.equal(NO_POLICY);
    });

    it('says which option is missing or contradicts the policy', async () => {
        const domain = 'unclear.test';
        await aProvenClaim(world, ada, domain);
        for (const [options, word] of [
            [['--hours', '09:00-17:00'], '--timezone'],
            [['--timezone', 'UTC'], '--hours'],
            [['--no-hours', '--timezone', 'UTC'], '--no-hours'],
            [['--unblock-path', 'unclear.test/x'], 'unclear.test/x is not blocked'],
        ] as const) {
            const ran = await shell.run(['policy', domain, ...options, '--json']);
            expect([ran.code, ran.error['code']], options.join(' ')).to.deep.equal([2, 'WRONG_USAGE']);
            expect(ran.error['message']).to.include(word);
        }
        const elsewhere = await shell.run(['policy', domain, '--block-path', 'other.test/x']);
        expect(elsewhere.code).to.equal(1);
        expect(elsewhere.stderr).to.include('This is not a host of unclear.test');
        expect(await policyOf(domain)).to.deep.equal(NO_POLICY);
    });

    it('says what to do if the domain is not proved, or the key lacks the scope', async () => {
        const unproved = await shell.run(['policy', 'elses.test', '--block']);
        expect(unproved.code).to.equal(1);
        expect(unproved.stderr).to.include('CLAIM_REQUIRED').and.include('routebook claim start elses.test');
        const { apiKey = '' } = await scopedKey(world, ada, { routes: ['fetch', 'catalog'] });
        const env = { ROUTEBOOK_API_KEY: apiKey };
        for (const args of [
            ['claim', 'start', 'elses.test'],
            ['policy', 'elses.test'],
        ]) {
            const ran = await shell.run(args, { env });
            expect(ran.code, args.join(' ')).to.equal(1);
            expect(ran.stderr, args.join(' ')).to.include('lacks the scope maintain').and.include('routebook whoami');
        }
        const { json } = await shell.run(['whoami', '--json'], { env });
        expect(json['lacking']).to.include.members(['claim (maintain)', 'policy (maintain)', 'monitor (jobs)', 'webhook (account, jobs)']);
    });

    it('names webhooks among the commands of which a limited key is refused', async () => {
        const { apiKey = '' } = await scopedKey(world, ada, { connections: [] });
        const env = { ROUTEBOOK_API_KEY: apiKey };
        expect((await shell.run(['whoami', '--json'], { env })).json['lacking']).to.include('webhook (all connections)');
        const refused = await shell.run(['webhook', 'list'], { env });
        expect(refused.code).to.equal(1);
        expect(refused.stderr).to.include('needs a key without limits on sites, endpoints, effects and connections');
    });

    it('names the commands for a proof if a push is to a reserved name', async () => {
        writeFileSync(joinPath(shell.folder, 'bank.json'), JSON.stringify(aPackage('api.stripe.com')));
        for (const options of [['--dry-run'], []]) {
            const ran = await shell.run(['push', 'bank.json', ...options, '--json']);
            expect(ran.code).to.equal(1);
            expect(ran.error).to.include({ code: 'CLAIM_REQUIRED', status: 403, retryable: false });
            expect(ran.stderr)
                .to.include('needs proof that stripe.com is yours')
                .and.include('routebook claim start stripe.com')
                .and.include('routebook claim check stripe.com')
                .and.not.include('/v1/');
        }
    });

    it('says that the owner of a site can prove it if a push is to a site of others', async () => {
        await (await join(world)).publish(aPackage('taken.test'));
        writeFileSync(joinPath(shell.folder, 'taken.json'), JSON.stringify(aPackage('taken.test', { title: 'Mine' })));
        const ran = await shell.run(['push', 'taken.json', '--json']);
        expect([ran.code, ran.error['code']]).to.deep.equal([1, 'NOT_MAINTAINER']);
        expect(ran.error['message']).to.include('/v1/schemas/taken.test/maintainers').and.not.include('{');
        expect(ran.stderr).to.include('"routebook claim start taken.test"');
    });
});
