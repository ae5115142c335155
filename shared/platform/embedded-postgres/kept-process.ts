import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Starts a server that ends with this process, but not earlier. The server runs in a session of its own, so that Ctrl-C in a terminal does
 * not reach it while this process still drains. A shell around the server holds the other end of a pipe. When this process ends for any
 * reason, the pipe closes and the server gets SIGINT. (Background commands of a shell ignore SIGINT unless they handle it; PostgreSQL and
 * Redis do.) The returned process is the shell, which exits with the status of the server. It does not keep our event loop alive.
 */
export function spawnKept(
    program: string,
    argv: readonly string[],
    options: Omit<SpawnOptions, 'stdio'> & { output: number | 'ignore' },
): ChildProcess {
    const { output, ...rest } = options;
    const kept = spawn('/bin/sh', ['-c', KEEPER, 'routebook-keeper', program, ...argv], {
        ...rest,
        detached: true,
        stdio: ['pipe', output, output],
    });
    kept.unref();
    if (kept.stdin !== null && 'unref' in kept.stdin && typeof kept.stdin.unref === 'function') kept.stdin.unref();
    return kept;
}

/** Resolves when the process has ended or could not be started. */
export async function waitForExit(kept: ChildProcess): Promise<void> {
    await once(kept, 'exit').catch(() => undefined);
}

const KEEPER = [
    'exec 3<&0',
    '"$@" 3<&- & server=$!',
    '(read -r line <&3; kill -INT $server) & watcher=$!',
    'exec 3<&- </dev/null',
    'wait $server; status=$?',
    'kill $watcher',
    'exit $status',
].join('\n');
