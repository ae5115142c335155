// Runs the commands of routebook that it receives, in one process with the folder and the home of one person.

import { Readable } from 'node:stream';
import { runCommandLine } from '../../cli/run-command-line.ts';
import { readSettings } from '../../cli/settings.ts';
import { createTerminal } from '../../cli/terminal.ts';

interface Order {
    id: number;
    args: readonly string[];
    env: Record<string, string>;
}

process.on('message', async ({ id, args, env }: Order) => {
    const [stdout, stderr] = [new Collected(), new Collected()];
    const settings = readSettings(env);
    const code = await runCommandLine(args, createTerminal(settings, { stdin: Readable.from([]), stdout, stderr }), settings);
    process.send?.({ id, code, stdout: stdout.text, stderr: stderr.text });
});
process.on('disconnect', () => process.exit());

class Collected {
    text = '';

    write(part: string): void {
        this.text += part;
    }
}
