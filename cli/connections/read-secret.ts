import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { CommandFault } from '../failures.ts';
import type { Terminal } from '../terminal.ts';

/** Asks for a secret without echo, or reads it from a pipe. It is never an argument, since other programs can see arguments. */
export async function readSecret({ isInteractive, readAll, complain }: Terminal, label: string): Promise<string> {
    if (!isInteractive) return firstLine(await readAll());
    const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
    const asking = createInterface({ input: process.stdin, output: silent, terminal: true });
    // The prompt comes now, since the echo is already off.
    complain(`${label} (input is hidden):`);
    try {
        return firstLine(await asking.question(''));
    } finally {
        asking.close();
    }
}

function firstLine(text: string): string {
    const [line = ''] = text.split(/\r?\n/, 1);
    if (line === '') throw new CommandFault('NO_SECRET', 'No secret was given.', { exitCode: 2 });
    return line;
}
