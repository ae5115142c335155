import { expect } from 'chai';
import { runAdmin } from '../../bin/admin/run-admin.ts';
import { type OpenedDatabase, openDatabase } from '../store/registry.ts';

describe('admin jobs', () => {
    let database: OpenedDatabase;

    before(async () => {
        database = await openDatabase();
    });
    after(() => database.close());

    const jobs = async (...args: string[]) => {
        const out: string[] = [];
        const terminal = { print: (line: string) => out.push(line), complain: () => undefined };
        const code = await runAdmin(['jobs', ...args, '--json'], terminal, { DATABASE_URL: database.url });
        return { code, json: JSON.parse(out.at(-1) ?? 'null') };
    };
    const paused = async () => {
        const { json } = await jobs('list');
        return (json as { account: string | null; site: string | null }[]).map(({ account, site }) => [account, site]);
    };

    it('pauses those of an account, of a site, of both or of all, until the same ones are resumed', async () => {
        await jobs('pause', '--account', 'wsp_one', '--reason', 'asked for it');
        await jobs('pause', '--site', 'Shop.Example');
        await jobs('pause', '--account', 'wsp_one', '--site', 'shop.example');
        await jobs('pause');
        await jobs('pause');
        expect(await paused()).to.deep.equal([
            ['wsp_one', null],
            [null, 'shop.example'],
            ['wsp_one', 'shop.example'],
            [null, null],
        ]);
        await jobs('resume', '--account', 'wsp_one');
        const again = await jobs('resume', '--account', 'wsp_one');
        expect([again.code, again.json.error.code]).to.deep.equal([1, 'NOT_FOUND']);
        for (const args of [['--site', 'shop.example'], ['--account', 'wsp_one', '--site', 'shop.example'], []])
            await jobs('resume', ...args);
        expect(await paused()).to.deep.equal([]);
    });
});
