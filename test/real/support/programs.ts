import { existsSync } from 'node:fs';

/**
 * For servers that come from the operating system: skips where one is missing and says so aloud, but fails in CI, where everything has
 * to be there.
 * @param files what the package installs
 * @param packages what to install on Debian
 */
export function needPrograms(test: Mocha.Context, files: readonly string[], packages: string): void {
    const missing = files.filter((file) => !existsSync(file));
    if (missing.length === 0) return;
    const advice = `${missing.join(', ')} is missing: apt-get install --no-install-recommends ${packages}`;
    if (!['', '0', 'false', undefined].includes(process.env['CI'])) throw new Error(advice);
    console.error(`NOT tested, ${advice}`);
    test.skip();
}
