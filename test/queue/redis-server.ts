import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/free-port.ts';
import { eventually } from './jobs.ts';

/** A Redis for one test, configured as operators are told to. It can be killed and restarted on the same port and data. */
export interface OwnRedis {
    url: string;
    port: number;
    start(): Promise<void>;
    kill(): Promise<void>;
    remove(): Promise<void>;
}

export async function startRedis(): Promise<OwnRedis> {
    const folder = mkdtempSync(join(tmpdir(), 'routebook-redis-'));
    const port = await freePort();
    let server: ChildProcess | undefined;
    const kill = async () => {
        if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
        const gone = once(server, 'exit');
        server.kill('SIGKILL');
        await gone;
    };
    const start = async () => {
        const settings = [
            '--bind',
            '127.0.0.1',
            '--port',
            String(port),
            '--dir',
            folder,
            '--appendonly',
            'yes',
            '--appendfsync',
            'everysec',
            '--maxmemory-policy',
            'noeviction',
            '--save',
            '',
        ];
        server = spawn('redis-server', settings, { stdio: 'ignore' });
        await eventually('redis answers', () => isListening(port));
    };
    await start();
    return {
        url: `redis://127.0.0.1:${port}`,
        port,
        start,
        kill,
        async remove() {
            await kill();
            rmSync(folder, { recursive: true, force: true });
        },
    };
}

async function isListening(port: number): Promise<boolean> {
    const socket = connect(port, '127.0.0.1');
    socket.write('PING\r\n');
    const answered = Promise.withResolvers<boolean>();
    socket.on('data', (bytes) => answered.resolve(bytes.toString().startsWith('+PONG')));
    socket.on('error', () => answered.resolve(false));
    socket.on('close', () => answered.resolve(false));
    const isUp = await answered.promise;
    socket.destroy();
    return isUp;
}
