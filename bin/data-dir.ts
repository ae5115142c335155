import { existsSync, mkdirSync, mkdtempSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Config } from '../shared/platform/config.ts';
import { ConfigFault } from '../shared/platform/settings-reader.ts';

/**
 * Makes DATA_DIR where it is missing, and sees that what will be kept there can be: the embedded PostgreSQL, the key ring, or the demo's key.
 * @throws ConfigFault if it is no folder and cannot become one, or cannot be written
 */
export function makeDataDir({
    dataDir,
    databaseUrl,
    demo,
    secretKeys,
}: Pick<Config, 'dataDir' | 'databaseUrl' | 'demo' | 'secretKeys'>): void {
    orFault(`${dataDir} is no folder and cannot be made one`, () => makeFolder(resolve(dataDir)));
    if (databaseUrl !== undefined && !demo && secretKeys.length > 0) return;
    // Tried, since modes do not bind root, and read-only file systems and full disks do not show in them.
    orFault(`${dataDir} cannot be written`, () => rmdirSync(mkdtempSync(join(dataDir, '.writable-'))));
}

/** Not mkdirSync's own `recursive`: below /proc and its like it never ends (Node 26). */
function makeFolder(path: string): void {
    const parent = dirname(path);
    if (!existsSync(parent)) makeFolder(parent);
    try {
        mkdirSync(path, { mode: 0o700 });
    } catch (error) {
        // It was there, or another start has just made it.
        if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
    }
}

function orFault(fault: string, act: () => void): void {
    try {
        act();
    } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        throw new ConfigFault([`DATA_DIR: ${fault} (${code}); for example DATA_DIR=.data`]);
    }
}
