import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RealServer, startServer } from './real-server.ts';

/** What Debian's packages `shaarli` and `php-cli` install. */

export const OWNER = { login: 'ada', password: 'open & shut' };
/** Bookmarks on a page. */
export const PAGE_SIZE = 3;

export interface Shaarli extends RealServer {
    /** Whether anybody may add and change bookmarks, or its owner alone; from the next request on. */
    open(isOpen: boolean): void;
    /** Adds a bookmark as a browser does: opens the form, and sends it with its token and its session. */
    add(fields: { url: string; title: string; tags?: string; description?: string }): Promise<void>;
    /** What it logged itself: who logged in, and who could not. */
    journal(): string;
}

/** Shaarli, a bookmarking service in PHP (https://github.com/shaarli/Shaarli) as Debian ships it, with a folder of its own. */
export async function startShaarli(): Promise<Shaarli> {
    const server = await startServer({
        run: { program: '/usr/bin/php' },
        readyPath: '/open-search',
        isOf: (line, request) => line.endsWith(`]: ${request}`),
        prepare(folder, port) {
            for (const name of ['data', 'sessions', 'cache/tmp', 'cache/cache', 'cache/pagecache'])
                mkdirSync(join(folder, name), { recursive: true });
            configure(folder, true);
            writeFileSync(join(folder, 'before.php'), BEFORE);
            const settings = {
                auto_prepend_file: join(folder, 'before.php'),
                'session.save_path': join(folder, 'sessions'),
                log_errors: '0',
            };
            const own = Object.entries({ ...settings, allow_url_fopen: '0' }).flatMap(([name, value]) => ['-d', `${name}=${value}`]);
            return [...own, '-S', `127.0.0.1:${port}`, '-t', '/usr/share/shaarli'];
        },
    });
    const base = `http://127.0.0.1:${server.port}`;
    return {
        ...server,
        open: (isOpen) => configure(server.folder, isOpen),
        async add({ url, title, tags = '', description = '' }) {
            const form = await fetch(`${base}/admin/shaare`);
            const session = form.headers.getSetCookie()[0]?.split(';')[0] ?? '';
            const token = /name="token" value="([0-9a-f]+)"/.exec(await form.text())?.[1] ?? '';
            const fields = { token, lf_url: url, lf_title: title, lf_tags: tags, lf_description: description };
            const added = await fetch(`${base}/admin/shaare`, {
                method: 'POST',
                headers: { cookie: session },
                body: new URLSearchParams(fields),
                redirect: 'manual',
            });
            if (added.status !== 302) throw new Error(`not added: ${added.status} ${await added.text()}`);
        },
        journal: () => readFileSync(join(server.folder, 'data/log.txt'), 'utf8'),
    };
}

/**
 * Runs before each page: the folder stands for the two below /var that Debian's package writes to, and the name that was asked for is
 * the server's, as with every other web server.
 */
const BEFORE = `<?php
$_SERVER['SERVER_NAME'] = preg_replace('/:\\d+$/', '', $_SERVER['HTTP_HOST'] ?? '');
$source = file_get_contents('/usr/share/shaarli/application/config/ConfigManager.php');
eval('?>' . strtr($source, ['/var/lib/shaarli/data' => __DIR__ . '/data', '/var/cache/shaarli' => __DIR__ . '/cache']));
`;

function configure(folder: string, isOpen: boolean): void {
    const salt = 'a pinch of salt';
    const hash = createHash('sha1').update(`${OWNER.password}${OWNER.login}${salt}`).digest('hex');
    const settings = {
        credentials: { login: OWNER.login, hash, salt },
        security: { open_shaarli: isOpen },
        general: {
            title: 'Bookmarks',
            links_per_page: PAGE_SIZE,
            timezone: 'UTC',
            header_link: '/',
            enabled_plugins: [],
            retrieve_description: false,
        },
        updates: { check_updates: false },
        thumbnails: { mode: 'none' },
        translation: { language: 'en' },
    };
    writeFileSync(join(folder, 'data/config.json.php'), `<?php /*\n${JSON.stringify(settings)}\n*/ ?>`);
}
