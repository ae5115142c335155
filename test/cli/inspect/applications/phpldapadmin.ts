import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { END_ALL, type RecordedApplication } from '../starting.ts';
import { ask, open, press, submit } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'phpldapadmin',
    host: 'crew.test',
    ready: '/index.php',
    visit,
    start(folder, port) {
        writeFileSync(join(folder, 'slapd.conf'), SLAPD);
        writeFileSync(join(folder, 'crew.ldif'), crew());
        return `${END_ALL}
            mkdir data && slapadd -f slapd.conf -l crew.ldif
            slapd -f slapd.conf -h ldap://127.0.0.1:${port + 1000} -d 0 &
            cp -rL /usr/share/phpldapadmin site
            cat > site/config/config.php <<'END'
<?php
$config->custom->session['blowfish'] = 'planted-key-of-the-crew';
$config->custom->appearance['friendly_attrs'] = array('cn' => 'Name', 'sn' => 'Surname');
$servers = new Datastore();
$servers->newServer('ldap_pla');
$servers->setValue('server', 'name', 'Harbour');
$servers->setValue('server', 'host', '127.0.0.1');
$servers->setValue('server', 'port', ${port + 1000});
$servers->setValue('server', 'base', array('dc=harbour,dc=example'));
$servers->setValue('login', 'auth_type', 'config');
$servers->setValue('login', 'bind_id', 'cn=keeper,dc=harbour,dc=example');
$servers->setValue('login', 'bind_pass', 'planted-brass');
END
            php -d display_errors=0 -d error_reporting=0 -S 127.0.0.1:${port} -t site/htdocs & wait $!`;
    },
};

/** Reads a directory of people, its schema and its server, searches, adds, renames, copies, compares and removes entries. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    const root = 'dc=harbour,dc=example';
    const go = async (query: string) => await open(page, `${base}/cmd.php?${query}`);
    const at = (dn: string) => `server_id=1&dn=${encodeURIComponent(dn)}`;
    await open(page, `${base}/index.php`);
    for (const dn of [root, `ou=sailors,${root}`, `ou=pilots,${root}`, `cn=Ada Brass,ou=sailors,${root}`, `cn=Ben Rope,ou=sailors,${root}`])
        await go(`cmd=template_engine&${at(dn)}`);
    for (const cmd of ['expand', 'collapse']) for (const unit of ['sailors', 'pilots']) await go(`cmd=${cmd}&${at(`ou=${unit},${root}`)}`);
    for (const unit of ['sailors', 'pilots'])
        for (const action of [1, 2]) await ask(page, 'GET', `/cmd.php?cmd=draw_tree_node&action=${action}&${at(`ou=${unit},${root}`)}`);
    await go('cmd=server_info&server_id=1');
    for (const view of ['objectclasses', 'attributes', 'syntaxes', 'matchingrules']) await go(`cmd=schema&server_id=1&view=${view}`);
    for (const [view, value] of [
        ['objectclasses', 'person'],
        ['objectclasses', 'organizationalunit'],
        ['attributes', 'cn'],
        ['attributes', 'sn'],
    ])
        await go(`cmd=schema&server_id=1&view=${view}&viewvalue=${value}`);
    for (const filter of ['(cn=Ada*)', '(sn=Rope)']) {
        await go('cmd=query_engine&server_id=1');
        await page.fill('[name=filter]', filter).catch(() => undefined);
        await submit(page, 'form[name=advanced_search_form], form[action*=cmd]').catch(() => undefined);
    }
    for (const unit of ['sailors', 'pilots']) await go(`cmd=export_form&${at(`ou=${unit},${root}`)}&scope=sub`);
    for (const format of ['LDIF', 'CSV']) {
        await go(`cmd=export_form&${at(`ou=sailors,${root}`)}&scope=sub`);
        await page.check(`[name=exporter_id][value=${format}]`).catch(() => undefined);
        await submit(page, 'form[name=export_form], #export_form, form[action*=cmd]').catch(() => undefined);
    }
    for (const name of ['Cara Lamp', 'Dan Tide']) {
        await go('cmd=import_form&server_id=1');
        const ldif = `dn: cn=${name},ou=pilots,${root}\nobjectClass: person\ncn: ${name}\nsn: ${name.split(' ')[1]}\n`;
        await page.fill('textarea[name=ldif]', ldif);
        await press(page, 'form:has(textarea[name=ldif]) [type=submit]');
    }
    const [ada, ben] = [`cn=Ada Brass,ou=sailors,${root}`, `cn=Ben Rope,ou=sailors,${root}`];
    for (const dn of [ada, ben]) {
        await go(`cmd=add_attr_form&${at(dn)}`);
        await go(`cmd=add_value_form&${at(dn)}&attr=telephonenumber`);
        await go(`cmd=compare_form&${at(dn)}`);
        await go(`cmd=copy_form&${at(dn)}`);
        await go(`cmd=rename_form&${at(dn)}`);
        await go(`cmd=delete_form&${at(dn)}`);
    }
    for (const [dn, other] of [
        [ada, ben],
        [ben, ada],
    ])
        await go(
            `cmd=compare&server_id_src=1&server_id_dst=1&dn_src=${encodeURIComponent(dn ?? '')}&dn_dst=${encodeURIComponent(other ?? '')}`,
        );
    for (const name of ['Cara Lamp', 'Dan Tide']) {
        const dn = `cn=${name},ou=pilots,${root}`;
        await go(`cmd=rename_form&${at(dn)}`);
        await page.fill('[name=new_rdn]', `cn=${name} Senior`);
        await page.press('[name=new_rdn]', 'Enter');
        await page.waitForLoadState('networkidle');
        await go(`cmd=copy_form&${at(`cn=${name} Senior,ou=pilots,${root}`)}`);
        await page.fill('[name=dn_dst]', `cn=${name} Junior,ou=pilots,${root}`);
        await page.press('[name=dn_dst]', 'Enter');
        await page.waitForLoadState('networkidle');
        await go(`cmd=delete_form&${at(`cn=${name} Senior,ou=pilots,${root}`)}`);
        await page.locator('#delete_form [type=submit]').first().click();
        await page.waitForLoadState('networkidle');
    }
    for (const filter of ['(objectClass=person)', '(objectClass=organizationalUnit)'])
        await go(
            `cmd=query_engine&server_id=1&query=none&format=table&orderby=&size_limit=20&base=${encodeURIComponent(root)}&scope=sub&filter=${encodeURIComponent(filter)}&display_attrs=cn%2C+sn&search=Search`,
        );
    await page.close();
}

const SLAPD = `include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
database mdb
suffix "dc=harbour,dc=example"
rootdn "cn=keeper,dc=harbour,dc=example"
rootpw planted-brass
directory data
`;

function crew(): string {
    const root = 'dc=harbour,dc=example';
    const units = ['sailors', 'pilots'].map((unit) => `dn: ou=${unit},${root}\nobjectClass: organizationalUnit\nou: ${unit}\n`);
    const people = ['Ada Brass', 'Ben Rope'].map(
        (name) =>
            `dn: cn=${name},ou=sailors,${root}\nobjectClass: inetOrgPerson\ncn: ${name}\nsn: ${name.split(' ')[1]}\ndescription: Keeps the harbour\n`,
    );
    return [`dn: ${root}\nobjectClass: dcObject\nobjectClass: organization\ndc: harbour\no: Harbour\n`, ...units, ...people].join('\n');
}
