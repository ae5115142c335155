import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ownEnvironment } from './own-environment.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** CPU milliseconds of the main thread of a process, per turn of its event loop. */
export interface Turns {
    turns: number;
    maxMs: number;
    /** Duration of the known work before or after; 25 ms on a quiet machine. */
    knownMs: number;
    /** Characters of JSON that the busiest turn read and wrote. */
    maxCharacters: number;
    /** Turns that took more than 25 ms. */
    slow: number;
    tookMs: number;
    /** The longest turns, in milliseconds. */
    worst: number[];
}

/** A separate process with measurable turns. */
export interface Measured {
    readonly pid: number;
    /** Measures the turns while `work` runs, in CPU milliseconds. */
    during<Result>(work: () => Promise<Result>): Promise<{ turns: Turns; result: Result }>;
    stop(): Promise<void>;
}

export interface MeasuredApi extends Measured {
    readonly base: string;
}

/** Starts `bin/api.ts` with these settings, and waits until it is ready. */
export async function startMeasuredApi(settings: Record<string, string>): Promise<MeasuredApi> {
    const api = start('api', settings);
    return { ...api, base: `http://127.0.0.1:${await api.said(/routebook ready on http:\/\/localhost:(\d+)/)}` };
}

/** Starts `bin/worker.ts` with these settings. It is ready when the first job has ended. */
export function startMeasuredWorker(settings: Record<string, string>): Measured {
    return start('worker', settings);
}

function start(name: 'api' | 'worker', settings: Record<string, string>) {
    const child: ChildProcess = spawn(process.execPath, ['--import', './test/support/turn-meter.ts', `bin/${name}.ts`], {
        cwd: ROOT,
        env: { ...ownEnvironment(), HOST: '127.0.0.1', PORT: '0', ...settings },
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const exited = once(child, 'exit');
    let output = '';
    const news = new EventEmitter();
    for (const stream of [child.stdout, child.stderr]) {
        stream?.setEncoding('utf8').on('data', (text: string) => {
            output += text;
            news.emit('said');
        });
    }
    return {
        pid: child.pid ?? 0,
        /** Resolves with the first group of the pattern in its output. */
        said: (pattern: RegExp) =>
            new Promise<string>((resolve, reject) => {
                news.on('said', () => {
                    const said = pattern.exec(output)?.[1];
                    if (said !== undefined) resolve(said);
                });
                child.once('exit', (code) => reject(new Error(`the ${name} ended with ${code}: ${output}`)));
            }),
        async during<Result>(work: () => Promise<Result>) {
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
