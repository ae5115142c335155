import { runAdmin } from './admin/run-admin.ts';

// A reader such as `head` may close stdout early. The command still ends with its own exit code.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
});

process.exitCode = await runAdmin(process.argv.slice(2), {
    print: (line) => process.stdout.write(`${line}\n`),
    tableWidth: process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY,
    printError: (line) => process.stderr.write(`${line}\n`),
});
