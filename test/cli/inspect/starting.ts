import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';

/** An application that is recorded. Debian packages are installed or unpacked, npm packages are in a folder. */
export interface RecordedApplication {
    name: string;
    host: string;
    /** A path that answers as soon as it is ready. */
    ready: string;
    visit: (context: BrowserContext, base: string) => Promise<void>;
    /** Prepares it in `folder`. Returns a shell script or a program that goes on until it is ended. @param npm the folder with npm packages */
    start(folder: string, port: number, npm: string): string | Program;
}

interface Program {
    program: string;
    args: string[];
    cwd?: string;
    env?: Record<string, string>;
}

/** A program of an npm package. */
export function node(npm: string, script: string, ...args: string[]): Program {
    return { program: process.execPath, args: [join(npm, script), ...args] };
}

/** Ends what a script started beside its last program. The trap ends first: some shells would run it again for their own signal. */
export const END_ALL = "trap 'trap - TERM EXIT; kill 0' TERM EXIT\n";

/** Starts a database of its own, and goes on when it answers. */
export function postgres(folder: string, port: number): string {
    return `
                PATH=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1):$PATH
                mkdir data && chmod 755 . && chown postgres data
                runuser -u postgres -- initdb -D ${folder}/data -A trust
                runuser -u postgres -- postgres -D ${folder}/data -p ${port} -k /tmp -c listen_addresses=127.0.0.1 &
                until pg_isready -q -h 127.0.0.1 -p ${port}; do :; done`;
}

/** Serves CGI programs for a user who is signed in: those that Debian installs below /usr/lib/cgi-bin, or those of another folder, whose other files it serves as pages. */
export const CGI_SERVER = `
import { createServer } from 'node:http';
import { spawn } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
const [port, root = '/usr/lib'] = process.argv.slice(2);
const isFile = (path) => statSync(root + path, { throwIfNoEntry: false })?.isFile() === true;
const TYPES = { html: 'text/html; charset=utf-8', css: 'text/css', js: 'text/javascript', rss: 'application/rss+xml', atom: 'application/atom+xml' };
createServer((request, response) => {
    const url = new URL(request.url, 'http://localhost');
    const parts = url.pathname.split('/');
    const program = parts[1] === 'cgi-bin' ? parts.map((_, at) => parts.slice(0, at + 1).join('/')).find(isFile) : undefined;
    if (program === undefined) {
        const file = decodeURIComponent(url.pathname.replace(/\\/$/, '/index.html'));
        if (parts[1] === 'cgi-bin' || root === '/usr/lib' || !isFile(file)) { response.statusCode = 404; response.end(); return; }
        response.setHeader('content-type', TYPES[file.slice(file.lastIndexOf('.') + 1)] ?? 'application/octet-stream');
        response.end(readFileSync(root + file));
        return;
    }
    const env = { ...process.env, GATEWAY_INTERFACE: 'CGI/1.1', REQUEST_METHOD: request.method, QUERY_STRING: url.search.slice(1), SCRIPT_NAME: program, PATH_INFO: decodeURIComponent(url.pathname.slice(program.length)), SERVER_NAME: request.headers.host.split(':')[0], SERVER_PORT: port, HTTP_HOST: request.headers.host, REQUEST_URI: request.url, SERVER_PROTOCOL: 'HTTP/1.1', REMOTE_USER: 'keeper', CONTENT_TYPE: request.headers['content-type'] ?? '', CONTENT_LENGTH: request.headers['content-length'] ?? '', HTTP_ACCEPT: request.headers.accept ?? '', HTTP_COOKIE: request.headers.cookie ?? '' };
    const answer = [];
    const child = spawn(root + program, [], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    request.pipe(child.stdin);
    child.stdout.on('data', (part) => answer.push(part));
    child.on('close', () => {
        const all = Buffer.concat(answer);
        const at = /\\r?\\n\\r?\\n/.exec(all.toString('latin1'));
        for (const line of all.subarray(0, at.index).toString().split(/\\r?\\n/)) {
            const [name, ...value] = line.split(':');
            if (/^status$/i.test(name)) response.statusCode = Number(value.join(':').trim().slice(0, 3));
            else response.setHeader(name, value.join(':').trim());
        }
        if (response.hasHeader('location') && response.statusCode === 200) response.statusCode = 302;
        response.end(all.subarray(at.index + at[0].length));
    });
}).listen(Number(port), '127.0.0.1');
`;
