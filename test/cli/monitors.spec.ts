import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { expect } from 'chai';
import { Routebook } from '../../cli/client/index.ts';
import { type CommandLine, openCommandLine } from '../support/command-line.ts';
import { eventually } from '../support/eventually.ts';
import { join, type Person } from '../support/people.ts';
import { installPythonClient } from '../support/python.ts';
import { dataOf } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { needs } from '../support/system-programs.ts';
import { openWorld, type World } from '../support/world.ts';

const SITE = 'prices.test';

describe('monitors on the command line and in the clients', () => {
    let world: World;
    let site: Server;
    let ada: Person;
    let shell: CommandLine;
    let client: Routebook;
    let items: object[] = [];
    let env: Record<string, string>;

    before(async () => {
        site = createServer((_request, response) => {
            response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ items }));
        }).listen(0, '127.0.0.1');
        await once(site, 'listening');
        const { port } = site.address() as AddressInfo;
        world = await openWorld({ config: { egressHosts: new Map([[SITE, ['127.0.0.1']]]) } });
        ada = await join(world, { plan: 'pro' });
        const endpoint = anEndpoint(SITE, { name: 'list', url: `http://${SITE}:${port}/list`, params: [] });
        dataOf(await ada.publish(aPackage(SITE, { endpoints: [endpoint] })));
        env = { ROUTEBOOK_URL: world.base, ROUTEBOOK_API_KEY: ada.apiKey ?? '' };
        shell = openCommandLine(env);
        client = new Routebook({ baseUrl: world.base, apiKey: ada.apiKey ?? '' });
    });
    beforeEach(() => {
        items = [{ id: 1, price: 5 }];
    });
    after(async () => {
        shell?.close();
        await world?.close();
        site?.close();
    });

    const run = async (...args: string[]) => {
        const ran = await shell.run(['monitor', ...args]);
        expect(ran.code, ran.stderr).to.equal(0);
        return ran.stdout;
    };
    /** Its first run starts when it is created. */
    const untilRun = (id: string, runs = 1) =>
        eventually(
            async () => (await client.monitors.runs(id).page()).items.filter(({ status }) => status !== 'running').length,
            (ended) => ended >= runs,
            20_000,
        );

    it('are added, run, read, changed, paused and deleted by commands', async () => {
        expect(await run('list')).to.include('routebook monitor add');
        const added = await run('add', SITE, 'list', '--every', '1h', '--identity', 'id', '--watch', 'items', '--name', 'Prices');
        const [id = ''] = /mon_\w+/.exec(added) ?? [];
        await untilRun(id);
        expect(await run('changes', id)).to.include('No changes yet.');
        items = [{ id: 1, price: 6 }, { id: 2 }];
        expect(await run('run', id)).to.include('succeeded');
        await untilRun(id, 2);
        const changes = await run('changes', id);
        expect(changes).to.include('+ {"id":2}').and.include('~ /0/price: 5 → 6');
        expect(await run('runs', id)).to.include('yes');
        expect(await run('change', id, '--every', '1d', '--tell-if', 'length(diff.added) > `0`')).to.include('every 1d');
        expect(await run('pause', id)).to.include('is paused');
        expect(await run('list', '--status', 'paused'))
            .to.include(id)
            .and.include('Prices');
        expect(await run('resume', id)).to.include('runs again');
        expect(await run('show', id))
            .to.include('active')
            .and.include('length(diff.added)')
            .and.include('changed');
        expect(await run('delete', id)).to.include('is deleted');
        const gone = await shell.run(['monitor', 'show', id, '--json']);
        expect([gone.code, gone.error['code']]).to.deep.equal([1, 'MONITOR_NOT_FOUND']);
    });

    it('are not sent if the command has too few or too many arguments', async () => {
        for (const args of [
            ['add', SITE, 'list'],
            ['add', SITE, 'list', '--every', '1h', '--cron', '0 8 * * *'],
            ['change', 'mon_1'],
        ]) {
            const wrong = await shell.run(['monitor', ...args, '--json']);
            expect([wrong.code, wrong.error['code']], args.join(' ')).to.deep.equal([2, 'WRONG_USAGE']);
        }
    });

    it('are managed by the client', async () => {
        const { monitor_id: id } = await client.monitors.create({ site: SITE, endpoint: 'list', every: '1h', watch: 'items' });
        await untilRun(id);
        items = [];
        await client.jobs.wait((await client.monitors.run(id)).job_id);
        await untilRun(id, 2);
        const [change] = (await client.monitors.changes(id).page()).items;
        expect(change?.diff).to.deep.equal({ added: [], removed: [{ id: 1, price: 5 }], changed: [] });
        expect((await client.monitors.pause(id)).status).to.equal('paused');
        expect((await client.monitors.resume(id)).status).to.equal('active');
        expect((await client.monitors.update(id, { name: 'Prices' })).name).to.equal('Prices');
        const listed: string[] = [];
        for await (const { monitor_id: one } of client.monitors.list()) listed.push(one);
        expect(listed).to.include(id);
        expect(await client.monitors.delete(id)).to.deep.equal({ monitor_id: id, deleted: true });
    });

    it('are managed by the client for Python', async function () {
        needs(this, 'python');
        const folder = mkdtempSync(joinPath(tmpdir(), 'routebook-monitors-'));
        try {
            const python = await installPythonClient(folder);
            const program = `
from routebook import Routebook
monitors = Routebook().monitors
made = monitors.create("${SITE}", "list", every="1h", watch="items")
name = made["monitor_id"]
job = monitors.run(name)
print(job.result(30)["data"])
monitors.pause(name)
monitors.resume(name)
print(monitors.update(name, name="Prices")["name"], [one["monitor_id"] for one in monitors.list()] == [name])
print(len(list(monitors.runs(name))) > 0, list(monitors.changes(name)), monitors.delete(name)["deleted"])
`;
            const output = await python.run(['-c', program], { env });
            expect(output.trim().split('\n')).to.deep.equal(["{'items': [{'id': 1, 'price': 5}]}", 'Prices True', 'True [] True']);
        } finally {
            rmSync(folder, { recursive: true });
        }
    });
});
