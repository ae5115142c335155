import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { askAs, KEEPER, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'ejabberd',
    host: 'talk.test',
    ready: '/hello',
    visit,
    start(folder, port, npm) {
        const root = join(npm, '../../root/usr/lib');
        const start = readFileSync(join(root, 'erlang/bin/erl'), 'utf8').replaceAll('/usr/lib/erlang', `${root}/erlang`);
        writeFileSync(join(folder, 'erl.sh'), start);
        writeFileSync(join(folder, 'ejabberd.yml'), SETTINGS.replaceAll('PORT', String(port)).replaceAll('FOLDER', folder));
        writeFileSync(join(folder, 'hello'), 'hello');
        const user = `ejabberd_auth:try_register(<<"${KEEPER.user.toLowerCase()}">>, <<"talk.test">>, <<"${KEEPER.password}">>)`;
        return `export LD_LIBRARY_PATH=${root}/x86_64-linux-gnu ERL_LIBS=${root}/x86_64-linux-gnu
            export EJABBERD_CONFIG_PATH=${folder}/ejabberd.yml EJABBERD_LOG_PATH=${folder}/ejabberd.log
            exec sh erl.sh -noinput -mnesia dir '"${folder}/spool"' -s ejabberd -eval '${user}'`;
    },
};

/** Registers people, befriends them, opens rooms, sends messages and asks for sessions, by the API that its commands have. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/hello`);
    const host = 'talk.test';
    const who = `${KEEPER.user.toLowerCase()}@${host}:${KEEPER.password}`;
    const call = (name: string, body: object = {}) => askAs(page, who, 'POST', `/api/${name}`, body);
    const people = ['anna', 'boris', 'carla', 'dora'];
    for (const user of people) await call('register', { user, host, password: `secret-of-${user}-4711` });
    for (const user of people.slice(0, 2)) await call('check_account', { user, host });
    await call('registered_users', { host });
    for (const name of [
        'registered_vhosts',
        'status',
        'connected_users',
        'connected_users_info',
        'connected_users_number',
        'incoming_s2s_number',
    ])
        await call(name);
    for (const name of ['registeredusers', 'onlineusers', 'uptimeseconds']) await call('stats', { name });
    for (const name of ['registeredusers', 'onlineusers']) await call('stats_host', { name, host });
    for (const [localuser, user] of [
        ['anna', 'boris'],
        ['boris', 'carla'],
    ])
        await call('add_rosteritem', { localuser, localhost: host, user, host, nick: user, group: 'crew', subs: 'both' });
    for (const user of people.slice(0, 2)) await call('get_roster', { user, server: host });
    await call('delete_rosteritem', { localuser: 'boris', localhost: host, user: 'carla', host });
    for (const [user, value] of [
        ['anna', 'Anna of the pier'],
        ['boris', 'Boris'],
    ]) {
        await call('set_vcard', { user, host, name: 'FN', content: value });
        await call('get_vcard', { user, host, name: 'FN' });
        await call('set_nickname', { user, host, nickname: value });
    }
    for (const user of people.slice(0, 2)) {
        await call('get_last', { user, host });
        await call('set_last', { user, host, timestamp: 1_700_000_000, status: 'at sea' });
        await call('get_offline_count', { user, host });
        await call('num_resources', { user, host });
        await call('user_sessions_info', { user, host });
        await call('get_presence', { user, host });
        await call('send_message', {
            type: 'headline',
            from: `keeper@${host}`,
            to: `${user}@${host}`,
            subject: 'Fog',
            body: `Stay in, ${user}`,
        });
    }
    for (const room of ['deck', 'galley']) {
        await call('create_room', { name: room, service: `conference.${host}`, host });
        await call('get_room_options', { name: room, service: `conference.${host}` });
        await call('change_room_option', { name: room, service: `conference.${host}`, option: 'title', value: `The ${room}` });
        await call('set_room_affiliation', { name: room, service: `conference.${host}`, jid: `anna@${host}`, affiliation: 'owner' });
        await call('get_room_affiliations', { name: room, service: `conference.${host}` });
        await call('get_room_occupants', { name: room, service: `conference.${host}` });
        await call('get_room_occupants_number', { name: room, service: `conference.${host}` });
        await call('get_subscribers', { name: room, service: `conference.${host}` });
    }
    await call('muc_online_rooms', { service: 'global' });
    await call('muc_online_rooms_by_regex', { service: 'global', regex: 'd.*' });
    await call('rooms_empty_list', { service: 'global' });
    for (const user of people.slice(0, 2)) await call('get_user_rooms', { user, host });
    await call('destroy_room', { name: 'galley', service: `conference.${host}` });
    for (const group of ['crew', 'guests']) {
        await call('srg_create', { group, host, label: group, description: `All ${group}`, display: group });
        await call('srg_user_add', { user: 'anna', host, group, grouphost: host });
        await call('srg_get_info', { group, host });
        await call('srg_get_members', { group, host });
    }
    await call('srg_list', { host });
    await call('srg_delete', { group: 'guests', host });
    await call('list_cluster');
    await call('get_loglevel');
    await call('modules_installed');
    for (const user of ['carla', 'dora']) await call('unregister', { user, host });
    await page.close();
}

const SETTINGS = `
hosts: [talk.test, "127.0.0.1"]
loglevel: 3
listen:
  - port: PORT
    ip: "127.0.0.1"
    module: ejabberd_http
    request_handlers:
      /api: mod_http_api
      /: mod_http_fileserver
acl:
  admin:
    user: ["keeper@talk.test"]
access_rules:
  configure:
    allow: admin
  muc_create:
    allow: all
api_permissions:
  "admin access":
    who:
      access:
        allow:
          acl: admin
    what: ["*"]
modules:
  mod_adhoc: {}
  mod_admin_extra: {}
  mod_disco: {}
  mod_http_api: {}
  mod_http_fileserver:
    docroot: FOLDER
    content_types:
      "": text/plain
    default_content_type: text/plain
  mod_last: {}
  mod_muc: {}
  mod_muc_admin: {}
  mod_offline: {}
  mod_private: {}
  mod_pubsub: {}
  mod_roster: {}
  mod_shared_roster: {}
  mod_stats: {}
  mod_vcard: {}
`;
