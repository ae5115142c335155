import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The measured commit, and whether the product has uncommitted changes. */
export function commitNow(): string {
    const git = (...argv: string[]) =>
        execFileSync('git', argv, { cwd: fileURLToPath(new URL('..', import.meta.url)), encoding: 'utf8' }).trim();
    const isChanged = git('status', '--porcelain', '--untracked-files=no', '--', 'api', 'bin', 'migrations', 'shared', 'workers') !== '';
    return git('rev-parse', '--short=12', 'HEAD') + (isChanged ? ' and changes' : '');
}
