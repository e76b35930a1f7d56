/**
 * Lua scripts, since each has to be atomic. They begin with the definitions of `COMMON`; `KEYS` are as `redisEngine`
 * names them. All times are of the engine, in milliseconds.
 *
 * The first write of each script is one that an engine out of memory refuses: after a write, it accepts all others of
 * the script.
 */

const COMMON = `
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function is(key, kind)
  local found = redis.call('TYPE', key).ok
  return found == kind or found == 'none'
end
`;

/**
 * KEYS: hosts, state, images. ARGV: host, epoch, seq, ttl, status, count, full (1 or 0), added, removed, channel,
 * message. Another program may have overwritten or removed any key, and the engine may have evicted it.
 */
export const PUBLISH = `${COMMON}
local host, epoch, seq, ttl, status, count, full, added, removed, channel, message = unpack(ARGV)
if full == '0' then
  if not is(KEYS[2], 'hash') or not is(KEYS[3], 'set') then return 0 end
  local state = redis.call('HMGET', KEYS[2], 'epoch', 'seq', 'count')
  if state[1] ~= epoch or tonumber(state[2]) ~= seq - 1 then return 0 end
  if tonumber(state[3]) ~= redis.call('SCARD', KEYS[3]) then return 0 end
end
if not is(KEYS[1], 'zset') then redis.call('DEL', KEYS[1]) end
local time = now()
redis.call('ZADD', KEYS[1], time + ttl, host)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', time)
if full == '1' then redis.call('DEL', KEYS[2], KEYS[3]) end
local function each(command, images)
  for from = 1, #images, 64000 do
    local batch = {}
    for at = from, math.min(from + 63999, #images), 64 do batch[#batch + 1] = images:sub(at, at + 63) end
    redis.call(command, KEYS[3], unpack(batch))
  end
end
each('SREM', removed)
each('SADD', added)
redis.call('HSET', KEYS[2], 'epoch', epoch, 'seq', seq, 'status', status, 'count', count)
redis.call('PEXPIRE', KEYS[2], ttl)
redis.call('PEXPIRE', KEYS[3], ttl)
redis.call('PUBLISH', channel, message)
return 1
`;

/** KEYS: hosts, state, images. ARGV: host, epoch, channel, message. */
export const REMOVE = `${COMMON}
if is(KEYS[2], 'hash') and redis.call('HGET', KEYS[2], 'epoch') == ARGV[2] then
  redis.call('DEL', KEYS[2], KEYS[3])
  if is(KEYS[1], 'zset') then redis.call('ZREM', KEYS[1], ARGV[1]) end
  redis.call('PUBLISH', ARGV[3], ARGV[4])
end
return 1
`;

/**
 * Begins scripts that only read. A replica that has lost its primary may answer them, but hosts that still report have
 * expired there. The user may lack permission to ask for the role.
 */
const READING = `${COMMON}
local info = redis.pcall('INFO', 'replication')
if type(info) == 'string' and info:find('master_link_status:down', 1, true) then
  return {err = 'MASTERDOWN the replica has lost its primary'}
end
`;

/** Answers if other scripts would be up to date. */
export const CHECK = `${READING}return 1`;

/** KEYS: hosts. ARGV: the maximum number, and the maximum length in bytes. */
export const HOSTS = `${READING}
if not is(KEYS[1], 'zset') then return {} end
local hosts = {}
for _, host in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], now(), '+inf', 'LIMIT', 0, ARGV[1])) do
  if #host <= tonumber(ARGV[2]) then hosts[#hosts + 1] = host end
end
return hosts
`;

/**
 * KEYS: state, images. ARGV: the maximum number of images, and the maximum length of the status. Returns an array:
 * nothing if there is no state, its members, or one text if it is invalid. If the number of images differs, the engine
 * has evicted them, or will be told all of them soon.
 */
export const READ = `${READING}
if not is(KEYS[1], 'hash') or not is(KEYS[2], 'set') then return {'invalid'} end
local state = redis.call('HMGET', KEYS[1], 'epoch', 'seq', 'status', 'count')
local ttl = redis.call('PTTL', KEYS[1])
if ttl == -2 then return {} end
for _, value in ipairs({1, 2, 3, 4}) do
  if not state[value] or #state[value] > tonumber(ARGV[2]) then return {'invalid'} end
end
if redis.call('SCARD', KEYS[2]) > tonumber(ARGV[1]) then return {'invalid'} end
local images = redis.call('SMEMBERS', KEYS[2])
for _, image in ipairs(images) do
  if #image ~= 64 or image:find('[^0-9a-f]') then return {'invalid'} end
end
return {state[1], state[2], state[3], ttl, table.concat(images)}
`;

/** KEYS: slots, filled. ARGV: holder, slots, ttl. */
export const TAKE = `${COMMON}
if not is(KEYS[1], 'zset') then redis.call('DEL', KEYS[1]) end
local time = now()
local score = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not score or tonumber(score) <= time then
  if redis.call('EXISTS', KEYS[2]) == 1 then return 'filled' end
  if redis.call('ZCOUNT', KEYS[1], '(' .. time, '+inf') >= tonumber(ARGV[2]) then return 'full' end
end
redis.call('ZADD', KEYS[1], time + ARGV[3], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', time)
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return 'held'
`;

/** KEYS: slots, filled. ARGV: holder, for how long to note that the image was filled, or 0. */
export const RELEASE = `${COMMON}
if is(KEYS[1], 'zset') then redis.call('ZREM', KEYS[1], ARGV[1]) end
if tonumber(ARGV[2]) > 0 then redis.call('SET', KEYS[2], '1', 'PX', ARGV[2]) end
return 1
`;
