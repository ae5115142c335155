import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** CPU that the main thread of a process used, turn by turn of its event loop. */
export interface Turns {
    turns: number;
    mostMs: number;
    /** Turns that took more than 25 ms. */
    slow: number;
    tookMs: number;
    /** The longest ones, in milliseconds. */
    worst: number[];
}

/** An API in a process of its own, whose turns can be measured. */
export interface MeasuredApi {
    readonly base: string;
    readonly pid: number;
    /** Milliseconds of CPU of the turns that went by while `work` ran. */
    during<Result>(work: () => Promise<Result>): Promise<{ turns: Turns; result: Result }>;
    stop(): Promise<void>;
}

/** Starts `bin/api.ts` with these settings, and waits until it is ready. */
export async function startMeasuredApi(settings: Record<string, string>): Promise<MeasuredApi> {
    const child: ChildProcess = spawn(process.execPath, ['--import', './test/support/turn-meter.ts', 'bin/api.ts'], {
        cwd: ROOT,
        env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', HOST: '127.0.0.1', PORT: '0', ...settings },
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    let output = '';
    const base = await new Promise<string>((resolve, reject) => {
        for (const stream of [child.stdout, child.stderr]) {
            stream?.setEncoding('utf8').on('data', (text: string) => {
                output += text;
                const port = /routebook ready on http:\/\/localhost:(\d+)/.exec(output)?.[1];
                if (port !== undefined) resolve(`http://127.0.0.1:${port}`);
            });
        }
        child.once('exit', (code) => reject(new Error(`the API ended with ${code}: ${output}`)));
    });
    const exited = once(child, 'exit');
    return {
        base,
        pid: child.pid ?? 0,
        async during(work) {
            child.send('measure');
            const result = await work();
            const measured = once(child, 'message');
            child.send('measured');
            const [turns] = (await measured) as [Turns];
            return { turns, result };
        },
        async stop() {
            child.kill('SIGTERM');
            await exited;
        },
    };
}
