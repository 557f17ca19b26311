-- Needs lib-clock.lua, lib-grant.lua, lib-lock.lua and lib-waiters.lua.
--
-- An owner that never got an answer gives up the lock, and the place of its waiter unless another owner has claimed
-- the lock for that waiter since.
local OWNER, WAITER = ARGV[5], ARGV[6]

local queue = queueOf(KEYS, ARGV)
local text = queue.claims and redis.pcall('HGET', queue.claims, WAITER)
local claim = type(text) == 'string' and claimed(text)
if claim and claim.owner == OWNER then
	unregister(queue, WAITER)
end
return release(queue, OWNER)
