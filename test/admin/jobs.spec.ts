import { expect } from 'chai';
import { createAccount } from '../../shared/store/accounts/accounts.ts';
import { publishPackage } from '../../shared/store/registry/publish.ts';
import { contributor, orderOf, packageOf, useDatabase } from '../store/registry.ts';
import { type AdminRun, admin } from '../support/admin.ts';

describe('admin jobs', () => {
    const database = useDatabase();

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

    it('shows a job of anybody: its state, what it waits for and its code, never its params or result', async () => {
        const publisher = await contributor(database.db);
        const { workspaceId, accountId } = publisher;
        await publishPackage(database.db, orderOf(packageOf('asked.example'), publisher));
        const version = await database.db('versions').where({ site: 'asked.example' }).first('id');
        await database.db('jobs').insert({
            ...{ job_id: 'job_asked', workspace_id: workspaceId, account_id: accountId, key_id: 'key_asked', site: 'asked.example' },
            ...{ registrable: 'asked.example', endpoint: 'front', version_id: version.id, version: 1, effect: 'read', needs: 'read' },
            ...{ metadata: '{}', request: Buffer.from('sealed'), unit: 1, waiting_for: 'site', attempts: 2, code: 'UPSTREAM_TIMEOUT' },
            expires_at: new Date(Date.now() + 3_600_000),
        });
        const { json } = await jobs('show', 'job_asked');
        expect(json).to.deep.include({ job_id: 'job_asked', status: 'queued', waiting_for: 'site', code: 'UPSTREAM_TIMEOUT', attempts: 2 });
        expect(json).to.deep.include({ site: 'asked.example', workspace_id: workspaceId, key_id: 'key_asked', finished_at: null });
        expect(json).to.not.have.any.keys('request', 'result');
        await jobs('pause', '--site', 'asked.example');
        expect((await jobs('show', 'job_asked')).json['waiting_for']).to.equal('operator');
        await jobs('resume', '--site', 'asked.example');
        const unknown = await jobs('show', 'job_unknown');
        expect([unknown.code, codeOf(unknown)]).to.deep.equal([1, 'JOB_NOT_FOUND']);
    });
});
