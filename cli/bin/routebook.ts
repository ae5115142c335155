import { runCommandLine } from '../run-command-line.ts';
import { readSettings } from '../settings.ts';
import { createTerminal } from '../terminal.ts';

/** The exit code of a program that SIGPIPE ends, which Node ignores: 128 and the number of the signal. */
const ENDED_BY_SIGPIPE = 141;

// A reader such as `head` may close its end early. The output is incomplete then, so 0 would be wrong. A disk may be full, too.
for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'EPIPE') process.exit(ENDED_BY_SIGPIPE);
        if (stream === process.stdout) process.stderr.write(`The output cannot be written (${error.code}).\n`);
        process.exit(1);
    });
}

const settings = readSettings();
process.exitCode = await runCommandLine(process.argv.slice(2), createTerminal(settings), settings);
