import { execFile, spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { type StartedClone, startClone } from '../support/started-clone.ts';
import { needs } from '../support/system-programs.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CLIENT = join(ROOT, 'cli/client/index.ts');

/** Blocks that cannot run inside a test are marked `console`. Each is listed here with its first words and a reason. */
const NOT_RUN: readonly (readonly [string, string])[] = [
    ['kubectl delete job', 'needs a cluster'],
    ['umask 077', 'needs Docker'],
    ['pg_dump', 'needs a production database; test/ops/pgbouncer.spec.ts does it'],
    ['npm start', 'runs until Ctrl-C; this very test starts it'],
    ['routebook ready on', 'what npm start prints; compared below'],
    ['export DATABASE_URL', 'needs a production database and Redis'],
    ['npm run check', 'the suite itself'],
    ['npx routebook claim', 'needs the DNS of a domain; test/cli/owners.spec.ts does it'],
    ['npx routebook policy', 'needs a proved domain; test/cli/owners.spec.ts does it'],
    ['ROUTEBOOK_API_KEY=', 'runs the program above; this very test runs that of TypeScript, test/clients/python.spec.ts the client'],
    ['python3 -m venv', 'needs Python; test/clients/python.spec.ts runs the client from its sources'],
    ['npm pack', 'installs packages for developers; test/cli/packing.spec.ts installs what is packed'],
];

interface Shown {
    file: string;
    command: string;
    output: string | undefined;
}

describe('the commands in the README and the documents', () => {
    let clone: StartedClone;

    before(async function () {
        needs(this, 'curl', 'npx');
        clone = await startClone();
    });
    after(() => clone?.close());

    for (const { file, command, output } of documents().flatMap(shownCommands)) {
        it(`${file}: ${firstLine(command)}`, async () => {
            const { stdout } = await run('/bin/sh', ['-c', onOurPorts(command, clone.port)], {
                cwd: clone.folder,
                env: clone.environment(),
            });
            expect(stdout.trim()).to.not.equal('');
            if (output !== undefined) expect(masked(stdout, clone.port)).to.equal(masked(output, 8080));
        });
    }

    for (const { file, text } of documents().flatMap(programs)) {
        it(`${file}: ${firstLine(text)}`, async () => {
            const program = join(clone.folder, 'program.mts');
            writeFileSync(program, onOurPorts(text, clone.port).replace("'routebook/client'", `'${pathToFileURL(CLIENT)}'`));
            const key = readFileSync(join(clone.folder, '.data/demo-key'), 'utf8').trim();
            const { stdout, stderr } = await run(process.execPath, [program], { env: clone.environment({ ROUTEBOOK_API_KEY: key }) });
            expect(stdout.trim()).to.not.equal('');
            expect(stderr).to.equal('');
        });
    }

    it('contain a program that accepts signed webhooks only', async () => {
        const guide = blocks(readFileSync(join(ROOT, 'docs/guide-caller.md'), 'utf8')).find(({ language }) => language === 'js');
        const secret = `whsec_${Buffer.from('a secret of 32 bytes for a test.').toString('base64')}`;
        const file = join(clone.folder, 'receiver.mjs');
        const text = guide?.text.replace("'routebook/client'", `'${pathToFileURL(CLIENT)}'`).replace('.listen(9000, ', '.listen(0, ') ?? '';
        writeFileSync(
            file,
            text.replace(/\(\) => console\.log\('waiting for events'\)/, 'function () { console.log(this.address().port) }'),
        );
        const receiver = spawn(process.execPath, [file], { env: clone.environment({ ROUTEBOOK_WEBHOOK_SECRET: secret }) });
        try {
            const lines = createInterface({ input: receiver.stdout })[Symbol.asyncIterator]();
            const port = Number((await lines.next()).value);
            const [id, sentAt, body] = ['evt_1', new Date(), JSON.stringify({ type: 'webhook.test', timestamp: new Date(), data: {} })];
            const send = async (signature: string) => {
                const headers = {
                    'webhook-id': id,
                    'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
                    'webhook-signature': signature,
                };
                return (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body, headers })).status;
            };
            expect(await send('v1,AAAA')).to.equal(400);
            expect(await send(new Webhook(secret).sign(id, sentAt, body))).to.equal(204);
            expect((await lines.next()).value).to.equal('evt_1 webhook.test {}');
        } finally {
            receiver.kill();
        }
    });

    it('contain a curl line that works unchanged', async () => {
        const line = clone.printed.split('\n').find((text) => text.startsWith('curl '));
        const { stdout } = await run('/bin/sh', ['-c', line ?? 'false']);
        expect(JSON.parse(stdout)).to.have.nested.property('data.items[0].title', 'Trail running shoes');
    });

    it('print what the README says', () => {
        const shown = blocks(readFileSync(join(ROOT, 'README.md'), 'utf8')).find(({ text }) => text.startsWith('routebook ready on'));
        const lines = clone.printed.slice(clone.printed.indexOf('routebook ready on'));
        expect(masked(lines, clone.port)).to.equal(masked(shown?.text ?? '', 8080));
    });

    it('begin with an empty database, which npm start says', () => {
        expect(clone.printed).to.include('no database was in .data/postgres: created a new, empty one\n');
    });

    it('have a reason for each block that is not run', () => {
        for (const file of documents()) {
            for (const { language, text } of blocks(readFileSync(join(ROOT, file), 'utf8'))) {
                if (language !== 'console') continue;
                const isListed = NOT_RUN.some(([start]) => text.startsWith(start));
                expect(isListed, `${file}: ${firstLine(text)}`).to.equal(true);
            }
        }
    });
});

function documents(): string[] {
    const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
    return ['README.md', 'CONTRIBUTING.md', ...docs.map((name) => join('docs', name))];
}

/** Each `sh` block, with the expected output if a `json` block follows. */
function shownCommands(file: string): Shown[] {
    const all = blocks(readFileSync(join(ROOT, file), 'utf8'));
    return all.flatMap(({ language, text }, index) => {
        if (language !== 'sh') return [];
        const next = all[index + 1];
        return [{ file, command: text, output: next?.language === 'json' ? next.text : undefined }];
    });
}

function blocks(markdown: string): { language: string; text: string }[] {
    return [...markdown.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({ language, text: text.trim() }));
}

/** TypeScript blocks run too. */
function programs(file: string): { file: string; text: string }[] {
    return blocks(readFileSync(join(ROOT, file), 'utf8')).flatMap(({ language, text }) => (language === 'ts' ? [{ file, text }] : []));
}

/** Replaces the default ports of the server and the demo shop. */
function onOurPorts(text: string, port: number): string {
    return text
        .replaceAll('localhost:8080', `localhost:${port}`)
        .replaceAll('127.0.0.1/32:8081', `127.0.0.1/32:${port + 1}`)
        .replaceAll('demo-shop.example:8081', `demo-shop.example:${port + 1}`);
}

/** Masks ids, keys, times, numbers of this run and the port, which the documents do not promise. */
function masked(text: string, port: number): string {
    return text
        .trim()
        .replaceAll(new RegExp(`localhost:${port}`, 'g'), 'localhost:PORT')
        .replaceAll(`demo shop ready on port ${port + 1} `, 'demo shop ready on port PORT ')
        .replaceAll(new RegExp(`demo-shop\\.example:${port + 1}`, 'g'), 'demo-shop.example:PORT')
        .replaceAll(/\b(req|usr|wsp|key|ses|rb_live)_(?:[0-9A-Za-z]+|…)/g, '$1_…')
        .replaceAll(/"(duration_ms|queue_ms|credits_remaining|bytes|current)":\d+/g, '"$1":0')
        .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');
}

function firstLine(text: string): string {
    return (text.split('\n')[0] ?? '').replace(/ \\$/, ' …');
}
