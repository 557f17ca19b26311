-- Needs lib-clock.lua, lib-grant.lua, lib-lock.lua and lib-waiters.lua.
--
-- An owner that was never answered gives up what it may have: the lock, and the place of its waiter, if nobody has
-- claimed with that since.
local LOCK, WAITERS, LIVENESS, CLAIMS = unpack(KEYS)
local KEY, CHANNELS, RESERVATION, SKIP_DEAF, OWNER, WAITER = unpack(ARGV)

local queue = queueOf(LOCK, WAITERS, LIVENESS, CLAIMS, KEY, CHANNELS, RESERVATION, SKIP_DEAF)
local text = CLAIMS and redis.pcall('HGET', CLAIMS, WAITER)
local claim = type(text) == 'string' and claimed(text)
if claim and claim.owner == OWNER then
	unregister(queue, WAITER)
end
return release(queue, OWNER)
