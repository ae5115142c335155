import { runCommandLine } from '../run-command-line.ts';
import { readSettings } from '../settings.ts';
import { openTerminal } from '../terminal.ts';

// The reader of our output may close it early, as `head` does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(0);
});

const settings = readSettings();
process.exitCode = await runCommandLine(process.argv.slice(2), openTerminal(settings), settings);
