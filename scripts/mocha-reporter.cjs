const { writeFileSync } = require('node:fs');
const { join, relative, sep } = require('node:path');
const { reporters } = require('mocha');
const { rowsOf } = require('../bench/long-runs.ts');

const ROOT = join(__dirname, '..');
const LONG = join(ROOT, 'test/long/');
const REAL = join(ROOT, 'test/real/');

/** How long a run waits at its end for resources that a test left open, in milliseconds. */
const PATIENCE = 10_000;

/**
 * Mocha's `spec` reporter. It also writes for scripts/test.mjs how many tests passed, failed and were skipped, which files have failed
 * tests, how long each file took, and the results of the long runs.
 */
module.exports = class extends reporters.Spec {
    constructor(runner, options) {
        super(runner, options);
        const long = watchLongRuns(runner);
        const files = countByFile(runner);
        runner.once('end', () => {
            const { passes, failures, pending } = this.stats;
            const write = (failed) =>
                writeFileSync(
                    process.env.TEST_COUNTS_FILE,
                    JSON.stringify({
                        passed: passes,
                        failed,
                        skipped: pending,
                        files: failedOf(files),
                        times: timesOf(files),
                        long: longRunsOf(long),
                    }),
                );
            write(failures);
            setTimeout(() => {
                console.error(`The tests have ended, but resources are still open: ${process.getActiveResourcesInfo().join(', ')}`);
                write(failures + 1);
                process.exit();
            }, PATIENCE).unref();
        });
    }
};

/** Counts the passed, failed and skipped tests of each file, and the time of its tests and hooks. A failed hook counts as a failed test. */
function countByFile(runner) {
    const files = new Map();
    const add = (what, amount) => (test) => {
        const file = test.file ?? test.parent?.file;
        if (file === undefined) return;
        const counts = files.get(file) ?? { passed: 0, failed: 0, skipped: 0, ms: 0 };
        counts[what] += amount(test);
        files.set(file, counts);
    };
    const one = () => 1;
    const duration = (test) => test.duration ?? 0;
    runner.on('pass', add('passed', one));
    runner.on('fail', add('failed', one));
    runner.on('pending', add('skipped', one));
    runner.on('test end', add('ms', duration));
    runner.on('hook end', add('ms', duration));
    return files;
}

function timesOf(files) {
    return [...files].map(([file, { ms }]) => ({ file: relative(ROOT, file), ms }));
}

/** The files with failed tests. */
function failedOf(files) {
    return [...files].filter(([, { failed }]) => failed > 0).map(([file, counts]) => ({ file: relative(ROOT, file), ...counts }));
}

/** Whether the result of a test is kept: all of test/long, and in test/real those that show a goal. */
function isKept(test) {
    return test.file?.startsWith(LONG) || (test.file?.startsWith(REAL) && rowsOf(test.title).length > 0);
}

/** Whether each ended test of the long runs passed. */
function watchLongRuns(runner) {
    const long = new Map();
    runner.on('pass', (test) => {
        if (isKept(test)) long.set(test, true);
    });
    runner.on('fail', (test, error) => {
        if (!isKept(test)) return;
        // Mocha prints errors at the end, and the other tests take minutes.
        console.error(error.message);
        if (test.type !== 'hook') return long.set(test, false);
        // A failed hook fails its test, and all tests that it kept from running.
        const { currentTest } = test.ctx ?? {};
        if (currentTest !== undefined) long.set(currentTest, false);
        test.parent.eachTest((other) => {
            if (!long.has(other)) long.set(other, false);
        });
    });
    return long;
}

/** A long run is a test, or a suite whose title names goals, with all of its tests. */
function longRunsOf(tests) {
    const runs = Map.groupBy(tests.keys(), runOf);
    return [...runs].map(([run, members]) => ({
        file: relative(ROOT, members[0].file).split(sep).join('/'),
        title: run.fullTitle(),
        holds: members.every((test) => tests.get(test)),
        ms: members.reduce((sum, { duration = 0 }) => sum + duration, 0),
    }));
}

function runOf(test) {
    for (let suite = test.parent; suite !== undefined; suite = suite.parent) {
        if (rowsOf(suite.title).length > 0) return suite;
    }
    return test;
}
