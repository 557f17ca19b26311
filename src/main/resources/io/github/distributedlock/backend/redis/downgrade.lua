-- Needs lib-clock.lua, lib-grant.lua, lib-lock.lua and lib-waiters.lua.
--
-- An owner shares its lock from now on, to the end of its lease, and readers that wait before the first writer come
-- in. Answers whether the owner has the lock.
local queue = queueOf(KEYS, ARGV)
local LOCK, OWNER = queue.lock, ARGV[5]

local value = look(LOCK)
local reader = 'shared:' .. OWNER
if type(value) == 'table' then
	return redis.call('ZSCORE', LOCK, reader) and 1 or 0
elseif value ~= OWNER then
	return 0
end
local expiry = exact(millis() + redis.call('PTTL', LOCK))
-- DEL comes first, since it needs no memory: a server that has none left still lets a script go on that has written.
redis.call('DEL', LOCK)
redis.call('ZADD', LOCK, expiry, reader)
lastsForAll(LOCK)
removeDead(queue, OWNER)
admit(queue)
return 1
