import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, links, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'epicshop',
    host: 'lessons.test',
    ready: '/resources/healthcheck',
    visit,
    start(folder, port, npm) {
        const epicshop = {
            title: 'Harbour lessons',
            subtitle: 'Ropes and lights',
            githubRepo: 'https://github.com/harbour/lessons',
            instructor: { name: 'Ada' },
        };
        writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'harbour', private: true, type: 'module', epicshop }));
        for (const [lesson, steps] of Object.entries(LESSONS)) {
            const name = lesson.slice(3);
            for (const [step, place] of steps.map((one, index) => [one, index + 1] as const))
                for (const kind of ['problem', 'solution']) {
                    const at = join(folder, 'exercises', lesson, `0${place}.${kind}.${step}`);
                    mkdirSync(at, { recursive: true });
                    writeFileSync(join(at, 'README.mdx'), `# ${step} ${name}\n\nWords about the ${kind} of ${step} ${name}.\n`);
                    writeFileSync(join(at, 'index.html'), `<h1>${kind}</h1><script src="/index.js"></script>\n`);
                    writeFileSync(join(at, 'index.js'), `console.log('${kind}');\n`);
                }
            for (const file of ['README', 'FINISHED'])
                writeFileSync(join(folder, 'exercises', lesson, `${file}.mdx`), `# ${file} ${name}\n\nWords about ${name}.\n`);
        }
        for (const file of ['README', 'FINISHED'])
            writeFileSync(join(folder, 'exercises', `${file}.mdx`), `# Harbour\n\nWords of ${file}.\n`);
        return `
            export EPICSHOP_IS_PUBLISHED=true EPICSHOP_APP_VERSION=6 EPICSHOP_CONTEXT_CWD=${folder} NODE_ENV=production PORT=${port}
            exec ${process.execPath} ${npm}/@epic-web/workshop-app/start.js`;
    },
};

/** Goes through lessons as the page's script does, which loads the data of each next page by itself, and sets what is worked on. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    for (const lesson of ['01', '02', '03']) {
        await open(page, `${base}/exercise/${lesson}`);
        for (const step of ['01', '02']) {
            for (const kind of ['problem', 'solution']) {
                await open(page, `${base}/exercise/${lesson}/${step}/${kind}`);
                await ask(page, 'GET', `/exercise/${lesson}/${step}/${kind}.data`);
            }
        }
        await ask(page, 'GET', `/exercise/${lesson}.data`);
        await open(page, `${base}/exercise/${lesson}/finished`);
        await ask(page, 'GET', `/exercise/${lesson}/finished.data`);
    }
    await open(page, `${base}/exercise/01/01/problem?preview=test`);
    await open(page, `${base}/exercise/02/01/problem?preview=diff`);
    for (const path of ['/finished', '/preferences', '/guide', '/support', '/account', '/workspace-structure', '/admin'])
        await open(page, base + path);
    for (const path of ['/_root.data', '/preferences.data', '/guide.data', '/finished.data']) await ask(page, 'GET', path);
    await open(page, `${base}/`);
    for (const link of (await links(page, /\/exercise\/0\d$/)).slice(0, 2)) {
        await page
            .locator(`a[href="${new URL(link).pathname}"]`)
            .first()
            .click({ timeout: 5000 })
            .catch(() => undefined);
        await page.waitForLoadState('networkidle', { timeout: 2000 }).catch(() => undefined);
        await open(page, `${base}/`);
    }
    for (const [app1, app2] of [
        ['01.01.problem', '01.01.solution'],
        ['02.01.problem', '02.02.problem'],
    ])
        await open(page, `${base}/diff?app1=${app1}&app2=${app2}`);
    await open(page, `${base}/diff`);
    for (const path of [
        '/resources/healthcheck',
        '/apps',
        '/exercises',
        '/processes',
        '/progress',
        '/saved-playgrounds',
        '/robots.txt',
        '/sitemap.xml',
        '/resources/connection-status',
    ])
        await ask(page, 'GET', path);
    for (const app of ['01.01.problem', '02.02.solution', '03.01.problem']) {
        await ask(page, 'GET', `/app/${app}/files`);
        await open(page, `${base}/app/${app}/`).catch(() => undefined);
        await ask(page, 'GET', `/app/${app}/index.js`);
        await ask(page, 'POST', '/set-playground', `appName=${app}`);
        await ask(page, 'POST', '/set-playground.data', `appName=${app}&reset=true`);
    }
    for (const theme of ['dark', 'light']) await ask(page, 'POST', '/theme.data', `theme=${theme}&intent=update-theme`);
    await page.close();
}

const LESSONS: Readonly<Record<string, readonly string[]>> = {
    '01.tides': ['high', 'low'],
    '02.lights': ['green', 'red'],
    '03.ropes': ['hemp', 'steel'],
};
