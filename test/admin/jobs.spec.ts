import { expect } from 'chai';
import { createAccount } from '../../shared/store/accounts/accounts.ts';
import { publishPackage } from '../../shared/store/registry/publish.ts';
import { contributor, type OpenedDatabase, openDatabase, orderOf, packageOf } from '../store/registry.ts';
import { type AdminRun, admin } from '../support/admin.ts';

describe('admin jobs', () => {
    let database: OpenedDatabase;

    before(async () => {
        database = await openDatabase();
    });
    after(() => database.close());

    const jobs = (...args: string[]) => admin(database.url, ['jobs', ...args, '--json']);
    const codeOf = ({ json }: AdminRun) => (json['error'] as { code: string } | undefined)?.code;
    const paused = async () => {
        const { json } = await jobs('list');
        return (json as unknown as { account: string | null; site: string | null }[]).map(({ account, site }) => [account, site]);
    };

    it('pauses those of an account, of a site, of both or of all, until the same ones are resumed', async () => {
        const publisher = await contributor(database.db);
        await publishPackage(database.db, orderOf(packageOf('shop.example'), publisher));
        const { workspaceId: account } = await createAccount(database.db, { email: 'pro@people.example', plan: 'pro' });
        await jobs('pause', '--account', account, '--reason', 'asked for it');
        await jobs('pause', '--site', 'Shop.Example');
        await jobs('pause', '--account', account, '--site', 'shop.example');
        await jobs('pause');
        await jobs('pause');
        expect(await paused()).to.deep.equal([
            [account, null],
            [null, 'shop.example'],
            [account, 'shop.example'],
            [null, null],
        ]);
        await jobs('resume', '--account', account);
        const again = await jobs('resume', '--account', account);
        expect([again.code, codeOf(again)]).to.deep.equal([1, 'NOT_FOUND']);
        for (const args of [['--site', 'shop.example'], ['--account', account, '--site', 'shop.example'], []])
            await jobs('resume', ...args);
        expect(await paused()).to.deep.equal([]);
    });

    it('pauses the paying account of a workspace on Free', async () => {
        const { workspaceId, accountId } = await contributor(database.db);
        await jobs('pause', '--account', workspaceId);
        expect(await paused()).to.deep.equal([[accountId, null]]);
        await jobs('resume', '--account', workspaceId);
        expect(await paused()).to.deep.equal([]);
    });

    it('refuses accounts and sites that do not exist', async () => {
        for (const [option, value, code] of [
            ['--account', 'wsp_none', 'NOT_FOUND'],
            ['--account', 'usr_none', 'NOT_FOUND'],
            ['--site', 'none.example', 'SITE_NOT_FOUND'],
        ] as const) {
            const refused = await jobs('pause', option, value);
            expect([refused.code, codeOf(refused)], value).to.deep.equal([1, code]);
        }
        expect(await paused()).to.deep.equal([]);
    });
});
