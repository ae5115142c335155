import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { END_ALL, type ShellApplication } from './later-applications.ts';
import { KEEPER } from './recorded-visits.ts';
import * as visits from './sixth-visits.ts';

/** The applications of the sixth round. */
export const SIXTH_APPLICATIONS: readonly ShellApplication[] = [
    {
        name: 'request-tracker',
        host: 'tracker.test',
        ready: '/',
        visit: visits.visitRequestTracker,
        script(folder, port) {
            writeFileSync(
                join(folder, 'site.pm'),
                `Set($rtname, 'harbour'); Set($Organization, 'harbour.example'); Set($WebPath, ''); Set($WebDomain, 'tracker.test'); Set($WebPort, ${port});\n` +
                    `Set($WebBaseURL, 'http://tracker.test:${port}'); Set($DatabaseType, 'SQLite'); Set($DatabaseName, '${folder}/rt.db'); Set($DatabaseHost, '');\n` +
                    `Set($DatabaseUser, ''); Set($DatabasePassword, ''); Set($LogDir, '${folder}'); Set($LogToSyslog, undef); Set($LogToSTDERR, 'error');\n` +
                    `Set($MailCommand, 'testfile'); Set($Timezone, 'UTC'); Set($RestrictReferrer, 0); Set($MasonDataDir, '${folder}/mason'); Set($MasonSessionDir, '${folder}/sessions'); 1;\n`,
            );
            writeFileSync(join(folder, 'queues'), RT_DATA);
            return `${END_ALL}
                mkdir mason sessions && export RT_SITE_CONFIG=${folder}/site.pm RT_SITE_CONFIG_DIR=${folder}/none
                rt-setup-database-5 --action init --skip-create --dba root --dba-password '' </dev/null
                rt-setup-database-5 --action insert --datafile ${folder}/queues --dba root --dba-password '' </dev/null
                /usr/share/request-tracker5/libexec/rt-server --server Standalone --host 127.0.0.1 --port ${port} & wait $!`;
        },
    },
    {
        name: 'nagios',
        host: 'lookout.test',
        ready: '/cgi-bin/nagios4/tac.cgi',
        visit: visits.visitNagios,
        script(folder, port) {
            mkdirSync(join(folder, 'var/spool'), { recursive: true });
            mkdirSync(join(folder, 'var/archives'));
            writeFileSync(join(folder, 'objects.cfg'), NAGIOS_OBJECTS);
            writeFileSync(
                join(folder, 'nagios.cfg'),
                `log_file=${folder}/var/nagios.log\ncfg_file=${folder}/objects.cfg\nobject_cache_file=${folder}/var/objects.cache\n` +
                    `precached_object_file=${folder}/var/objects.precache\nstatus_file=${folder}/var/status.dat\nstatus_update_interval=5\nnagios_user=root\nnagios_group=root\n` +
                    `check_external_commands=1\ncommand_file=${folder}/var/nagios.cmd\nlock_file=${folder}/var/nagios.pid\ntemp_file=${folder}/var/nagios.tmp\ntemp_path=${folder}/var\n` +
                    `log_archive_path=${folder}/var/archives\ncheck_result_path=${folder}/var/spool\nstate_retention_file=${folder}/var/retention.dat\ncheck_for_updates=0\nuse_syslog=0\n` +
                    'log_initial_states=1\nlog_external_commands=1\ncached_host_check_horizon=15\ndate_format=iso8601\n',
            );
            writeFileSync(
                join(folder, 'cgi.cfg'),
                `main_config_file=${folder}/nagios.cfg\nphysical_html_path=/usr/share/nagios4/htdocs\nurl_html_path=/nagios4\nuse_authentication=1\nresult_limit=100\nescape_html_tags=1\n` +
                    ['system_information', 'configuration_information', 'system_commands', 'all_services', 'all_hosts']
                        .concat(['all_service_commands', 'all_host_commands'])
                        .map((what) => `authorized_for_${what}=keeper\n`)
                        .join(''),
            );
            writeFileSync(join(folder, 'serve.mjs'), CGI_SERVER);
            return `${END_ALL}
                nagios4 nagios.cfg > nagios.out 2>&1 &
                for wait in 1 2 3 4 5 6 7 8 9 10; do [ -e var/status.dat ] || sleep 1; done; sleep 12
                NAGIOS_CGI_CONFIG=${folder}/cgi.cfg ${process.execPath} serve.mjs ${port} & wait $!`;
        },
    },
    {
        name: 'supysonic',
        host: 'music.test',
        ready: '/user/login',
        visit: visits.visitSupysonic,
        script(folder, port) {
            writeFileSync(
                join(folder, '.supysonic'),
                `[base]\ndatabase_uri = sqlite:///${folder}/music.db\n[webapp]\ncache_dir = ${folder}/cache\n[daemon]\nsocket = ${folder}/daemon.sock\n`,
            );
            writeFileSync(join(folder, 'music.py'), MUSIC);
            return `
                /usr/bin/python3 music.py ${folder}/music ${folder}/voices
                supysonic-cli user add keeper -p ${KEEPER.password} -e keeper@harbour.example && supysonic-cli user setroles -A keeper
                supysonic-cli folder add Shanties ${folder}/music && supysonic-cli folder add Voices ${folder}/voices && supysonic-cli folder scan -f
                FLASK_APP='supysonic.web:create_application()' exec /usr/bin/python3 -m flask run -h 127.0.0.1 -p ${port}`;
        },
    },
    {
        name: 'postfixadmin',
        host: 'post.test',
        ready: '/login.php',
        visit: visits.visitPostfixAdmin,
        script(folder, port) {
            return `${END_ALL}
                cp -rL /usr/share/postfixadmin site 2>/dev/null; mkdir -p site/templates_c && touch mail.db site/dbconfig.inc.php
                cat > site/config.local.php <<'END'
<?php
$CONF['configured'] = true; $CONF['database_type'] = 'sqlite'; $CONF['database_name'] = '${folder}/mail.db'; $CONF['encrypt'] = 'php_crypt:SHA512';
$CONF['default_language'] = 'en'; $CONF['admin_email'] = 'keeper@harbour.example'; $CONF['fetchmail'] = 'YES'; $CONF['emailcheck_resolve_domain'] = 'NO'; $CONF['show_footer_text'] = 'NO';
END
                php site/public/upgrade.php
                bash site/scripts/postfixadmin-cli admin add keeper@harbour.example --superadmin 1 --active 1 --password ${KEEPER.password} --password2 ${KEEPER.password}
                for name in pier quay; do
                    bash site/scripts/postfixadmin-cli domain add $name.example --description "The $name" --aliases 20 --mailboxes 20 --active 1
                done
                php -d display_errors=0 -S 127.0.0.1:${port} -t site/public & wait $!`;
        },
    },
    {
        name: 'express-gateway',
        host: 'gateway.test',
        ready: '/users',
        visit: visits.visitExpressGateway,
        script(folder, port, npm) {
            return `
                cp -r ${npm}/express-gateway/lib/config config
                cat > config/gateway.config.yml <<'END'
http: { port: ${port + 1000}, hostname: 127.0.0.1 }
admin: { port: ${port}, host: 127.0.0.1 }
apiEndpoints: { tides: { host: tides.example, paths: /tides }, lights: { host: lights.example, paths: /lights } }
serviceEndpoints: { sea: { url: 'http://127.0.0.1:9' }, land: { url: 'http://127.0.0.1:9' } }
policies: [proxy, key-auth, cors]
pipelines:
  tidal: { apiEndpoints: [tides], policies: [{ key-auth: null }, { proxy: [{ action: { serviceEndpoint: sea } }] }] }
  lit: { apiEndpoints: [lights], policies: [{ proxy: [{ action: { serviceEndpoint: land } }] }] }
END
                EG_CONFIG_DIR=${folder}/config exec ${process.execPath} -e "require('${npm}/express-gateway')().run()"`;
        },
    },
];

const RT_DATA = `
@Queues = (
    { Name => 'Boats', Description => 'What boats need', CorrespondAddress => 'boats@harbour.example', CommentAddress => '' },
    { Name => 'Lights', Description => 'Lights that are out', CorrespondAddress => 'lights@harbour.example', CommentAddress => '' },
);
@Users = ( { Name => 'mate', RealName => 'Mate', EmailAddress => 'mate@harbour.example', Privileged => 1 } );
1;
`;

const MARKS = ['pier', 'quay', 'buoy'];

const NAGIOS_OBJECTS = [
    define('command', { command_name: 'ok', command_line: '/bin/echo "All is well"' }),
    define('command', { command_name: 'bad', command_line: '/bin/sh -c "echo No light; exit 2"' }),
    define('timeperiod', { timeperiod_name: 'always', alias: 'Always', monday: '00:00-24:00', saturday: '00:00-24:00' }),
    define('contact', {
        contact_name: 'keeper',
        alias: 'Keeper',
        ...Object.fromEntries(
            ['host', 'service'].flatMap((what) => [
                [`${what}_notifications_enabled`, '0'],
                [`${what}_notification_period`, 'always'],
                [`${what}_notification_commands`, 'ok'],
            ]),
        ),
    }),
    define('contactgroup', { contactgroup_name: 'keepers', alias: 'Keepers', members: 'keeper' }),
    ...MARKS.flatMap((name, place) => [
        define('host', { host_name: name, alias: `The ${name}`, address: `127.0.0.${place + 1}`, check_command: 'ok', ...checks() }),
        ...['Lamp', 'Horn'].map((what) =>
            define('service', {
                host_name: name,
                service_description: what,
                check_command: what === 'Horn' && name === 'buoy' ? 'bad' : 'ok',
                ...checks(),
            }),
        ),
    ]),
    define('hostgroup', { hostgroup_name: 'landings', alias: 'Landings', members: 'pier,quay' }),
    define('hostgroup', { hostgroup_name: 'marks', alias: 'Marks', members: 'buoy' }),
    define('servicegroup', { servicegroup_name: 'lamps', alias: 'Lamps', members: 'pier,Lamp,quay,Lamp,buoy,Lamp' }),
    define('servicegroup', { servicegroup_name: 'horns', alias: 'Horns', members: 'pier,Horn,buoy,Horn' }),
].join('');

function define(what: string, fields: Record<string, string>): string {
    const lines = Object.entries(fields).map(([name, value]) => `    ${name} ${value}\n`);
    return `define ${what} {\n${lines.join('')}}\n`;
}

function checks(): Record<string, string> {
    const periods = { check_period: 'always', notification_period: 'always' };
    return { max_check_attempts: '1', check_interval: '1', retry_interval: '1', contact_groups: 'keepers', ...periods };
}

/** Serves the programs of a folder for a user who is signed in, with what the browser sends to them. */
/** Serves the CGI programs that Debian installs below /usr/lib/cgi-bin. */
export const CGI_SERVER = `
import { createServer } from 'node:http';
import { spawn } from 'node:child_process';
const [port] = process.argv.slice(2);
createServer((request, response) => {
    const url = new URL(request.url, 'http://localhost');
    const program = /^\\/cgi-bin\\/\\w+\\/\\w+\\.cgi$/.exec(url.pathname)?.[0];
    if (program === undefined) { response.statusCode = 404; response.end(); return; }
    const env = { ...process.env, GATEWAY_INTERFACE: 'CGI/1.1', REQUEST_METHOD: request.method, QUERY_STRING: url.search.slice(1), SCRIPT_NAME: program, SERVER_NAME: request.headers.host.split(':')[0], SERVER_PORT: port, HTTP_HOST: request.headers.host, REQUEST_URI: request.url, SERVER_PROTOCOL: 'HTTP/1.1', REMOTE_USER: 'keeper', CONTENT_TYPE: request.headers['content-type'] ?? '', CONTENT_LENGTH: request.headers['content-length'] ?? '', HTTP_COOKIE: request.headers.cookie ?? '' };
    const parts = [];
    const child = spawn('/usr/lib' + program, [], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    request.pipe(child.stdin);
    child.stdout.on('data', (part) => parts.push(part));
    child.on('close', () => {
        const all = Buffer.concat(parts);
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

/** Writes songs of a second of silence each. */
const MUSIC = `
import os, sys
from mutagen.id3 import ID3, TIT2, TPE1, TALB, TRCK, TCON, TDRC
for place, folder in enumerate(sys.argv[1:]):
    for singer in (['Tars', 'Pilots'] if place == 0 else ['Mermaids', 'Gulls']):
        for album in ['Ebb', 'Flood']:
            where = os.path.join(folder, singer, album)
            os.makedirs(where)
            for track in [1, 2, 3]:
                file = os.path.join(where, '%d.mp3' % track)
                with open(file, 'wb') as out:
                    out.write((bytes([0xff, 0xfb, 0x90, 0x64]) + bytes(413)) * 40)
                tags = ID3()
                for tag in (TIT2(3, '%s %s %d' % (singer, album, track)), TPE1(3, singer), TALB(3, album), TRCK(3, str(track)), TCON(3, 'Shanty' if track < 3 else 'Ballad'), TDRC(3, '19%d' % (70 + track))):
                    tags.add(tag)
                tags.save(file)
`;
