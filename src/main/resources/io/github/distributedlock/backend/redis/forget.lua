-- Needs lib-clock.lua, lib-grant.lua, lib-lock.lua and lib-waiters.lua.
--
-- An owner that was never answered gives up what it may have: the lock, and the place of its waiter, if nobody has
-- claimed with that since.
local OWNER, WAITER = ARGV[5], ARGV[6]

local queue = queueOf(KEYS, ARGV)
local text = queue.claims and redis.pcall('HGET', queue.claims, WAITER)
local claim = type(text) == 'string' and claimed(text)
if claim and claim.owner == OWNER then
	unregister(queue, WAITER)
end
return release(queue, OWNER)
