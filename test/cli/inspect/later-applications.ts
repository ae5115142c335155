import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import * as visits from './later-visits.ts';
import { KEEPER } from './recorded-visits.ts';
import * as thirdVisits from './third-visits.ts';

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
export const END_ALL = "trap 'trap - TERM EXIT; kill 0' TERM EXIT\n";

/** The applications of the second and the third round. */
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
            return `${END_ALL}${postgres(folder, port + 1000)}
                psql -q -h 127.0.0.1 -p ${port + 1000} -U postgres -f tables.sql
                ${process.execPath} ${npm}/postgraphile/cli.js -c postgres://postgres@127.0.0.1:${port + 1000}/postgres --port ${port} --host 127.0.0.1 & wait $!`;
        },
    },
    {
        name: 'redmine',
        host: 'issues.test',
        ready: '/projects',
        visit: thirdVisits.visitRedmine,
        script(folder, port) {
            writeFileSync(join(folder, 'seed.rb'), REDMINE_SEED);
            return `
                cp -rL /usr/share/redmine app
                cp /var/lib/dbconfig-common/sqlite3/redmine/instances/default/redmine_default db.sqlite
                cd app
                printf 'production:\\n  adapter: sqlite3\\n  database: ${folder}/db.sqlite\\n' > instances/default/config/database.yml
                export RAILS_ENV=production RAILS_SERVE_STATIC_FILES=1
                export RUBYLIB=$(dirname $(dpkg -L ruby-webrick | grep /webrick.rb))
                bundle exec rails runner ../seed.rb
                exec bundle exec rails server -u webrick -p ${port} -b 127.0.0.1`;
        },
    },
    {
        name: 'unleash',
        host: 'flags.test',
        ready: '/health',
        visit: thirdVisits.visitUnleash,
        script: (folder, port, npm) => `${END_ALL}${postgres(folder, port + 1000)}
                export DATABASE_URL=postgres://postgres@127.0.0.1:${port + 1000}/postgres DATABASE_SSL=false PORT=${port} HTTP_HOST=127.0.0.1
                export CHECK_VERSION=false SEND_TELEMETRY=false
                ${process.execPath} ${npm}/unleash-server/dist/server.js & wait $!`,
    },
    {
        name: 'vendure',
        host: 'shop.test',
        ready: '/health',
        visit: thirdVisits.visitVendure,
        script(folder, port, npm) {
            const things = [...GOODS, 'Green lamp', 'Red lamp', 'Oak tiller', 'Ash tiller'];
            const rows = things.map((name, place) => {
                const kind = name.split(' ')[1];
                return `${name},${name.toLowerCase().replace(' ', '-')},A ${name.toLowerCase()} of the harbour,,kind:${kind},,,H${place},${10 + place},standard,100,false,,`;
            });
            writeFileSync(
                join(folder, 'goods.csv'),
                `name,slug,description,assets,facets,optionGroups,optionValues,sku,price,taxCategory,stockOnHand,trackInventory,variantAssets,variantFacets\n${rows.join('\n')}\n`,
            );
            writeFileSync(join(folder, 'server.cjs'), VENDURE_SERVER);
            return `NODE_PATH=${npm} VENDURE_DISABLE_TELEMETRY=true exec ${process.execPath} server.cjs ${port}`;
        },
    },
    {
        name: 'tt-rss',
        host: 'feeds.test',
        ready: '/',
        visit: thirdVisits.visitTinyRss,
        script(folder, port, npm) {
            writeFileSync(join(folder, 'fill.sql'), TINY_RSS_FEEDS);
            const root = join(npm, '../../root');
            const settings = "$dbtype='pgsql';$dbserver='127.0.0.1';$dbuser='postgres';$dbname='postgres';$dbpass='';";
            return `${END_ALL}${postgres(folder, port + 1000)}
                psql -q -h 127.0.0.1 -p ${port + 1000} -U postgres -f ${root}/usr/share/tt-rss/schema/ttrss_schema_pgsql.sql -f fill.sql
                cp -rL ${root}/usr/share/tt-rss/www www
                mkdir -p lock cache/images cache/upload cache/export cache/js www/feed-icons
                sed -e "s#include_once.*#${settings.replaceAll('$', '\\$')}\\$dbport='${port + 1000}';#" -e "s#'%SELF_URL_PATH'#'http://feeds.test:${port}/'#" \\
                    -e 's#/var/lib/tt-rss#${folder}/lock#; s#/var/cache/tt-rss#${folder}/cache#' ${root}/etc/tt-rss/config.php > www/config.php
                chown -R www-data lock cache www
                cd www
                PHP_CLI_SERVER_WORKERS=4 runuser -u www-data -- php -d display_errors=0 -S 127.0.0.1:${port} & wait $!`;
        },
    },
    {
        name: 'jupyter',
        host: 'books.test',
        ready: '/api',
        visit: thirdVisits.visitJupyter,
        script(folder, port) {
            mkdirSync(join(folder, 'books/charts/north'), { recursive: true });
            for (const name of ['tides', 'lights', 'charts/ropes', 'charts/north/fog']) {
                const cells = [{ cell_type: 'code', metadata: {}, execution_count: null, outputs: [], source: `print("${name}")` }];
                const metadata = { kernelspec: { display_name: 'Python 3', language: 'python', name: 'python3' } };
                writeFileSync(join(folder, 'books', `${name}.ipynb`), JSON.stringify({ cells, metadata, nbformat: 4, nbformat_minor: 4 }));
            }
            for (const name of ['notes.txt', 'charts/list.txt']) writeFileSync(join(folder, 'books', name), `Words of ${name}\n`);
            return `exec jupyter-notebook --no-browser --allow-root --port ${port} --ip 127.0.0.1 --NotebookApp.token= --NotebookApp.password= \\
                --NotebookApp.allow_remote_access=True --notebook-dir=${folder}/books`;
        },
    },
    {
        name: 'mediawiki',
        host: 'wiki.test',
        ready: '/index.php/Main_Page',
        visit: thirdVisits.visitMediaWiki,
        script: (folder, port, npm) => `
                mkdir data && cp -r ${join(npm, '../../root')}/usr/share/mediawiki wiki && cd wiki
                rm -rf LocalSettings.php extensions images config && mkdir extensions images
                php maintenance/install.php --dbtype sqlite --dbpath ${folder}/data --dbname wiki --server http://wiki.test:${port} \\
                    --scriptpath '' --lang en --pass ${KEEPER.password} 'Harbour wiki' ${KEEPER.user}
                for title in Tides Lights Ropes; do
                    for step in First Second; do
                        echo "$step words of $title. See [[Ropes]]. [[Category:Harbour]]" | php maintenance/edit.php -s "$step words" $title
                    done
                done
                exec php -d display_errors=0 -S 127.0.0.1:${port}`,
    },
    {
        name: 'alertmanager',
        host: 'alerts.test',
        ready: '/-/ready',
        visit: thirdVisits.visitAlertmanager,
        script: (_, port) => `
                printf 'route:\\n  receiver: quiet\\nreceivers:\\n  - name: quiet\\n' > alerts.yml
                exec prometheus-alertmanager --config.file alerts.yml --storage.path data \\
                    --web.listen-address 127.0.0.1:${port} --cluster.listen-address=`,
    },
];

const GOODS = ['Hemp rope', 'Steel rope', 'Brass kettle', 'Iron kettle'];

/** Starts a database of its own, and goes on when it answers. */
export function postgres(folder: string, port: number): string {
    return `
                PATH=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1):$PATH
                mkdir data && chmod 755 . && chown postgres data
                runuser -u postgres -- initdb -D ${folder}/data -A trust
                runuser -u postgres -- postgres -D ${folder}/data -p ${port} -k /tmp -c listen_addresses=127.0.0.1 &
                until pg_isready -q -h 127.0.0.1 -p ${port}; do :; done`;
}

const TINY_RSS_FEEDS = `
insert into ttrss_user_prefs (owner_uid, pref_name, value) values (1, 'ENABLE_API_ACCESS', 'true');
insert into ttrss_feed_categories (title, owner_uid) values ('Sea', 1), ('Land', 1);
insert into ttrss_feeds (owner_uid, title, cat_id, feed_url, site_url, last_updated) select 1, name, 1 + place % 2, 'http://' || lower(name) || '.example/feed', 'http://' || lower(name) || '.example/', now() from unnest(array['Tides', 'Lights', 'Ropes']) with ordinality as feed (name, place);
insert into ttrss_entries (title, guid, link, updated, content, content_hash, date_entered, date_updated, author) select 'Notice ' || i, 'SHA1:' || i, 'http://tides.example/' || i, now(), '<p>Words of notice ' || i || '</p>', 'x' || i, now(), now(), 'Keeper' from generate_series(1, 12) i;
insert into ttrss_user_entries (ref_id, uuid, feed_id, owner_uid, tag_cache, label_cache) select i, '', 1 + i % 3, 1, '', '' from generate_series(1, 12) i;
insert into ttrss_labels2 (owner_uid, caption) values (1, 'Later'), (1, 'Read out');
`;

const REDMINE_SEED = `
Setting.rest_api_enabled = '1'
keeper = User.new(login: '${KEEPER.user}', firstname: 'Grace', lastname: 'Keeper', mail: 'keeper@harbour.example', password: '${KEEPER.password}', password_confirmation: '${KEEPER.password}')
keeper.save!
User.current = User.find_by(login: 'admin')
{ 'harbour' => 'Harbour', 'tides' => 'Tide tables' }.each do |identifier, name|
    project = Project.new(name: name, identifier: identifier, description: "All about #{name.downcase}", is_public: true)
    project.enabled_module_names = %w[issue_tracking time_tracking news wiki boards gantt calendar]
    project.trackers = Tracker.all.to_a
    project.save!
    Member.create!(project: project, user_id: keeper.id, roles: [Role.find_by(name: 'Reporter')])
    version = Version.create!(project: project, name: "#{name} 1")
    category = IssueCategory.create!(project: project, name: 'Lights')
    ['The light is out', 'Rope needed', 'Fog bell rings', 'Mooring is loose'].each_with_index do |subject, place|
        Issue.create!(project: project, tracker: Tracker.all[place % 3], author: keeper, subject: subject, description: "About: #{subject}", priority: IssuePriority.all[place % 3], status: IssueStatus.first, fixed_version: version, category: category)
    end
    wiki = project.wiki || Wiki.create!(project: project, start_page: 'Wiki')
    %w[Wiki Lights Ropes].each do |title|
        page = WikiPage.new(wiki: wiki, title: title)
        page.content = WikiContent.new(page: page, text: "h1. #{title}\n\nWords about #{title}. See [[Ropes]].", author: keeper)
        page.save!
    end
    ['High water', 'New mole'].each { |title| News.create!(project: project, title: title, summary: "#{title} in short", description: "A few words on #{title}", author: keeper) }
    board = Board.create!(project: project, name: 'Talk', description: 'Talk of the quay')
    ['Where to moor', 'Who has a rope'].each { |subject| Message.create!(board: board, subject: subject, content: "#{subject}?", author: keeper) }
end
`;

const VENDURE_SERVER = `
const { bootstrap, DefaultJobQueuePlugin, DefaultSearchPlugin, dummyPaymentHandler, JobQueueService, LanguageCode } = require('@vendure/core');
const { populate } = require('@vendure/core/cli');
const config = {
    apiOptions: { port: Number(process.argv[2]), hostname: '127.0.0.1', adminApiPath: 'admin-api', shopApiPath: 'shop-api' },
    authOptions: { tokenMethod: ['bearer', 'cookie'], superadminCredentials: { identifier: 'keeper', password: '${KEEPER.password}' }, cookieOptions: { secret: 'harbour' }, requireVerification: false },
    dbConnectionOptions: { type: 'sqljs', autoSave: false, synchronize: true, logging: false },
    paymentOptions: { paymentMethodHandlers: [dummyPaymentHandler] },
    plugins: [DefaultJobQueuePlugin.init({}), DefaultSearchPlugin.init({ bufferUpdates: false, indexStockStatus: false })],
};
const goods = {
    defaultLanguage: LanguageCode.en,
    defaultZone: 'Europe',
    countries: [{ name: 'Norway', code: 'NO', zone: 'Europe' }, { name: 'Iceland', code: 'IS', zone: 'Europe' }],
    taxRates: [{ name: 'Standard', percentage: 20 }],
    shippingMethods: [{ name: 'By ferry', price: 500 }, { name: 'By courier', price: 1000 }],
    paymentMethods: [{ name: 'On account', handler: { code: dummyPaymentHandler.code, arguments: [{ name: 'automaticSettle', value: 'false' }] } }],
    collections: ['Rope', 'Kettle', 'Lamp'].map((name) => ({ name, filters: [{ code: 'facet-value-filter', args: { facetValueNames: [name.toLowerCase()], containsAny: false } }] })),
};
populate(async () => {
    const app = await bootstrap(config);
    await app.get(JobQueueService).start();
    return app;
}, goods, 'goods.csv').catch((error) => { console.error(error); process.exit(1); });
`;
