import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { END_ALL, type ShellApplication } from './later-applications.ts';
import { KEEPER } from './recorded-visits.ts';
import * as visits from './seventh-visits.ts';
import { CGI_SERVER } from './sixth-applications.ts';

/** The applications of the seventh round. */
export const SEVENTH_APPLICATIONS: readonly ShellApplication[] = [
    {
        name: 'openguides',
        host: 'town.test',
        ready: '/cgi-bin/openguides/newpage.cgi',
        visit: visits.visitOpenGuides,
        script(folder, port) {
            writeFileSync(
                join(folder, 'wiki.conf'),
                `dbtype = sqlite\ndbname = ${folder}/data/guide.db\ntemplate_path = /usr/share/openguides/templates\nscript_name = wiki.cgi\n` +
                    `script_url = http://town.test:${port}/cgi-bin/openguides/\nindexing_directory = ${folder}/data/index\nsite_name = Guide to the harbour\n` +
                    `home_name = Home\nsite_desc = A guide to the harbour\ndefault_city = Harbour\nadmin_pass = ${KEEPER.password}\n` +
                    'enable_page_deletion = y\ngeo_handler = 3\nuse_plucene = 1\ndefault_language = en\ncontact_email = keeper@harbour.example\n',
            );
            writeFileSync(join(folder, 'serve.mjs'), CGI_SERVER);
            return `
                mkdir -p data/index && openguides-setup-db wiki.conf
                OPENGUIDES_CONFIG_FILE=${folder}/wiki.conf exec ${process.execPath} serve.mjs ${port}`;
        },
    },
    {
        name: 'icecast',
        host: 'radio.test',
        ready: '/status-json.xsl',
        visit: visits.visitIcecast,
        script(folder, port) {
            writeFileSync(
                join(folder, 'icecast.xml'),
                `<icecast><location>Mole</location><admin>keeper@harbour.example</admin><hostname>radio.test</hostname>
                <limits><clients>50</clients><sources>9</sources></limits>
                <authentication><source-password>${KEEPER.password}</source-password><relay-password>${KEEPER.password}</relay-password>
                <admin-user>${KEEPER.user}</admin-user><admin-password>${KEEPER.password}</admin-password></authentication>
                <listen-socket><port>${port}</port><bind-address>127.0.0.1</bind-address></listen-socket>
                <mount type="normal"><mount-name>/lights.mp3</mount-name><authentication type="htpasswd"><option name="filename" value="${folder}/listeners"/></authentication></mount>
                <paths><logdir>${folder}</logdir><webroot>/usr/share/icecast2/web</webroot><adminroot>/usr/share/icecast2/admin</adminroot><alias source="/" destination="/status.xsl"/></paths>
                <logging><accesslog>access.log</accesslog><errorlog>error.log</errorlog><loglevel>2</loglevel></logging>
                <security><chroot>0</chroot><changeowner><user>nobody</user><group>nogroup</group></changeowner></security></icecast>`,
            );
            const station = (name: string, genre: string) =>
                `(while :; do head -c 4096 /dev/zero; sleep 0.3; done | curl -s -u source:${KEEPER.password} -H 'content-type: audio/mpeg' -H 'ice-name: ${name} radio' ` +
                `-H 'ice-genre: ${genre}' -H 'ice-description: All about ${name}' -T - http://127.0.0.1:${port}/${name}.mp3) & `;
            const listener = (name: string) => `curl -s -o /dev/null http://127.0.0.1:${port}/${name}.mp3 & `;
            return `${END_ALL}
                chmod a+rwX . && touch listeners && chmod a+rw listeners
                icecast2 -c icecast.xml & sleep 1
                ${['tides', 'ropes', 'lights', 'fog'].map((name, place) => station(name, place % 2 === 0 ? 'News' : 'Songs')).join('\n')}
                sleep 2
                ${['tides', 'tides', 'tides', 'ropes', 'ropes', 'fog'].map(listener).join('\n')}
                wait`;
        },
    },
    {
        name: 'rclone',
        host: 'copies.test',
        ready: '/[lamps:]/',
        visit: visits.visitRclone,
        script: (folder, port) => `
            mkdir -p harbour/boats lights && echo 'High water' > harbour/tides.txt && echo 'Long ropes' > harbour/boats/ropes.txt && echo 'Green' > lights/green.txt
            printf '[tide files]\\ntype = alias\\nremote = ${folder}/harbour\\n[lamps]\\ntype = alias\\nremote = ${folder}/lights\\n' > rclone.conf
            exec rclone rcd --rc-addr 127.0.0.1:${port} --rc-no-auth --rc-serve --config ${folder}/rclone.conf`,
    },
    {
        name: 'kiwix',
        host: 'books.test',
        ready: '/',
        visit: visits.visitKiwix,
        script(folder, port) {
            writeFileSync(join(folder, 'books.py'), BOOKS);
            return `
                /usr/bin/python3 books.py
                for book in harbour:eng lights:eng marees:fra; do
                    name=\${book%%:*}
                    zimwriterfs -w index.html -I icon.png -l \${book##*:} -t "Book of $name" -d "Words on $name" -c Keeper -p Mole -n "$name" --tags "_category:$name;sea" ./$name $name.zim
                    kiwix-manage library.xml add $name.zim
                done
                exec kiwix-serve --port ${port} --address 127.0.0.1 --library library.xml`;
        },
    },
    {
        name: 'cloudcmd',
        host: 'files.test',
        ready: '/api/v1',
        visit: visits.visitCloudCommander,
        script: (folder, port, npm) => `
            mkdir -p files/boats files/lights && for name in tides ropes boats/oars boats/sails lights/green; do echo "Words of $name" > files/$name.txt; done
            exec ${process.execPath} ${npm}/cloudcmd/bin/cloudcmd.mjs --port ${port} --root ${folder}/files --no-open --no-auth --no-terminal --no-console --no-online`,
    },
];

/** Pages of three books, in folders. */
const BOOKS = `
import os, struct, zlib
def chunk(kind, data): return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
rows = b''.join(b'\\0' + b'\\x20\\x60\\xa0' * 48 for _ in range(48))
icon = b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 48, 48, 8, 2, 0, 0, 0)) + chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b'')
for book in ('harbour', 'lights', 'marees'):
    os.makedirs(book)
    open(book + '/icon.png', 'wb').write(icon)
    names = ['tides', 'ropes', 'anchors', 'oars']
    for name in names + ['index']:
        links = ''.join('<li><a href="%s.html">%s</a></li>' % (one, one) for one in names)
        open('%s/%s.html' % (book, name), 'w').write('<html><head><title>%s of %s</title></head><body><h1>%s</h1><p>The water and the %s of the %s.</p><ul>%s</ul></body></html>' % (name, book, name, name, book, links))
`;
