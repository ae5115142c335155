import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { type CommandLine, openCommandLine } from '../support/command-line.ts';
import { API_KEY, CONSENTED, connectedPackage, consentedPackage } from '../support/connections.ts';
import { eventually } from '../support/eventually.ts';
import { ownEnvironment } from '../support/own-environment.ts';
import { join, type Person } from '../support/people.ts';
import { codeOf, dataOf } from '../support/routes.ts';
import { openSite, type Site } from '../support/sites.ts';
import { needs } from '../support/system-programs.ts';
import { openWorld, type World } from '../support/world.ts';

const PROGRAM = fileURLToPath(new URL('../../cli/bin/routebook.js', import.meta.url));
const SITE = 'terminal.test';
const KEY = 'the-good-key-4711';

describe('routebook connect on a terminal', () => {
    let world: World;
    let site: Site;
    let shell: CommandLine;
    let ada: Person;

    before(async function () {
        needs(this, 'script');
        site = await openSite((request, response) => {
            const status = request.headers['x-api-key'] === KEY ? 200 : 401;
            response.writeHead(status, { 'content-type': 'application/json' }).end('{"ok":true}');
        });
        world = await openWorld({ config: { egressHosts: new Map([[SITE, ['127.0.0.1']]]) } });
        ada = await join(world, { plan: 'pro' });
        const auth = [{ ...API_KEY, test: 'mine' }];
        dataOf(await ada.publish(connectedPackage(SITE, { auth, base: `http://${SITE}:${site.port}` })));
        dataOf(await ada.publish(consentedPackage()));
        shell = openCommandLine();
    });
    after(async () => {
        shell?.close();
        await world?.close();
        await site?.close();
    });

    /** Runs a command on a terminal of its own. @param typed is typed once the terminal shows a text */
    async function onTerminal(args: string, env: Record<string, string> = {}, typed?: { after: RegExp; text: string }): Promise<string> {
        const command = `"${process.execPath}" "${PROGRAM}" ${args}`;
        const child = spawn('script', ['-qec', command, '/dev/null'], {
            cwd: shell.folder,
            env: {
                ...ownEnvironment(shell.folder),
                SHELL: '/bin/sh',
                ROUTEBOOK_URL: world.base,
                ROUTEBOOK_API_KEY: ada.apiKey ?? '',
                ...env,
            },
        });
        let shown = '';
        let isTyped = false;
        child.stdout.setEncoding('utf8').on('data', (part: string) => {
            shown += part;
            if (typed === undefined || isTyped || !typed.after.test(shown)) return;
            isTyped = true;
            child.stdin.write(typed.text);
        });
        await once(child, 'close');
        return shown;
    }

    it('reads a secret without echo, fetches with it, and deletes it', async () => {
        const shown = await onTerminal(`connect ${SITE}`, {}, { after: /hidden\):/, text: `${KEY}\r` });
        expect(shown).to.include(`connects ${SITE} (active)`).and.not.include(KEY);
        expect(shown).to.include(API_KEY.obtain_url);
        const [id = ''] = /con_\w+/.exec(shown) ?? [];
        dataOf(await ada.fetch(SITE, 'mine'));
        expect(await onTerminal(`connections remove ${id}`)).to.include('deleted');
        await eventually(
            () => ada.fetch(SITE, 'mine'),
            (answer) => codeOf(answer) === 'CONNECTION_REQUIRED',
        );
    });

    it('opens the browser if the site needs a consent', async () => {
        const opened = joinPath(shell.folder, 'opened');
        const browser = joinPath(shell.folder, 'browser');
        writeFileSync(browser, `#!/bin/sh\nprintf %s "$1" > "${opened}"\n`, { mode: 0o755 });
        dataOf(await ada.call('PUT', `/v1/oauth-clients/${CONSENTED}`, { body: { client_id: 'ours' } }));
        const shown = await onTerminal(`connect ${CONSENTED}`, { BROWSER: browser });
        const [url = ''] = new RegExp(`https://${CONSENTED}/authorize\\S+`).exec(shown) ?? [];
        expect(url).to.include('code_challenge=');
        const read = async () => {
            try {
                return readFileSync(opened, 'utf8');
            } catch {
                return '';
            }
        };
        await eventually(read, (text) => text === url);
    });
});
