const { writeFileSync } = require('node:fs');
const { join, relative, sep } = require('node:path');
const { reporters } = require('mocha');

const ROOT = join(__dirname, '..');
const LONG = join(ROOT, 'test/long/');

/** A test that leaves something open would keep the run from ending for ever; this is how long it is waited for, in milliseconds. */
const PATIENCE = 10_000;

/**
 * Mocha's own `spec` reporter, which also tells scripts/test.mjs how many tests passed, failed and were skipped, and names those that
 * `--retries` had to run again: each of them is worth a look. The long runs it tells one by one.
 */
module.exports = class extends reporters.Spec {
    constructor(runner, options) {
        super(runner, options);
        const again = new Map();
        runner.on('retry', (test, error) => again.set(test.fullTitle(), error.message));
        const long = watchLongRuns(runner);
        runner.once('end', () => {
            for (const [title, message] of again) console.error(`run again: ${title} (${message.split('\n')[0]})`);
            const { passes, failures, pending } = this.stats;
            const tell = (failed) =>
                writeFileSync(
                    process.env.TEST_COUNTS_FILE,
                    JSON.stringify({ passed: passes, failed, skipped: pending, long: [...long.values()] }),
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

/** How each test below test/long ended, by its test. */
function watchLongRuns(runner) {
    const long = new Map();
    const note = (test, holds) => {
        const file = relative(ROOT, test.file).split(sep).join('/');
        long.set(test, { file, title: test.fullTitle(), holds, ms: test.duration ?? 0 });
    };
    runner.on('pass', (test) => {
        if (test.file?.startsWith(LONG)) note(test, true);
    });
    runner.on('fail', (test, error) => {
        if (!test.file?.startsWith(LONG)) return;
        // The others take minutes: whoever waits wants to know now.
        console.error(error.message);
        if (test.type !== 'hook') return note(test, false);
        // What runs before or after a test belongs to it: the one that it ran for does not hold, and those that it kept from running.
        const { currentTest } = test.ctx ?? {};
        if (currentTest !== undefined) note(currentTest, false);
        test.parent.eachTest((other) => {
            if (!long.has(other)) note(other, false);
        });
    });
    return long;
}
