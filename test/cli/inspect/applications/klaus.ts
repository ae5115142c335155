import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, links, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'klaus',
    host: 'sources.test',
    ready: '/',
    visit,
    start: (_folder, port) => `
        git config --global user.name Keeper && git config --global user.email keeper@harbour.example && git config --global init.defaultBranch main
        for name in harbour lights; do
            git init -q $name && mkdir $name/charts
            for file in tides.txt ropes.md charts/north.txt; do
                echo "Words of $name about $file" > $name/$file && git -C $name add . && git -C $name commit -qm "Write $file of $name"
            done
        done
        exec klaus --host 127.0.0.1 --port ${port} --site-name Harbour harbour lights`,
};

/** Reads the sources and the history of two projects. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, base);
    await open(page, `${base}/?order_by=name`);
    await open(page, `${base}/?q=harb`);
    for (const name of ['harbour', 'lights']) {
        await open(page, `${base}/${name}/`);
        const commits = await links(page, /\/commit\/[0-9a-f]+\/$/);
        await open(page, `${base}/${name}/tree/main/`);
        await open(page, `${base}/${name}/tree/main/?page=1`);
        await open(page, `${base}/${name}/tree/main/charts`);
        for (const file of ['tides.txt', 'ropes.md']) {
            await open(page, `${base}/${name}/blob/main/${file}`);
            await open(page, `${base}/${name}/blame/main/${file}`);
            await ask(page, 'GET', `/${name}/raw/main/${file}`);
        }
        for (const commit of commits.slice(0, 2)) {
            await open(page, commit);
            const { pathname } = new URL(commit);
            for (const suffix of ['.diff', '.patch']) await ask(page, 'GET', pathname.replace(/\/$/, suffix));
        }
    }
    await page.close();
}
