import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, links, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'loggerhead',
    host: 'history.test',
    ready: '/',
    visit,
    start: (_folder, port) => `
        export BRZ_EMAIL='Keeper <keeper@harbour.example>' && mkdir branches && cd branches
        for name in harbour lights; do
            /usr/bin/python3 -m breezy init -q $name && mkdir $name/charts
            for file in tides.txt ropes.md charts/north.txt; do
                echo "Words of $name about $file" > $name/$file
                (cd $name && /usr/bin/python3 -m breezy add -q && /usr/bin/python3 -m breezy commit -q -m "Write $file of $name")
            done
        done
        exec loggerhead-serve --host 127.0.0.1 --port ${port} --log-folder .. .`,
};

/** Reads the sources and the history of two branches. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, base);
    for (const name of ['harbour', 'lights']) {
        const branch = `${base}/${name}`;
        await open(page, `${branch}/changes`);
        await open(page, `${branch}/changes/2`);
        await open(page, `${branch}/changes?filter_path=tides.txt`);
        await open(page, `${branch}/files`);
        await open(page, `${branch}/files/head:/charts`);
        for (const file of ['tides.txt', 'ropes.md']) {
            await open(page, `${branch}/view/head:/${file}`);
            await open(page, `${branch}/annotate/head:/${file}`);
        }
        for (const revision of [1, 3]) {
            await open(page, `${branch}/revision/${revision}`);
            await open(page, `${branch}/files/${revision}`);
            await open(page, `${branch}/view/${revision}/tides.txt`);
        }
        for (const address of (await links(page, /\/\+filediff\//)).slice(0, 1)) await open(page, address);
        await ask(page, 'GET', `/${name}/atom`);
        for (const revision of [2, 3]) await ask(page, 'GET', `/${name}/diff/${revision}`);
        await ask(page, 'GET', `/${name}/diff/3/1`);
        for (const revision of ['2', '3']) await ask(page, 'GET', `/${name}/+revlog/${revision}`);
    }
    await page.close();
}
