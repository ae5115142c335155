import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'cgit',
    host: 'sources.test',
    ready: '/',
    visit,
    start(folder, port) {
        writeFileSync(
            join(folder, 'cgitrc'),
            `virtual-root=/\nroot-title=Harbour sources\nenable-blame=1\nenable-log-filecount=1\nmax-stats=quarter\nscan-path=${folder}/git\n`,
        );
        writeFileSync(join(folder, 'serve.mjs'), CGI_SERVER);
        return `
            export GIT_AUTHOR_NAME=Keeper GIT_COMMITTER_NAME=Keeper GIT_AUTHOR_EMAIL=keeper@harbour.example GIT_COMMITTER_EMAIL=keeper@harbour.example
            for name in harbour tides ropes; do
                git init -q -b master work/$name && cd work/$name && mkdir src
                for step in First Second Third; do
                    echo "$step words of $name" > README; echo "int main(void) { return 0; }" > src/$step.c
                    git add . && git commit -q -m "$step change"
                done
                git tag -a -m 'First release' v1 && git branch spare && cd ../.. && git clone -q --bare work/$name git/$name
            done
            export CGIT_CONFIG=${folder}/cgitrc
            exec ${process.execPath} serve.mjs ${port} /usr/lib/cgit/cgit.cgi`;
    },
};

/** Reads three repositories: their logs, trees, commits, differences and files. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    for (const path of ['/', '/?q=tide', '/?q=rope', '/?s=name', '/?s=idle']) await open(page, base + path);
    for (const name of ['harbour', 'tides']) {
        const here = `${base}/${name}`;
        for (const path of ['', 'refs/', 'log/', 'tree/', 'commit/', 'diff/', 'stats/', 'refs/heads', 'refs/tags'])
            await open(page, `${here}/${path}`);
        for (const path of [
            'log/?h=spare',
            'log/?qt=grep&q=First',
            'log/?qt=author&q=Keeper',
            'log/src',
            'log/README',
            'stats/?period=q&ofs=10',
        ])
            await open(page, `${here}/${path}`);
        for (const path of [
            'tree/README',
            'tree/src',
            'tree/src/First.c',
            'tree/src/Second.c',
            'blame/README',
            'blame/src/First.c',
            'tag/?h=v1',
        ])
            await open(page, `${here}/${path}`);
        await open(page, `${here}/log/`);
        const ids = (await page.content()).matchAll(/commit\/\?id=([0-9a-f]{40})/g);
        for (const id of [...new Set([...ids].map((match) => match[1]))].slice(0, 2)) {
            for (const path of [`commit/?id=${id}`, `diff/?id=${id}`, `tree/?id=${id}`, `tree/README?id=${id}`])
                await open(page, `${here}/${path}`);
            await ask(page, 'GET', `/${name}/patch/?id=${id}`);
        }
        for (const file of ['README', 'src/First.c']) await ask(page, 'GET', `/${name}/plain/${file}`);
        await ask(page, 'GET', `/${name}/atom/?h=master`);
    }
    await page.close();
}

/** Serves one CGI program at the root of its host. */
const CGI_SERVER = `
import { createServer } from 'node:http';
import { spawn } from 'node:child_process';
const [port, program] = process.argv.slice(2);
createServer((request, response) => {
    const url = new URL(request.url, 'http://localhost');
    const env = { ...process.env, GATEWAY_INTERFACE: 'CGI/1.1', REQUEST_METHOD: request.method, QUERY_STRING: url.search.slice(1), PATH_INFO: decodeURIComponent(url.pathname), SCRIPT_NAME: '', SERVER_NAME: 'sources.test', SERVER_PORT: port, HTTP_HOST: request.headers.host, REQUEST_URI: request.url, SERVER_PROTOCOL: 'HTTP/1.1' };
    const parts = [];
    const child = spawn(program, [], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    child.stdout.on('data', (part) => parts.push(part));
    child.on('close', () => {
        const all = Buffer.concat(parts);
        const at = all.indexOf('\\n\\n');
        for (const line of all.subarray(0, at).toString().split('\\n')) {
            const [name, ...value] = line.split(':');
            if (/^status$/i.test(name)) response.statusCode = Number(value.join(':').trim().slice(0, 3));
            else response.setHeader(name, value.join(':').trim());
        }
        response.end(all.subarray(at + 2));
    });
}).listen(Number(port), '127.0.0.1');
`;
