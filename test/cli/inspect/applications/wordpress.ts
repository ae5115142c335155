import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { END_ALL, type RecordedApplication } from '../starting.ts';
import { ask, askAs, fill, KEEPER, open, submit } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'wordpress',
    host: 'press.test',
    ready: '/wp-json/',
    visit,
    start(folder, port) {
        writeFileSync(join(folder, 'wp-config.php'), wordPressConfig(port + 1000));
        writeFileSync(join(folder, 'seed.php'), wordPressSeed(port));
        writeFileSync(join(folder, 'router.php'), ROUTER);
        // Two comments in a minute are no flood here.
        writeFileSync(
            join(folder, 'calm.php'),
            "<?php foreach (['wp_is_comment_flood', 'comment_flood_filter'] as $name) add_filter($name, '__return_false', 999);",
        );
        return `${END_ALL}
            chmod 755 . && mkdir data && chown mysql data
            mariadb-install-db --no-defaults --user=mysql --datadir=${folder}/data --auth-root-authentication-method=normal
            runuser -u mysql -- mariadbd --no-defaults --datadir=${folder}/data --socket=${folder}/data/socket --port=${port + 1000} --bind-address=127.0.0.1 &
            ask="mariadb --no-defaults -h 127.0.0.1 -P ${port + 1000} -u root"
            until $ask -e 'create database blog'; do sleep 1; done
            cp -rL /usr/share/wordpress www && cp wp-config.php www/ && mkdir -p www/wp-content/mu-plugins && cp calm.php www/wp-content/mu-plugins/
            php seed.php && cd www
            PHP_CLI_SERVER_WORKERS=4 php -d display_errors=0 -S 127.0.0.1:${port} ../router.php & wait $!`;
    },
};

/** Reads a blog, its archives and feeds, comments on posts, and reads and writes by its REST API. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    for (const path of ['/', '/page/2/', '/page/3/', '/?s=rope', '/?s=light', '/2025/03/', '/2025/04/', '/about/', '/harbour-rules/'])
        await open(page, base + path);
    for (const path of ['/category/gear/', '/category/weather/', '/tag/tides/', '/tag/lights/', '/author/keeper/', '/author/mate/'])
        await open(page, base + path);
    const posts = ['/2025/03/high-water/', '/2025/04/old-ropes/', '/2025/03/green-lights/'];
    for (const path of posts) await open(page, base + path);
    for (const path of posts.slice(0, 2)) {
        await open(page, base + path);
        await fill(page, 'commentform', {
            comment: [`Seen at ${path}`],
            author: ['Ada'],
            email: ['ada@harbour.example'],
            url: ['http://ada.example/'],
        });
        await submit(page, '#commentform');
    }
    for (const path of ['/feed/', '/comments/feed/', '/category/gear/feed/', '/category/weather/feed/']) await ask(page, 'GET', path);
    const read = (path: string) => ask(page, 'GET', `/wp-json/wp/v2/${path}`);
    await ask(page, 'GET', '/wp-json/');
    for (const number of [1, 2]) await read(`posts?page=${number}&per_page=3&search=w`);
    for (const kind of ['posts', 'pages', 'categories', 'tags', 'users']) {
        if (kind !== 'posts') await read(kind);
        const all = JSON.parse(await read(kind)) as { id: number }[];
        for (const { id } of all.slice(0, 2)) await read(`${kind}/${id}`);
    }
    for (const { id } of (JSON.parse(await read('posts')) as { id: number }[]).slice(-2)) await read(`comments?post=${id}`);
    for (const words of ['rope', 'fog']) await read(`search?search=${words}`);
    for (const path of ['types', 'types/post', 'types/page', 'taxonomies', 'statuses']) await read(path);
    for (const path of posts.slice(0, 2)) await ask(page, 'GET', `/wp-json/oembed/1.0/embed?url=${encodeURIComponent(base + path)}`);
    // A password that the installation made for this script. It ends with the installation.
    const password = await (await fetch(`http://127.0.0.1:${new URL(base).port}/password.txt`)).text();
    const write = async (method: string, path: string, body?: object): Promise<number> =>
        (JSON.parse(await askAs(page, `Keeper:${password}`, method, `/wp-json/wp/v2/${path}`, body)) as { id: number }).id;
    for (const name of ['Anchors', 'Buoys']) {
        const id = await write('POST', 'posts', { title: name, content: `Words about ${name}`, status: 'publish' });
        await write('POST', `posts/${id}`, { title: `More ${name}` });
        const comment = await write('POST', 'comments', { post: id, content: `Seen ${name}` });
        await read(`comments/${comment}`);
        await write('DELETE', `comments/${comment}?force=true`);
        const tag = await write('POST', 'tags', { name });
        await write('DELETE', `tags/${tag}?force=true`);
        await write('DELETE', `posts/${id}?force=true`);
    }
    await page.close();
}

/** PHP's own server takes a path with a dot for a file. */
const ROUTER = `<?php
$file = __DIR__ . '/www' . parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if (is_file($file)) return false;
$_SERVER['SCRIPT_NAME'] = '/index.php';
require __DIR__ . '/www/index.php';
`;

function wordPressConfig(port: number): string {
    return `<?php
define('DB_NAME', 'blog'); define('DB_USER', 'root'); define('DB_PASSWORD', ''); define('DB_HOST', '127.0.0.1:${port}');
define('DB_CHARSET', 'utf8mb4'); define('DB_COLLATE', '');
foreach (['AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE'] as $name) { define($name . '_KEY', md5($name)); define($name . '_SALT', md5($name)); }
define('WP_HTTP_BLOCK_EXTERNAL', true); define('DISABLE_WP_CRON', true); define('WP_ENVIRONMENT_TYPE', 'local');
$table_prefix = 'wp_';
if (!defined('ABSPATH')) define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
`;
}

function wordPressSeed(port: number): string {
    return `<?php
define('WP_INSTALLING', true); $_SERVER['HTTP_HOST'] = 'press.test:${port}'; $_SERVER['REQUEST_URI'] = '/';
require 'www/wp-load.php'; require 'www/wp-admin/includes/upgrade.php';
wp_install('Harbour news', '${KEEPER.user}', 'keeper@harbour.example', true, '', '${KEEPER.password}');
global $wp_rewrite; $wp_rewrite->set_permalink_structure('/%year%/%monthnum%/%postname%/'); flush_rewrite_rules(false);
switch_theme('twentytwentythree'); update_option('posts_per_page', 4); update_option('comment_moderation', 0); update_option('comment_previously_approved', 0);
$mate = wp_create_user('Mate', '${KEEPER.password}', 'mate@harbour.example'); (new WP_User($mate))->set_role('author');
$gear = wp_create_category('Gear'); $weather = wp_create_category('Weather');
foreach (['High water', 'Green lights', 'Old ropes', 'New moorings', 'Fog bells', 'Winter storage', 'Spring cleaning', 'Long piers', 'Small ferries'] as $place => $title)
    wp_insert_post(['post_title' => $title, 'post_content' => "A few words about $title.", 'post_status' => 'publish', 'post_author' => $place % 2 ? $mate : 1,
        'post_date' => '2025-0' . (3 + intdiv($place, 2) % 2 * ($place > 1 ? 1 : 0)) . "-1$place 10:00:00", 'post_category' => [$place % 2 ? $gear : $weather], 'tags_input' => [$place % 2 ? 'Tides' : 'Lights']]);
foreach (['About', 'Harbour rules'] as $title) wp_insert_post(['post_title' => $title, 'post_content' => "Words: $title.", 'post_status' => 'publish', 'post_type' => 'page']);
[$password] = WP_Application_Passwords::create_new_application_password(1, ['name' => 'script']);
file_put_contents('www/password.txt', $password);
`;
}
