/** Runs a command to its end. A failure prints one line per fault to stderr, no stack trace, and sets exit code 1. */
export async function runToEnd(command: () => Promise<void>): Promise<void> {
    try {
        await command();
    } catch (error) {
        const lines = error instanceof Error && 'lines' in error && Array.isArray(error.lines) ? error.lines : [String(error)];
        for (const line of lines) process.stderr.write(`routebook: ${line}\n`);
        process.exitCode = 1;
    }
}
