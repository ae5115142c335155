import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, open, settled } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'beets',
    host: 'records.test',
    ready: '/stats',
    visit,
    start(folder, port) {
        writeFileSync(join(folder, 'songs.py'), SONGS);
        writeFileSync(
            join(folder, 'config.yaml'),
            JSON.stringify({
                directory: join(folder, 'music'),
                library: join(folder, 'library.db'),
                plugins: 'web',
                import: { copy: false, write: false },
                web: { host: '127.0.0.1', port, readonly: false },
            }),
        );
        return `
            export BEETSDIR=${folder}
            /usr/bin/python3 songs.py && beet import -q -A music && exec beet web`;
    },
};

/** Looks for songs on the page, then reads, changes and removes songs and albums. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, base);
    for (const words of ['tide', 'rope']) {
        await page.fill('#query', words);
        await settled(page, () => page.press('#query', 'Enter'));
    }
    const get = (path: string) => ask(page, 'GET', path);
    const { items } = JSON.parse(await get('/item/')) as { items: { id: number }[] };
    const { albums } = JSON.parse(await get('/album/')) as { albums: { id: number }[] };
    const ids = items.map(({ id }) => id);
    await get('/item/?expand');
    await get('/album/?expand');
    for (const id of ids.slice(0, 3)) await get(`/item/${id}`);
    await get(`/item/${ids[0]},${ids[1]}`);
    await get(`/item/${ids[2]}?expand`);
    for (const words of ['artist:Keeper', 'title:Fog', 'genre:Shanty']) await get(`/item/query/${words}`);
    await get('/item/query/tide?expand');
    for (const key of ['artist', 'genre', 'year']) await get(`/item/values/${key}`);
    await get('/item/values/title?sort_key=track');
    for (const { id } of albums) {
        await get(`/album/${id}`);
        await get(`/album/${id}?expand`);
    }
    for (const words of ['album:Lights', 'albumartist:Keeper']) await get(`/album/query/${words}`);
    for (const key of ['albumartist', 'year']) await get(`/album/values/${key}`);
    await get('/artist/');
    await get('/stats');
    for (const [place, id] of ids.slice(0, 2).entries())
        await ask(page, 'PATCH', `/item/${id}`, { title: `Song ${place}`, genre: 'Waltz' });
    for (const words of ['genre:Waltz', 'title:Fog']) await ask(page, 'PATCH', `/item/query/${words}`, { comments: `found by ${words}` });
    for (const id of ids.slice(0, 2)) await ask(page, 'DELETE', `/item/${id}`);
    await ask(page, 'DELETE', `/item/${ids[2]}?delete`);
    await ask(page, 'DELETE', '/item/query/title:Fog');
    for (const { id } of albums) await ask(page, 'DELETE', `/album/${id}`);
    await get('/stats');
    await page.close();
}

const SONGS = `
import os, wave, mediafile
for album, artist, year in (('Tides', 'Keeper', 1998), ('Lights', 'Crew', 2004), ('Ropes', 'Keeper', 2011)):
    os.makedirs(f'music/{album}')
    for track, title in enumerate(('High tide', 'Fog', 'Rope'), 1):
        path = f'music/{album}/{track}.wav'
        with wave.open(path, 'wb') as sound:
            sound.setparams((1, 2, 8000, 0, 'NONE', 'none'))
            sound.writeframes(bytes(1600))
        song = mediafile.MediaFile(path)
        song.update({'title': f'{title} of {album}', 'artist': artist, 'albumartist': artist, 'album': album, 'year': year, 'track': track, 'genre': 'Shanty'})
        song.save()
`;
