import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify, stripVTControlCharacters } from 'node:util';
import { expect } from 'chai';
import { Command } from 'commander';
import { addAllCommands } from '../../cli/commands/all.ts';
import type { Run } from '../../cli/session.ts';
import { createTerminal } from '../../cli/terminal.ts';
import { type CommandLine, openCommandLine } from '../support/command-line.ts';
import { ownEnvironment } from '../support/own-environment.ts';
import { aPackage } from '../support/schemas.ts';
import { needs } from '../support/system-programs.ts';

const PROGRAM = fileURLToPath(new URL('../../cli/bin/routebook.js', import.meta.url));
const NOWHERE = 'http://127.0.0.1:9';
const ESCAPE = '\u001b';

describe('every command of routebook', () => {
    let shell: CommandLine;
    let commands: string[];

    before(async () => {
        shell = openCommandLine({ ROUTEBOOK_URL: NOWHERE });
        writeFileSync(joinPath(shell.folder, 'shop.json'), JSON.stringify(aPackage('shop.example')));
        const { stdout } = await shell.run(['--help']);
        commands = [...stdout.matchAll(/^ {2}([a-z]+)(?= |$).* {2,}\S/gm)].map(([, name = '']) => name).filter((name) => name !== 'help');
    });

    after(() => shell.close());

    it('is in the help', () => {
        const promised =
            'inspect import init lint test diff push list search pull add versions yank catalog fetch request batch job claim policy login logout whoami mcp';
        expect(commands).to.include.members(promised.split(' '));
    });

    it('has a help of its own that names its options, and exits with 0', async () => {
        for (const command of commands) {
            const ran = await shell.run([command, '--help']);
            expect(ran.code, command).to.equal(0);
            expect(ran.stdout, command).to.include(`Usage: routebook ${command}`).and.include('--json').and.include('--server');
            expect(ran.stderr, command).to.equal('');
        }
        expect((await shell.run([])).code).to.equal(0);
    });

    it('fits its help into 80 columns, with that of its subcommands', async () => {
        const paths = commands.map((command) => [command]);
        for (const path of paths) {
            const { stdout } = await shell.run([...path, '--help']);
            expect(
                stdout.split('\n').filter((line) => line.length > 80),
                path.join(' '),
            ).to.deep.equal([]);
            const [, listed = ''] = stdout.split('\nCommands:\n');
            if (path.length === 1) for (const [, name = ''] of listed.matchAll(/^ {2}([a-z]+) /gm)) paths.push([...path, name]);
        }
        expect(paths).to.deep.include(['batch', 'run']);
    });

    it('keeps words whole where an error is longer than the terminal is wide', async () => {
        let shown = '';
        const output = { isTTY: true, columns: 60, write: (text: string) => (shown += text) };
        const terminal = createTerminal({ mayColour: true }, { stdin: Readable.from([]), stdout: output, stderr: output });
        terminal.printError(
            `  /params/id  INVALID_TYPE  ${terminal.paintError('bold', 'A_CODE')}  The value of id must be an integer, or it must be left out.`,
        );
        const lines = shown.trimEnd().split('\n');
        expect(lines.map((line) => stripVTControlCharacters(line))).to.deep.equal([
            '  /params/id  INVALID_TYPE  A_CODE  The value of id must be',
            '    an integer, or it must be left out.',
        ]);
    });

    it('exits with 2 if it was used wrongly, and shows its usage', async () => {
        const wrong = [
            ['nope'],
            ['fetch'],
            ['add'],
            ['add', 'shop.example', '--version', 'latest'],
            ['fetch', 'shop.example', 'product', '--nope'],
            ['fetch', 'shop.example', 'product', '--max-credits', 'many'],
            ['fetch', 'shop.example', 'product', '--params', '[1]'],
            ['fetch', 'shop.example', 'product', '--param', 'novalue'],
            ['catalog', 'shop.example'],
            ['list', '--sort', 'size'],
            ['yank', 'shop.example', 'one', '--reason', 'broken'],
            ['yank', 'shop.example', '1'],
            ['request', 'shop.example'],
            ['claim'],
            ['claim', 'start'],
            ['claim', 'nope', 'shop.example'],
            ['policy', 'shop.example', '--block', '--unblock'],
            ['policy', 'shop.example', '--clear', '--writes', 'off'],
            ['policy', 'shop.example', '--writes', 'maybe'],
            ['policy', 'shop.example', '--rpm', '0'],
            ['policy', 'shop.example', '--hours', '9-17', '--timezone', 'UTC'],
            ['policy', 'shop.example', '--hours', '09:00-09:00', '--timezone', 'UTC'],
            ['policy', 'shop.example', '--block-path', 'shop.example'],
            ['push', 'shop.json', '--dry-run', '--wait', '3'],
            ['test', 'shop.json', '--param', 'a=1'],
            ['init', '--url', 'https://shop.example'],
            ['whoami', '--server', 'ftp://shop.example'],
            ['lint', 'shop.json', '--server', 'http://key@shop.example'],
        ];
        for (const args of wrong) {
            const ran = await shell.run([...args, '--json']);
            expect(ran.code, args.join(' ')).to.equal(2);
            expect(ran.error, args.join(' ')).to.include({ code: 'WRONG_USAGE' });
            expect(ran.stderr.trim(), args.join(' ')).not.to.equal('');
            expect(ran.stderr, args.join(' ')).not.to.include('    at ');
        }
    });

    it('names the help of the command that was used wrongly', async () => {
        expect((await shell.run(['fetch'])).stderr)
            .to.include("missing required argument 'site'")
            .and.include('"routebook fetch --help" shows how');
        expect((await shell.run(['batch', 'retry'])).stderr).to.include('"routebook batch retry --help" shows how');
        expect((await shell.run(['nope'])).stderr).to.include('"routebook --help" lists all commands');
    });

    it('suggests what people mean by a word, not only what is spelled alike', async () => {
        const meant = {
            lookup: 'catalog or find',
            download: 'pull',
            call: 'fetch',
            jobs: 'job',
            serch: 'search',
            'webhook create': 'add',
            'webhook events': 'listen',
            'monitor remove': 'delete',
            'batch results': 'follow or show',
            'connections delete': 'remove',
        };
        for (const [words, names] of Object.entries(meant)) {
            const ran = await shell.run(['--server', NOWHERE, ...words.split(' '), 'shop.example', '--json']);
            expect(ran.code, words).to.equal(2);
            expect(ran.error['message'], words)
                .to.include(`unknown command '${words.split(' ').at(-1)}'`)
                .and.include(`Did you mean ${names}?`);
            expect(ran.stderr, words).to.include(`Did you mean ${names}?`).and.not.include('logout');
        }
    });

    it('names commands as they were typed: after npx with npx', async () => {
        const run = (args: readonly string[], command: string) =>
            shell.run(args, { isProcess: true, env: { npm_command: command, ROUTEBOOK_API_KEY: '' } });
        const packageFile = joinPath(shell.folder, 'new.json');
        const draft = ['init', '--site', 'shop.example', '--title', 'Shop', '--url', 'https://shop.example/a', '--name', 'a'];
        const drafted = await run([...draft, '--category', 'commerce', '--out', packageFile, '--force'], 'exec');
        expect(drafted.stdout, drafted.stderr).to.include(`npx routebook lint ${packageFile}`);
        expect((await run(['fetch', '--help'], 'exec')).stdout)
            .to.include('Usage: npx routebook fetch')
            .and.include('$ npx routebook fetch');
        expect((await run(['fetch', '--help'], 'run-script')).stdout)
            .to.include('Usage: routebook fetch')
            .and.not.include('npx');
    });

    it('reports in one line of JSON, and with exit code 1, that the server is unreachable', async () => {
        // One command of each kind, since all commands call the API through one function.
        const calls = [
            ['whoami'],
            ['pull', 'shop.example'],
            ['yank', 'shop.example', '1', '--reason', 'broken'],
            ['fetch', 'shop.example', 'product'],
            ['claim', 'check', 'shop.example'],
            ['policy', 'shop.example'],
            ['webhook', 'listen'],
            ['diff', 'shop.json'],
            ['push', 'shop.json'],
        ];
        for (const [index, args] of calls.entries()) {
            // The first one runs as a process.
            const ran = await shell.run([...args, '--json'], { isProcess: index === 0 });
            expect(ran.code, args.join(' ')).to.equal(1);
            expect(ran.stdout.trimEnd().split('\n'), args.join(' ')).to.have.length(1);
            expect(ran.error, args.join(' ')).to.include({ code: 'NETWORK_ERROR' });
            expect(ran.stderr, args.join(' ')).to.include(NOWHERE).and.not.include('    at ');
        }
    });

    it('has a function that takes the session, the arguments of the command and its options', async () => {
        const loads = new Map<unknown, Parameters<Run>[0]>();
        const actions = new Map<Command, unknown>();
        class Noted extends Command {
            override createCommand(name?: string): Command {
                return new Noted(name);
            }
            override action(fn: Parameters<Command['action']>[0]): this {
                actions.set(this, fn);
                return super.action(fn);
            }
        }
        addAllCommands(new Noted('routebook'), (load) => {
            const action = async () => {};
            loads.set(action, load);
            return action;
        });
        expect(actions.size).to.be.above(40);
        for (const [command, action] of actions) {
            const name = `${command.parent?.name()} ${command.name()}`;
            const work = await loads.get(action)?.();
            const session = 1;
            const args = command.registeredArguments.length;
            // A function without use for the options leaves them out.
            expect(work?.length, name).to.be.within(session + args, session + args + 1);
        }
    });

    it('accepts its common options before the command too', async () => {
        const ran = await shell.run(['--json', '--server', NOWHERE, 'whoami']);
        expect(ran.error).to.include({ code: 'NETWORK_ERROR' });
        expect((await shell.run(['--version'])).stdout).to.match(/^\d+\.\d+\.\d+$/m);
    });

    it('names an invalid environment variable', async () => {
        const ran = await shell.run(['lint', 'shop.json', '--json'], { env: { EGRESS_ALLOW: 'everything' } });
        expect(ran.code).to.equal(1);
        expect(ran.error).to.include({ code: 'INVALID_SETTING' });
        expect(String(ran.error['message'])).to.include('EGRESS_ALLOW');
    });

    it('has no colours in a pipe, colours on a terminal, and none there with NO_COLOR', async function () {
        needs(this, 'script');
        for (const args of [['--help'], ['lint', 'shop.json'], ['whoami']]) {
            const piped = await shell.run(args, { isProcess: true });
            expect(piped.stdout + piped.stderr, args.join(' ')).not.to.include(ESCAPE);
        }
        expect(await onTerminal({})).to.include(`${ESCAPE}[32m✓`);
        const plain = await onTerminal({ NO_COLOR: '1' });
        expect(plain).to.include('✓ shop.json').and.not.include(ESCAPE);
    });

    /** The output of `lint` on a terminal. */
    async function onTerminal(env: Record<string, string>): Promise<string> {
        const command = `"${process.execPath}" "${PROGRAM}" lint shop.json`;
        const args = process.platform === 'darwin' ? ['-q', '/dev/null', 'sh', '-c', command] : ['-qec', command, '/dev/null'];
        const { stdout } = await promisify(execFile)('script', args, {
            cwd: shell.folder,
            env: { ...ownEnvironment(shell.folder), TERM: 'xterm-256color', SHELL: '/bin/sh', ...env },
        });
        return stdout;
    }

    it('ends silently if the reader of its output closes it', async () => {
        const command = `"${process.execPath}" "${PROGRAM}" --help | head -n 1`;
        const { stdout, stderr } = await promisify(execFile)('sh', ['-c', command]);
        expect(stdout).to.include('Usage');
        expect(stderr).to.equal('');
    });

    it('says in one line that a full disk took no output, and exits with 1', async function () {
        if (!existsSync('/dev/full')) this.skip();
        const command = `"${process.execPath}" "${PROGRAM}" --help > /dev/full; echo "exit $?" >&2`;
        const { stderr } = await promisify(execFile)('sh', ['-c', command]);
        expect(stderr).to.equal('The output cannot be written (ENOSPC).\nexit 1\n');
    });
});
