// Compiles the command line and the client into dist/, as they are published: Node does not read TypeScript below node_modules.
// Only what an entry point reaches is kept, so that nothing of the server travels along. Run by `npm pack` and `npm publish`.
// With `--client` the client alone, into clients/javascript/dist/: it imports no package.

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('..', import.meta.url));
const isClient = process.argv.includes('--client');
const dist = isClient ? join(folder, '../clients/javascript/dist') : join(folder, 'dist');
const own = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/** Specifiers of an emitted file, of imports, of `import()` and of the files that threads run. */
const SPECIFIER =
    /^(?:import|export)\b[^;'"`]*?\bfrom\s*['"]([^'"]+)['"]|^import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]|\bnew URL\(\s*['"](\.[^'"]+)['"]/gm;

rmSync(dist, { recursive: true, force: true });
compile();
// shared/platform/version.ts looks here for the version.
writeFileSync(join(dist, 'package.json'), `${JSON.stringify({ type: 'module', version: own.version })}\n`);
const kept = [
    ...(isClient
        ? keepReached(['cli/client/index.js'], finishCode, [own.name])
        : keepReached(['cli/bin/routebook.js', 'cli/client/index.js'], finishCode, [
              ...Object.keys({ ...own.dependencies, ...own.optionalDependencies }),
              own.name,
          ])),
    ...keepReached(['cli/client/index.d.ts'], finishTypes, [own.name]),
];
removeAllBut(new Set(kept));
console.error(`build: ${kept.length} files`);

/** `npm start` installs no packages for developers, and the compiler is one. */
function compiler() {
    const { resolve: find } = createRequire(import.meta.url);
    try {
        return find('typescript/package.json');
    } catch {
        const { status } = spawnSync(process.execPath, [join(folder, '../scripts/setup.mjs')], { stdio: ['ignore', 2, 2] });
        if (status !== 0) throw new Error('the compiler could not be installed');
        return find('typescript/package.json');
    }
}

function compile() {
    const tsc = join(dirname(compiler()), 'bin/tsc');
    const { status } = spawnSync(process.execPath, [tsc, '-p', join(folder, 'tsconfig.build.json'), '--outDir', dist], {
        stdio: ['ignore', 2, 2],
    });
    if (status !== 0) throw new Error('the sources do not compile');
}

/** Finishes each emitted file that is reached from the entries, and refuses imports of packages that are not ours to import. */
function keepReached(entries, finish, packages) {
    const reached = new Set();
    const waiting = [...entries];
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
        if (reached.has(path)) continue;
        reached.add(path);
        if (path.endsWith('.json')) continue;
        const file = join(dist, path);
        const text = finish(readFileSync(file, 'utf8'), path);
        writeFileSync(file, text);
        for (const [, ...found] of text.matchAll(SPECIFIER)) {
            const specifier = found.find((one) => one !== undefined);
            if (specifier.startsWith('.')) waiting.push(emittedAt(path, specifier));
            else if (!isKnown(specifier, packages)) throw new Error(`${path} imports ${specifier}, which cli/package.json does not name`);
        }
    }
    return reached;
}

function emittedAt(from, specifier) {
    const path = relative(dist, resolve(dist, dirname(from), specifier));
    const types = path.replace(/\.js$/, '.d.ts');
    return from.endsWith('.d.ts') && existsSync(join(dist, types)) ? types : path;
}

function isKnown(specifier, packages) {
    return (
        packages.length > 0 &&
        (specifier.startsWith('node:') || packages.some((name) => specifier === name || specifier.startsWith(`${name}/`)))
    );
}

/** Renames `.ts` to `.js` in `new URL('…')` of thread files. The compiler renames only imports. */
function finishCode(text) {
    return text.replaceAll(/(\bnew URL\(\s*'\.[^']+)\.ts'/g, "$1.js'");
}

/** Declarations name files as their sources do. Of the wire only its interfaces are kept: what validates it is the server's. */
function finishTypes(text, path) {
    const named = text.replaceAll(/(['"]\.[^'"]+)\.ts(['"])/g, '$1.js$2');
    return path.startsWith('shared/contracts/') ? withoutValues(named) : named;
}

function withoutValues(text) {
    const kept = [];
    let depth = 0;
    let isDropping = false;
    for (const line of text.split('\n')) {
        if (depth === 0) isDropping = /^(export )?declare (const|function|class)\b|^import \S+ from 'joi'/.test(line);
        for (const char of line) depth += '{(['.includes(char) ? 1 : '})]'.includes(char) ? -1 : 0;
        if (!isDropping) kept.push(line);
        if (depth === 0 && isDropping && line.endsWith(';')) isDropping = false;
    }
    return kept.join('\n');
}

function removeAllBut(kept) {
    for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
        const file = join(entry.parentPath, entry.name);
        if (entry.isFile() && !kept.has(relative(dist, file))) rmSync(file);
    }
}
