import type { BrowserContext } from 'playwright-core';
import { END_ALL, postgres, type RecordedApplication } from '../starting.ts';
import { ask, links, open, settled } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'zabbix',
    host: 'watch.test',
    ready: '/index.php',
    visit,
    start: (folder, port, npm) => `${END_ALL}
            ${postgres(folder, port + 1000)}
            createdb -h 127.0.0.1 -p ${port + 1000} -U postgres -T template0 -E UTF8 zabbix
            for file in schema images data; do zcat ${npm}/../../root/usr/share/zabbix-server-pgsql/$file.sql.gz | PGOPTIONS='-c synchronous_commit=off' psql -q -v ON_ERROR_STOP=0 -h 127.0.0.1 -p ${port + 1000} -U postgres zabbix 2>&1 | head -20; done
            cp -rL /usr/share/zabbix site
            sed -i "s#const CONFIG_FILE_PATH = .*#const CONFIG_FILE_PATH = '${folder}/site/conf/zabbix.conf.php';#" site/include/classes/core/CConfigFile.php
            cat > site/conf/zabbix.conf.php <<'END'
<?php
$DB = ['TYPE' => 'POSTGRESQL', 'SERVER' => '127.0.0.1', 'PORT' => '${port + 1000}', 'DATABASE' => 'zabbix', 'USER' => 'postgres', 'PASSWORD' => '', 'SCHEMA' => '', 'ENCRYPTION' => false, 'DOUBLE_IEEE754' => true, 'VAULT_URL' => ''];
$ZBX_SERVER = '127.0.0.1'; $ZBX_SERVER_PORT = '${port + 2000}'; $ZBX_SERVER_NAME = 'Harbour'; $IMAGE_FORMAT_DEFAULT = IMAGE_FORMAT_PNG;
END
            php -d display_errors=0 -d memory_limit=512M -d post_max_size=32M -d max_execution_time=300 -d max_input_time=300 -d date.timezone=UTC -S 127.0.0.1:${port} -t site & wait $!`,
};

/** Signs in to a watch over machines, reads its lists and reports, keeps groups and machines by its pages and by its JSON-RPC. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/index.php`);
    await page.fill('#name', 'Admin');
    await page.fill('#password', 'zabbix');
    await settled(page, () => page.locator('#enter').click());
    const rpc = async (method: string, params: object, auth?: string): Promise<unknown> =>
        await page.evaluate(
            async (sent) => {
                const answer = await fetch('/api_jsonrpc.php', {
                    method: 'POST',
                    headers: { 'content-type': 'application/json-rpc' },
                    body: JSON.stringify(sent),
                });
                return ((await answer.json()) as { result: unknown }).result;
            },
            { jsonrpc: '2.0', method, params, id: 1, ...(auth === undefined ? {} : { auth }) },
        );
    await rpc('apiinfo.version', {});
    const auth = String(await rpc('user.login', { user: 'Admin', password: 'zabbix' }));
    const hosts: string[] = [];
    for (const name of ['north-quay', 'south-quay']) {
        const { groupids = [] } = (await rpc('hostgroup.create', { name: `Group of ${name}` }, auth)) as { groupids?: string[] };
        const { hostids = [] } = (await rpc('host.create', { host: name, groups: [{ groupid: groupids[0] }], interfaces: [] }, auth)) as {
            hostids?: string[];
        };
        hosts.push(...hostids);
        for (const key of ['tide', 'wind'])
            await rpc('item.create', { hostid: hostids[0], name: `The ${key}`, key_: key, type: 2, value_type: 0 }, auth);
        await rpc('host.update', { hostid: hostids[0], description: `Machine of the ${name}` }, auth);
        await rpc('item.get', { hostids, output: ['itemid', 'name', 'key_'] }, auth);
        await rpc('host.get', { filter: { host: [name] }, output: 'extend' }, auth);
    }
    await rpc('hostgroup.get', { output: 'extend', limit: 3 }, auth);
    await rpc('trigger.get', { output: ['triggerid', 'description'], limit: 3 }, auth);
    await rpc('template.get', { output: ['name'], limit: 3 }, auth);
    await rpc('problem.get', { output: 'extend', limit: 3 }, auth);
    for (const action of [
        'dashboard.list',
        'problem.view',
        'latest.view',
        'host.list',
        'token.list',
        'report.status',
        'auditlog.list',
        'mediatype.list',
    ])
        await open(page, `${base}/zabbix.php?action=${action}`);
    for (const program of ['hostgroups.php', 'maintenance.php', 'hostinventories.php', 'toptriggers.php', 'report2.php', 'sysmaps.php'])
        await open(page, `${base}/${program}`);
    for (const host of hosts) {
        for (const program of ['items.php', 'triggers.php', 'graphs.php'])
            await open(page, `${base}/${program}?filter_set=1&filter_hostids%5B0%5D=${host}&context=host`);
        await open(page, `${base}/zabbix.php?action=host.edit&hostid=${host}`);
        await open(page, `${base}/zabbix.php?action=latest.view&hostids%5B%5D=${host}&filter_set=1`);
        await open(page, `${base}/hostinventories.php?hostid=${host}`);
        await open(page, `${base}/items.php?form=create&hostid=${host}&context=host`);
    }
    await open(page, `${base}/items.php?filter_set=1&filter_hostids%5B0%5D=${hosts[0]}&context=host`);
    for (const item of (await links(page, /items\.php\?form=update/)).slice(0, 2)) await open(page, item);
    await open(page, `${base}/hostgroups.php`);
    for (const group of (await links(page, /hostgroups\.php\?form=update/)).slice(0, 2)) await open(page, group);
    await open(page, `${base}/hostgroups.php?form=create`);
    for (const words of ['north', 'south']) {
        await ask(page, 'POST', '/jsrpc.php?output=json-rpc', { method: 'search', params: { search: words }, id: 2 });
        await open(page, `${base}/zabbix.php?action=search&search=${words}`);
    }
    for (const words of ['no', 'so'])
        await ask(page, 'GET', `/jsrpc.php?output=json&method=multiselect.get&object_name=hosts&search=${words}&limit=21`);
    for (const words of ['Gro', 'Lin'])
        await ask(page, 'GET', `/jsrpc.php?output=json&method=multiselect.get&object_name=hostGroup&search=${words}&limit=21`);
    await page.close();
}
