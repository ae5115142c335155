const { writeFileSync } = require('node:fs');
const { join, relative, sep } = require('node:path');
const { reporters } = require('mocha');
const { rowsOf } = require('../bench/long-runs.ts');

const ROOT = join(__dirname, '..');
const LONG = join(ROOT, 'test/long/');
const REAL = join(ROOT, 'test/real/');

/** A test that leaves something open would keep the run from ending for ever; this is how long it is waited for, in milliseconds. */
const PATIENCE = 10_000;

/**
 * Mocha's own `spec` reporter, which also tells scripts/test.mjs how many tests passed, failed and were skipped, in which files some
 * failed, how long each file took, and how each long run ended.
 */
module.exports = class extends reporters.Spec {
    constructor(runner, options) {
        super(runner, options);
        const long = watchLongRuns(runner);
        const files = countByFile(runner);
        runner.once('end', () => {
            const { passes, failures, pending } = this.stats;
            const tell = (failed) =>
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
            tell(failures);
            setTimeout(() => {
                console.error(`The tests are over, but something was left open: ${process.getActiveResourcesInfo().join(', ')}`);
                tell(failures + 1);
                process.exit();
            }, PATIENCE).unref();
        });
    }
};

/** How many tests of each file passed, failed and were skipped, and how long its tests and hooks took; a failed hook counts as one. */
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

/** Whether what a test showed is kept: all of test/long, and what shows a row of the goals in test/real. */
function isKept(test) {
    return test.file?.startsWith(LONG) || (test.file?.startsWith(REAL) && rowsOf(test.title).length > 0);
}

/** The long runs that ended, with whether they hold. */
function watchLongRuns(runner) {
    const long = new Map();
    runner.on('pass', (test) => {
        if (isKept(test)) long.set(test, true);
    });
    runner.on('fail', (test, error) => {
        if (!isKept(test)) return;
        // The others take minutes: anyone who waits wants to know now.
        console.error(error.message);
        if (test.type !== 'hook') return long.set(test, false);
        // What runs before or after a test belongs to it: the one that it ran for does not hold, and those that it kept from running.
        const { currentTest } = test.ctx ?? {};
        if (currentTest !== undefined) long.set(currentTest, false);
        test.parent.eachTest((other) => {
            if (!long.has(other)) long.set(other, false);
        });
    });
    return long;
}

/** A test is a long run, or a suite with all of its tests, where its own title names rows of the goals. */
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
