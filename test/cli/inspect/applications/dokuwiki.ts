import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, KEEPER, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'dokuwiki',
    host: 'notes.test',
    ready: '/doku.php',
    visit,
    start(folder, port, npm) {
        const root = join(npm, '../../root');
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
        const hash = execFileSync('php', ['-r', `echo password_hash('${KEEPER.password}', PASSWORD_BCRYPT);`], {
            encoding: 'utf8',
        });
        writeFileSync(join(folder, 'conf/users.auth.php'), `# users\n${KEEPER.user}:${hash}:Keeper:keeper@harbour.example:admin,user\n`);
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
};

/** Reads a wiki, searches, signs in, writes a page and opens its administration. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/doku.php`);
    for (const id of ['start', 'tides', 'lights', 'gear:ropes', 'gear:anchors']) await open(page, `${base}/doku.php?id=${id}`);
    for (const words of ['water', 'green', 'heavy']) {
        await page.fill('#qsearch__in, input[name=q]', words);
        await Promise.all([page.waitForNavigation(), page.press('#qsearch__in, input[name=q]', 'Enter')]);
    }
    for (const words of ['tides', 'ropes']) await ask(page, 'POST', '/lib/exe/ajax.php', `call=qsearch&q=${words}`);
    for (const id of ['tides', 'lights']) {
        await open(page, `${base}/doku.php?id=${id}&do=backlink`);
        await open(page, `${base}/doku.php?id=${id}&do=index`);
        await open(page, `${base}/doku.php?id=${id}&do=recent`);
        await open(page, `${base}/doku.php?id=${id}&do=media&ns=`);
    }
    await ask(page, 'GET', '/feed.php');
    await open(page, `${base}/doku.php?id=tides&do=login`);
    await page.fill('input[name=u]', KEEPER.user);
    await page.fill('input[name=p]', KEEPER.password);
    await Promise.all([page.waitForNavigation(), page.press('input[name=p]', 'Enter')]);
    for (const id of ['lights', 'tides']) {
        await open(page, `${base}/doku.php?id=${id}&do=edit`);
        await page.fill('textarea[name=wikitext]', `====== ${id} ======\nChanged words.\n`);
        await page.fill('input[name=summary]', 'Better words');
        await Promise.all([page.waitForNavigation(), page.click('button[name="do[save]"]')]);
        await open(page, `${base}/doku.php?id=${id}&do=revisions`);
    }
    await open(page, `${base}/doku.php?id=tides&do=admin`);
    for (const part of ['usermanager', 'config', 'acl']) await open(page, `${base}/doku.php?id=tides&do=admin&page=${part}`);
    await page.close();
}

const PAGES: Readonly<Record<string, string>> = {
    start: '====== Harbour ======\nSee [[tides]], [[lights]] and [[gear:ropes]].\n',
    tides: '====== Tides ======\nHigh water twice a day.\n===== Spring =====\nHigher.\n',
    lights: '====== Lights ======\nGreen to starboard. See [[tides]].\n',
    'gear:ropes': '====== Ropes ======\nLong ones. See [[lights]].\n',
    'gear:anchors': '====== Anchors ======\nHeavy ones. See [[gear:ropes]].\n',
};
