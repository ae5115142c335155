import type { BrowserContext, Page } from 'playwright-core';
import { ask, KEEPER, open } from './recorded-visits.ts';

/** Signs in to a tracker of tickets, opens and answers some, searches, and asks its API. */
export async function visitRequestTracker(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    const go = async (...paths: string[]) => {
        for (const path of paths) await open(page, base + path);
    };
    await go('/');
    await page.fill('input[name=user]', 'root');
    await page.fill('input[name=pass]', 'password');
    await send(page, 'input[name=pass]');
    for (const subject of ['Lamp is out', 'Rope needed', 'Horn is silent']) {
        await go('/');
        await page.fill('form[action="/index.html"] input[name=Subject]', subject);
        await press(page, 'form[action="/index.html"] input[name=SubmitTicket]');
    }
    for (const [place, queue] of [3, 4].entries()) {
        await go(`/Ticket/Create.html?Queue=${queue}`);
        await page.fill('#ticket-create input[name=Subject], form[name=TicketCreate] input[name=Subject]', `Paint ${place}`);
        await press(page, 'form[name=TicketCreate] input[name=SubmitTicket]');
    }
    for (const id of [1, 2, 4]) {
        const views = ['Display', 'History', 'Modify', 'ModifyDates', 'ModifyPeople', 'ModifyLinks', 'ModifyAll', 'Reminders'];
        await go(...views.map((view) => `/Ticket/${view}.html?id=${id}`), `/Ticket/Update.html?Action=Comment&id=${id}`);
    }
    for (const id of [1, 2]) {
        await go(`/Ticket/Modify.html?id=${id}`);
        await page.fill('form[name=TicketModify] input[name=Subject]', `Lamp ${id} is out`);
        await press(page, 'form[name=TicketModify] input[name=SubmitTicket]');
        await go(`/Ticket/ModifyDates.html?id=${id}`);
        await press(page, 'form[action="ModifyDates.html"] input[name=SubmitTicket]');
    }
    for (const words of ['lamp', 'rope']) await go(`/Search/Simple.html?q=${words}`);
    for (const queue of ['Boats', 'Lights']) {
        const query = encodeURIComponent(`Queue = '${queue}' AND Status = 'new'`);
        await go(`/Search/Results.html?Query=${query}&Order=ASC&OrderBy=id&Rows=${queue.length}`, `/Search/Build.html?Query=${query}`);
        await go(`/Search/Chart.html?Query=${query}&GroupBy=${queue === 'Boats' ? 'Status' : 'Owner'}`);
    }
    for (const id of [14, 6]) await go(`/User/Summary.html?id=${id}`);
    for (const words of ['mate', 'root']) await go(`/User/Search.html?UserString=${words}`);
    await go('/Dashboards/index.html', '/Articles/index.html', '/Prefs/Search.html', '/Tools/index.html', '/Tools/MyDay.html');
    const api = '/REST/2.0';
    for (const words of ['ma', 'ro']) await ask(page, 'GET', `/Helpers/Autocomplete/Users?term=${words}&return=Name`);
    for (const words of ['lam', 'rop']) await ask(page, 'GET', `/Helpers/Autocomplete/Tickets?term=${words}`);
    await ask(page, 'GET', `${api}/rt`);
    for (const part of ['queues/all', 'queue/3', 'queue/4', 'users', 'user/Nobody', 'user/mate', 'customfields', 'groups'])
        await ask(page, 'GET', `${api}/${part}`);
    for (const id of [1, 2, 4]) for (const part of ['', '/history', '/attachments']) await ask(page, 'GET', `${api}/ticket/${id}${part}`);
    for (const [place, words] of ['lamp', 'paint'].entries())
        await ask(page, 'GET', `${api}/tickets?query=${encodeURIComponent(`Subject LIKE '${words}'`)}&page=1&per_page=${place + 2}`);
    for (const id of [30, 31]) await ask(page, 'GET', `${api}/transaction/${id}`);
    for (const subject of ['Net torn', 'Oar lost'])
        await ask(page, 'POST', `${api}/ticket`, {
            Queue: 'Boats',
            Subject: subject,
            Requestor: 'mate@harbour.example',
            Content: `${subject}.`,
        });
    for (const id of [1, 4]) {
        await ask(page, 'PUT', `${api}/ticket/${id}`, { Priority: String(20 + id), Subject: `Lamp ${id}` });
        for (const kind of ['comment', 'correspond'])
            await ask(page, 'POST', `${api}/ticket/${id}/${kind}`, {
                Content: `Seen ${id}.`,
                ContentType: 'text/plain',
                TimeTaken: `${id}`,
            });
    }
    await ask(page, 'DELETE', `${api}/ticket/3`);
    await page.close();
}

/** Reads what a monitor says of hosts and services in its pages and as JSON, comments some and plans a downtime. */
export async function visitNagios(context: BrowserContext, base: string): Promise<void> {
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

/** Works with folders, users and playlists on the pages of a server of music, and asks its API for the music. */
export async function visitSupysonic(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    const go = async (...paths: string[]) => {
        for (const path of paths) await open(page, base + path);
    };
    await go('/user/login');
    await page.fill('input[name=user]', 'keeper');
    await page.fill('input[name=password]', KEEPER.password);
    await send(page, 'input[name=password]');
    const api = async (method: string, more: Record<string, string> = {}) => {
        const query = new URLSearchParams({ u: 'keeper', p: KEEPER.password, v: '1.12.0', c: 'harbour', f: 'json', ...more });
        const { 'subsonic-response': answer } = JSON.parse(await ask(page, 'GET', `/rest/${method}.view?${query}`)) as {
            'subsonic-response': Record<string, Record<string, { id: string; name: string; artist: { id: string }[] }[]>>;
        };
        return answer;
    };
    for (const name of ['mate', 'pilot']) {
        await go('/user/add');
        for (const [field, value] of [
            ['user', name],
            ['passwd', KEEPER.password],
            ['passwd_confirm', KEEPER.password],
            ['mail', `${name}@harbour.example`],
        ] as const)
            await page.fill(`input[name=${field}]`, value);
        await send(page, 'input[name=mail]');
    }
    for (const name of ['music', 'voices']) {
        await go('/folder/add');
        await page.fill('input[name=name]', `More ${name}`);
        await page.fill('input[name=path]', `/srv/${name}`);
        await send(page, 'input[name=path]');
    }
    for (const method of ['ping', 'getLicense', 'getMusicFolders', 'getGenres', 'getNowPlaying', 'getStarred', 'getStarred2', 'getUsers'])
        await api(method);
    await api('getIndexes');
    for (const musicFolderId of ['1', '2']) await api('getIndexes', { musicFolderId });
    const artists = (await api('getArtists'))['artists']?.['index']?.flatMap(({ artist }) => artist) ?? [];
    for (const { id } of artists.slice(0, 3)) await api('getArtist', { id });
    for (const id of ['3', '4', '6']) await api('getMusicDirectory', { id });
    for (const [type, size] of [
        ['newest', '3'],
        ['random', '4'],
        ['alphabeticalByName', '5'],
    ] as const) {
        await api('getAlbumList', { type, size, offset: '0' });
        await api('getAlbumList2', { type, size, offset: '1' });
    }
    const albums = (await api('getAlbumList2', { type: 'newest', size: '3', offset: '0' }))['albumList2']?.['album'] ?? [];
    for (const { id } of albums) await api('getAlbum', { id });
    for (const size of ['4', '5']) await api('getRandomSongs', { size, genre: size === '4' ? 'Ballad' : 'Shanty' });
    const songs = (await api('getRandomSongs', { size: '4', genre: 'Shanty' }))['randomSongs']?.['song'] ?? [];
    for (const { id } of songs) {
        await api('getSong', { id });
        await api('scrobble', { id, submission: 'true' });
    }
    for (const genre of ['Ballad', 'Shanty']) await api('getSongsByGenre', { genre, count: '3', offset: '0' });
    for (const query of ['Tars', 'Ebb']) {
        await api('search2', { query, artistCount: '3', albumCount: '4', songCount: '5' });
        await api('search3', { query, artistCount: '3', albumCount: '4', songCount: '5' });
    }
    for (const { id } of songs.slice(0, 2)) {
        await api('star', { id });
        await api('unstar', { id });
        await api('setRating', { id, rating: id < 'a' ? '3' : '4' });
    }
    for (const message of ['High water', 'Low water']) await api('addChatMessage', { message });
    await api('getChatMessages');
    for (const [place, name] of ['Evening', 'Morning'].entries()) await api('createPlaylist', { name, songId: songs[place]?.id ?? '' });
    const lists = (await api('getPlaylists'))['playlists']?.['playlist'] ?? [];
    for (const { id, name } of lists) {
        await api('getPlaylist', { id });
        await api('updatePlaylist', { playlistId: id, name: `${name} songs`, comment: `For the ${name}`, public: 'true' });
        await go('/playlist', `/playlist/${id}`);
        await page.fill('input[name=name]', `${name} tunes`);
        await press(page, 'input[type=submit]');
        await ask(page, 'GET', `/playlist/${id}/export`);
    }
    for (const username of ['mate', 'pilot']) await api('getUser', { username });
    for (const name of ['Fog', 'Surf'])
        await api('createInternetRadioStation', { name, streamUrl: `http://${name}.example/`, homepageUrl: `http://www.${name}.example/` });
    const stations = (await api('getInternetRadioStations'))['internetRadioStations']?.['internetRadioStation'] ?? [];
    for (const { id } of stations) await api('deleteInternetRadioStation', { id });
    await go('/', '/folder', '/playlist', '/user', '/user/me');
    const users = await page.context().newPage();
    await open(users, `${base}/user`);
    const profiles = await users.$$eval('td a[href^="/user/"]', (all) => all.map((one) => one.getAttribute('href') ?? ''));
    await users.close();
    for (const profile of profiles) {
        await go(profile, `${profile}/changemail`, `${profile}/changeusername`, `${profile}/changepass`);
        await go(`${profile}/changemail`);
        await page.fill('input[name=mail]', `${profile.length}@harbour.example`);
        await send(page, 'input[name=mail]');
    }
    for (const { id } of lists) await go(`/playlist/del/${id}`);
    await page.close();
}

/** Signs in to a manager of mail domains, adds domains, mailboxes and aliases, lists and searches them. */
export async function visitPostfixAdmin(context: BrowserContext, base: string): Promise<void> {
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

/** Works with the gateways of an API by its administration: endpoints, pipelines, policies, users, their applications and credentials. */
export async function visitExpressGateway(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/users`);
    const get = async (...paths: string[]) => {
        for (const path of paths) await ask(page, 'GET', path);
    };
    const add = async (path: string, body: object) => JSON.parse(await ask(page, 'POST', path, body)) as Record<string, string>;
    await get('/api-endpoints', '/service-endpoints', '/pipelines', '/policies', '/schemas', '/schemas/policy', '/schemas/condition');
    await get('/api-endpoints/tides', '/api-endpoints/lights', '/service-endpoints/sea', '/service-endpoints/land');
    await get('/pipelines/tidal', '/pipelines/lit');
    for (const name of ['fog', 'surf']) {
        await ask(page, 'PUT', `/api-endpoints/${name}`, { host: `${name}.example`, paths: `/${name}` });
        await ask(page, 'PUT', `/service-endpoints/${name}`, { url: `http://${name}.example` });
        await ask(page, 'PUT', `/pipelines/${name}-line`, {
            apiEndpoints: [name],
            policies: [{ proxy: [{ action: { serviceEndpoint: name } }] }],
        });
        await ask(page, 'DELETE', `/pipelines/${name}-line`);
        await ask(page, 'DELETE', `/api-endpoints/${name}`);
        await ask(page, 'DELETE', `/service-endpoints/${name}`);
    }
    for (const name of ['jwt', 'log']) await ask(page, 'PUT', `/policies/${name}`);
    for (const name of ['jwt', 'log']) await ask(page, 'DELETE', `/policies/${name}`);
    await ask(page, 'POST', '/scopes', { scopes: ['read', 'write'] });
    for (const scope of ['steer', 'moor']) await ask(page, 'PUT', `/scopes/${scope}`);
    await get('/scopes', '/scopes/read', '/scopes/steer');
    await ask(page, 'DELETE', '/scopes/moor');
    await ask(page, 'DELETE', '/scopes/steer');
    for (const [name, last] of [
        ['mate', 'Rigg'],
        ['pilot', 'Sound'],
    ] as const) {
        const user = await add('/users', { username: name, firstname: name, lastname: last, email: `${name}@harbour.example` });
        await get('/users', `/users/${user['id']}`, `/users/${name}`);
        await ask(page, 'PUT', `/users/${user['id']}`, { lastname: `${last}er` });
        for (const status of [false, true]) await ask(page, 'PUT', `/users/${user['id']}/status`, { status });
        const app = await add('/apps', { name: `${name}-app`, redirectUri: `http://${name}.example/back`, userId: user['id'] });
        await get('/apps', `/apps/${app['id']}`);
        await ask(page, 'PUT', `/apps/${app['id']}`, { redirectUri: `http://${name}.example/home` });
        await ask(page, 'PUT', `/apps/${app['id']}/status`, { status: true });
        const key = await add('/credentials', { consumerId: name, type: 'key-auth', credential: { scopes: ['read'] } });
        await get('/credentials', `/credentials/${name}`, `/credentials/key-auth/${key['keyId']}`);
        await ask(page, 'PUT', `/credentials/key-auth/${key['keyId']}/status`, { status: true });
        await ask(page, 'PUT', `/credentials/key-auth/${key['keyId']}/scopes`, { scopes: ['read', 'write'] });
        await ask(page, 'PUT', `/credentials/key-auth/${key['keyId']}/scopes/write`);
        await ask(page, 'DELETE', `/credentials/key-auth/${key['keyId']}/scopes/${name === 'mate' ? 'write' : 'read'}`);
        await ask(page, 'DELETE', `/apps/${app['id']}`);
        await ask(page, 'DELETE', `/users/${user['id']}`);
    }
    await page.close();
}

async function send(page: Page, field: string): Promise<void> {
    await Promise.all([page.waitForNavigation({ waitUntil: 'domcontentloaded' }), page.press(field, 'Enter')]);
}

async function press(page: Page, button: string): Promise<void> {
    await Promise.all([page.waitForNavigation({ waitUntil: 'domcontentloaded' }), page.locator(button).first().click()]);
}
