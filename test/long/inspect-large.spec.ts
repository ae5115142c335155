import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { expect } from 'chai';
import { LARGE_ROUTES, largeHar } from '../cli/inspect/large-har.ts';

describe('routebook inspect of a recording of 500 MB', () => {
    let folder: string;
    before(() => {
        folder = mkdtempSync(join(tmpdir(), 'routebook-large-'));
    });
    after(() => rmSync(folder, { recursive: true, force: true }));

    it('finds its routes in a heap of 200 MB', async () => {
        const file = join(folder, 'large.har');
        await pipeline(Readable.from(largeHar(500_000_000)), createWriteStream(file));
        expect(statSync(file).size).to.be.greaterThan(500_000_000);
        const program = `
            import { inspect } from ${JSON.stringify(join(import.meta.dirname, '../../cli/inspect/inspect.ts'))};
            const { package: draft, report } = await inspect({ har: process.argv[1] });
            const routes = draft.endpoints.map(({ method, url }) => method + ' ' + new URL(url).pathname);
            console.log(JSON.stringify({ routes, read: report.read, peak: process.resourceUsage().maxRSS * 1024 }));`;
        const child = spawn(process.execPath, ['--max-old-space-size=200', '--input-type=module-typescript', '-e', program, file], {
            stdio: ['ignore', 'pipe', 'inherit'],
        });
        const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
        const { routes, read, peak } = JSON.parse(output) as { routes: string[]; read: number; peak: number };
        expect(routes.map((route) => decodeURIComponent(route))).to.have.members(LARGE_ROUTES);
        expect(read).to.be.greaterThan(5000);
        expect(peak / 1e6, 'MB at most').to.be.below(500);
    });
});
