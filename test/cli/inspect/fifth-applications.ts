import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as visits from './fifth-visits.ts';
import { END_ALL, type ShellApplication } from './later-applications.ts';
import { KEEPER } from './recorded-visits.ts';

/** The applications of the fifth round. */
export const FIFTH_APPLICATIONS: readonly ShellApplication[] = [
    {
        name: 'roundcube',
        host: 'letters.test',
        ready: '/',
        visit: visits.visitRoundcube,
        script(folder, port) {
            const mail = join(folder, 'mail', 'keeper');
            for (const part of ['cur', 'new', 'tmp']) mkdirSync(join(mail, part), { recursive: true });
            for (const place of [1, 2, 3, 4, 5, 6])
                writeFileSync(
                    join(mail, 'cur', `${place}.harbour:2,`),
                    `From: Mate <mate@harbour.example>\nTo: Keeper <keeper@harbour.example>\nSubject: Tide ${place}\nDate: Mon, 0${place} Jun 2026 10:00:00 +0000\nMessage-ID: <${place}@harbour.example>\n\nHigh water at ${place}.\n`,
                );
            mkdirSync(join(folder, 'conf'));
            writeFileSync(
                join(folder, 'conf/config.inc.php'),
                `<?php $config = ['db_dsnw' => 'sqlite:///${folder}/mail.db?mode=0600', 'imap_host' => 'localhost:${port + 1000}', 'des_key' => bin2hex(random_bytes(12)),
                'plugins' => [], 'skin' => 'elastic', 'log_dir' => '${folder}', 'temp_dir' => '${folder}', 'session_storage' => 'php', 'language' => 'en_US'];`,
            );
            writeFileSync(
                join(folder, 'dovecot.conf'),
                `base_dir = ${folder}/run\nlog_path = ${folder}/dovecot.log\nprotocols = imap\nssl = no\ndisable_plaintext_auth = no\n` +
                    `mail_location = maildir:${folder}/mail/%u\nfirst_valid_uid = 0\n` +
                    `service imap-login {\n chroot =\n inet_listener imap {\n address = 127.0.0.1\n port = ${port + 1000}\n }\n inet_listener imaps {\n port = 0\n }\n}\n` +
                    `passdb {\n driver = static\n args = password=${KEEPER.password}\n}\nuserdb {\n driver = static\n args = uid=1000 gid=1000 home=${folder}/mail/%u\n}\n` +
                    `namespace inbox {\n inbox = yes\n mailbox Sent {\n auto = subscribe\n }\n mailbox Trash {\n auto = subscribe\n }\n}\n`,
            );
            return `${END_ALL}
                chmod 755 . && chown -R 1000:1000 mail && cp /etc/roundcube/defaults.inc.php /etc/roundcube/mimetypes.php conf
                php -r "(new PDO('sqlite:${folder}/mail.db'))->exec(file_get_contents('/usr/share/roundcube/SQL/sqlite.initial.sql'));"
                dovecot -F -c dovecot.conf &
                ROUNDCUBE_CONFIG_DIR=${folder}/conf PHP_CLI_SERVER_WORKERS=4 php -d display_errors=0 -S 127.0.0.1:${port} -t /usr/share/roundcube & wait $!`;
        },
    },
    {
        name: 'cgit',
        host: 'sources.test',
        ready: '/',
        visit: visits.visitCgit,
        script(folder, port) {
            writeFileSync(
                join(folder, 'cgitrc'),
                `virtual-root=/\nroot-title=Harbour sources\nenable-blame=1\nenable-log-filecount=1\nmax-stats=quarter\nscan-path=${folder}/git\n`,
            );
            writeFileSync(join(folder, 'serve.mjs'), CGI_SERVER);
            return `
                export GIT_AUTHOR_NAME=Keeper GIT_COMMITTER_NAME=Keeper GIT_AUTHOR_EMAIL=keeper@harbour.example GIT_COMMITTER_EMAIL=keeper@harbour.example
                for name in harbour tides ropes; do
                    git init -q -b master work/$name && cd work/$name && mkdir src
                    for step in First Second Third; do
                        echo "$step words of $name" > README; echo "int main(void) { return 0; }" > src/$step.c
                        git add . && git commit -q -m "$step change"
                    done
                    git tag -a -m 'First release' v1 && git branch spare && cd ../.. && git clone -q --bare work/$name git/$name
                done
                export CGIT_CONFIG=${folder}/cgitrc
                exec ${process.execPath} serve.mjs ${port} /usr/lib/cgit/cgit.cgi`;
        },
    },
    {
        name: 'bull-board',
        host: 'jobs.test',
        ready: '/api/queues',
        visit: visits.visitBullBoard,
        script(folder, port, npm) {
            writeFileSync(join(folder, 'serve.cjs'), BULL_BOARD);
            return `${END_ALL}
                redis-server --port ${port + 1000} --bind 127.0.0.1 --save '' &
                until redis-cli -p ${port + 1000} ping; do sleep 1; done
                ${process.execPath} serve.cjs ${npm} ${port} & wait $!`;
        },
    },
    {
        name: 'monit',
        host: 'watch.test',
        ready: '/',
        visit: visits.visitMonit,
        script(folder, port) {
            writeFileSync(
                join(folder, 'monitrc'),
                `set daemon 5\nset log ${folder}/monit.log\nset pidfile ${folder}/monit.pid\nset idfile ${folder}/monit.id\nset statefile ${folder}/monit.state\n` +
                    `set httpd port ${port} and use address 127.0.0.1\n    allow 127.0.0.1\ncheck system harbour\n` +
                    ['journal', 'chart', 'pilot'].map((name) => `check file ${name} with path ${folder}/monitrc\n`).join(''),
            );
            return 'chmod 600 monitrc && exec monit -I -c monitrc';
        },
    },
];

/** Serves one CGI program at the root of its host. */
const CGI_SERVER = `
import { createServer } from 'node:http';
import { spawn } from 'node:child_process';
const [port, program] = process.argv.slice(2);
createServer((request, response) => {
    const url = new URL(request.url, 'http://localhost');
    const env = { ...process.env, GATEWAY_INTERFACE: 'CGI/1.1', REQUEST_METHOD: request.method, QUERY_STRING: url.search.slice(1), PATH_INFO: decodeURIComponent(url.pathname), SCRIPT_NAME: '', SERVER_NAME: 'sources.test', SERVER_PORT: port, HTTP_HOST: request.headers.host, REQUEST_URI: request.url, SERVER_PROTOCOL: 'HTTP/1.1' };
    const parts = [];
    const child = spawn(program, [], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    child.stdout.on('data', (part) => parts.push(part));
    child.on('close', () => {
        const all = Buffer.concat(parts);
        const at = all.indexOf('\\n\\n');
        for (const line of all.subarray(0, at).toString().split('\\n')) {
            const [name, ...value] = line.split(':');
            if (/^status$/i.test(name)) response.statusCode = Number(value.join(':').trim().slice(0, 3));
            else response.setHeader(name, value.join(':').trim());
        }
        response.end(all.subarray(at + 2));
    });
}).listen(Number(port), '127.0.0.1');
`;

const BULL_BOARD = `
const [npm, port] = process.argv.slice(2);
const load = (name) => require(npm + '/' + name);
const { Queue, Worker } = load('bullmq');
const { createBullBoard } = load('@bull-board/api');
const { BullMQAdapter } = load('@bull-board/api/bullMQAdapter');
const { ExpressAdapter } = load('@bull-board/express');
const connection = { port: Number(port) + 1000 };
(async () => {
    const queues = ['mails', 'tides'].map((name) => new Queue(name, { connection }));
    for (const queue of queues) {
        for (let place = 1; place <= 12; place++) await queue.add('Bell ' + place, { place, berth: 'A' + place }, place > 8 ? { delay: 1e7 } : {});
        let taken = 0;
        const worker = new Worker(queue.name, async (job) => { await job.log('taken'); if (job.data.place % 2) throw new Error('Fog'); return 'rung'; }, { connection, autorun: false });
        worker.run();
        await new Promise((done) => { const count = () => { if (++taken === 8) done(); }; worker.on('completed', count); worker.on('failed', count); });
        await worker.close();
        await queue.upsertJobScheduler('noon', { every: 8640000 }, { name: 'Noon' });
    }
    const serverAdapter = new ExpressAdapter();
    createBullBoard({ queues: queues.map((queue) => new BullMQAdapter(queue)), serverAdapter });
    const app = load('express')();
    app.use('/', serverAdapter.getRouter());
    app.listen(Number(port), '127.0.0.1');
})();
`;
