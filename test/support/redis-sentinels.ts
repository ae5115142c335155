import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis, type RedisOptions } from 'ioredis';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';

/** A primary and a replica with a user and a password, and three Sentinels that replace the primary a second after its death. */
export interface RedisWithSentinels {
    /** URL of the Sentinels, with the user of the primary. */
    url: string;
    /** Kills the primary with SIGKILL. Resolves when it has ended. */
    killPrimary(): Promise<void>;
    /** Starts the killed server again. Resolves when it follows the new primary. */
    startAgain(): Promise<void>;
    remove(): Promise<void>;
}

const NAME = 'routebook';
const USER = 'routebook';
const PASSWORD = 'of-redis';
const SENTINEL_PASSWORD = 'of-sentinels';

/** Starts the servers. @param tls files with which all of them speak only TLS, as `localhost` */
export async function startRedisWithSentinels(tls?: { key: string; certificate: string }): Promise<RedisWithSentinels> {
    const folder = mkdtempSync(join(tmpdir(), 'routebook-sentinel-'));
    const host = tls === undefined ? '127.0.0.1' : 'localhost';
    const running = new Map<number, ChildProcess>();
    const ports = [await freePort(), await freePort()] as const;
    const watchers = [await freePort(), await freePort(), await freePort()] as const;
    const connection = (port: number, password: string, username?: string): RedisOptions => ({
        ...{ host, port, password, retryStrategy: () => null, lazyConnect: true, connectTimeout: 1000 },
        ...(username === undefined ? {} : { username }),
        ...(tls === undefined ? {} : { tls: { rejectUnauthorized: false } }),
    });
    const listen = (port: number): string[] =>
        tls === undefined
            ? [`port ${port}`]
            : [
                  ...['port 0', `tls-port ${port}`, 'tls-auth-clients no', 'tls-replication yes'],
                  ...[`tls-cert-file ${tls.certificate}`, `tls-key-file ${tls.key}`, `tls-ca-cert-file ${tls.certificate}`],
              ];

    /** Starts a server with its own file, since Sentinels, and a Redis with a changed role, rewrite their file. */
    async function start(port: number, options: { isSentinel?: boolean; lines?: readonly string[] }): Promise<void> {
        const { isSentinel = false, lines } = options;
        const own = join(folder, String(port));
        const file = join(own, 'redis.conf');
        if (lines !== undefined) {
            mkdirSync(own);
            writeFileSync(file, ['bind 127.0.0.1', `dir ${own}`, ...listen(port), ...lines, ''].join('\n'));
        }
        running.set(port, spawn('redis-server', [file, ...(isSentinel ? ['--sentinel'] : [])], { stdio: 'ignore' }));
        const asked = isSentinel ? connection(port, SENTINEL_PASSWORD) : connection(port, PASSWORD, USER);
        await eventually(
            () => answerOf(asked, (redis) => redis.ping()),
            (answer) => answer === 'PONG',
        );
    }

    async function kill(port: number): Promise<void> {
        const server = running.get(port);
        if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
        const gone = once(server, 'exit');
        server.kill('SIGKILL');
        await gone;
    }

    const user = `user ${USER} on >${PASSWORD} ~* &* +@all`;
    const data = [
        ...['appendonly yes', 'appendfsync everysec', 'maxmemory-policy noeviction', 'save ""', 'user default off', user],
        ...[`masteruser ${USER}`, `masterauth ${PASSWORD}`, 'repl-diskless-sync-delay 0', `replica-announce-ip ${host}`],
    ];
    await start(ports[0], { lines: data });
    await start(ports[1], { lines: [...data, `replicaof ${host} ${ports[0]}`] });
    const watch = [
        ...[`requirepass ${SENTINEL_PASSWORD}`, `sentinel sentinel-pass ${SENTINEL_PASSWORD}`],
        ...['sentinel resolve-hostnames yes', `sentinel announce-hostnames ${tls === undefined ? 'no' : 'yes'}`],
        ...[
            `sentinel monitor ${NAME} ${host} ${ports[0]} 2`,
            `sentinel auth-user ${NAME} ${USER}`,
            `sentinel auth-pass ${NAME} ${PASSWORD}`,
        ],
        ...[`sentinel down-after-milliseconds ${NAME} 1000`, `sentinel failover-timeout ${NAME} 5000`],
    ];
    await Promise.all(watchers.map((port) => start(port, { isSentinel: true, lines: watch })));

    /** The primary's state, as the first Sentinel sees it. */
    async function primary(): Promise<Record<string, string>> {
        const answer = await answerOf(connection(watchers[0], SENTINEL_PASSWORD), (redis) => redis.call('SENTINEL', 'MASTER', NAME));
        const flat = Array.isArray(answer)
            ? answer.map(String)
            : Object.entries(answer ?? {})
                  .flat()
                  .map(String);
        return Object.fromEntries(flat.flatMap((word, at) => (at % 2 === 0 ? [[word, flat[at + 1] ?? '']] : [])));
    }

    /** Waits until all know each other and a replica can take over. */
    const whole = () =>
        eventually(
            async () => {
                const known = await primary();
                const port = Number(known['port']);
                const state = await answerOf(connection(port, PASSWORD, USER), (redis) => redis.info('replication'));
                return { others: known['num-other-sentinels'], flags: known['flags'], state: String(state) };
            },
            ({ others, flags, state }) => others === '2' && flags === 'master' && /slave0:.*state=online/.test(state),
            20_000,
        );
    await whole();
    const addresses = watchers.map((port) => `${host}:${port}`).join(',');
    return {
        url: `redis${tls === undefined ? '' : 's'}+sentinel://${USER}:${PASSWORD}@${addresses}/${NAME}?sentinel_password=${SENTINEL_PASSWORD}`,
        async killPrimary() {
            await kill(Number((await primary())['port']));
        },
        async startAgain() {
            for (const port of ports) {
                const server = running.get(port);
                if (server?.exitCode !== null || server.signalCode !== null) await start(port, {});
            }
            await whole();
        },
        async remove() {
            for (const port of running.keys()) await kill(port);
            rmSync(folder, { recursive: true, force: true });
        },
    };
}

/** Asks one question; undefined if there is no answer. */
async function answerOf<Answer>(options: RedisOptions, question: (redis: Redis) => Promise<Answer>): Promise<Answer | undefined> {
    const redis = new Redis({ ...options, replyMapping: 'legacy' });
    redis.on('error', () => undefined);
    try {
        return await question(redis);
    } catch {
        return undefined;
    } finally {
        redis.disconnect();
    }
}
