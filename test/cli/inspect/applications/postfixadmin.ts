import type { BrowserContext } from 'playwright-core';
import { END_ALL, type RecordedApplication } from '../starting.ts';
import { ask, KEEPER, open, press, send } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'postfixadmin',
    host: 'post.test',
    ready: '/login.php',
    visit,
    start(folder, port) {
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
};

/** Signs in to a manager of mail domains, adds domains, mailboxes and aliases, lists and searches them. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    const go = async (...paths: string[]) => {
        for (const path of paths) await open(page, base + path);
    };
    await go('/login.php');
    await page.fill('input[name=fUsername]', 'keeper@harbour.example');
    await page.fill('input[name=fPassword]', KEEPER.password);
    await send(page, 'input[name=fPassword]');
    await go('/main.php');
    for (const name of ['mole', 'slip']) {
        await go('/edit.php?table=domain');
        await page.fill('input[name="value[domain]"]', `${name}.example`);
        await page.fill('input[name="value[description]"]', `The ${name}`);
        await press(page, '[type=submit][value="Add Domain"], form[name=edit_domain] [type=submit]');
    }
    for (const domain of ['pier.example', 'quay.example']) {
        for (const name of ['mate', 'pilot']) {
            await go(`/edit.php?table=mailbox&domain=${domain}`);
            await page.fill('input[name="value[local_part]"]', name);
            await page.fill('input[name="value[password]"]', KEEPER.password);
            await page.fill('input[name="value[password2]"]', KEEPER.password);
            await page.fill('input[name="value[name]"]', `The ${name}`);
            await press(page, 'form[name=edit_mailbox] [type=submit]');
            await go(`/edit.php?table=alias&domain=${domain}`);
            await page.fill('input[name="value[localpart]"]', `crew-${name}`);
            await page.fill('textarea[name="value[goto]"]', `${name}@${domain}`);
            await press(page, 'form[name=edit_alias] [type=submit]');
        }
        for (const tab of ['all', 'mailbox', 'alias']) await go(`/list-virtual.php?domain=${domain}&tab=${tab}`);
        await go(`/edit.php?table=domain&edit=${domain}`, `/edit.php?table=mailbox&edit=mate%40${domain}`);
        await go(`/edit.php?table=alias&edit=crew-mate%40${domain}`, `/vacation.php?username=mate%40${domain}`);
        await go(`/list.php?table=mailbox&domain=${domain}`);
        await ask(page, 'GET', `/list.php?table=mailbox&output=csv&domain=${domain}`);
    }
    await go('/list.php?table=domain', '/list.php?table=admin', '/list.php?table=fetchmail', '/list-virtual.php', '/viewlog.php');
    for (const words of ['mate', 'pilot']) {
        await go('/list-virtual.php');
        await page.fill('form[name=search] input', words);
        await send(page, 'form[name=search] input');
    }
    for (const domain of ['pier.example', 'quay.example']) {
        await go('/viewlog.php');
        await Promise.all([page.waitForNavigation(), page.selectOption('select[name=fDomain]', domain)]);
    }
    await go('/edit.php?table=admin', '/edit.php?table=fetchmail', '/sendmail.php', '/broadcast-message.php', '/backup.php');
    await go('/edit.php?table=adminpassword');
    await page.close();
}
