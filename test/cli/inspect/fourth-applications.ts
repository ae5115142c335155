import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as visits from './fourth-visits.ts';
import { END_ALL, postgres, type ShellApplication } from './later-applications.ts';

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
];
