import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DebianPostgres } from './debian-postgres.ts';

const INI = fileURLToPath(new URL('../../ops/pgbouncer/pgbouncer.ini', import.meta.url));

export interface PgBouncer {
    pid: number;
    /** Sends all clients to another server, as an operator does: changes the address in its file and makes it reload the file. */
    moveTo(postgres: DebianPostgres): void;
    close(): Promise<void>;
}

/** Starts PgBouncer with the configuration that we ship, on other addresses. */
export async function startPgBouncer(postgres: DebianPostgres, port: number): Promise<PgBouncer> {
    const folder = mkdtempSync(join(tmpdir(), 'routebook-pgbouncer-'));
    chmodSync(folder, 0o755);
    const shipped = readFileSync(INI, 'utf8')
        .replace('listen_port = 6432', `listen_port = ${port}\nunix_socket_dir =`)
        .replace('/etc/pgbouncer/userlist.txt', `${folder}/userlist.txt`);
    const pointTo = (server: DebianPostgres) =>
        writeFileSync(`${folder}/pgbouncer.ini`, shipped.replace('port=5432', `port=${server.port}`));
    pointTo(postgres);
    writeFileSync(`${folder}/userlist.txt`, `"${postgres.user}" "${postgres.password}"\n`);
    const asUser = process.getuid?.() === 0 ? ['-u', 'postgres'] : [];
    const server = spawn('pgbouncer', [...asUser, `${folder}/pgbouncer.ini`], { stdio: 'ignore' });
    return {
        pid: server.pid ?? 0,
        moveTo(next) {
            pointTo(next);
            server.kill('SIGHUP');
        },
        async close() {
            if (server.exitCode === null && server.signalCode === null) {
                const gone = once(server, 'exit');
                server.kill('SIGKILL');
                await gone;
            }
            rmSync(folder, { recursive: true, force: true });
        },
    };
}
