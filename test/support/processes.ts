import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ownEnvironment } from './own-environment.ts';
import { TEST_SECRET_KEYS } from './secrets.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A process of the Procfile, started as in production. */
export interface Running {
    readonly pid: number;
    /** Resolves with the line of stdout that has this text. */
    said(text: string): Promise<string>;
    /** Sends the signal and waits for the end. */
    end(signal?: 'SIGTERM' | 'SIGINT' | 'SIGKILL'): Promise<number | null>;
    /** Sends a signal and does not wait. */
    signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT' | 'SIGTERM'): void;
    readonly output: () => string;
}

/** Lifts the limits of one address, since all callers of a test share it. */
const ONE_CLIENT = { CLIENT_CONNECTIONS: '0', CLIENT_CONNECTIONS_PER_SECOND: '0' };

/** The processes of an installation share their key ring. `npm start` creates its own. */
const ONE_RING = { SECRET_KEYS: TEST_SECRET_KEYS };

/**
 * Starts `bin/<name>.ts` with these settings and the PATH, without the rest of this machine's environment.
 * @param cwd the folder of another checkout
 */
export function startProcess(name: 'api' | 'worker' | 'start', settings: Record<string, string>, cwd = ROOT): Running {
    const child: ChildProcess = spawn(process.execPath, [`bin/${name}.ts`], {
        cwd,
        env: {
            ...ownEnvironment(),
            ...ONE_CLIENT,
            ...(name === 'start' ? {} : ONE_RING),
            ...settings,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const exited = once(child, 'exit').then(([code]) => code as number | null);
    for (const stream of [child.stdout, child.stderr]) {
        stream?.setEncoding('utf8').on('data', (text: string) => {
            output += text;
        });
    }
    return {
        pid: child.pid ?? 0,
        async said(text) {
            for (;;) {
                const line = output.split('\n').find((candidate) => candidate.includes(text));
                if (line !== undefined) return line;
                const news = Promise.race([once(child.stdout ?? child, 'data'), once(child.stderr ?? child, 'data')]);
                const ended = exited.then((code) => Promise.reject(new Error(`${name} ended with ${code}: ${output}`)));
                await Promise.race([news, ended]);
            }
        },
        async end(signal = 'SIGTERM') {
            if (child.exitCode === null && child.signalCode === null) child.kill(signal);
            return exited;
        },
        signal: (which) => void child.kill(which),
        output: () => output,
    };
}
