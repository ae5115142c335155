import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ownEnvironment } from './own-environment.ts';

export const PROGRAM = fileURLToPath(new URL('../../cli/bin/routebook.js', import.meta.url));
const KEPT = fileURLToPath(new URL('./kept-command-line.ts', import.meta.url));

interface Ran {
    code: number | null;
    stdout: string;
    stderr: string;
    /** The last line of stdout, as JSON. */
    json: Record<string, unknown>;
    /** Its `error`, if there is one. */
    error: Record<string, unknown>;
}

interface RunOptions {
    /** What is piped to stdin. */
    input?: string | Buffer;
    env?: Record<string, string>;
    /** Presses Ctrl-C when this resolves. */
    interrupt?: Promise<unknown>;
    /** Called with the pid of the process. */
    started?: (pid: number) => void;
    /** Starts a separate process. This is the default with `input`, `interrupt` or `started`. */
    isProcess?: boolean;
}

/** A user at a terminal: with a working folder and a folder for settings, and without the rest of this machine's environment. */
export interface CommandLine {
    folder: string;
    /** Where keys are stored. */
    credentials: string;
    run(args: readonly string[], options?: RunOptions): Promise<Ran>;
    close(): void;
}

export function openCommandLine(env: Record<string, string> = {}): CommandLine {
    const home = mkdtempSync(join(tmpdir(), 'routebook-command-line-'));
    const folder = mkdtempSync(join(home, 'work-'));
    let kept: ReturnType<typeof keepCommandLine> | undefined;
    return {
        folder,
        credentials: join(home, 'config', 'routebook', 'credentials.json'),
        async run(args, { input, env: more = {}, interrupt, started, isProcess = false } = {}) {
            if (!isProcess && (input ?? interrupt ?? started) === undefined) {
                kept ??= keepCommandLine(folder, { ...ownEnvironment(home), XDG_CONFIG_HOME: join(home, 'config') });
                const ran = await kept.run(args, { ...env, ...more });
                return { ...ran, ...lastLine(ran.stdout) };
            }
            const child = spawn(process.execPath, [PROGRAM, ...args], {
                cwd: folder,
                env: { ...ownEnvironment(home), XDG_CONFIG_HOME: join(home, 'config'), ...env, ...more },
            });
            started?.(child.pid ?? 0);
            void interrupt?.then(() => child.kill('SIGINT'));
            const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
            child.stdin.on('error', () => {}).end(input ?? '');
            const [code] = (await once(child, 'close')) as [number | null];
            return { code, stdout: stdout(), stderr: stderr(), ...lastLine(stdout()) };
        },
        close() {
            kept?.close();
            rmSync(home, { recursive: true, force: true });
        },
    };
}

type Output = Pick<Ran, 'code' | 'stdout' | 'stderr'>;

/**
 * One process that runs all commands one after the other, each as if it were alone. Starting Node for each command would take longer than
 * most commands.
 */
function keepCommandLine(cwd: string, env: Record<string, string>) {
    const child: ChildProcess = fork(KEPT, { cwd, env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'], serialization: 'advanced' });
    const waiting = new Map<number, PromiseWithResolvers<Output>>();
    let last = 0;
    child.on('message', ({ id, ...ran }: Output & { id: number }) => {
        waiting.get(id)?.resolve(ran);
        waiting.delete(id);
    });
    child.on('exit', (code) => {
        for (const { reject } of waiting.values()) reject(new Error(`the command line ended with ${code}`));
    });
    return {
        run(args: readonly string[], settings: Record<string, string>): Promise<Output> {
            const ran = Promise.withResolvers<Output>();
            waiting.set(++last, ran);
            child.send({ id: last, args, env: { ...env, ...settings } });
            return ran.promise;
        },
        close: () => child.disconnect(),
    };
}

function collect(stream: NodeJS.ReadableStream): () => string {
    let text = '';
    stream.setEncoding('utf8').on('data', (part: string) => {
        text += part;
    });
    return () => text;
}

function lastLine(stdout: string): Pick<Ran, 'json' | 'error'> {
    const json = parsed(stdout.trimEnd().split('\n').at(-1) ?? '');
    return { json, error: (json['error'] ?? {}) as Record<string, unknown> };
}

function parsed(line: string): Record<string, unknown> {
    try {
        return JSON.parse(line) as Record<string, unknown>;
    } catch {
        return {};
    }
}
