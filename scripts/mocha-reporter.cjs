const { writeFileSync } = require('node:fs');
const { reporters } = require('mocha');

/** A test that leaves something open would keep the run from ending for ever; this is how long it is waited for, in milliseconds. */
const PATIENCE = 10_000;

/** Mocha's own `spec` reporter, which also tells scripts/test.mjs how many tests passed, failed and were skipped. */
module.exports = class extends reporters.Spec {
    constructor(runner, options) {
        super(runner, options);
        runner.once('end', () => {
            const { passes, failures, pending } = this.stats;
            const tell = (failed) =>
                writeFileSync(process.env.TEST_COUNTS_FILE, JSON.stringify({ passed: passes, failed, skipped: pending }));
            tell(failures);
            setTimeout(() => {
                console.error(`The tests are over, but something was left open: ${process.getActiveResourcesInfo().join(', ')}`);
                tell(failures + 1);
                process.exit();
            }, PATIENCE).unref();
        });
    }
};
