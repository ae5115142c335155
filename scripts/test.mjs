// Runs the tests against a PostgreSQL and a Redis that it starts and removes. Usage: npm test [-- <options of mocha>]
// The last line of the output is `N passed, N failed`, and `, N skipped` if there are any. One option selects other specs:
//   --slow    the files of test/slow-specs.txt
//   --real    tests against real applications (test/real)
//   --long    the long runs (test/long)
//   --debian  the specs of a fetch, on Debian's PostgreSQL
// After --long and --real a line for each goal and `n of n hold` follow, and the results are written to bench/RESULTS.md.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { availableParallelism, freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { formatRows, keepLongRuns } from '../bench/long-runs.ts';
import { render } from '../bench/render.ts';
import { readSoak } from '../bench/soak/results.ts';
import { spawnKept } from '../shared/platform/embedded-postgres/kept-process.ts';
import { freePort } from '../test/support/free-port.ts';
import { findProgram, has, isCi, noteMissing, packagesOf } from '../test/support/system-programs.ts';
import { removeAbandonedServers, startTemporaryDebianPostgres, startTemporaryPostgres } from '../test/support/temporary-postgres.ts';

/** Maximum memory of a run, in bytes. */
const MAX_MEMORY = 8e9;
const MEMORY = '/dev/shm';
/** Prefix of a run's folder. The id of its process follows. */
const PREFIX = 'routebook-run-';
const MODES = ['--long', '--slow', '--real', '--debian'];

const args = process.argv.slice(2);
const [isLong, isSlow, isReal, isOnDebian] = MODES.map((mode) => args.includes(mode));
const mochaArgs = args.filter((arg) => !MODES.includes(arg));

const root = fileURLToPath(new URL('..', import.meta.url));
// A run creates hundreds of databases and folders. In memory it takes half as long as on a disk.
for (const place of [MEMORY, tmpdir()]) removeAbandoned(place);
const inMemory = createMemoryFolder(MEMORY);
if (inMemory !== undefined) process.env.TMPDIR = inMemory;
// Programs that tests start share compiled code, instead of stripping types again.
process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules/.cache/compiled');
const folder = inMemory ?? mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
const opened = [];
const missingFile = join(folder, 'missing.txt');
process.env.TEST_MISSING_FILE = missingFile;
/** Files that run alone, because they need the whole machine, or the folder that all browsers use. All other files run in parallel. */
const ALONE = [
    'test/faults/outages.spec.ts',
    'test/faults/many-fetches.spec.ts',
    'test/api/publishing-during-fetches.spec.ts',
    'test/cli/inspect-record.spec.ts',
    'test/hostile/crowds.spec.ts',
];
/** Files that `npm test` leaves to `npm run test:slow`. */
const SLOW = readFileSync(join(root, 'test/slow-specs.txt'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
/** Files of `npm run test:real`. */
const REAL = ['test/real/**/*.spec.ts', 'test/cli/inspect-recordings.spec.ts'];
/** Options of mocha that select tests by their titles. */
const FILTER = /^(-g|-f|--grep|--fgrep)(=|$)/;
/** Maximum number of files with failed tests that run again. If more fail, load is not the cause. */
const MAX_REPEATED = 10;
/** How many of the slowest files are listed at the end. */
const SLOWEST = 20;
/** Time limit of one test of the long runs, in milliseconds. */
const LONG_TIMEOUT = 1_800_000;
/** Files of `--debian`, where PostgreSQL has JIT and a UTF-8 locale: the specs of everything that writes rows of a fetch. */
const ON_DEBIAN = [
    'test/store/**/*.spec.ts',
    'test/queue/**/*.spec.ts',
    'test/limits/**/*.spec.ts',
    'test/circuit/**/*.spec.ts',
    'test/api/fetch*.spec.ts',
    'test/api/catalog.spec.ts',
    'test/api/catalog-answers.spec.ts',
    'test/api/catalog-limits.spec.ts',
    'test/api/search.spec.ts',
    'test/api/search-pages.spec.ts',
];
let mocha;
let isInterrupted = false;

// A terminal sends Ctrl-C to mocha, too. A signal to this process alone is passed on.
for (const signal of ['SIGINT', 'SIGTERM']) {
    process.on(signal, () => {
        isInterrupted = true;
        mocha?.kill(signal);
    });
}

const counts = { passed: 0, failed: 0, skipped: 0, files: [], times: [], long: [] };
let exitCode = 1;
try {
    exitCode = await run();
} catch (error) {
    console.error(error instanceof Error ? error.message : error);
    counts.failed += 1;
} finally {
    for (const stop of opened.reverse()) await stop();
}
const missing = readMissing();
// A killed browser may still be writing.
rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
reportMissing(missing);
reportSlowest(counts.times);
console.log(`${counts.passed} passed, ${counts.failed} failed${counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''}`);
if (isLong || isReal) reportLongRuns(counts.long);
process.exit(exitCode === 0 && counts.failed > 0 ? 1 : exitCode);

async function run() {
    const runs = mochaRuns();
    const redisUrl = await openRedis();
    const postgres = isOnDebian ? await startTemporaryDebianPostgres() : await startTemporaryPostgres();
    opened.push(postgres.stop);
    if (isInterrupted) return 1;
    const environment = { ...process.env, TEST_DATABASE_URL: postgres.url, NODE_ENV: 'test' };
    for (const name of ['DATABASE_URL', 'REDIS_URL', 'TEST_REDIS_URL']) delete environment[name];
    if (redisUrl !== undefined) environment.TEST_REDIS_URL = redisUrl;
    // Specs that otherwise test a sample of their cases test all of them.
    if (isLong) environment.TEST_WHOLE = '1';
    const codes = [];
    for (const options of runs) {
        if (!isInterrupted) codes.push(await runMocha(options, environment));
    }
    if (isInterrupted) return 1;
    const isOnce = isLong || namedFiles().length > 0 || isFiltered();
    const isKnown = counts.failed > 0 && counts.failed === counts.files.reduce((sum, { failed }) => sum + failed, 0);
    if (!isOnce && isKnown && counts.files.length <= MAX_REPEATED) return await runAgain(environment);
    return codes.find((code) => code !== 0) ?? 0;
}

/** Runs the files with failed tests once more, alone, and names those that then pass (decision 27). The second run counts. */
async function runAgain(environment) {
    const files = counts.files.splice(0);
    for (const { passed, failed, skipped } of files) {
        counts.passed -= passed;
        counts.failed -= failed;
        counts.skipped -= skipped;
    }
    console.log(`Running again, alone: ${files.map(({ file }) => file).join(' ')}\n`);
    const code = await runMocha(
        files.map(({ file }) => file),
        environment,
    );
    const failing = new Set(counts.files.map(({ file }) => file));
    const held = files.filter(({ file }) => !failing.has(file));
    if (held.length > 0) console.log(`Failed in parallel, passed alone: ${held.map(({ file }) => file).join(' ')}`);
    return isInterrupted ? 1 : code;
}

/** Runs mocha once, and adds what it counted. */
async function runMocha(options, environment) {
    const countsFile = join(folder, 'counts.json');
    const own = ['--reporter', join(root, 'scripts/mocha-reporter.cjs')];
    mocha = spawn(process.execPath, [join(root, 'node_modules/mocha/bin/mocha.js'), ...own, ...options], {
        cwd: root,
        env: { ...environment, TEST_COUNTS_FILE: countsFile },
        stdio: 'inherit',
    });
    const [code, signal] = await once(mocha, 'exit');
    // A run without counts, such as a crashed one, counts as one failed test.
    const { passed, failed, skipped, files, times, long } = readCounts(countsFile) ?? {
        passed: 0,
        failed: 1,
        skipped: 0,
        files: [],
        times: [],
        long: [],
    };
    counts.passed += passed;
    counts.failed += failed;
    counts.skipped += skipped;
    counts.files.push(...files);
    counts.times.push(...times);
    counts.long.push(...long);
    return signal === null ? code : 1;
}

/** Lists the slowest files with the time of their tests and hooks, if many files ran. */
function reportSlowest(times) {
    if (times.length <= SLOWEST) return;
    const total = times.reduce((sum, { ms }) => sum + ms, 0);
    console.log(`${times.length} files took ${seconds(total)} in total; the slowest:`);
    for (const { file, ms } of times.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST)) console.log(`${seconds(ms).padStart(8)}  ${file}`);
}

function seconds(ms) {
    return `${(ms / 1000).toFixed(1)} s`;
}

/** Prints a line for each goal. Writes the results, unless only some of the tests ran. */
function reportLongRuns(long) {
    if (long.length === 0) return;
    for (const line of formatRows(long)) console.log(line);
    if (isInterrupted || isFiltered()) return;
    const bench = (name) => join(root, 'bench', name);
    const results = JSON.parse(readFileSync(bench('results.json'), 'utf8'));
    writeFileSync(bench('RESULTS.md'), render(results, keepLongRuns(long), readSoak()));
}

/** Mocha's options for each of its runs. */
function mochaRuns() {
    const limits = isLong ? ['--timeout', String(LONG_TIMEOUT)] : [];
    if (namedFiles().length > 0) return [[...limits, ...mochaArgs.map(specsOf)]];
    if (isLong) return [[...limits, ...mochaArgs, 'test/long/**/*.spec.ts']];
    // With more files than cores, many tests exceed their time.
    const inParallel = ['--parallel', '--jobs', String(availableParallelism())];
    if (isOnDebian) return [[...inParallel, ...mochaArgs, ...ON_DEBIAN]];
    if (isReal) return [[...mochaArgs, ...REAL]];
    if (isSlow) {
        const unknown = SLOW.find((file) => !existsSync(join(root, file)));
        if (unknown !== undefined) throw new Error(`${unknown} in test/slow-specs.txt does not exist.`);
        return [
            [...inParallel, ...mochaArgs, ...SLOW.filter((file) => !ALONE.includes(file))],
            [...mochaArgs, ...SLOW.filter((file) => ALONE.includes(file))],
        ];
    }
    const ignored = ['test/long/**', ...REAL, ...ALONE, ...SLOW].flatMap((file) => ['--ignore', file]);
    return [
        [...inParallel, ...ignored, ...mochaArgs, 'test/**/*.spec.ts'],
        [...mochaArgs, ...ALONE.filter((file) => !SLOW.includes(file))],
    ];
}

function isFiltered() {
    return mochaArgs.some((arg) => FILTER.test(arg));
}

/** The named specs and folders. Other arguments are values of the options before them. @throws Error if a name does not exist */
function namedFiles() {
    const isFile = (arg) =>
        arg.includes('*') || (arg.includes('/') && (arg.endsWith('.spec.ts') || isFolder(arg)) && existsSync(join(root, arg)));
    const isValue = (place) => /^--?[a-z-]+$/.test(mochaArgs[place - 1] ?? '');
    const unknown = mochaArgs.find((arg, place) => !arg.startsWith('-') && !isFile(arg) && !isValue(place));
    if (unknown !== undefined) throw new Error(`${unknown} is not a spec or folder. Name one, such as test/api/fetch.spec.ts.`);
    return mochaArgs.filter(isFile);
}

/** All specs of a folder. */
function specsOf(name) {
    return isFolder(name) ? join(name, '**/*.spec.ts') : name;
}

function isFolder(name) {
    return statSync(join(root, name), { throwIfNoEntry: false })?.isDirectory() === true;
}

/** The URL of the server that REDIS_URL names, or of a started one; undefined if Redis is not installed. */
async function openRedis() {
    if (process.env.REDIS_URL) return process.env.REDIS_URL;
    if (has('redis')) return await startRedis(findProgram('redis-server'));
    if (isCi())
        throw new Error(`redis-server is missing here (Debian: apt-get install ${packagesOf(['redis'])}), and REDIS_URL is not set`);
    noteMissing('redis');
    return undefined;
}

async function startRedis(program) {
    for (let attempt = 0; attempt < 5; attempt++) {
        const port = await freePort();
        const options = { bind: '127.0.0.1', port, save: '', appendonly: 'no', dir: folder, loglevel: 'warning' };
        const redisArgs = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
        const redis = spawnKept(program, redisArgs, { output: 'ignore' });
        const gone = once(redis, 'exit');
        while (redis.exitCode === null) {
            if (await answers(port)) {
                opened.push(async () => {
                    redis.ref();
                    redis.stdin.end();
                    await gone;
                });
                return `redis://127.0.0.1:${port}`;
            }
            await sleep(10);
        }
    }
    throw new Error('redis-server does not start');
}

async function answers(port) {
    const socket = connect(port, '127.0.0.1');
    try {
        await once(socket, 'connect');
        return true;
    } catch {
        return false;
    } finally {
        socket.destroy();
    }
}

/** The missing programs that made tests skip. */
function readMissing() {
    return existsSync(missingFile) ? [...new Set(readFileSync(missingFile, 'utf8').trim().split('\n'))].toSorted() : [];
}

function reportMissing(names) {
    if (names.length === 0) return;
    console.log(`Some tests were skipped, since this machine lacks: ${names.join(', ')}`);
    const packages = packagesOf(names);
    if (packages !== '') console.log(`Debian: apt-get install --no-install-recommends ${packages}`);
}

/** Creates this run's folder in memory; undefined if there is too little memory, or programs cannot be started from there. */
function createMemoryFolder(place) {
    try {
        const { bavail, bsize } = statfsSync(place);
        if (Math.min(bavail * bsize, freemem()) < MAX_MEMORY) return undefined;
        const made = mkdtempSync(join(place, `${PREFIX}${process.pid}-`));
        // Some servers run as another user.
        chmodSync(made, 0o755);
        const program = join(made, 'program');
        writeFileSync(program, '#!/bin/sh\nexit 7\n', { mode: 0o755 });
        const { status } = spawnSync(program);
        rmSync(status === 7 ? program : made, { recursive: true });
        return status === 7 ? made : undefined;
    } catch {
        return undefined;
    }
}

/** Removes the folders of killed runs, whose processes no longer exist. */
function removeAbandoned(place) {
    for (const name of namesIn(place)) {
        const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
        if (pid === undefined || isRunning(Number(pid))) continue;
        try {
            removeAbandonedServers(join(place, name));
            rmSync(join(place, name), { recursive: true, force: true });
        } catch {
            // Another run removes it too, or it is another user's.
        }
    }
}

function namesIn(place) {
    try {
        return readdirSync(place);
    } catch {
        return [];
    }
}

function isRunning(pid) {
    try {
        process.kill(pid, 0);
        return true;
    } catch (error) {
        return error.code === 'EPERM';
    }
}

function readCounts(file) {
    try {
        const read = JSON.parse(readFileSync(file, 'utf8'));
        rmSync(file);
        return read;
    } catch {
        return undefined;
    }
}
