import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, lstatSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { after, afterEach, before, describe, it } from 'mocha';
import pg from 'pg';
import { installBinaries, packageFolder } from '../../shared/platform/embedded-postgres/binaries.ts';
import { findHome } from '../../shared/platform/embedded-postgres/home.ts';
import { findPostmaster } from '../../shared/platform/embedded-postgres/postmaster.ts';
import { findRunning, startEmbeddedPostgres } from '../../shared/platform/embedded-postgres.ts';

describe('The embedded database', () => {
    // Creating a cluster takes a second on an idle machine and ten on a busy one.
    let dataDir: string;
    const children: ChildProcess[] = [];
    const log = { info() {}, error() {} };

    before(async () => {
        dataDir = newFolder(0o755);
        const server = await startEmbeddedPostgres({ dataDir, log });
        await ask(server.url, 'create table kept (word text)');
        await ask(server.url, "insert into kept values ('first')");
        await server.stop();
    });

    afterEach(() => {
        for (const child of children.splice(0)) child.kill('SIGKILL');
    });

    after(() => rmSync(dataDir, { recursive: true, force: true }));

    it('installs its programs with every link, whether or not the install script of its package created them', () => {
        const source = newFolder(0o755);
        cpSync(packageFolder(), source, { recursive: true, verbatimSymlinks: true });
        const linksOf = (folder: string) =>
            readdirSync(join(folder, 'lib')).filter((name) => lstatSync(join(folder, 'lib', name)).isSymbolicLink());
        for (const name of linksOf(join(source, 'native'))) rmSync(join(source, 'native/lib', name));
        const bare = installBinaries(newFolder(0o755), source);
        const installed = join(bare.postgres, '../..');
        const made = linksOf(installed);
        expect(made).to.have.length.above(5);
        for (const name of made) cpSync(join(installed, 'lib', name), join(source, 'native/lib', name), { verbatimSymlinks: true });
        const linked = installBinaries(newFolder(0o755), source);
        expect(linksOf(join(linked.postgres, '../..'))).to.deep.equal(made);
    });

    it('says whether it began empty: at first, and after its folder was deleted', async () => {
        const folder = newFolder(0o755);
        const beganEmpty = async () => {
            const server = await startEmbeddedPostgres({ dataDir: folder, log, durable: false });
            await server.stop();
            return server.isNew;
        };
        expect(await beganEmpty()).to.equal(true);
        expect(await beganEmpty()).to.equal(false);
        rmSync(join(folder, 'postgres'), { recursive: true });
        expect(await beganEmpty()).to.equal(true);
        rmSync(folder, { recursive: true });
    });

    it('keeps its data between starts', async () => {
        const server = await startEmbeddedPostgres({ dataDir, log });
        expect(await ask(server.url, 'select word from kept')).to.deep.equal([{ word: 'first' }]);
        await server.stop();
    });

    it('has all committed data after kill -9 of everything, and starts at once', async () => {
        const killed = await startElsewhere(dataDir);
        await ask(killed.url, "insert into kept values ('committed')");
        const postmaster = postmasterOf(dataDir);
        killed.child.kill('SIGKILL');
        process.kill(postmaster, 'SIGKILL');

        const server = await startEmbeddedPostgres({ dataDir, log });
        expect(await ask(server.url, "select word from kept where word = 'committed'")).to.have.length(1);
        await server.stop();
    });

    it('starts even if another program has the pid of its killed predecessor', async () => {
        const home = findHome(dataDir);
        writeFileSync(
            join(home?.cluster ?? '', 'postmaster.pid'),
            `${process.pid}\n${home?.cluster}\n1\n5432\n/tmp/gone\n\n0 0\nready   \n`,
        );
        expect(findRunning(dataDir)).to.equal(undefined);
        const server = await startEmbeddedPostgres({ dataDir, log });
        await server.stop();
    });

    it('ends with a Routebook that was killed', async () => {
        const killed = await startElsewhere(dataDir);
        postmasterOf(dataDir);
        killed.child.kill('SIGKILL');
        await eventually(() => findPostmasterOf(dataDir) === undefined);
        expect(await ask(killed.url, 'select 1').catch((error: Error & { code?: string }) => error.code)).to.equal('ENOENT');
    });

    it('refuses a second start on the same data folder in one line that names folder and pid', async () => {
        const first = await startElsewhere(dataDir);
        const refusal = await startEmbeddedPostgres({ dataDir, log }).then(
            () => 'it started',
            (error: Error) => error.message,
        );
        expect(refusal).to.contain(dataDir).and.contain(`pid ${first.child.pid}`).and.not.contain('\n');
        expect(await ask(first.url, 'select 1 as answer')).to.deep.equal([{ answer: 1 }]);
        first.child.kill('SIGTERM');
        await once(first.child, 'exit');
    });

    it('gives a data folder whose owner was killed to exactly one of several starts', async () => {
        const killed = await startElsewhere(dataDir);
        killed.child.kill('SIGKILL');
        const starts = await Promise.allSettled([startElsewhere(dataDir), startElsewhere(dataDir), startElsewhere(dataDir)]);
        expect(starts.filter((start) => start.status === 'fulfilled')).to.have.length(1);
        for (const start of starts)
            if (start.status === 'rejected') expect(String(start.reason)).to.contain('is in use by another Routebook');
        for (const child of children) child.kill('SIGTERM');
        await eventually(() => children.every((child) => child.exitCode !== null || child.signalCode !== null));
    });

    it('says where the running server is, and nothing once it has stopped', async () => {
        expect(findRunning(dataDir)).to.equal(undefined);
        const server = await startEmbeddedPostgres({ dataDir, log });
        expect(findRunning(dataDir)).to.equal(server.url);
        await server.stop();
        expect(findRunning(dataDir)).to.equal(undefined);
    });

    it('returns with the same address when its process dies', async () => {
        const server = await startEmbeddedPostgres({ dataDir, log });
        const died = postmasterOf(dataDir);
        process.kill(died, 'SIGKILL');
        await eventually(() => ![died, undefined].includes(findPostmasterOf(dataDir)));
        await eventually(async () => findRunning(dataDir) === server.url);
        expect(await ask(server.url, "select word from kept where word = 'first'")).to.have.length(1);
        await server.stop();
    });

    it('listens on a socket in a private folder, and on no port', async () => {
        const server = await startEmbeddedPostgres({ dataDir, log });
        const socketFolder = new URL(server.url).searchParams.get('host') ?? '';
        expect(statSync(socketFolder).mode & 0o777).to.equal(0o700);
        expect(await ask(server.url, "select current_setting('listen_addresses') as addresses")).to.deep.equal([{ addresses: '' }]);
        await server.stop();
        expect(existsSync(socketFolder)).to.equal(false);
    });

    it('flushes every commit to the disk', async () => {
        const server = await startEmbeddedPostgres({ dataDir, log });
        const [settings] = await ask(server.url, "select current_setting('fsync') as fsync, current_setting('synchronous_commit') as sync");
        expect(settings).to.deep.equal({ fsync: 'on', sync: 'on' });
        await server.stop();
    });

    it('works as root as well, also if only root may enter the data folder', async function () {
        if (process.getuid?.() !== 0) return this.skip();
        const closed = newFolder(0o700);
        const server = await startEmbeddedPostgres({ dataDir: closed, log, durable: false });
        expect(await ask(server.url, 'select 1 as answer')).to.deep.equal([{ answer: 1 }]);
        expect(findRunning(closed)).to.equal(server.url);
        await server.stop();
        for (const used of [realpathSync(join(closed, 'postgres')), closed]) rmSync(used, { recursive: true });
    });

    /** Another process that runs the database of a folder, like `npm start`. Rejects with its message if it is refused. */
    async function startElsewhere(folder: string): Promise<{ child: ChildProcess; url: string }> {
        const child = spawn(process.execPath, ['--input-type=module', '-e', ELSEWHERE, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
        children.push(child);
        for await (const line of createInterface({ input: child.stdout })) {
            if (line.startsWith('postgresql:')) return { child, url: line };
            throw new Error(line);
        }
        throw new Error('the other process ended without a word');
    }

    function postmasterOf(folder: string): number {
        const pid = findPostmasterOf(folder);
        if (pid === undefined) throw new Error(`no server runs in ${folder}`);
        return pid;
    }

    function findPostmasterOf(folder: string): number | undefined {
        const home = findHome(folder);
        return home && findPostmaster(home.cluster)?.pid;
    }
});

const ELSEWHERE = `
import { startEmbeddedPostgres } from '${new URL('../../shared/platform/embedded-postgres.ts', import.meta.url)}';
try {
    const server = await startEmbeddedPostgres({ dataDir: process.argv[1], log: { info() {}, error() {} } });
    process.on('SIGTERM', () => server.stop().then(() => process.exit(0)));
    setInterval(() => {}, 60_000);
    console.log(server.url);
} catch (error) {
    console.log(error.message);
}
`;

function newFolder(mode: number): string {
    const folder = mkdtempSync(join(tmpdir(), 'routebook-spec-'));
    chmodSync(folder, mode);
    return folder;
}

async function ask(url: string, statement: string): Promise<unknown[]> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
        return (await client.query(statement)).rows;
    } finally {
        await client.end();
    }
}

/** Polls a condition. The test's own timeout ends the wait. */
async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await holds())) await sleep(10);
}
