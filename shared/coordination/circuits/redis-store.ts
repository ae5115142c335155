import type { Result } from 'ioredis';
import type { Clock } from '../../platform/clock.ts';
import type { ConnectionLog } from '../../platform/connection-log.ts';
import { hashTag, openRedis } from '../../platform/redis.ts';
import { createStallDetector } from '../../platform/stall-detector.ts';
import { CIRCUIT, DEATHS, PAUSE_DISTANCE_MS } from '../figures.ts';
import * as scripts from './redis-scripts.ts';
import type { CircuitStore, ProbeChange } from './store.ts';

type Arguments = (string | number)[];

declare module 'ioredis' {
    interface RedisCommander<Context> {
        circuitReport(...args: Arguments): Result<number, Context>;
        circuitTakeProbe(...args: Arguments): Result<number, Context>;
        circuitEndProbe(...args: Arguments): Result<[number, number], Context>;
        circuitOpen(...args: Arguments): Result<string[], Context>;
        siteTurn(...args: Arguments): Result<[number, number], Context>;
        sitePause(...args: Arguments): Result<number, Context>;
        workerDeath(...args: Arguments): Result<number, Context>;
    }
}

/** Redis keys of circuits, which coordination/limits reads too. */
export function circuitKeys(prefix: string) {
    return {
        circuit: (site: string) => `${prefix}:circuit:${site}`,
        tallies: (site: string) => `${prefix}:circuit:${site}:ended`,
        index: `${prefix}:circuits`,
        turns: (site: string) => `${prefix}:turns:${site}`,
        death: (versionId: number, endpoint: string) => `${prefix}:death:${versionId}:${endpoint}`,
        quarantines: `${prefix}:quarantines`,
        quarantine: (versionId: number, endpoint: string) => `${prefix}:quarantine:${versionId}:${endpoint}`,
    };
}

const CHANGES: readonly ProbeChange[] = ['unchanged', 'closed', 'reopened'];

/** Opens circuits, turns and deaths in Redis. All keys expire. */
export function openRedisCircuits({
    redisUrl,
    keyPrefix,
    clock,
    log,
}: {
    redisUrl: string;
    keyPrefix: string;
    clock: Pick<Clock, 'offsetMs'>;
    log: ConnectionLog;
}): CircuitStore {
    const keys = circuitKeys(hashTag(keyPrefix));
    const redis = openRedis(redisUrl, 'producer', 'redis circuits', log);
    const { guard } = createStallDetector('redis circuits');
    redis.defineCommand('circuitReport', { numberOfKeys: 3, lua: scripts.REPORT_SCRIPT });
    redis.defineCommand('circuitTakeProbe', { numberOfKeys: 1, lua: scripts.TAKE_PROBE_SCRIPT });
    redis.defineCommand('circuitEndProbe', { numberOfKeys: 3, lua: scripts.END_PROBE_SCRIPT });
    redis.defineCommand('circuitOpen', { numberOfKeys: 1, lua: scripts.OPEN_SCRIPT });
    redis.defineCommand('siteTurn', { numberOfKeys: 1, lua: scripts.TURN_SCRIPT });
    redis.defineCommand('sitePause', { numberOfKeys: 1, lua: scripts.PAUSE_SCRIPT });
    redis.defineCommand('workerDeath', { numberOfKeys: 2, lua: scripts.DEATH_SCRIPT });
    const { windowS, least, periodMs, longestMs, forgetMs, probePatienceMs } = CIRCUIT;
    const stateOf = (site: string) => [keys.circuit(site), keys.tallies(site), keys.index];
    return {
        async report(tallies) {
            const opened = await guard(
                Promise.all(
                    tallies.map(({ site, passed, failed }) =>
                        redis.circuitReport(...stateOf(site), clock.offsetMs, site, passed, failed, windowS, least, periodMs, forgetMs),
                    ),
                ),
            );
            return tallies.filter((_, index) => opened[index] === 1).map(({ site }) => site);
        },
        takeProbe: (site, operation, lifeMs) =>
            guard(redis.circuitTakeProbe(keys.circuit(site), clock.offsetMs, operation, lifeMs, probePatienceMs, forgetMs)),
        async endProbe(site, operation, verdict) {
            const [change, period] = await guard(
                redis.circuitEndProbe(...stateOf(site), clock.offsetMs, site, operation, verdict, longestMs, forgetMs),
            );
            return { change: CHANGES[change] ?? 'unchanged', periodMs: period };
        },
        open: () => guard(redis.circuitOpen(keys.index, clock.offsetMs, forgetMs)),
        async takeTurn(site, intervalMs, patienceMs) {
            const [granted, waitMs] = await guard(
                redis.siteTurn(keys.turns(site), clock.offsetMs, intervalMs ?? '', PAUSE_DISTANCE_MS, patienceMs),
            );
            return { granted: granted === 1, waitMs };
        },
        pause: async (site, pauseMs, ageMs) => (await guard(redis.sitePause(keys.turns(site), clock.offsetMs, pauseMs, ageMs))) === 1,
        async recordDeath({ versionId, endpoint, ageMs, lastSuccessAt }) {
            const own = [keys.death(versionId, endpoint), keys.quarantine(versionId, endpoint)];
            const success = lastSuccessAt?.getTime() ?? '';
            const { rememberMs, quarantineMs } = DEATHS;
            const args = [...own, clock.offsetMs, ageMs, success, rememberMs, quarantineMs];
            const isQuarantined = (await guard(redis.workerDeath(...args))) === 1;
            // This set only serves the list. The endpoint's own key decides.
            if (isQuarantined)
                await guard(redis.zadd(keys.quarantines, Date.now() + clock.offsetMs + quarantineMs, `${versionId}:${endpoint}`));
            return isQuarantined;
        },
        async quarantined(most) {
            const now = Date.now() + clock.offsetMs;
            await guard(redis.zremrangebyscore(keys.quarantines, '-inf', String(now)));
            const flat = await guard(redis.zrange(keys.quarantines, '0', String(most - 1), 'WITHSCORES'));
            return flat.flatMap((member, at) => {
                if (at % 2 === 1) return [];
                const [versionId, endpoint = ''] = member.split(':');
                return [{ versionId: Number(versionId), endpoint, until: new Date(Number(flat[at + 1])) }];
            });
        },
        close: async () => redis.disconnect(),
    };
}
