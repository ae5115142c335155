import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { END_ALL, type RecordedApplication } from '../starting.ts';
import { ask, KEEPER, links, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'icecast',
    host: 'radio.test',
    ready: '/status-json.xsl',
    visit,
    start(folder, port) {
        writeFileSync(
            join(folder, 'icecast.xml'),
            `<icecast><location>Mole</location><admin>keeper@harbour.example</admin><hostname>radio.test</hostname>
            <limits><clients>50</clients><sources>9</sources></limits>
            <authentication><source-password>${KEEPER.password}</source-password><relay-password>${KEEPER.password}</relay-password>
            <admin-user>${KEEPER.user}</admin-user><admin-password>${KEEPER.password}</admin-password></authentication>
            <listen-socket><port>${port}</port><bind-address>127.0.0.1</bind-address></listen-socket>
            <mount type="normal"><mount-name>/lights.mp3</mount-name><authentication type="htpasswd"><option name="filename" value="${folder}/listeners"/></authentication></mount>
            <paths><logdir>${folder}</logdir><webroot>/usr/share/icecast2/web</webroot><adminroot>/usr/share/icecast2/admin</adminroot><alias source="/" destination="/status.xsl"/></paths>
            <logging><accesslog>access.log</accesslog><errorlog>error.log</errorlog><loglevel>2</loglevel></logging>
            <security><chroot>0</chroot><changeowner><user>nobody</user><group>nogroup</group></changeowner></security></icecast>`,
        );
        const station = (name: string, genre: string) =>
            `(while :; do head -c 4096 /dev/zero; sleep 0.3; done | curl -s -u source:${KEEPER.password} -H 'content-type: audio/mpeg' -H 'ice-name: ${name} radio' ` +
            `-H 'ice-genre: ${genre}' -H 'ice-description: All about ${name}' -T - http://127.0.0.1:${port}/${name}.mp3) & `;
        const listener = (name: string) => `curl -s -o /dev/null http://127.0.0.1:${port}/${name}.mp3 & `;
        return `${END_ALL}
            chmod a+rwX . && touch listeners && chmod a+rw listeners
            icecast2 -c icecast.xml & sleep 1
            ${['tides', 'ropes', 'lights', 'fog'].map((name, place) => station(name, place % 2 === 0 ? 'News' : 'Songs')).join('\n')}
            sleep 2
            ${['tides', 'tides', 'tides', 'ropes', 'ropes', 'fog'].map(listener).join('\n')}
            wait`;
    },
};

/** Looks at a radio server, at what its stations send and who listens, changes titles, and moves and ends listeners. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    // Stations and listeners come after the server.
    await page.waitForTimeout(6000);
    for (const name of ['status.xsl', 'server_version.xsl', '']) await open(page, `${base}/${name}`);
    await ask(page, 'GET', '/status-json.xsl');
    for (const mount of ['tides', 'ropes']) await ask(page, 'GET', `/status-json.xsl?mount=/${mount}.mp3`);
    const pass = Buffer.from(`${KEEPER.user}:${KEEPER.password}`).toString('base64');
    await page.setExtraHTTPHeaders({ authorization: `Basic ${pass}` });
    const go = async (...paths: string[]) => {
        for (const path of paths) await open(page, `${base}/admin/${path}`);
    };
    await go('stats.xsl', 'listmounts.xsl');
    for (const mount of ['tides', 'ropes']) await go(`stats.xsl?mount=/${mount}.mp3`, `listclients.xsl?mount=/${mount}.mp3`);
    for (const mount of ['tides', 'ropes']) {
        await go(`updatemetadata.xsl?mount=/${mount}.mp3`);
        await page.fill('input[name=song]', `Song of the ${mount}`);
        await submit(page);
    }
    await go('manageauth.xsl?mount=/lights.mp3');
    for (const name of ['ada', 'grace', 'mary']) {
        await page.fill('input[name=username]', name);
        await page.fill('input[name=password]', KEEPER.password);
        await submit(page);
        await go('manageauth.xsl?mount=/lights.mp3');
    }
    for (const name of ['ada', 'grace']) await go(`manageauth.xsl?mount=/lights.mp3&username=${name}&action=delete`);
    for (const name of ['stats', 'listmounts']) await ask(page, 'GET', `/admin/${name}`);
    for (const mount of ['tides', 'ropes']) {
        await ask(page, 'GET', `/admin/stats?mount=/${mount}.mp3`);
        await ask(page, 'GET', `/admin/listclients?mount=/${mount}.mp3`);
        await ask(page, 'GET', `/admin/metadata?mount=/${mount}.mp3&mode=updinfo&song=High+${mount}`);
        await ask(page, 'GET', `/admin/fallbacks?mount=/${mount}.mp3&fallback=/fog.mp3`);
    }
    await go('moveclients.xsl?mount=/ropes.mp3', 'moveclients.xsl?mount=/tides.mp3');
    await go('moveclients.xsl?mount=/ropes.mp3&destination=/tides.mp3');
    await go('listclients.xsl?mount=/tides.mp3');
    for (const link of (await links(page, /killclient/)).slice(0, 2)) await open(page, link);
    await go('moveclients.xsl?mount=/tides.mp3&destination=/fog.mp3');
    await ask(page, 'GET', '/admin/moveclients?mount=/fog.mp3&destination=/ropes.mp3');
    await ask(page, 'GET', '/admin/moveclients?mount=/ropes.mp3&destination=/fog.mp3');
    await go('killsource.xsl?mount=/tides.mp3');
    for (const mount of ['ropes', 'fog']) await ask(page, 'GET', `/admin/killsource?mount=/${mount}.mp3`);
    await page.close();
}

/** Sends the form of a page of XML, whose buttons no click sends. */
async function submit(page: Page): Promise<void> {
    const sent = page.waitForResponse((response) => response.request().isNavigationRequest());
    await page
        .locator('form')
        .first()
        .evaluate((form) => (form as unknown as { submit(): void }).submit());
    await (await sent).finished();
    await page.waitForLoadState('networkidle');
}
