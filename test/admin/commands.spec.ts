import { expect } from 'chai';
import type { JsonObject } from '../../shared/domain/types.ts';
import { admin as runCommand } from '../support/admin.ts';
import { useOperator } from './operator.ts';

describe('the operator’s command line', () => {
    const { opened, admin, done, errorOf, newAccount } = useOperator();

    it('records what was done, newest first, and nothing that was refused', async () => {
        const { apiKey, workspaceId } = await newAccount();
        await admin('credits', 'grant', 'wsp_unknown', 5);
        await done('credits', 'grant', workspaceId, 5);
        await done('site', 'block', 'noted.example', '--reason', 'Because');
        const entries = (await admin('audit', 'list', '--limit', 3)).json as unknown as JsonObject[];
        expect(entries.map((entry) => entry['command'])).to.deep.equal(['site block', 'credits grant', 'account create']);
        expect(entries[0]).to.deep.include({ target: 'noted.example', reason: 'Because' });
        expect(entries[0]?.['before']).to.deep.include({ blocked: false });
        expect(entries[0]?.['after']).to.deep.include({ blocked: true });
        expect(entries[0]?.['at']).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
        expect(JSON.stringify(entries)).not.to.include(apiKey.slice(12));
    });

    it('refuses wrong usage with exit code 2 and changes nothing', async () => {
        const { workspaceId } = await newAccount();
        const before = (await admin('audit', 'list')).json;
        for (const args of [
            [],
            ['account'],
            ['account', 'create'],
            ['account', 'create', '--email', 'nobody'],
            ['account', 'create', '--email', 'a@b.example', '--plan', 'gold'],
            ['account', 'create', '--email', 'a@b.example', '--credits', '-5'],
            ['account', 'create', '--email', 'a@b.example', '--per-minute', '1.5'],
            ['account', 'suspend', workspaceId],
            ['key', 'create', '--workspace', workspaceId, '--expires-in', '0'],
            ['key', 'create', '--workspace', workspaceId, '--name', 'a\u0000b'],
            ['key', 'create', '--workspace', workspaceId, '--scopes', 'routes=fetch', '--scopes', 'effects=read'],
            ['credits', 'grant', workspaceId, '0'],
            ['credits', 'grant', workspaceId, '1e3'],
            ['credits', 'grant', workspaceId, '99999999999'],
            ['site', 'set', 'a.example'],
            ['site', 'set', 'a.example', '--rate', '0'],
            ['site', 'set', 'a.example', '--credits', 'default'],
            ['site', 'block', 'a.example'],
            ['schema', 'yank', 'a.example', '1', '--reason', 'ugly'],
            ['schema', 'yank', 'a.example', '0', '--reason', 'broken'],
            ['site', 'show', 'a.example', 'b.example'],
            ['nonsense'],
        ]) {
            const ran = await admin(...args);
            expect(ran.code, args.join(' ')).to.equal(2);
            expect(errorOf(ran)['code'], args.join(' ')).to.equal('WRONG_USAGE');
        }
        expect((await admin('audit', 'list')).json).to.deep.equal(before);
    });

    it('shows tables to people', async () => {
        const { out } = await runCommand(opened.url, ['site', 'show', 'people.example']);
        expect(out[0]).to.match(/^domain {2,}people\.example$/);
        expect((await runCommand(opened.url, ['audit', 'list'])).out.join('\n')).to.match(/at +command +target +reason +actor/);
        expect((await runCommand(opened.url, ['--help'])).code).to.equal(0);
    });
});
