import { runCommandLine } from '../run-command-line.ts';
import { readSettings } from '../settings.ts';
import { openTerminal } from '../terminal.ts';

// A reader such as `head` may close stdout early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(0);
});

const settings = readSettings();
process.exitCode = await runCommandLine(process.argv.slice(2), openTerminal(settings), settings);
