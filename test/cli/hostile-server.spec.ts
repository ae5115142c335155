import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { createTerminal, type Terminal } from '../../cli/terminal.ts';
import { newApiKey } from '../../shared/domain/accounts/api-key.ts';
import { type CommandLine, openCommandLine } from '../support/command-line.ts';
import { eventually } from '../support/eventually.ts';
import { openSite, type Site } from '../support/sites.ts';

/** Sequences that rename the window, clear the screen, write to the clipboard and hide what follows; the second has a C1 introducer. */
const SEQUENCES = '\u001b]0;owned\u0007 \u009b2J \u001b]52;c;b3duZWQ=\u0007 \u001b[8mhidden \r\u007f';
const SHOWN = '\\u001b]0;owned\\u0007 \\u009b2J \\u001b]52;c;b3duZWQ=\\u0007 \\u001b[8mhidden \\u000d\\u007f';
const KEY = newApiKey();
const PART = Buffer.alloc(64 * 1024, 'x');

describe('a server that attacks the command line', () => {
    let server: Site;
    let elsewhere: Site;
    let shell: CommandLine;
    let answer: { status: number; headers?: Record<string, string>; body: object | 'endless' };

    before(async () => {
        elsewhere = await openSite((_request, response) => response.end('{"success":true,"data":{}}'));
        server = await openSite((_request, response) => {
            response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
            if (answer.body !== 'endless') return void response.end(JSON.stringify(answer.body));
            const send = () => {
                while (!response.destroyed && response.write(PART));
            };
            response.on('drain', send);
            send();
        });
        shell = openCommandLine({ ROUTEBOOK_URL: `http://127.0.0.1:${server.port}`, ROUTEBOOK_API_KEY: KEY });
    });
    after(async () => {
        shell.close();
        await server.close();
        await elsewhere.close();
    });

    it('gets no key to another host by a redirect', async () => {
        for (const status of [301, 302, 303, 307, 308]) {
            answer = { status, headers: { location: `http://127.0.0.1:${elsewhere.port}/v1/account` }, body: {} };
            const ran = await shell.run(['whoami', '--json']);
            expect(ran.error, String(status)).to.include({ code: 'INVALID_ANSWER' });
        }
        expect(server.seen.every(({ headers }) => headers.authorization === `Bearer ${KEY}`)).to.equal(true);
        expect(elsewhere.seen).to.deep.equal([]);
    });

    it('does not fill the memory by answers that do not end', async () => {
        for (const status of [200, 503]) {
            answer = { status, body: 'endless' };
            const before = server.seen.length;
            const ran = await shell.run(['whoami', '--json']);
            expect(ran.error, String(status)).to.include({ code: 'INVALID_ANSWER', status });
            expect(ran.error?.['message']).to.include(`more than ${64 * 1024 * 1024} bytes`);
            expect(server.seen.length - before, 'no second attempt').to.equal(1);
        }
    });

    it('does not keep it reading a list that does not end', async () => {
        for (const command of [['list'], ['search', 'shop']]) {
            answer = { status: 200, body: { success: true, data: [], meta: { pagination: { limit: 20, next_cursor: 'more', total: 5 } } } };
            const before = server.seen.length;
            const ran = await shell.run([...command, '--json']);
            expect(ran.error, command[0]).to.include({ code: 'INVALID_ANSWER', message: 'The list in the answers does not end.' });
            expect(server.seen.length - before, command[0]).to.equal(1);
        }
    });

    it('writes no file outside the chosen folder', async () => {
        for (const file of ['../owned.ts', '/tmp/owned.ts', 'a/../../owned.ts', '..\\owned.ts', 'owned.sh', '.ts\u0000.ts']) {
            answer = { status: 200, body: { success: true, data: { file, source: 'owned' } } };
            const ran = await shell.run(['add', 'shop.example', '--out', 'made', '--json']);
            expect(ran.code, file).to.equal(1);
        }
        expect(existsSync(joinPath(shell.folder, 'made'))).to.equal(false);
        expect(readdirSync(joinPath(shell.folder, '..')).filter((name) => name.startsWith('owned'))).to.deep.equal([]);
    });

    it('sends no sequences to the terminal, in messages and in details', async () => {
        const details = [{ path: `/${SEQUENCES}`, code: 'INVALID_VALUE', message: SEQUENCES }];
        const error = { code: `BAD ${SEQUENCES}`, message: SEQUENCES, details, upstream: { status: 500, snippet: SEQUENCES } };
        answer = { status: 400, body: { success: false, error } };
        const ran = await shell.run(['whoami']);
        expect(ran.stderr).to.include(SHOWN);
        expect(ran.stderr.replaceAll('\n', '')).not.to.match(/\p{Cc}/u);
    });
});

describe('a document that names a path as its site', () => {
    let shell: CommandLine;

    before(() => {
        shell = openCommandLine();
    });
    after(() => shell.close());

    it('is written into the folder in which it is imported', async () => {
        const names = {
            '../owned': 'owned.json',
            '/tmp/owned/x': 'tmp-owned-x.json',
            '.vscode/tasks': 'vscode-tasks.json',
            '..': 'draft.json',
        };
        for (const [site, file] of Object.entries(names)) {
            const endpoints = [{ name: 'get', method: 'GET', url_template: 'https://harbour.example/boats' }];
            writeFileSync(joinPath(shell.folder, 'foreign.json'), JSON.stringify({ site, schema_format_version: '0.1', endpoints }));
            const ran = await shell.run(['import', 'foreign.json', '--json']);
            expect(ran.json['file'], site).to.equal(file);
            expect(existsSync(joinPath(shell.folder, file)), site).to.equal(true);
        }
        expect(existsSync(joinPath(shell.folder, '..', 'owned.json'))).to.equal(false);
    });
});

describe('texts of servers and sites on a terminal', () => {
    let shown: string;

    function open({ isTTY = true, mayColour = true }: { isTTY?: boolean; mayColour?: boolean } = {}): Terminal {
        shown = '';
        const output = { isTTY, write: (part: string) => (shown += part) };
        return createTerminal({ mayColour }, { stdin: Readable.from([]), stdout: output, stderr: output });
    }

    it('show control characters as escapes, and keep colours, tabs and lines', () => {
        const terminal = open();
        const { paint } = terminal;
        terminal.print(paint('green', `a\tb\nc ${SEQUENCES}`));
        expect(shown).to.equal(`\u001b[32ma\tb\nc ${SHOWN}\u001b[39m\n`);
        for (const style of ['bold', 'dim', 'red', 'green', 'yellow', 'cyan'] as const) {
            const painted = open().paint(style, 'x');
            open().printError(painted);
            expect(shown, style).to.equal(`${painted}\n`);
        }
    });

    it('show characters as escapes that reorder the words around them', () => {
        open().print('A shop \u202emoc.elpmaxe\u202c \u2066in Hebrew: חנות\u200f\u2069');
        expect(shown).to.equal('A shop \\u202emoc.elpmaxe\\u202c \\u2066in Hebrew: חנות\u200f\\u2069\n');
    });

    it('show them as escapes in progress, too', async () => {
        const progress = open().progress(SEQUENCES);
        await eventually(
            async () => shown,
            (text) => text.includes(SHOWN),
        );
        progress.end();
    });

    it('stay unchanged in a file', () => {
        open({ isTTY: false }).print(SEQUENCES);
        expect(shown).to.equal(`${SEQUENCES}\n`);
    });
});
