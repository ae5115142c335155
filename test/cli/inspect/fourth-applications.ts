import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as visits from './fourth-visits.ts';
import { END_ALL, postgres, type ShellApplication } from './later-applications.ts';
import { KEEPER } from './recorded-visits.ts';

/** The key of Etherpad's API. */
const KEY = 'f3a9c07be1d84265908b7c1e6a2d5f40';

/** The applications of the fourth round. */
export const FOURTH_APPLICATIONS: readonly ShellApplication[] = [
    {
        name: 'hledger-web',
        host: 'ledger.test',
        ready: '/version',
        visit: visits.visitHledger,
        script: (_, port) => `
            for place in 1 2 3 4; do
                printf "2025-0$place-03 Rope shop $place\\n    expenses:rope  1$place.50 EUR\\n    assets:cash\\n\\n" >> harbour.journal
                printf "2025-0$place-05 Harbour fee $place\\n    expenses:fees  4$place.00 EUR\\n    assets:bank\\n\\n" >> quay.journal
            done
            echo 'include quay.journal' >> harbour.journal
            export LANG=C.UTF-8
            exec hledger-web --serve -f harbour.journal --port ${port} --base-url http://ledger.test:${port} --capabilities view,add,manage`,
    },
    {
        name: 'nzbget',
        host: 'news.test',
        ready: '/',
        visit: visits.visitNzbget,
        script: (folder, port) => `
            exec nzbget -s -n -o MainDir=${folder} -o ControlPort=${port} -o ControlIP=127.0.0.1 -o ControlPassword= \\
                -o WebDir=/usr/share/nzbget/webui -o OutputMode=log`,
    },
    {
        name: 'adminer',
        host: 'tables.test',
        ready: '/',
        visit: visits.visitAdminer,
        script(folder, port) {
            writeFileSync(
                join(folder, 'tables.sql'),
                `create table owners (id serial primary key, name text not null, berth text);
                create table boats (id serial primary key, name text not null, length numeric, afloat boolean, owner_id int references owners);
                insert into owners (name, berth) select 'Owner ' || i, 'A' || i from generate_series(1, 20) i;
                insert into boats (name, length, afloat, owner_id) select 'Boat ' || i, 7 + i / 2.0, i % 2 = 0, 1 + i % 3 from generate_series(1, 20) i;`,
            );
            return `${END_ALL}${postgres(folder, port + 1000)}
                createdb -h 127.0.0.1 -p ${port + 1000} -U postgres harbour
                psql -q -h 127.0.0.1 -p ${port + 1000} -U postgres -f tables.sql harbour
                mkdir www && cp /usr/share/adminer/adminer.php www/index.php && cd www
                php -d display_errors=0 -S 127.0.0.1:${port} & wait $!`;
        },
    },
    {
        name: 'rabbitmq',
        host: 'queues.test',
        ready: '/',
        visit: visits.visitRabbit,
        script: (folder, port) => `${END_ALL}
            export RABBITMQ_NODENAME=harbour@localhost RABBITMQ_MNESIA_BASE=${folder}/data RABBITMQ_LOG_BASE=${folder}/log
            export RABBITMQ_ENABLED_PLUGINS_FILE=${folder}/plugins RABBITMQ_CONFIG_FILE=${folder}/rabbit.conf RABBITMQ_PID_FILE=${folder}/pid
            export RABBITMQ_NODE_PORT=${port + 1000} RABBITMQ_DIST_PORT=${port + 2000} ERL_EPMD_PORT=${port + 3000}
            echo '[rabbitmq_management].' > plugins
            printf 'management.tcp.port = ${port}\\nmanagement.tcp.ip = 127.0.0.1\\nlisteners.tcp.1 = 127.0.0.1:${port + 1000}\\n' > rabbit.conf
            /usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server & wait $!`,
    },
    {
        name: 'etherpad',
        host: 'pads.test',
        ready: '/api',
        visit: (context, base) => visits.visitEtherpad(context, base, KEY),
        script(folder, port, npm) {
            const database = { dbType: 'dirty', dbSettings: { filename: join(folder, 'dirty.db') } };
            writeFileSync(
                join(folder, 'settings.json'),
                JSON.stringify({ title: 'Harbour pads', ip: '127.0.0.1', port, ...database, minify: false, skinName: 'colibris' }),
            );
            writeFileSync(join(folder, 'key.txt'), KEY);
            // It looks for itself in a folder of this name.
            return `
                mkdir -p pad/node_modules && cp -r ${npm}/ep_etherpad-lite pad/src && ln -s ${npm}/* pad/node_modules/
                rm pad/node_modules/ep_etherpad-lite && ln -s ../src pad/node_modules/ep_etherpad-lite
                exec ${process.execPath} pad/src/node/server.js -s ${folder}/settings.json --apikey ${folder}/key.txt --sessionkey ${folder}/session.txt`;
        },
    },
    {
        name: 'wordpress',
        host: 'press.test',
        ready: '/wp-json/',
        visit: visits.visitWordPress,
        script(folder, port) {
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
    },
    {
        name: 'redis-commander',
        host: 'keys.test',
        ready: '/',
        visit: visits.visitRedisCommander,
        script: (_, port, npm) => `${END_ALL}
            redis-server --port ${port + 1000} --bind 127.0.0.1 --save '' &
            ask="redis-cli -p ${port + 1000}"
            until $ask ping; do sleep 1; done
            for place in 1 2 3; do $ask hset boats:$place name "Boat $place" length $place; $ask set quays:$place "Quay $place"; done
            $ask set motto 'Mind the tide'; $ask rpush tides low high; $ask sadd flags red green; $ask zadd depths 1 shallow 9 deep
            ${process.execPath} ${npm}/redis-commander/bin/redis-commander.js --redis-host 127.0.0.1 --redis-port ${port + 1000} \\
                --redis-label harbour --address 127.0.0.1 --port ${port} --no-save & wait $!`,
    },
];

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
