import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { END_ALL, type RecordedApplication } from '../starting.ts';
import { KEEPER, open, run, settled } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'roundcube',
    host: 'letters.test',
    ready: '/',
    visit,
    start(folder, port) {
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
};

/** Signs in to a mail reader, reads and searches mails, marks and moves some, and keeps addresses and settings. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    await page.fill('#rcmloginuser', 'keeper');
    await page.fill('#rcmloginpwd', KEEPER.password);
    await Promise.all([page.waitForNavigation(), page.press('#rcmloginpwd', 'Enter')]);
    for (const mailbox of ['INBOX', 'Trash', 'Sent']) await open(page, `${base}/?_task=mail&_mbox=${mailbox}`);
    for (const uid of [1, 2, 3]) {
        await open(page, `${base}/?_task=mail&_mbox=INBOX&_uid=${uid}&_action=show`);
        await open(page, `${base}/?_task=mail&_mbox=INBOX&_uid=${uid}&_action=preview&_framed=1`);
    }
    await open(page, `${base}/?_task=mail&_mbox=INBOX`);
    for (const words of ['Tide 1', 'Tide 2']) {
        await page.fill('#mailsearchform', words);
        await settled(page, () => page.press('#mailsearchform', 'Enter'));
    }
    for (const uid of ['4', '5']) {
        await open(page, `${base}/?_task=mail&_mbox=INBOX`);
        for (const flag of ['flagged', 'read', 'unread'])
            await run(page, `rcmail.http_post('mark', { _uid: '${uid}', _mbox: 'INBOX', _flag: '${flag}' })`);
        await run(page, `rcmail.http_post('move', { _uid: '${uid}', _mbox: 'INBOX', _target_mbox: 'Trash' })`);
    }
    for (const column of ['subject', 'date']) await run(page, `rcmail.list_mailbox('INBOX', 1, '${column}_ASC')`);
    await open(page, `${base}/?_task=addressbook`);
    for (const words of ['Mate', 'Pil']) {
        await page.fill('#searchform', words);
        await settled(page, () => page.press('#searchform', 'Enter'));
    }
    for (const action of ['preferences', 'folders', 'identities', 'responses'])
        await open(page, `${base}/?_task=settings&_action=${action}`);
    for (const section of ['general', 'mailbox', 'compose'])
        await open(page, `${base}/?_task=settings&_action=edit-prefs&_section=${section}&_framed=1`);
    for (const mailbox of ['Trash', 'Sent']) await open(page, `${base}/?_task=settings&_action=edit-folder&_mbox=${mailbox}&_framed=1`);
    for (const words of ['Ready', 'Later']) {
        await open(page, `${base}/?_task=settings&_action=add-response&_framed=1`);
        await setValue(page, 'input[name=_name]', words);
        await setValue(page, 'textarea[name=_text]', `${words}.`);
        await Promise.all([page.waitForResponse(/task=settings|\/$/), page.evaluate('document.forms[0].submit()')]);
        await page.waitForTimeout(500);
    }
    await page.close();
}

/** Sets a field that the page's style hides outside its frame. */
async function setValue(page: Page, selector: string, value: string): Promise<void> {
    await page
        .locator(selector)
        .first()
        .evaluate((field, text) => ((field as unknown as { value: string }).value = text), value);
}
