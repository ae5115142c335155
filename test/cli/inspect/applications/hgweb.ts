import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, links, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'hgweb',
    host: 'code.test',
    ready: '/',
    visit,
    start: (folder, port) => `
        for name in harbour tides ropes; do
            mkdir -p repositories/$name/src repositories/$name/notes && cd repositories/$name && hg init -q
            month=0
            for step in First Second Third Fourth; do
                month=$((month + 1))
                echo "$step words of $name" > README
                echo 'int main(void) { return 0; }' > src/$(echo $step | tr A-Z a-z).c
                hg add -q . && hg commit -u 'Keeper <keeper@harbour.example>' -m "$step change" -d "2025-0$month-11 10:00"
            done
            hg tag -u Keeper v1 && hg branch -q calm && echo x > calm.txt && hg add -q && hg commit -u Keeper -m 'Calm change'
            echo long > notes/ropes.txt && hg add -q && hg commit -u Keeper -m 'Notes on ropes'
            cd ../..
        done
        printf '[collections]\\n${folder}/repositories = ${folder}/repositories\\n[web]\\nallow_archive = zip\\n' > hgweb.conf
        exec hg serve --web-conf hgweb.conf -p ${port} -a 127.0.0.1`,
};

/** Browses repositories: change sets, files, branches, help and feeds. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    for (const name of ['harbour', 'tides']) {
        const here = `${base}/${name}`;
        await open(page, here);
        const changes = await links(page, /\/rev\/[0-9a-f]{12}$/);
        for (const change of changes.slice(0, 3)) await open(page, change);
        for (const rev of changes.slice(0, 2).map((change) => change.split('/').at(-1))) {
            await open(page, `${here}/shortlog/${rev}`);
            await open(page, `${here}/shortlog/${rev}?revcount=120`);
            await open(page, `${here}/file/${rev}`);
            await open(page, `${here}/diff/${rev}/README`);
            await ask(page, 'GET', `/${name}/raw-rev/${rev}`);
            await open(page, `${here}/file/${rev}/README`);
            await open(page, `${here}/file/${rev}/src/first.c`);
            await open(page, `${here}/log/${rev}/README`);
            await open(page, `${here}/annotate/${rev}/README`);
            await ask(page, 'GET', `/${name}/raw-file/${rev}/README`);
            await open(page, `${here}/graph/${rev}`);
        }
        await open(page, `${here}/file/tip`);
        for (const path of ['README', 'src', 'notes']) await open(page, `${here}/file/tip/${path}`);
        for (const path of ['src/first.c', 'src/second.c', 'notes/ropes.txt']) await open(page, `${here}/file/tip/${path}`);
        for (const path of ['README', 'calm.txt']) {
            await open(page, `${here}/log/tip/${path}`);
            await open(page, `${here}/annotate/tip/${path}`);
            await ask(page, 'GET', `/${name}/raw-file/tip/${path}`);
        }
        for (const place of ['graph/tip', 'tags', 'bookmarks', 'branches', 'help']) await open(page, `${here}/${place}`);
        for (const topic of ['revsets', 'dates']) await open(page, `${here}/help/${topic}`);
        for (const words of ['second', 'calm']) {
            await open(page, `${here}/log`);
            await page.fill('input[name=rev]', words);
            await Promise.all([page.waitForNavigation(), page.press('input[name=rev]', 'Enter')]);
        }
        for (const feed of ['atom-log', 'rss-log']) await ask(page, 'GET', `/${name}/${feed}`);
    }
    await page.close();
}
