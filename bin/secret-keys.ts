import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newSecretKey, parseSecretKeys, type SecretKey } from '../shared/domain/accounts/key-ring.ts';
import { codeOfError } from '../shared/platform/error-code.ts';
import { ConfigFault } from '../shared/platform/settings-reader.ts';

/** The key ring of `npm start` without SECRET_KEYS. The first start creates it in DATA_DIR/secret-keys (mode 0600). */
export function keepSecretKeys(dataDir: string): readonly SecretKey[] {
    const file = fileOf(dataDir);
    if (!existsSync(file)) {
        const draft = `${file}.${process.pid}`;
        rmSync(draft, { force: true });
        writeFileSync(draft, `${newSecretKey('first')}\n`, { mode: 0o600, flag: 'wx' });
        try {
            // `link` fails if the file exists, so of two concurrent starts the second uses the ring of the first. A crash never leaves half
            // of a key.
            linkSync(draft, file);
        } catch (error) {
            if (codeOfError(error) !== 'EEXIST') throw error;
        } finally {
            rmSync(draft, { force: true });
        }
    }
    return readSecretKeys(dataDir);
}

/** Reads the same ring without creating it; empty if there is none. @throws ConfigFault if the file contains no key ring */
export function readSecretKeys(dataDir: string): readonly SecretKey[] {
    const file = fileOf(dataDir);
    if (!existsSync(file)) return [];
    const parsed = parseSecretKeys(readFileSync(file, 'utf8').trim());
    if (!parsed.ok) throw new ConfigFault([`${file}: ${parsed.problem}`]);
    return parsed.keys;
}

function fileOf(dataDir: string): string {
    return join(dataDir, 'secret-keys');
}
