/**
 * Records applications that the tests do not start, for test/fixtures/inspect/recordings: it starts each one of a folder in which they
 * were unpacked (npm packages in FOLDER/npm, Debian packages in FOLDER/root or installed), lets Chromium visit it, and writes a compressed HAR file.
 *
 * node test/cli/inspect/record-applications.ts FOLDER OUT [NAME…]
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openBrowser, recordHar } from './browser.ts';
import { FIFTH_APPLICATIONS } from './fifth-applications.ts';
import { FOURTH_APPLICATIONS } from './fourth-applications.ts';
import { keepRecording } from './kept-recordings.ts';
import { LATER_APPLICATIONS } from './later-applications.ts';
import * as visits from './recorded-visits.ts';
import { SEVENTH_APPLICATIONS } from './seventh-applications.ts';
import { SIXTH_APPLICATIONS } from './sixth-applications.ts';

const [from = '', out = '', ...names] = process.argv.slice(2);
const root = join(from, 'root');
const npm = join(from, 'npm/node_modules');

interface Application {
    name: string;
    ready: string;
    visit: (context: import('playwright-core').BrowserContext, base: string) => Promise<void>;
    /** Prepares it in `folder`. Returns how to start it. */
    start(folder: string, port: number): { program: string; args: string[]; cwd?: string; env?: Record<string, string> };
}

const SHELL_APPLICATIONS = [
    ...LATER_APPLICATIONS,
    ...FOURTH_APPLICATIONS,
    ...FIFTH_APPLICATIONS,
    ...SIXTH_APPLICATIONS,
    ...SEVENTH_APPLICATIONS,
];

const node = (script: string, ...args: string[]) => ({ program: process.execPath, args: [join(npm, script), ...args] });

const APPLICATIONS: readonly Application[] = [
    {
        name: 'hexo',
        ready: '/',
        visit: visits.visitHexo,
        start(folder, port) {
            const site = join(folder, 'site');
            mkdirSync(join(site, 'source/_posts'), { recursive: true });
            mkdirSync(join(site, 'node_modules'));
            execFileSync('sh', ['-c', `ln -s ${npm}/* ${site}/node_modules/`]);
            const wanted = ['hexo-generator-index', 'hexo-generator-archive', 'hexo-generator-tag', 'hexo-generator-category'];
            const used = [
                ...wanted,
                'hexo-generator-feed',
                'hexo-server',
                'hexo-renderer-ejs',
                'hexo-renderer-marked',
                'hexo-renderer-stylus',
            ];
            const dependencies = Object.fromEntries(['hexo', 'hexo-theme-landscape', ...used].map((name) => [name, '*']));
            writeFileSync(join(site, 'package.json'), JSON.stringify({ name: 'harbour', hexo: { version: '8.1.2' }, dependencies }));
            const config = {
                title: 'Harbour notes',
                description: 'What happens between the tides.',
                url: `http://blog.test:${port}`,
                theme: 'landscape',
                per_page: 4,
                index_generator: { per_page: 4 },
                feed: { type: 'atom', path: 'atom.xml' },
            };
            writeFileSync(join(site, '_config.yml'), JSON.stringify(config));
            for (const [place, title] of POSTS.entries()) {
                const head = `title: ${title}\ndate: 2025-0${1 + (place % 3)}-1${place} 10:00:00\ntags: [${TAGS[place % TAGS.length]}]\ncategories: [${CATEGORIES[place % CATEGORIES.length]}]`;
                const file = join(site, 'source/_posts', `${title.toLowerCase().replaceAll(' ', '-')}.md`);
                writeFileSync(file, `---\n${head}\n---\nA few words about ${title}.\n\nAnd a second paragraph.\n`);
            }
            return { ...node('hexo/bin/hexo', 'server', '--port', String(port), '--ip', '127.0.0.1'), cwd: site };
        },
    },
    {
        name: 'json-graphql-server',
        ready: '/?query=%7B__typename%7D',
        visit: visits.visitGraphql,
        start(folder, port) {
            const boats = Array.from({ length: 12 }, (_, id) => ({
                id,
                name: `Boat ${id}`,
                length: 7 + id / 2,
                owner_id: id % 3,
                afloat: id % 2 === 0,
            }));
            const owners = ['Ada', 'Grace', 'Mary'].map((name, id) => ({ id, name, berth: `A${id}` }));
            writeFileSync(join(folder, 'db.cjs'), `module.exports = ${JSON.stringify({ boats, owners })};`);
            return node('json-graphql-server/bin/json-graphql-server.cjs', join(folder, 'db.cjs'), '-p', String(port), '-h', '127.0.0.1');
        },
    },
    {
        name: 'node-red',
        ready: '/settings',
        visit: visits.visitNodeRed,
        start: (folder, port) => node('node-red/red.js', '-p', String(port), '-u', folder),
    },
    {
        name: 'transmission',
        ready: '/transmission/web/',
        visit: visits.visitTransmission,
        start(folder, port) {
            const web = join(root, 'usr/share/transmission/web');
            writeFileSync(
                join(folder, 'settings.json'),
                JSON.stringify({
                    'rpc-port': port,
                    'rpc-whitelist-enabled': false,
                    'rpc-host-whitelist-enabled': false,
                    'rpc-bind-address': '127.0.0.1',
                    'dht-enabled': false,
                    'download-dir': folder,
                }),
            );
            return {
                program: join(root, 'usr/bin/transmission-daemon'),
                args: ['-f', '-g', folder],
                env: { TRANSMISSION_WEB_HOME: web, LD_LIBRARY_PATH: join(root, 'usr/lib/x86_64-linux-gnu') },
            };
        },
    },
    {
        name: 'syncthing',
        ready: '/',
        visit: visits.visitSyncthing,
        start(folder, port) {
            mkdirSync(join(folder, 'sync'));
            const program = join(root, 'usr/bin/syncthing');
            execFileSync(program, ['generate', '--home', folder], { stdio: 'ignore' });
            const config = join(folder, 'config.xml');
            writeFileSync(
                config,
                readFileSync(config, 'utf8').replace('</gui>', '<insecureSkipHostcheck>true</insecureSkipHostcheck></gui>'),
            );
            return {
                program,
                args: ['serve', '--home', folder, '--no-browser', '--no-restart', '--gui-address', `127.0.0.1:${port}`],
                env: { STNODEFAULTFOLDER: '', STNOUPGRADE: '1' },
            };
        },
    },
    {
        name: 'dokuwiki',
        ready: '/doku.php',
        visit: visits.visitDokuWiki,
        start(folder, port) {
            const wiki = join(folder, 'wiki');
            cpSync(join(root, 'usr/share/dokuwiki'), wiki, {
                recursive: true,
                dereference: true,
                filter: (path) => !path.endsWith('.htaccess'),
            });
            cpSync(join(root, 'var/lib/dokuwiki/data'), join(folder, 'data'), { recursive: true });
            cpSync(join(root, 'etc/dokuwiki'), join(folder, 'conf'), {
                recursive: true,
                dereference: true,
                filter: (path) => !/users.auth.php$|acl.auth.php$/.test(path),
            });
            writeFileSync(
                join(folder, 'conf/local.php'),
                `<?php\n$conf['title']='Harbour wiki';$conf['useacl']=1;$conf['superuser']='@admin';$conf['savedir']='${folder}/data';$conf['template']='dokuwiki';$conf['lang']='en';`,
            );
            writeFileSync(join(folder, 'conf/acl.auth.php'), '# acl\n*\t@ALL\t8\n');
            const hash = execFileSync('php', ['-r', `echo password_hash('${visits.KEEPER.password}', PASSWORD_BCRYPT);`], {
                encoding: 'utf8',
            });
            writeFileSync(
                join(folder, 'conf/users.auth.php'),
                `# users\n${visits.KEEPER.user}:${hash}:Keeper:keeper@harbour.example:admin,user\n`,
            );
            writeFileSync(join(folder, 'preload.php'), `<?php define('DOKU_MAIN_CONF','${folder}/conf/');\n`);
            execFileSync('sh', [
                '-c',
                `sed -i 's#/usr/share/php/#${root}/usr/share/php/#g;s#/etc/dokuwiki/#${folder}/conf/#g' ${wiki}/vendor/composer/*.php ${wiki}/inc/*.php`,
            ]);
            for (const [name, text] of Object.entries(PAGES)) {
                const file = join(folder, 'data/pages', `${name.replaceAll(':', '/')}.txt`);
                mkdirSync(join(file, '..'), { recursive: true });
                writeFileSync(file, text);
            }
            const include = ['simplepie', 'geshi', 'random_compat', 'phpseclib'].map((part) => join(root, 'usr/share/php', part));
            const php = [
                '-d',
                `auto_prepend_file=${folder}/preload.php`,
                '-d',
                'display_errors=0',
                '-d',
                `include_path=.:${root}/usr/share/php:/usr/share/php:${include.join(':')}`,
            ];
            execFileSync('php', [...php, join(wiki, 'bin/indexer.php'), '-q'], { stdio: 'inherit' });
            return { program: 'php', args: [...php, '-S', `127.0.0.1:${port}`, '-t', wiki], env: { PHP_CLI_SERVER_WORKERS: '4' } };
        },
    },
    {
        name: 'gitweb',
        ready: '/',
        visit: visits.visitGitweb,
        start(folder, port) {
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
    },
    {
        name: 'tiddlywiki',
        ready: '/status',
        visit: visits.visitTiddlyWiki,
        start(folder, port) {
            const run = (...args: string[]) =>
                execFileSync(process.execPath, [join(npm, 'tiddlywiki/tiddlywiki.js'), ...args], { stdio: 'ignore' });
            run(join(folder, 'wiki'), '--init', 'server');
            return node('tiddlywiki/tiddlywiki.js', join(folder, 'wiki'), '--listen', `port=${port}`, 'host=127.0.0.1');
        },
    },
    {
        name: 'maildev',
        ready: '/email',
        visit: visits.visitMailDev,
        start: (_, port) =>
            node(
                'maildev/dist/bin/maildev.js',
                '--web',
                String(port),
                '--smtp',
                String(port + 1000),
                '--ip',
                '127.0.0.1',
                '--web-ip',
                '127.0.0.1',
            ),
    },
    ...SHELL_APPLICATIONS.map(({ script, ...rest }) => ({
        ...rest,
        start: (folder: string, port: number) => ({ program: 'setsid', args: ['sh', '-c', script(folder, port, npm)] }),
    })),
];

const POSTS = [
    'High water',
    'Green lights',
    'Old ropes',
    'New moorings',
    'Fog bells',
    'Winter storage',
    'Spring cleaning',
    'Long piers',
    'Small ferries',
];
const TAGS = ['tides', 'lights', 'boats'];
const CATEGORIES = ['Weather', 'Gear'];
const PAGES: Readonly<Record<string, string>> = {
    start: '====== Harbour ======\nSee [[tides]], [[lights]] and [[gear:ropes]].\n',
    tides: '====== Tides ======\nHigh water twice a day.\n===== Spring =====\nHigher.\n',
    lights: '====== Lights ======\nGreen to starboard. See [[tides]].\n',
    'gear:ropes': '====== Ropes ======\nLong ones. See [[lights]].\n',
    'gear:anchors': '====== Anchors ======\nHeavy ones. See [[gear:ropes]].\n',
};

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

const HOSTS: Readonly<Record<string, string>> = {
    hexo: 'blog.test',
    'json-graphql-server': 'boats.test',
    'node-red': 'flows.test',
    transmission: 'torrents.test',
    syncthing: 'sync.test',
    dokuwiki: 'notes.test',
    gitweb: 'git.test',
    tiddlywiki: 'tiddlers.test',
    maildev: 'mail.test',
    ...Object.fromEntries(SHELL_APPLICATIONS.map(({ name, host }) => [name, host])),
};

const browser = await openBrowser();
mkdirSync(out, { recursive: true });
try {
    for (const [place, application] of APPLICATIONS.entries()) {
        const { name } = application;
        if (names.length > 0 && !names.includes(name)) continue;
        const folder = mkdtempSync(join(tmpdir(), 'routebook-recorded-'));
        const port = 4200 + place;
        const log = openSync(join(folder, 'output.log'), 'a');
        const { program, args, cwd = folder, env = {} } = application.start(folder, port);
        const child = spawn(program, args, { cwd, env: { PATH: process.env['PATH'], HOME: folder, ...env }, stdio: ['ignore', log, log] });
        try {
            await ready(`http://127.0.0.1:${port}${application.ready}`, child);
            const har = join(folder, 'recorded.har');
            await recordHar(browser, har, (context) => application.visit(context, `http://${HOSTS[name]}:${port}`));
            keepRecording(readFileSync(har, 'utf8'), join(out, `${name}.har.gz`));
            console.log(`${name} recorded`);
        } catch (error) {
            console.error(name, error, readFileSync(join(folder, 'output.log'), 'utf8').slice(-2000));
        } finally {
            if (child.exitCode === null && child.signalCode === null) {
                const gone = once(child, 'exit');
                child.kill('SIGTERM');
                await gone;
            }
            rmSync(folder, { recursive: true, force: true });
        }
    }
} finally {
    await browser.close();
}

async function ready(url: string, child: ChildProcess): Promise<void> {
    const giveUpAt = performance.now() + 120_000;
    while (performance.now() < giveUpAt && child.exitCode === null) {
        const answer = await fetch(url).catch(() => undefined);
        await answer?.arrayBuffer();
        if (answer?.ok === true) return;
        await sleep(50);
    }
    throw new Error(`${url} does not answer`);
}
