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
    close(): Promise<void>;
}

/** PgBouncer with the file that we ship, on other addresses. */
export async function startPgBouncer(postgres: DebianPostgres, port: number): Promise<PgBouncer> {
    const folder = mkdtempSync(join(tmpdir(), 'routebook-pgbouncer-'));
    chmodSync(folder, 0o755);
    const settings = readFileSync(INI, 'utf8')
        .replace('port=5432', `port=${postgres.port}`)
        .replace('listen_port = 6432', `listen_port = ${port}\nunix_socket_dir =`)
        .replace('/etc/pgbouncer/userlist.txt', `${folder}/userlist.txt`);
    writeFileSync(`${folder}/pgbouncer.ini`, settings);
    writeFileSync(`${folder}/userlist.txt`, `"${postgres.user}" "${postgres.password}"\n`);
    const asUser = process.getuid?.() === 0 ? ['-u', 'postgres'] : [];
    const server = spawn('pgbouncer', [...asUser, `${folder}/pgbouncer.ini`], { stdio: 'ignore' });
    return {
        pid: server.pid ?? 0,
        async close() {
            const gone = once(server, 'exit');
            server.kill('SIGKILL');
            await gone;
            rmSync(folder, { recursive: true, force: true });
        },
    };
}
