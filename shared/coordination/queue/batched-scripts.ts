/**
 * Scripts that add, take and finish many plain jobs at once. They use BullMQ's keys: the lists `wait` and `active`, the set
 * `prioritized`, `marker` (wakes a blocked worker), and a hash and a lock for each job. BullMQ's scripts handle one job each and write
 * four events that nothing reads. Rare operations (stalled jobs, lock renewal, priorities, removal, counts) still use BullMQ's scripts.
 */

/** Maximum number of jobs in one script call. Lua's `unpack` limits the number of arguments. */
export const SCRIPT_BATCH = 200;

/**
 * KEYS: wait, marker, meta. ARGV: prefix of job keys, options as JSON, current time in ms, then the id and data of each job. Skips a job
 * whose id is already in the queue. Returns the number of added jobs.
 */
export const ADD_SCRIPT = `
local ids = {}
for i = 4, #ARGV, 2 do
    local key = ARGV[1] .. ARGV[i]
    if redis.call('EXISTS', key) == 0 then
        redis.call('HSET', key, 'name', 'fetch', 'data', ARGV[i + 1], 'opts', ARGV[2], 'timestamp', ARGV[3], 'delay', 0, 'priority', 0)
        ids[#ids + 1] = ARGV[i]
    end
end
if #ids == 0 then return 0 end
redis.call('LPUSH', KEYS[1], unpack(ids))
if not redis.call('HGET', KEYS[3], 'paused') then redis.call('ZADD', KEYS[2], 0, '0') end
return #ids
`;

/**
 * Stores the replies of finished jobs, removes those finished jobs that this worker still holds, then takes and locks up to `wanted` jobs,
 * plain jobs first. Sets the marker when jobs remain, so that another worker wakes up. Removes the marker when no job remains, so that no
 * worker wakes up without work.
 *
 * KEYS: wait, active, prioritized, marker, meta, stalled. ARGV: prefix of job keys, token and duration (ms) of the locks, number of jobs
 * wanted, lifetime of a reply channel in s, then the id, reply channel ('' for no reply) and reply of each finished job. Returns {id, data,
 * timestamp, priority, deferred failure} of each job taken.
 */
export const TURN_SCRIPT = `
local base, token, lock, wanted = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local ids, keys = {}, {}
for i = 6, #ARGV, 3 do
    local id, channel = ARGV[i], ARGV[i + 1]
    if channel ~= '' and not redis.call('XADD', channel, 'NOMKSTREAM', '*', 'id', id, 'body', ARGV[i + 2]) then
        -- The stream is missing: its process ended, or Redis was flushed. The new stream must expire.
        redis.call('XADD', channel, '*', 'id', id, 'body', ARGV[i + 2])
        redis.call('EXPIRE', channel, ARGV[5])
    end
    local key = base .. id
    if redis.call('GET', key .. ':lock') == token then
        redis.call('LREM', KEYS[2], -1, id)
        ids[#ids + 1] = id
        keys[#keys + 1] = key
        keys[#keys + 1] = key .. ':lock'
    end
end
if #ids > 0 then
    redis.call('DEL', unpack(keys))
    redis.call('SREM', KEYS[6], unpack(ids))
end

local taken = {}
if wanted == 0 or redis.call('HGET', KEYS[5], 'paused') then return taken end
local isEmpty = false
for _ = 1, wanted do
    local id = redis.call('RPOPLPUSH', KEYS[1], KEYS[2])
    if not id then
        id = redis.call('ZPOPMIN', KEYS[3])[1]
        if not id then
            isEmpty = true
            break
        end
        redis.call('LPUSH', KEYS[2], id)
    end
    local key = base .. id
    local job = redis.call('HMGET', key, 'data', 'timestamp', 'priority', 'defa')
    if job[1] then
        redis.call('SET', key .. ':lock', token, 'PX', lock)
        taken[#taken + 1] = {id, job[1], job[2], job[3], job[4]}
    else
        redis.call('LREM', KEYS[2], 1, id)
    end
end
if isEmpty or (redis.call('LLEN', KEYS[1]) == 0 and redis.call('ZCARD', KEYS[3]) == 0) then
    redis.call('ZREM', KEYS[4], '0')
else
    redis.call('ZADD', KEYS[4], 0, '0')
end
return taken
`;

/**
 * Moves the jobs that this worker has locked back to the front of the queue, except those to keep. Wakes another worker when jobs wait,
 * because this worker may have consumed their wake-up. KEYS: wait, active, marker. ARGV: prefix of job keys, token of the locks, ids to
 * keep.
 */
export const GIVE_BACK_SCRIPT = `
local isKept = {}
for i = 3, #ARGV do isKept[ARGV[i]] = true end
for _, id in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do
    local lock = ARGV[1] .. id .. ':lock'
    if not isKept[id] and redis.call('GET', lock) == ARGV[2] then
        redis.call('DEL', lock)
        redis.call('LREM', KEYS[2], 0, id)
        redis.call('RPUSH', KEYS[1], id)
    end
end
if redis.call('LLEN', KEYS[1]) > 0 then redis.call('ZADD', KEYS[3], 0, '0') end
return 0
`;
