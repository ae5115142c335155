// Runs the tests against a PostgreSQL and a Redis of their own, thrown away in the end. Usage: npm test [-- <options of mocha>]
// The last line of the output is `N passed, N failed`, with `, N skipped` where some were. With `--long` the long runs are run instead:
// below it stand a line for each row of the goals and `n of n hold`, and what they showed goes into bench/RESULTS.md. With `--slow` the
// files of test/slow-specs.txt are run, which are left out otherwise. With `--real` the tests against applications of other people are run
// (test/real), and what shows rows of the goals goes there too; with `--debian` the specs of a fetch on Debian's PostgreSQL.

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

/** Bytes that a run may take in memory. */
const ROOM = 8e9;
const MEMORY = '/dev/shm';
/** How its folder begins; the number of its process follows. */
const RUN = 'routebook-run-';

const root = fileURLToPath(new URL('..', import.meta.url));
// Hundreds of databases and folders are made and thrown away: in memory a whole run takes half of the time it takes on a disk.
for (const place of [MEMORY, tmpdir()]) removeAbandoned(place);
const inMemory = openInMemory(MEMORY);
if (inMemory !== undefined) process.env.TMPDIR = inMemory;
// Programs that tests start would strip their types again each time.
process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules/.cache/compiled');
const folder = inMemory ?? mkdtempSync(join(tmpdir(), `${RUN}${process.pid}-`));
const opened = [];
const missingFile = join(folder, 'missing.txt');
process.env.TEST_MISSING_FILE = missingFile;
/**
 * What wants the machine alone: promises of times while parts are taken away, where two APIs, two workers, their stores and a load take
 * it already, a thousand calls at once in one process, crowds beside a good caller, and a look at what a browser leaves in the folder that
 * all browsers use. All other files run side by side.
 */
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
/** Applications that nobody here wrote, in front of the product: `npm run test:real`. */
const REAL = ['test/real/**/*.spec.ts', 'test/cli/inspect-recordings.spec.ts'];
/** Options of mocha that choose tests by their titles. */
const FILTER = /^(-g|-f|--grep|--fgrep)(=|$)/;
/** With more files than that something is broken, and not late: none of them is run again. */
const MAX_AGAIN = 10;
/** How many of the slowest files are named in the end. */
const SLOWEST = 20;
/** Longest time for one test of the long runs, in milliseconds. */
const MAX_LENGTH = 1_800_000;
/** On PostgreSQL as Debian ships it, JIT and a UTF-8 locale included: without files the specs of what moves rows of a fetch. */
const isOnDebian = process.argv.includes('--debian');
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

// A terminal sends Ctrl-C to mocha as well: it ends, and we with it. A signal sent to this process alone is passed on.
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
// A browser that was killed may still be writing.
rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
tellMissing(missing);
tellSlowest(counts.times);
console.log(`${counts.passed} passed, ${counts.failed} failed${counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''}`);
if (process.argv.includes('--long') || process.argv.includes('--real')) tellLongRuns(counts.long);
process.exit(exitCode === 0 && counts.failed > 0 ? 1 : exitCode);

async function run() {
    const chosenParts = parts();
    const redisUrl = await openRedis();
    const postgres = isOnDebian ? await startTemporaryDebianPostgres() : await startTemporaryPostgres();
    opened.push(postgres.stop);
    if (isInterrupted) return 1;
    const environment = { ...process.env, TEST_DATABASE_URL: postgres.url, NODE_ENV: 'test' };
    for (const name of ['DATABASE_URL', 'REDIS_URL', 'TEST_REDIS_URL']) delete environment[name];
    if (redisUrl !== undefined) environment.TEST_REDIS_URL = redisUrl;
    // Specs that take a sample of their cases take all of them.
    if (process.argv.includes('--long')) environment.TEST_WHOLE = '1';
    const codes = [];
    for (const part of chosenParts) {
        if (!isInterrupted) codes.push(await runMocha(part, environment));
    }
    if (isInterrupted) return 1;
    const given = process.argv.slice(2);
    const isOnce = given.includes('--long') || chosenFiles(mochaWords()).length > 0 || given.some((argument) => FILTER.test(argument));
    const isKnown = counts.failed > 0 && counts.failed === counts.files.reduce((sum, { failed }) => sum + failed, 0);
    if (!isOnce && isKnown && counts.files.length <= MAX_AGAIN) return await runAgain(environment);
    return codes.find((code) => code !== 0) ?? 0;
}

/**
 * Runs files with failed tests once more, alone, and says so: what holds alone failed by what ran beside it (decision 27). The second try
 * counts.
 */
async function runAgain(environment) {
    const files = counts.files.splice(0);
    for (const { passed, failed, skipped } of files) {
        counts.passed -= passed;
        counts.failed -= failed;
        counts.skipped -= skipped;
    }
    console.log(`Once more, alone: ${files.map(({ file }) => file).join(' ')}\n`);
    const code = await runMocha(
        files.map(({ file }) => file),
        environment,
    );
    const failing = new Set(counts.files.map(({ file }) => file));
    const held = files.filter(({ file }) => !failing.has(file));
    if (held.length > 0) console.log(`Failed beside others, passed alone: ${held.map(({ file }) => file).join(' ')}`);
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
    // A run that ended without a word counts as a failed test.
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

/** Where the time of a run went: its slowest files, with what their hooks took. Nothing where few files were run. */
function tellSlowest(times) {
    if (times.length <= SLOWEST) return;
    const total = times.reduce((sum, { ms }) => sum + ms, 0);
    console.log(`${times.length} files took ${seconds(total)}, counted one after the other; the slowest:`);
    for (const { file, ms } of times.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST)) console.log(`${seconds(ms).padStart(8)}  ${file}`);
}

function seconds(ms) {
    return `${(ms / 1000).toFixed(1)} s`;
}

/** Kept is what specs showed that ran whole. */
function tellLongRuns(long) {
    if (long.length === 0) return;
    for (const line of formatRows(long)) console.log(line);
    const isPart = process.argv.some((argument) => FILTER.test(argument));
    if (isInterrupted || isPart) return;
    const bench = (name) => join(root, 'bench', name);
    const results = JSON.parse(readFileSync(bench('results.json'), 'utf8'));
    writeFileSync(bench('RESULTS.md'), render(results, keepLongRuns(long), readSoak()));
}

/**
 * Mocha's options for each of its runs: everything below test/ but the long runs and test/real, or with `--long` and `--real` nothing but
 * them, unless files are named.
 */
function parts() {
    const given = process.argv.slice(2);
    const rest = mochaWords();
    const isLong = given.includes('--long');
    const own = isLong ? ['--timeout', String(MAX_LENGTH)] : [];
    if (chosenFiles(rest).length > 0) return [[...own, ...rest.map(specsOf)]];
    if (isLong) return [[...own, ...rest, 'test/long/**/*.spec.ts']];
    // As many files as there are cores: they keep those busy, and one more made many tests late.
    const inParallel = ['--parallel', '--jobs', String(availableParallelism())];
    if (isOnDebian) return [[...inParallel, ...rest, ...ON_DEBIAN]];
    if (given.includes('--real')) return [[...rest, ...REAL]];
    if (given.includes('--slow')) {
        const unknown = SLOW.find((file) => !existsSync(join(root, file)));
        if (unknown !== undefined) throw new Error(`${unknown} in test/slow-specs.txt does not exist.`);
        return [
            [...inParallel, ...rest, ...SLOW.filter((file) => !ALONE.includes(file))],
            [...rest, ...SLOW.filter((file) => ALONE.includes(file))],
        ];
    }
    const leftOut = ['test/long/**', ...REAL, ...ALONE, ...SLOW].flatMap((file) => ['--ignore', file]);
    return [
        [...inParallel, ...leftOut, ...rest, 'test/**/*.spec.ts'],
        [...rest, ...ALONE.filter((file) => !SLOW.includes(file))],
    ];
}

/** The words of the command that are mocha's. */
function mochaWords() {
    return process.argv.slice(2).filter((argument) => !['--long', '--slow', '--real', '--debian'].includes(argument));
}

/**
 * The specs and folders that are named. Other words are values of the options before them.
 * @throws Error if something that does not exist is named
 */
function chosenFiles(words) {
    const isFile = (word) => word.includes('*') || (word.includes('/') && existsSync(join(root, word)));
    const unknown = words.find((word, place) => !word.startsWith('-') && !isFile(word) && !/^--?[a-z-]+$/.test(words[place - 1] ?? ''));
    if (unknown !== undefined) throw new Error(`${unknown} does not exist. Name a spec, such as test/api/fetch.spec.ts, or a folder.`);
    return words.filter(isFile);
}

/** All specs of a folder. */
function specsOf(name) {
    return existsSync(join(root, name)) && statSync(join(root, name)).isDirectory() ? `${join(name, '**/*.spec.ts')}` : name;
}

/** The server named by REDIS_URL, or one of our own; undefined where there is none to start. */
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
        const options = [
            '--bind',
            '127.0.0.1',
            '--port',
            port,
            '--save',
            '',
            '--appendonly',
            'no',
            '--dir',
            folder,
            '--loglevel',
            'warning',
        ];
        const redis = spawnKept(program, options.map(String), { output: 'ignore' });
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

/** The parts of the operating system for which tests were left out. */
function readMissing() {
    return existsSync(missingFile) ? [...new Set(readFileSync(missingFile, 'utf8').trim().split('\n'))].toSorted() : [];
}

function tellMissing(names) {
    if (names.length === 0) return;
    console.log(`Some tests were left out, since this machine lacks: ${names.join(', ')}`);
    const packages = packagesOf(names);
    if (packages !== '') console.log(`Debian: apt-get install --no-install-recommends ${packages}`);
}

/** A folder of this run in memory, with room for its files, from which programs can be started; undefined where that cannot be. */
function openInMemory(place) {
    try {
        const { bavail, bsize } = statfsSync(place);
        if (Math.min(bavail * bsize, freemem()) < ROOM) return undefined;
        const made = mkdtempSync(join(place, `${RUN}${process.pid}-`));
        // Some servers are run by another user.
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

/** Folders of runs that were killed: the process that each is named after is gone. */
function removeAbandoned(place) {
    for (const name of namesIn(place)) {
        const pid = new RegExp(`^${RUN}(\\d+)-`).exec(name)?.[1];
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
        const told = JSON.parse(readFileSync(file, 'utf8'));
        rmSync(file);
        return told;
    } catch {
        return undefined;
    }
}
