import { existsSync, mkdirSync, mkdtempSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Config } from '../shared/platform/config.ts';
import { ConfigFault } from '../shared/platform/settings-reader.ts';

/**
 * Creates DATA_DIR if it is missing, and checks that it can be written. It holds the embedded PostgreSQL, the key ring, and the demo's key.
 * @throws ConfigFault if it is not a folder and cannot be created, or cannot be written
 */
export function makeDataDir({
    dataDir,
    databaseUrl,
    demo,
    secretKeys,
}: Pick<Config, 'dataDir' | 'databaseUrl' | 'demo' | 'secretKeys'>): void {
    orFault(`${dataDir} is not a folder and cannot be created`, () => makeFolder(resolve(dataDir)));
    if (databaseUrl !== undefined && !demo && secretKeys.length > 0) return;
    // Writes a test folder, since modes do not restrict root, and do not show read-only file systems and full disks.
    orFault(`${dataDir} cannot be written`, () => rmdirSync(mkdtempSync(join(dataDir, '.writable-'))));
}

/** Creates a folder and its parents. The option `recursive` of mkdirSync never returns below /proc and similar file systems (Node 26). */
function makeFolder(path: string): void {
    const parent = dirname(path);
    if (!existsSync(parent)) makeFolder(parent);
    try {
        mkdirSync(path, { mode: 0o700 });
    } catch (error) {
        // It existed, or another process has just created it.
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
