import { expect } from 'chai';
import { type CommandLine, openCommandLine } from '../support/command-line.ts';
import { API_KEY, connectedPackage } from '../support/connections.ts';
import { eventually } from '../support/eventually.ts';
import { join, type Person } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { openSite, type Site } from '../support/sites.ts';
import { openWorld, type World } from '../support/world.ts';

const SITE = 'typed.test';
const KEY = 'the-good-key-4711';

describe('connections on the command line', () => {
    let world: World;
    let site: Site;
    let shell: CommandLine;
    let ada: Person;

    before(async () => {
        site = await openSite((request, response) => {
            const status = request.headers['x-api-key'] === KEY ? 200 : 401;
            response.writeHead(status, { 'content-type': 'application/json' }).end('{"ok":true}');
        });
        world = await openWorld({ config: { egressHosts: new Map([[SITE, ['127.0.0.1']]]) } });
        ada = await join(world, { plan: 'pro' });
        const auth = [{ ...API_KEY, test: 'mine' }];
        dataOf(await ada.publish(connectedPackage(SITE, { auth, base: `http://${SITE}:${site.port}` })));
        shell = openCommandLine({ ROUTEBOOK_URL: world.base, ROUTEBOOK_API_KEY: ada.apiKey ?? '' });
    });
    after(async () => {
        shell.close();
        await world.close();
        await site.close();
    });

    it('are requested by a fetch without one, with the pages for connecting the site and for getting a credential', async () => {
        const obtainUrl = API_KEY.obtain_url ?? '';
        const missing = await shell.run(['fetch', SITE, 'mine']);
        expect(missing.code).to.equal(1);
        const connectUrl = `${world.app.publicUrl()}/dashboard/connections/new?site=${SITE}`;
        expect(missing.stderr).to.include('CONNECTION_REQUIRED').and.include(connectUrl).and.include(obtainUrl);
        const failed = await shell.run(['fetch', SITE, 'mine', '--json']);
        expect(JSON.parse(failed.stdout).error).to.include({ connect_url: connectUrl, obtain_url: obtainUrl });
    });

    it('are named by the lists of endpoints that need one', async () => {
        const looked = await shell.run(['catalog', SITE, '--intent', 'read what belongs to me at this site']);
        expect(looked.stdout).to.match(/^mine {2}1 credit a request {2}needs a connection$/m);
        const find = async () => (await shell.run(['find', 'mine', '--site', SITE])).stdout;
        await eventually(find, (shown) => shown.includes(`${SITE} mine  1 credit a request, needs a connection`));
    });

    it('are created from a pipe, listed, shown, tested and removed, and never printed', async () => {
        const wrong = await shell.run(['connect', SITE], { input: 'a-wrong-key-of-mine\n' });
        expect(wrong.code).to.equal(1);
        expect(wrong.stderr).to.include('rejects this credential').and.not.include('a-wrong-key-of-mine');
        const made = await shell.run(['connect', SITE, '--name', 'Mine'], { input: `${KEY}\n` });
        expect(made.code, made.stderr).to.equal(0);
        const [id = ''] = /con_\w+/.exec(made.stdout) ?? [];
        const shown = [made];
        for (const args of [['list'], ['show', id], ['test', id], ['remove', id]]) {
            const ran = await shell.run(['connections', ...args]);
            expect(ran.code, ran.stderr).to.equal(0);
            expect(ran.stdout).to.include(id);
            shown.push(ran);
        }
        for (const { stdout, stderr } of shown) expect(stdout + stderr).not.to.include(KEY);
        expect((await shell.run(['connections', 'list'])).stdout).to.include('routebook connect SITE');
    });

    it('ask for no secret that the site cannot take', async () => {
        const base = `http://${SITE}:${site.port}`;
        const plain = connectedPackage(`plain.${SITE}`, { auth: [], base });
        const open = { ...plain, endpoints: plain.endpoints.map(({ auth: _, ...endpoint }) => endpoint) };
        dataOf(await ada.publish(open));
        dataOf(
            await ada.publish(connectedPackage(`two.${SITE}`, { auth: [API_KEY, { ...API_KEY, id: 'other_key', name: 'X-Other' }], base })),
        );
        for (const [args, says] of [
            [[`plain.${SITE}`], 'takes no connections'],
            [[`two.${SITE}`], `${API_KEY.id}, other_key`],
            [[`two.${SITE}`, '--auth', 'none'], `${API_KEY.id}, other_key`],
        ] as const) {
            const { code, stderr } = await shell.run(['connect', ...args], { input: `${KEY}\n` });
            expect(code, stderr).to.equal(2);
            expect(stderr).to.include(says).and.not.include('for plain').and.not.include('for two');
        }
    });

    it('are named, if there are several, for a fetch and for a monitor', async () => {
        const ids: string[] = [];
        for (const name of ['One', 'Two']) {
            const { stdout } = await shell.run(['connect', SITE, '--name', name], { input: `${KEY}\n` });
            ids.push(/con_\w+/.exec(stdout)?.[0] ?? '');
        }
        const [one = '', two = ''] = ids;
        const unnamed = await shell.run(['fetch', SITE, 'mine']);
        expect(unnamed.code).to.equal(1);
        expect(unnamed.stderr).to.include('CONNECTION_REQUIRED').and.include(one).and.include(two).and.not.include('/dashboard/');
        const fetched = await shell.run(['fetch', SITE, 'mine', '--connection', two]);
        expect(fetched.code, fetched.stderr).to.equal(0);
        const watched = await shell.run(['monitor', 'add', SITE, 'mine', '--every', '1d', '--connection', two, '--json']);
        expect(watched.code, watched.stderr).to.equal(0);
        expect(JSON.parse(watched.stdout)).to.include({ connection: two });
    });
});
