import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { KEEPER, links, open, press, send } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'znc',
    host: 'bouncer.test',
    ready: '/',
    visit,
    start(folder, port) {
        mkdirSync(join(folder, 'configs'));
        const user = (name: string, more: string) =>
            `<User ${name}>\nAdmin = true\nNick = ${name}\nAltNick = ${name}_\nIdent = ${name}\nRealName = The ${name}\nPass = plain#${KEEPER.password}\n${more}</User>\n`;
        const network = (name: string, ...channels: string[]) =>
            `<Network ${name}>\nIRCConnectEnabled = false\nLoadModule = stickychan\nServer = irc.${name}.example 6667\n${channels.map((one) => `<Chan #${one}>\n</Chan>\n`).join('')}</Network>\n`;
        const networks = network('harbour', 'tides', 'ropes') + network('lagoon', 'lamps');
        writeFileSync(
            join(folder, 'configs/znc.conf'),
            `Version = 1.8.2\n${['webadmin', 'samplewebapi', 'lastseen'].map((name) => `LoadModule = ${name}\n`).join('')}` +
                `<Listener web>\nPort = ${port}\nIPv4 = true\nIPv6 = false\nSSL = false\nURIPrefix = /\n</Listener>\n` +
                user(KEEPER.user, `${['perform', 'notes'].map((name) => `LoadModule = ${name}\n`).join('')}${networks}`) +
                user('mate', network('pier', 'boats')) +
                user('pilot', ''),
        );
        return `chown -R nobody . && exec setpriv --reuid nobody --clear-groups znc --foreground --datadir ${folder}`;
    },
};

/** Signs in to a bouncer of chats, changes its channels and settings, and notes some words. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    const admin = `${base}/mods/global/webadmin`;
    await open(page, base);
    await page.fill('input[name=user]', KEEPER.user);
    await page.fill('input[name=pass]', KEEPER.password);
    await send(page, 'input[name=pass]');
    for (const part of ['', 'listusers', 'settings', 'traffic', 'adduser', 'adduser?clone=mate', 'adduser?clone=pilot'])
        await open(page, `${admin}/${part}`);
    for (const [user, network] of [
        [KEEPER.user, 'harbour'],
        ['mate', 'pier'],
    ]) {
        await open(page, `${admin}/edituser?user=${user}`);
        await open(page, `${admin}/addnetwork?user=${user}`);
        await open(page, `${admin}/editnetwork?user=${user}&network=${network}`);
        for (const channel of await links(page, /editchan/)) {
            await open(page, channel);
            await page.fill('input[name=buffersize]', '70');
            await press(page, 'input[name=submit_return]');
        }
        for (const name of ['fog', 'sails']) {
            await open(page, `${admin}/addchan?user=${user}&network=${network}`);
            await page.fill('input[name=name]', `#${name}`);
            await press(page, 'input[name=submit_return]');
        }
        for (const name of ['fog', 'sails']) {
            await open(page, `${admin}/editnetwork?user=${user}&network=${network}`);
            const [address] = await links(page, new RegExp(`delchan.*${name}`));
            if (address !== undefined) await open(page, address);
        }
    }
    for (const [user, network] of [
        [KEEPER.user, 'lagoon'],
        ['mate', 'pier'],
    ]) {
        await open(page, `${admin}/delnetwork?user=${user}&name=${network}`);
        if (network === 'lagoon') await press(page, 'form[action$=delnetwork] input[type=submit]');
    }
    for (const user of ['pilot', 'mate']) {
        await open(page, `${admin}/deluser?user=${user}`);
        if (user === 'pilot') await press(page, 'form[action$=deluser] input[type=submit]');
    }
    await open(page, `${base}/mods/user/notes/`);
    for (const [key, words] of [
        ['tide', 'High water at six'],
        ['rope', 'Buy twenty fathoms'],
        ['lamp', 'Clean the glass'],
    ] as const) {
        await page.fill('input[name=key]', key);
        await page.fill('input[name=note]', words);
        await press(page, 'input[name=add]');
    }
    for (const key of ['tide', 'rope']) {
        await open(page, `${base}/mods/user/notes/`);
        const [address] = await links(page, new RegExp(`delnote.*${key}`));
        if (address !== undefined) await open(page, address);
    }
    for (const line of ['/away fog', '/msg tides hello']) {
        await open(page, `${base}/mods/user/perform/`);
        await page.fill('textarea[name=perform]', line);
        await press(page, 'input[name=save]');
    }
    await open(page, `${base}/mods/global/samplewebapi/`);
    await page.fill('textarea[name=text]', 'Fog ahead');
    await press(page, 'input[name=submit]');
    await open(page, `${base}/mods/global/lastseen/`);
    await open(page, `${base}/mods/network/harbour/stickychan/`);
    await page.close();
}
