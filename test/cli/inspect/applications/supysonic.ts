import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, KEEPER, open, press, send } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'supysonic',
    host: 'music.test',
    ready: '/user/login',
    visit,
    start(folder, port) {
        writeFileSync(
            join(folder, '.supysonic'),
            `[base]\ndatabase_uri = sqlite:///${folder}/music.db\n[webapp]\ncache_dir = ${folder}/cache\n[daemon]\nsocket = ${folder}/daemon.sock\n`,
        );
        writeFileSync(join(folder, 'music.py'), MUSIC);
        return `
            /usr/bin/python3 music.py ${folder}/music ${folder}/voices
            supysonic-cli user add keeper -p ${KEEPER.password} -e keeper@harbour.example && supysonic-cli user setroles -A keeper
            supysonic-cli folder add Shanties ${folder}/music && supysonic-cli folder add Voices ${folder}/voices && supysonic-cli folder scan -f
            FLASK_APP='supysonic.web:create_application()' exec /usr/bin/python3 -m flask run -h 127.0.0.1 -p ${port}`;
    },
};

/** Works with folders, users and playlists on the pages of a server of music, and asks its API for the music. */
async function visit(context: BrowserContext, base: string): Promise<void> {
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

/** Writes songs of a second of silence each. */
const MUSIC = `
import os, sys
from mutagen.id3 import ID3, TIT2, TPE1, TALB, TRCK, TCON, TDRC
for place, folder in enumerate(sys.argv[1:]):
    for singer in (['Tars', 'Pilots'] if place == 0 else ['Mermaids', 'Gulls']):
        for album in ['Ebb', 'Flood']:
            where = os.path.join(folder, singer, album)
            os.makedirs(where)
            for track in [1, 2, 3]:
                file = os.path.join(where, '%d.mp3' % track)
                with open(file, 'wb') as out:
                    out.write((bytes([0xff, 0xfb, 0x90, 0x64]) + bytes(413)) * 40)
                tags = ID3()
                for tag in (TIT2(3, '%s %s %d' % (singer, album, track)), TPE1(3, singer), TALB(3, album), TRCK(3, str(track)), TCON(3, 'Shanty' if track < 3 else 'Ballad'), TDRC(3, '19%d' % (70 + track))):
                    tags.add(tag)
                tags.save(file)
`;
