import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import * as visits from './later-visits.ts';

/** How to start an application that is recorded: a shell script that goes on until it is ended. Debian packages are installed. */
export interface ShellApplication {
    name: string;
    host: string;
    ready: string;
    visit: (context: BrowserContext, base: string) => Promise<void>;
    /** Prepares it in `folder`. Returns the script. @param npm the folder with npm packages */
    script(folder: string, port: number, npm: string): string;
}

/** Ends what a script started beside its last program. The trap ends first: some shells would run it again for their own signal. */
const END_ALL = "trap 'trap - TERM EXIT; kill 0' TERM EXIT\n";

/** The applications of the second round. */
export const LATER_APPLICATIONS: readonly ShellApplication[] = [
    {
        name: 'hgweb',
        host: 'code.test',
        ready: '/',
        visit: visits.visitHgweb,
        script: (folder, port) => `
            for name in harbour tides ropes; do
                mkdir -p repositories/$name/src repositories/$name/notes && cd repositories/$name && hg init -q
                month=0
                for step in First Second Third Fourth; do
                    month=$((month + 1))
                    echo "$step words of $name" > README
                    echo 'int main(void) { return 0; }' > src/$(echo $step | tr A-Z a-z).c
                    hg add -q . && hg commit -u 'Keeper <keeper@harbour.example>' -m "$step change" -d "2025-0$month-11 10:00"
                done
                hg tag -u Keeper v1 && hg branch -q calm && echo x > calm.txt && hg add -q && hg commit -u Keeper -m 'Calm change'
                echo long > notes/ropes.txt && hg add -q && hg commit -u Keeper -m 'Notes on ropes'
                cd ../..
            done
            printf '[collections]\\n${folder}/repositories = ${folder}/repositories\\n[web]\\nallow_archive = zip\\n' > hgweb.conf
            exec hg serve --web-conf hgweb.conf -p ${port} -a 127.0.0.1`,
    },
    {
        name: 'cups',
        host: 'print.test',
        ready: '/printers/Quay',
        visit: visits.visitCups,
        script(folder, port) {
            for (const place of ['etc/ppd', 'spool/tmp', 'cache', 'run/certs', 'log', 'ssl'])
                mkdirSync(join(folder, place), { recursive: true });
            const open = '\n  Order allow,deny\n  Allow all\n';
            writeFileSync(
                join(folder, 'etc/cupsd.conf'),
                `Listen 127.0.0.1:${port + 1000}\nBrowsing No\nDefaultAuthType None\nWebInterface Yes\n<Location />${open}</Location>\n<Policy default>\n<Limit All>${open}</Limit>\n</Policy>\n`,
            );
            writeFileSync(
                join(folder, 'etc/files.conf'),
                `FileDevice Yes\nServerRoot ${folder}/etc\nRequestRoot ${folder}/spool\nTempDir ${folder}/spool/tmp\nCacheDir ${folder}/cache\nStateDir ${folder}/run\nAccessLog ${folder}/log/access\nErrorLog ${folder}/log/error\nPageLog ${folder}/log/page\nServerKeychain ${folder}/ssl\nSystemGroup root lpadmin\nUser lp\nGroup lp\n`,
            );
            // It answers only what is sent to localhost, so that a proxy stands before it.
            writeFileSync(
                join(folder, 'proxy.mjs'),
                `import http from 'node:http';
                http.createServer((asked, answer) => {
                    const headers = { ...asked.headers, host: 'localhost:${port + 1000}' };
                    const sent = http.request({ host: '127.0.0.1', port: ${port + 1000}, method: asked.method, path: asked.url, headers }, (got) => {
                        answer.writeHead(got.statusCode, got.rawHeaders);
                        got.pipe(answer);
                    });
                    sent.on('error', () => answer.destroy());
                    asked.pipe(sent);
                }).listen(${port}, '127.0.0.1');`,
            );
            const server = `-h 127.0.0.1:${port + 1000}`;
            return `${END_ALL}
                chmod 755 . && chown -R lp spool cache run
                cupsd -f -c ${folder}/etc/cupsd.conf -s ${folder}/etc/files.conf &
                until lpstat ${server} -r | grep -q 'is running'; do :; done
                lpadmin ${server} -p Mole -D 'Printer of the mole' -L 'Harbour office' -v file:///dev/null -E
                lpadmin ${server} -p Mole -c Office
                for place in 1 2 3; do echo words | lp ${server} -d Mole -t "Tide table $place" -H hold; done
                lpadmin ${server} -p Quay -D 'Printer of the quay' -L Quay -v file:///dev/null -E
                lpadmin ${server} -p Quay -c Wharf
                echo words | lp ${server} -d Quay -t 'Rope list' -H hold
                echo words | lp ${server} -d Quay -t 'Rope list 2'
                ${process.execPath} proxy.mjs & wait $!`;
        },
    },
    {
        name: 'qbittorrent',
        host: 'seeds.test',
        ready: '/',
        visit: visits.visitQbittorrent,
        script(folder, port) {
            const config = join(folder, 'qBittorrent/config');
            mkdirSync(config, { recursive: true });
            const web = ['Address=127.0.0.1', `Port=${port}`, 'LocalHostAuth=false', 'HostHeaderValidation=false', 'CSRFProtection=false'];
            const lines = ['[LegalNotice]', 'Accepted=true', '[Preferences]', ...web.map((line) => `WebUI\\${line}`)];
            writeFileSync(join(config, 'qBittorrent.conf'), `${lines.join('\n')}\n`);
            return `exec qbittorrent-nox --profile=${folder}`;
        },
    },
    {
        name: 'deluge',
        host: 'floods.test',
        ready: '/',
        visit: visits.visitDeluge,
        script: (folder, port) => `${END_ALL}
            deluged -d -c ${folder} -u 127.0.0.1 -p 58846 &
            until [ -s auth ]; do :; done
            deluge-web -d -c ${folder} -p ${port} -i 127.0.0.1 & wait $!`,
    },
    {
        name: 'pouchdb-server',
        host: 'couch.test',
        ready: '/',
        visit: visits.visitPouchdb,
        script: (_, port, npm) => `exec ${process.execPath} ${npm}/pouchdb-server/bin/pouchdb-server --port ${port} --in-memory`,
    },
    {
        name: 'postgraphile',
        host: 'fleet.test',
        ready: '/graphiql',
        visit: visits.visitPostgraphile,
        script(folder, port, npm) {
            writeFileSync(
                join(folder, 'tables.sql'),
                `create table owners (id serial primary key, name text not null, berth text);
                create table boats (id serial primary key, name text not null, length numeric, afloat boolean, owner_id int references owners);
                insert into owners (name, berth) values ('Ada', 'A1'), ('Grace', 'A2'), ('Mary', 'A3');
                insert into boats (name, length, afloat, owner_id) select 'Boat ' || i, 7 + i / 2.0, i % 2 = 0, 1 + i % 3 from generate_series(1, 12) i;
                create function search_boats(term text) returns setof boats language sql stable as $$ select * from boats where name ilike '%' || term || '%' $$;`,
            );
            return `${END_ALL}
                PATH=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1):$PATH
                mkdir data && chmod 755 . && chown postgres data
                runuser -u postgres -- initdb -D ${folder}/data -A trust
                runuser -u postgres -- postgres -D ${folder}/data -p ${port + 1000} -k /tmp -c listen_addresses=127.0.0.1 &
                until pg_isready -q -h 127.0.0.1 -p ${port + 1000}; do :; done
                psql -q -h 127.0.0.1 -p ${port + 1000} -U postgres -f tables.sql
                ${process.execPath} ${npm}/postgraphile/cli.js -c postgres://postgres@127.0.0.1:${port + 1000}/postgres --port ${port} --host 127.0.0.1 & wait $!`;
        },
    },
];
