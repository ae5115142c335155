import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, links, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'gitweb',
    host: 'git.test',
    ready: '/',
    visit,
    start(folder, port, npm) {
        const root = join(npm, '../../root');
        for (const repository of ['harbour', 'tides', 'ropes']) {
            const work = join(folder, 'work', repository);
            mkdirSync(work, { recursive: true });
            const git = (...words: string[]) =>
                execFileSync('git', ['-c', 'user.name=Keeper', '-c', 'user.email=keeper@harbour.example', ...words], {
                    cwd: work,
                    stdio: 'ignore',
                });
            git('init', '-b', 'master');
            for (const step of ['First', 'Second', 'Third']) {
                writeFileSync(join(work, 'README'), `${step} words of ${repository}\n`);
                mkdirSync(join(work, 'src'), { recursive: true });
                writeFileSync(join(work, 'src', `${step.toLowerCase()}.c`), 'int main(void) { return 0; }\n');
                git('add', '.');
                git('commit', '-m', `${step} change`);
            }
            git('tag', 'v1');
            git('clone', '--bare', work, join(folder, 'git', `${repository}.git`));
        }
        writeFileSync(
            join(folder, 'gitweb.conf'),
            `$projectroot='${folder}/git';\n$git_temp='/tmp';\n@stylesheets=("/static/gitweb.css");\n$my_uri="/";\n$my_url="/";\n`,
        );
        writeFileSync(join(folder, 'serve.mjs'), GITWEB_SERVER);
        return {
            program: process.execPath,
            args: [join(folder, 'serve.mjs'), String(port), join(root, 'usr/share/gitweb/gitweb.cgi')],
            env: {
                GITWEB_CONFIG: join(folder, 'gitweb.conf'),
                PERL5LIB: `${root}/usr/share/perl5:${root}/usr/lib/x86_64-linux-gnu/perl5/5.36`,
            },
        };
    },
};

/** Browses repositories. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    await open(page, `${base}/?s=tides`);
    await open(page, `${base}/?s=rope`);
    for (const name of ['harbour.git', 'tides.git']) {
        for (const view of ['summary', 'shortlog', 'log', 'tree', 'heads', 'tags']) await open(page, `${base}/?p=${name};a=${view}`);
        await open(page, `${base}/?p=${name};a=shortlog`);
        const commits = await links(page, /a=commit;h=[0-9a-f]{40}$/);
        for (const commit of commits.slice(0, 2)) {
            await open(page, commit);
            await open(page, commit.replace('a=commit;', 'a=commitdiff;'));
        }
        await open(page, `${base}/?p=${name};a=search;st=commit;s=change`);
        await open(page, `${base}/?p=${name};a=blob;f=README;hb=HEAD`);
        await ask(page, 'GET', `/?p=${name};a=rss`);
    }
    await page.close();
}

const GITWEB_SERVER = `
import { createServer } from 'node:http';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
const [port, cgi] = process.argv.slice(2);
createServer((request, response) => {
    const url = new URL(request.url, 'http://localhost');
    if (url.pathname.startsWith('/static/')) { response.setHeader('content-type', 'text/css'); response.end(''); return; }
    const env = { ...process.env, GATEWAY_INTERFACE: 'CGI/1.1', REQUEST_METHOD: request.method, QUERY_STRING: url.search.slice(1), PATH_INFO: url.pathname === '/' ? '' : decodeURIComponent(url.pathname), SCRIPT_NAME: '', SERVER_NAME: 'git.test', SERVER_PORT: port, HTTP_HOST: request.headers.host, REQUEST_URI: request.url, SERVER_PROTOCOL: 'HTTP/1.1' };
    const child = spawn('perl', [cgi], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const parts = [];
    child.stdout.on('data', (part) => parts.push(part));
    child.on('close', () => {
        const all = Buffer.concat(parts);
        const at = all.indexOf('\\r\\n\\r\\n');
        for (const line of all.subarray(0, at).toString().split('\\r\\n')) {
            const [name, ...value] = line.split(':');
            if (/^status$/i.test(name)) response.statusCode = Number(value.join(':').trim().slice(0, 3));
            else response.setHeader(name, value.join(':').trim());
        }
        response.end(all.subarray(at + 4));
    });
}).listen(Number(port), '127.0.0.1');
`;
