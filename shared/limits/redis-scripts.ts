/**
 * Both scripts know the time only from the server they run on, plus the offset they are given, so that no two processes can disagree
 * about a window. A window is kept as two fields of the identity's hash: `<name>:end` (milliseconds) and `<name>:used`.
 */
const TIME = `
local time = redis.call('TIME')
local real = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
`;

/**
 * KEYS: windows of the identity, leases of the account, leases of the site, slots of all living workers; the site's circuit, its turns,
 * the endpoint's quarantine.
 * ARGV: offset, operation ('' without a lease), concurrency, lease ms, whether a site's share is taken, its own figure or '', patience
 * while a probe runs, how long a circuit is remembered, then name, limit and length in ms of each window. Looks at everything first and
 * writes only when all of it is free.
 * Returns {verdict, used, left ms, used, left ms, …} as it is afterwards; verdict 0 taken, 1 window, 2 concurrency, 3 share. Where a
 * site's share was taken follow circuit (-1 closed, 0 wants a probe, ms to wait), backlog and quarantine in ms.
 */
export const TAKE_SCRIPT = `
${TIME}
local now = real + tonumber(ARGV[1])
local operation, concurrency, ttl = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local reply, ends, verdict = {0}, {}, 0
local count = (#ARGV - 8) / 3
local fields = {}
for i = 1, count do
    local name = ARGV[6 + 3 * i]
    fields[2 * i - 1] = name .. ':end'
    fields[2 * i] = name .. ':used'
end
local stored = count > 0 and redis.call('HMGET', KEYS[1], unpack(fields)) or {}
for i = 1, count do
    local finish, used = tonumber(stored[2 * i - 1] or 0), tonumber(stored[2 * i] or 0)
    if finish <= now then finish, used = 0, 0 end
    if used >= tonumber(ARGV[7 + 3 * i]) then verdict = 1 end
    ends[i] = finish
    reply[2 * i] = used
    reply[2 * i + 1] = finish == 0 and 0 or finish - now
end
local isNew = false
if verdict == 0 and operation ~= '' then
    redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
    isNew = not redis.call('ZSCORE', KEYS[2], operation)
    if isNew and redis.call('ZCARD', KEYS[2]) >= concurrency then
        verdict = 2
    elseif isNew and ARGV[5] == '1' then
        redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now)
        local share = tonumber(ARGV[6]) or math.max(2, math.floor(tonumber(redis.call('GET', KEYS[4]) or 0) / 2))
        if redis.call('ZCARD', KEYS[3]) >= share then verdict = 3 end
    end
end
reply[1] = verdict
if verdict ~= 0 then return reply end
local begun = 0
for i = 1, count do
    local name, length = ARGV[6 + 3 * i], tonumber(ARGV[8 + 3 * i])
    if ends[i] == 0 then
        ends[i] = now + length
        redis.call('HSET', KEYS[1], name .. ':end', ends[i], name .. ':used', 1)
        reply[2 * i] = 1
        if length > begun then begun = length end
    else
        reply[2 * i] = redis.call('HINCRBY', KEYS[1], name .. ':used', 1)
    end
    reply[2 * i + 1] = ends[i] - now
end
if begun > 0 and redis.call('PTTL', KEYS[1]) < begun then redis.call('PEXPIRE', KEYS[1], begun) end
if operation ~= '' then
    redis.call('ZADD', KEYS[2], now + ttl, operation)
    if redis.call('PTTL', KEYS[2]) < ttl then redis.call('PEXPIRE', KEYS[2], ttl) end
    if ARGV[5] == '1' then
        redis.call('ZADD', KEYS[3], now + ttl, operation)
        if redis.call('PTTL', KEYS[3]) < ttl then redis.call('PEXPIRE', KEYS[3], ttl) end
        local circuit = redis.call('HMGET', KEYS[5], 'until', 'probe_until')
        local opens, wait = tonumber(circuit[1] or 0), -1
        if opens > now then
            wait = opens - now
        elseif opens + tonumber(ARGV[8]) > now then
            wait = tonumber(circuit[2] or 0) > now and tonumber(ARGV[7]) or 0
        end
        reply[2 * count + 2] = wait
        reply[2 * count + 3] = math.ceil(math.max(0, tonumber(redis.call('HGET', KEYS[6], 'next') or 0) - now))
        reply[2 * count + 4] = math.max(0, tonumber(redis.call('GET', KEYS[7]) or 0) - now)
    end
end
return reply
`;

/** KEYS: leases of an account and of a site, in turn. ARGV: the operation of each pair. */
export const END_SCRIPT = `
local ended = 0
for i = 1, #ARGV do
    ended = ended + redis.call('ZREM', KEYS[2 * i - 1], ARGV[i]) + redis.call('ZREM', KEYS[2 * i], ARGV[i])
end
return ended
`;

/** KEYS: windows of the identity, leases of the account. ARGV: offset, names. Returns {in flight, used, left ms, …}. */
export const PEEK_SCRIPT = `
${TIME}
local now = real + tonumber(ARGV[1])
local reply = {redis.call('ZCOUNT', KEYS[2], '(' .. now, '+inf')}
for i = 2, #ARGV do
    local stored = redis.call('HMGET', KEYS[1], ARGV[i] .. ':end', ARGV[i] .. ':used')
    local finish, used = tonumber(stored[1] or 0), tonumber(stored[2] or 0)
    if finish <= now then finish, used = now, 0 end
    reply[#reply + 1] = used
    reply[#reply + 1] = finish - now
end
return reply
`;

/**
 * KEYS: the workers' hash, the sum of their slots. ARGV: id, slots, busy, milliseconds since its progress, life in ms; without an id
 * it only looks. Real time without the offset: a heartbeat says that a process lives, not what day it is.
 * Returns the living workers as a flat list of id, slots, busy, milliseconds since the progress.
 */
export const FLEET_SCRIPT = `
${TIME}
if ARGV[1] ~= '' then
    redis.call('HSET', KEYS[1], ARGV[1], table.concat({ARGV[2], ARGV[3], real - tonumber(ARGV[4]), real + tonumber(ARGV[5])}, ' '))
    redis.call('PEXPIRE', KEYS[1], ARGV[5])
end
local reply, slots = {}, 0
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
    local own, busy, progress, expires = string.match(all[i + 1], '^(%S+) (%S+) (%S+) (%S+)$')
    if tonumber(expires) <= real then
        redis.call('HDEL', KEYS[1], all[i])
    else
        slots = slots + tonumber(own)
        reply[#reply + 1] = all[i]
        reply[#reply + 1] = own
        reply[#reply + 1] = busy
        reply[#reply + 1] = string.format('%d', real - tonumber(progress))
    end
end
if ARGV[1] ~= '' then redis.call('SET', KEYS[2], slots, 'PX', ARGV[5]) end
return reply
`;
