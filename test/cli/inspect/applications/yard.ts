import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'yard',
    host: 'manual.test',
    ready: '/',
    visit,
    start(folder, port) {
        mkdirSync(join(folder, 'lib'));
        for (const [module, kinds] of Object.entries(PARTS)) {
            const classes = kinds.map(
                (kind) =>
                    `  # A ${kind} of the ${module}.\n  class ${kind}\n    # Moves it.\n    # @param far [Integer] miles\n    def move(far); end\n\n    # @return [String] what it is called\n    def title; end\n  end\n`,
            );
            writeFileSync(join(folder, 'lib', `${module}.rb`), `# All of the ${module}.\nmodule ${module}\n${classes.join('\n')}end\n`);
        }
        for (const file of ['README', 'CHANGES', 'TIDES'])
            writeFileSync(join(folder, `${file}.md`), `# ${file}\n\nWords about ${file}, in several lines.\n`);
        return `yard doc -n -q lib/*.rb - README.md CHANGES.md TIDES.md && exec yard server --server webrick --bind 127.0.0.1 --port ${port}`;
    },
};

const PARTS = { Harbour: ['Boat', 'Lamp'], Market: ['Stall', 'Boat'] };

/** Reads the documentation of a program. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, base);
    for (const [module, kinds] of Object.entries(PARTS)) {
        await open(page, `${base}/docs/${module}`);
        for (const kind of kinds) await open(page, `${base}/docs/${module}/${kind}`);
        await open(page, `${base}/docs/frames/${module}/${kinds[0]}`);
    }
    for (const file of ['README', 'CHANGES', 'TIDES']) await open(page, `${base}/docs/file/${file}.md`);
    for (const kind of ['class', 'method', 'file']) await open(page, `${base}/list/${kind}`);
    for (const words of ['boa', 'mov']) {
        await open(page, `${base}/search?q=${words}`);
        await ask(page, 'GET', `/search?q=${words}`);
    }
    await page.close();
}
