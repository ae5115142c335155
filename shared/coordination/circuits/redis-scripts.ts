/**
 * The time is the server's clock plus the offset in ARGV[1], as in coordination/limits. A circuit that is not closed is a hash
 * {until, period, probe, probe_until} and a member of the index. Without a hash the circuit is closed.
 */
const NOW = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000) + tonumber(ARGV[1])
`;

/**
 * KEYS: circuit, tallies of the site, index. ARGV: offset, site, passed, failed, window s, least, period ms, forget ms.
 * Returns 1 if this report opened the circuit.
 */
export const REPORT_SCRIPT = `
${NOW}
local forget = tonumber(ARGV[8])
local state = tonumber(redis.call('HGET', KEYS[1], 'until') or 0)
if state + forget > now then return 0 end
local second, window = math.floor(now / 1000), tonumber(ARGV[5])
redis.call('HINCRBY', KEYS[2], second .. ':passed', ARGV[3])
redis.call('HINCRBY', KEYS[2], second .. ':failed', ARGV[4])
redis.call('EXPIRE', KEYS[2], window + 1)
local passed, failed = 0, 0
local all = redis.call('HGETALL', KEYS[2])
for i = 1, #all, 2 do
    local at, kind = string.match(all[i], '^(%d+):(%a+)$')
    if tonumber(at) <= second - window then
        redis.call('HDEL', KEYS[2], all[i])
    elseif kind == 'passed' then
        passed = passed + tonumber(all[i + 1])
    else
        failed = failed + tonumber(all[i + 1])
    end
end
if passed + failed < tonumber(ARGV[6]) or failed * 2 <= passed + failed then return 0 end
local period = tonumber(ARGV[7])
redis.call('DEL', KEYS[1], KEYS[2])
redis.call('HSET', KEYS[1], 'until', now + period, 'period', period)
redis.call('PEXPIRE', KEYS[1], period + forget)
redis.call('ZADD', KEYS[3], now + period, ARGV[2])
return 1
`;

/** KEYS: circuit. ARGV: offset, operation, life ms, patience ms, forget ms. Returns -1 closed, 0 probe, otherwise milliseconds to wait. */
export const TAKE_PROBE_SCRIPT = `
${NOW}
local state = redis.call('HMGET', KEYS[1], 'until', 'probe_until')
local finish = tonumber(state[1] or 0)
if finish + tonumber(ARGV[5]) <= now then return -1 end
if finish > now then return finish - now end
if tonumber(state[2] or 0) > now then return tonumber(ARGV[4]) end
redis.call('HSET', KEYS[1], 'probe', ARGV[2], 'probe_until', now + tonumber(ARGV[3]))
return 0
`;

/**
 * KEYS: circuit, tallies, index. ARGV: offset, site, operation, verdict, longest ms, forget ms.
 * Returns {change, period ms}: 0 unchanged, 1 closed, 2 open again.
 */
export const END_PROBE_SCRIPT = `
${NOW}
local state = redis.call('HMGET', KEYS[1], 'probe', 'period')
if state[1] ~= ARGV[3] then return {0, 0} end
if ARGV[4] == 'passed' then
    redis.call('DEL', KEYS[1], KEYS[2])
    redis.call('ZREM', KEYS[3], ARGV[2])
    return {1, 0}
end
redis.call('HDEL', KEYS[1], 'probe', 'probe_until')
if ARGV[4] ~= 'failed' then return {0, 0} end
local period = math.min(tonumber(ARGV[5]), 2 * tonumber(state[2]))
redis.call('HSET', KEYS[1], 'until', now + period, 'period', period)
redis.call('PEXPIRE', KEYS[1], period + tonumber(ARGV[6]))
redis.call('ZADD', KEYS[3], now + period, ARGV[2])
return {2, period}
`;

/** KEYS: index. ARGV: offset, forget ms. Returns the sites whose circuit is not closed. */
export const OPEN_SCRIPT = `
${NOW}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[2]))
return redis.call('ZRANGE', KEYS[1], 0, -1)
`;

/**
 * KEYS: turns of the site. ARGV: offset, interval ms or '', distance ms, patience ms. Returns {granted, wait ms}.
 * Without an interval, only requests that wait for the end of a pause keep a distance.
 */
export const TURN_SCRIPT = `
${NOW}
local next = tonumber(redis.call('HGET', KEYS[1], 'next') or 0)
local start = math.max(next, now)
local wait = math.ceil(start - now)
if wait > tonumber(ARGV[4]) then return {0, wait} end
local interval = tonumber(ARGV[2]) or (next > now and tonumber(ARGV[3]) or 0)
if interval > 0 then
    redis.call('HSET', KEYS[1], 'next', start + interval)
    redis.call('PEXPIRE', KEYS[1], math.ceil(wait + interval + 60000))
end
return {1, wait}
`;

/** KEYS: turns of the site. ARGV: offset, pause ms, age ms of the request that was answered. Returns 1 if this began a pause. */
export const PAUSE_SCRIPT = `
${NOW}
local stored = redis.call('HMGET', KEYS[1], 'next', 'paused')
if tonumber(stored[2] or 0) > now - tonumber(ARGV[3]) then return 0 end
local finish = now + tonumber(ARGV[2])
redis.call('HSET', KEYS[1], 'paused', finish, 'next', math.max(finish, tonumber(stored[1] or 0)))
redis.call('PEXPIRE', KEYS[1], math.ceil(math.max(finish, tonumber(stored[1] or 0)) - now + 180000))
return 1
`;

/**
 * KEYS: last death of the endpoint, its quarantine. ARGV: offset, age ms of the run, last success in ms or '', remember ms,
 * quarantine ms. Returns 1 if this death quarantined the endpoint.
 */
export const DEATH_SCRIPT = `
${NOW}
if tonumber(redis.call('GET', KEYS[2]) or 0) > now then return 0 end
local died = tonumber(redis.call('GET', KEYS[1]) or 0)
local success = tonumber(ARGV[3]) or 0
if died + tonumber(ARGV[4]) <= now or success > died then
    redis.call('SET', KEYS[1], now, 'PX', ARGV[4])
    return 0
end
if now - tonumber(ARGV[2]) <= died then return 0 end
redis.call('SET', KEYS[2], now + tonumber(ARGV[5]), 'PX', ARGV[5])
redis.call('DEL', KEYS[1])
return 1
`;
