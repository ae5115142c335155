/**
 * The time is the server's clock plus the given offset, so all processes agree about a window. A window consists of two fields in the hash
 * of the identity: `<name>:end` (milliseconds) and `<name>:used`.
 */
const TIME = `
local time = redis.call('TIME')
local real = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
`;

/**
 * Applies the ends and takes of many calls in one step. Each key is read once and written once for all of them.
 *
 * KEYS: slots of all live workers, then the keys that the orders refer to by index. ARGV: JSON of {offset, slots if the key has none, ends,
 * takes}. An end is [leases of an account or a site, operation, …]. A take is [windows of the identity, [[name, limit, ms], …]]. A take
 * with a lease continues with operation, leases of the account, concurrency, lease ms, and leases of accounts on Free or 0. A take with a
 * site share continues with leases of the site, and the site's own share or -1.
 *
 * A take checks all limits first. It counts only if no limit is reached, including by earlier takes of the batch. Returns {slots or -1},
 * then for each take {verdict, used, left ms, used, left ms, …} after the step. Verdict: 0 taken, 1 window, 2 concurrency, 3 share,
 * 4 free.
 */
export const STEP_SCRIPT = `
${TIME}
local orders = cjson.decode(ARGV[1])
local now = real + orders.offset

for _, ending in ipairs(orders.ends) do
    redis.call('ZREM', KEYS[ending[1]], unpack(ending, 2))
end

local counted = {}
local function windowsOf(place, windows)
    local known = counted[place]
    if not known then
        known = {changed = false, begun = 0}
        counted[place] = known
    end
    local missing, fields = {}, {}
    for _, window in ipairs(windows) do
        if not known[window[1]] then
            missing[#missing + 1] = window[1]
            fields[#fields + 1] = window[1] .. ':end'
            fields[#fields + 1] = window[1] .. ':used'
        end
    end
    if #missing > 0 then
        local stored = redis.call('HMGET', KEYS[place], unpack(fields))
        for i, name in ipairs(missing) do
            local finish, used = tonumber(stored[2 * i - 1] or 0), tonumber(stored[2 * i] or 0)
            if finish <= now then finish, used = 0, 0 end
            known[name] = {finish, used, changed = false}
        end
    end
    return known
end

local leases = {}
local function leasesOf(place)
    local known = leases[place]
    if not known then
        known = {count = redis.call('ZCARD', KEYS[place]), added = {}, isAdded = {}, life = 0, swept = false}
        leases[place] = known
    end
    return known
end
-- Expired leases are removed only when the limit seems reached.
local function isFull(place, limit, operation)
    local known = leasesOf(place)
    if known.count < limit then return false end
    if not known.swept then
        known.swept = true
        redis.call('ZREMRANGEBYSCORE', KEYS[place], '-inf', now)
        known.count = redis.call('ZCARD', KEYS[place]) + #known.added / 2
        if known.count < limit then return false end
    end
    return not (known.isAdded[operation] or redis.call('ZSCORE', KEYS[place], operation))
end
local function add(place, life, operation)
    local known = leasesOf(place)
    known.added[#known.added + 1] = now + life
    known.added[#known.added + 1] = operation
    known.isAdded[operation] = true
    known.count = known.count + 1
    if life > known.life then known.life = life end
end

local slots = tonumber(redis.call('GET', KEYS[1]) or -1)
local all = slots < 0 and orders.slots or slots
local half = math.max(2, math.floor(all / 2))
local ofFree = math.max(64, math.floor(all * 3 / 4))
local scarce = math.max(64, half)

local replies = {{slots}}
for number, take in ipairs(orders.takes) do
    local place, windows, operation, account, concurrency, life, free, site, share = unpack(take, 1, 9)
    local known = windowsOf(place, windows)
    local verdict, reply = 0, {}
    for _, window in ipairs(windows) do
        if known[window[1]][2] >= window[2] then verdict = 1 end
    end
    if verdict == 0 and operation then
        if isFull(account, concurrency, operation) then
            verdict = 2
        elseif site and isFull(site, share >= 0 and share or half, operation) then
            verdict = 3
        elseif free > 0 and isFull(free, ofFree, operation) then
            verdict = 4
        elseif free > 0 and isFull(free, scarce, operation) and isFull(account, 1, operation) then
            verdict = 4
        end
    end
    reply[1] = verdict
    for i, window in ipairs(windows) do
        local state = known[window[1]]
        if verdict == 0 then
            if state[1] == 0 then
                state[1] = now + window[3]
                if window[3] > known.begun then known.begun = window[3] end
            end
            state[2] = state[2] + 1
            state.changed, known.changed = true, true
        end
        reply[2 * i] = state[2]
        reply[2 * i + 1] = state[1] == 0 and 0 or state[1] - now
    end
    if verdict == 0 and operation then
        add(account, life, operation)
        if site then add(site, life, operation) end
        if free > 0 then add(free, life, operation) end
    end
    replies[number + 1] = reply
end

for place, known in pairs(counted) do
    if known.changed then
        local fields = {}
        for name, state in pairs(known) do
            if type(state) == 'table' and state.changed then
                fields[#fields + 1] = name .. ':end'
                fields[#fields + 1] = state[1]
                fields[#fields + 1] = name .. ':used'
                fields[#fields + 1] = state[2]
            end
        end
        redis.call('HSET', KEYS[place], unpack(fields))
        if known.begun > 0 and redis.call('PTTL', KEYS[place]) < known.begun then redis.call('PEXPIRE', KEYS[place], known.begun) end
    end
end
for place, known in pairs(leases) do
    if #known.added > 0 then
        redis.call('ZADD', KEYS[place], unpack(known.added))
        -- A minute longer than needed, so that a busy key is renewed once a minute.
        if redis.call('PTTL', KEYS[place]) < known.life then redis.call('PEXPIRE', KEYS[place], known.life + 60000) end
    end
end
return replies
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
 * KEYS: the hash of workers, the sum of their slots. ARGV: id, slots, busy, milliseconds since its last progress, lifetime in ms. Without
 * an id the script only reads. Heartbeats use real time without the offset. Returns the live workers as a flat list of id, slots, busy,
 * milliseconds since the last progress.
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
