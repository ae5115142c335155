import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'etherpad',
    host: 'pads.test',
    ready: '/api',
    visit: (context, base) => visit(context, base, KEY),
    start(folder, port, npm) {
        const database = { dbType: 'dirty', dbSettings: { filename: join(folder, 'dirty.db') } };
        writeFileSync(
            join(folder, 'settings.json'),
            JSON.stringify({ title: 'Harbour pads', ip: '127.0.0.1', port, ...database, minify: false, skinName: 'colibris' }),
        );
        writeFileSync(join(folder, 'key.txt'), KEY);
        // It looks for itself in a folder of this name.
        return `
            mkdir -p pad/node_modules && cp -r ${npm}/ep_etherpad-lite pad/src && ln -s ${npm}/* pad/node_modules/
            rm pad/node_modules/ep_etherpad-lite && ln -s ../src pad/node_modules/ep_etherpad-lite
            exec ${process.execPath} pad/src/node/server.js -s ${folder}/settings.json --apikey ${folder}/key.txt --sessionkey ${folder}/session.txt`;
    },
};

/** Opens two pads and their history, and works with pads, groups, authors and sessions by the functions of its API. */
async function visit(context: BrowserContext, base: string, key: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    const call = async (name: string, params: Readonly<Record<string, string>> = {}): Promise<Record<string, string>> => {
        const asked = new URLSearchParams({ apikey: key, ...params });
        return (JSON.parse(await ask(page, 'GET', `/api/1.2.15/${name}?${asked}`)) as { data: Record<string, string> }).data;
    };
    const send = (name: string, params: Readonly<Record<string, string>>) =>
        ask(page, 'POST', `/api/1.2.15/${name}`, new URLSearchParams({ apikey: key, ...params }).toString());
    await ask(page, 'GET', '/api');
    await call('checkToken');
    const pads = ['tides', 'ropes'];
    for (const padID of pads) {
        await call('createPad', { padID, text: `Words of ${padID}` });
        await send('setText', { padID, text: `Other words of ${padID}` });
        await send('appendText', { padID, text: `More of ${padID}` });
        await send('setHTML', { padID, html: `<html><body>Much of ${padID}</body></html>` });
        await call('saveRevision', { padID });
        for (const rev of ['1', '2']) await call('getText', { padID, rev });
        for (const name of [
            'getHTML',
            'getRevisionsCount',
            'getLastEdited',
            'padUsersCount',
            'padUsers',
            'getReadOnlyID',
            'listAuthorsOfPad',
        ])
            await call(name, { padID });
        for (const name of ['listSavedRevisions', 'getChatHistory', 'getChatHead']) await call(name, { padID });
    }
    for (const padID of pads) {
        for (const more of ['', '/timeslider']) await open(page, `${base}/p/${padID}${more}`);
        for (const more of ['export/txt', 'export/html', '1/export/txt', '2/export/html']) await ask(page, 'GET', `/p/${padID}/${more}`);
    }
    for (const name of ['Ada', 'Grace']) {
        const { authorID = '' } = await call('createAuthor', { name });
        await call('createAuthorIfNotExistsFor', { authorMapper: name.toLowerCase(), name });
        await call('getAuthorName', { authorID });
        await call('listPadsOfAuthor', { authorID });
        await call('createGroupIfNotExistsFor', { groupMapper: `${name} and others` });
        const { groupID = '' } = await call('createGroup');
        await call('createGroupPad', { groupID, padName: `notes of ${name}`, text: 'Words' });
        await call('listPads', { groupID });
        const { sessionID = '' } = await call('createSession', { groupID, authorID, validUntil: '1900000000' });
        await call('getSessionInfo', { sessionID });
        await call('listSessionsOfGroup', { groupID });
        await call('deleteSession', { sessionID });
        await call('appendChatMessage', { padID: 'tides', text: `${name} was here`, authorID });
    }
    for (const padID of pads) {
        await call('copyPad', { sourceID: padID, destinationID: `${padID}-copy`, force: 'false' });
        await call('movePad', { sourceID: `${padID}-copy`, destinationID: `${padID}-moved`, force: 'true' });
        await call('deletePad', { padID: `${padID}-moved` });
    }
    for (const name of ['getStats', 'listAllPads', 'listAllGroups']) await call(name);
    await ask(page, 'GET', '/stats');
    await page.close();
}

/** The key of Etherpad's API. */
const KEY = 'f3a9c07be1d84265908b7c1e6a2d5f40';
