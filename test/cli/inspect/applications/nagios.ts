import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { CGI_SERVER, END_ALL, type RecordedApplication } from '../starting.ts';
import { ask, open, press } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'nagios',
    host: 'lookout.test',
    ready: '/cgi-bin/nagios4/tac.cgi',
    visit,
    start(folder, port) {
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
};

/** Reads what a monitor says of hosts and services in its pages and as JSON, comments some and plans a downtime. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    const here = '/cgi-bin/nagios4';
    const go = async (program: string, ...queries: string[]) => {
        for (const query of queries) await open(page, `${base}${here}/${program}.cgi${query}`);
    };
    await go('tac', '');
    await go('status', '?host=all', '?host=pier', '?host=buoy', '?hostgroup=all&style=overview', '?hostgroup=landings&style=detail');
    await go('status', '?hostgroup=all&style=summary', '?hostgroup=marks&style=grid', '?hostgroup=all&style=hostdetail');
    await go('status', '?servicegroup=all&style=overview', '?servicegroup=lamps&style=detail', '?host=all&servicestatustypes=28');
    await go('extinfo', '?type=0', '?type=3', '?type=4', '?type=6', '?type=7');
    for (const host of ['pier', 'quay', 'buoy']) {
        await go('extinfo', `?type=1&host=${host}`, `?type=2&host=${host}&service=Lamp`, `?type=2&host=${host}&service=Horn`);
        await go('history', `?host=${host}`);
        await go('notifications', `?host=${host}`);
    }
    for (const group of ['landings', 'marks']) await go('extinfo', `?type=5&hostgroup=${group}`);
    for (const group of ['lamps', 'horns']) await go('extinfo', `?type=8&servicegroup=${group}`);
    await go('config', '', ...['hosts', 'services', 'commands', 'contacts'].map((type) => `?type=${type}`));
    await go('history', '?host=all');
    await go('notifications', '?contact=all');
    await go('showlog', '', '?archive=0&oldestfirst=on');
    await go('outages', '');
    await go('summary', '', '?report=1&standardreport=1', '?report=1&standardreport=3');
    await go('avail', '', '?report_type=hosts', '?report_type=services');
    for (const host of ['pier', 'buoy']) await go('trends', `?host=${host}`);
    const lookUp = async (program: string, ...queries: string[]) => {
        for (const query of queries) await ask(page, 'GET', `${here}/${program}.cgi?query=${query}`);
    };
    for (const program of ['statusjson', 'objectjson']) {
        await lookUp(program, 'hostcount', 'hostlist', 'hostlist&details=true', 'servicecount', 'servicelist', 'servicelist&details=true');
        for (const host of ['pier', 'buoy'])
            await lookUp(program, `host&hostname=${host}`, `service&hostname=${host}&servicedescription=Lamp`);
    }
    await lookUp('statusjson', 'programstatus', 'performancedata', 'commentlist', 'downtimelist');
    await lookUp('objectjson', 'hostgrouplist', 'commandlist', 'contactlist', 'hostgroup&hostgroup=marks', 'hostgroup&hostgroup=landings');
    await lookUp('objectjson', 'command&command=ok', 'command&command=bad');
    for (const days of [1, 2]) {
        const now = Math.floor(Date.now() / 1000);
        await lookUp(
            'archivejson',
            `alertcount&starttime=${now - 86400 * days}&endtime=${now}`,
            `alertlist&starttime=${now - 86400 * days}&endtime=${now}`,
        );
    }
    for (const host of ['pier', 'quay']) {
        await go('cmd', `?cmd_typ=1&host=${host}`);
        await page.fill('input[name=com_data]', `Painted ${host}`);
        await press(page, 'input[name=btnSubmit]');
        await go('cmd', `?cmd_typ=55&host=${host}`);
        await page.fill('input[name=com_data]', `Closed ${host}`);
        await press(page, 'input[name=btnSubmit]');
        await go('cmd', `?cmd_typ=96&host=${host}`);
        await press(page, 'input[name=btnSubmit]');
        await go('cmd', `?cmd_typ=3&host=${host}&service=Lamp`);
        await page.fill('input[name=com_data]', `Lamp of ${host}`);
        await press(page, 'input[name=btnSubmit]');
    }
    await go('extinfo', '?type=3', '?type=6', '?type=1&host=pier');
    await page.close();
}

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
