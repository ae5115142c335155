import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';
import { newApiKey } from '../../shared/domain/accounts/api-key.ts';
import { type CommandLine, openCommandLine } from '../support/command-line.ts';
import { join, type Person } from '../support/people.ts';
import { openSite } from '../support/sites.ts';
import { useWorld } from '../support/world.ts';

describe('logging in on the command line', () => {
    const world = useWorld({ workers: 0 });
    let ada: Person;
    let shell: CommandLine;
    const key = () => ada.apiKey ?? '';

    before(async () => {
        ada = await join(world);
    });

    beforeEach(() => {
        shell = openCommandLine();
    });

    afterEach(() => shell.close());

    it('tries the key, then stores it in a file that only its user can read, and never shows it', async () => {
        const login = await shell.run(['login', '--server', world.base], { input: `${key()}\n` });
        expect(login.code, login.stderr).to.equal(0);
        expect(statSync(shell.credentials).mode & 0o777).to.equal(0o600);
        expect(statSync(dirname(shell.credentials)).mode & 0o777).to.equal(0o700);
        expect(readFileSync(shell.credentials, 'utf8')).to.include(key());

        const whoami = await shell.run(['whoami', '--json']);
        expect(whoami.code, whoami.stderr).to.equal(0);
        expect(whoami.json).to.include({ server: world.base, workspace_id: ada.workspaceId, plan: 'free' });
        const shown = await shell.run(['whoami']);
        expect(shown.stdout).to.include(ada.workspaceId).and.include('1,000 of 1,000 calls left');
        // Every value begins in the same column.
        for (const line of shown.stdout.trimEnd().split('\n')) expect(line).to.match(/^.{11} {2}\S/);
        for (const { stdout, stderr } of [login, whoami, shown]) expect(stdout + stderr).not.to.include(key());
    });

    it('stores nothing if the server does not know the key', async () => {
        const stranger = newApiKey();
        const login = await shell.run(['login', '--server', world.base, '--json'], { input: stranger });
        expect(login.code).to.equal(1);
        expect(login.error).to.include({ code: 'INVALID_API_KEY', status: 401 });
        expect(login.stderr).to.include('ROUTEBOOK_API_KEY, where it is set, takes precedence');
        expect(existsSync(shell.credentials)).to.equal(false);
        expect(login.stdout + login.stderr).not.to.include(stranger);
    });

    it('asks whether the address is right if nothing is there', async () => {
        const ran = await shell.run(['whoami', '--server', `${world.base}/routebook`], { env: { ROUTEBOOK_API_KEY: key() } });
        expect(ran.stderr).to.include('NOT_FOUND').and.include('--server and ROUTEBOOK_URL select another');
    });

    it('recognises a mistyped key before it is sent', async () => {
        const site = await openSite((_request, response) => response.end());
        const wrong = `${key().slice(0, -1)}${key().endsWith('a') ? 'b' : 'a'}`;
        const login = await shell.run(['login', '--server', `http://127.0.0.1:${site.port}`, '--json'], { input: wrong });
        await site.close();
        expect(login.code).to.equal(1);
        expect(login.error['code']).to.equal('INVALID_API_KEY');
        expect(login.stderr).to.include('Keys begin with rb_live_.');
        expect(login.stdout + login.stderr).not.to.include(wrong);
        expect(site.seen).to.deep.equal([]);
    });

    it('says what is missing if stdin is empty', async () => {
        const login = await shell.run(['login', '--server', world.base, '--json']);
        expect(login.code).to.equal(1);
        expect(login.error['code']).to.equal('API_KEY_REQUIRED');
    });

    it('sends a stored key to its own server only', async () => {
        await shell.run(['login', '--server', world.base], { input: key() });
        const other = await openSite((_request, response) => response.writeHead(404).end('{}'));
        await shell.run(['whoami', '--server', `http://127.0.0.1:${other.port}`]);
        await other.close();
        expect(other.seen.length).to.be.greaterThan(0);
        expect(JSON.stringify(other.seen)).not.to.include('rb_live_');
    });

    it('prefers the key of the environment to the stored one', async () => {
        const bob = await join(world);
        await shell.run(['login', '--server', world.base], { input: key() });
        const whoami = await shell.run(['whoami', '--json'], { env: { ROUTEBOOK_API_KEY: bob.apiKey ?? '' } });
        expect(whoami.json['workspace_id']).to.equal(bob.workspaceId);
    });

    it('deletes the key on logout', async () => {
        await shell.run(['login', '--server', world.base], { input: key() });
        const logout = await shell.run(['logout', '--json']);
        expect(logout.json).to.deep.include({ server: world.base, removed: true });
        expect(readFileSync(shell.credentials, 'utf8')).not.to.include(key());
        const whoami = await shell.run(['whoami', '--json']);
        expect(whoami.code).to.equal(1);
        expect(whoami.error['code']).to.equal('API_KEY_REQUIRED');
    });

    it('needs no file of keys if the environment has server and key', async () => {
        mkdirSync(shell.credentials, { recursive: true });
        const env = { ROUTEBOOK_URL: world.base, ROUTEBOOK_API_KEY: key() };
        const whoami = await shell.run(['whoami', '--json'], { env });
        expect(whoami.code, whoami.stderr).to.equal(0);
        expect(whoami.json['workspace_id']).to.equal(ada.workspaceId);
    });

    it('reports a damaged file of keys, and leaves it unchanged', async () => {
        await shell.run(['login', '--server', world.base], { input: key() });
        writeFileSync(shell.credentials, '{"servers":');
        const whoami = await shell.run(['whoami', '--json']);
        expect(whoami.code).to.equal(1);
        expect(whoami.error['code']).to.equal('CREDENTIALS_UNREADABLE');
        expect(readFileSync(shell.credentials, 'utf8')).to.equal('{"servers":');
    });
});
