-- Needs lib-lock.lua, lib-waiters.lua and lib-acquire.lua.
--
-- An owner leaves its lock to another of its instance. If it has to yield, those that wait come first, and that
-- instance behind all of them.
-- Answers whether the first owner had the lock, and then as acquire in lib-acquire.lua does.
local LOCK, WAITERS, LIVENESS, FENCE = unpack(KEYS)
local KEY, CHANNELS, RESERVATION, SKIP_DEAF, OWNER, WAITER, LEASE, WAITERS_TTL, FENCE_TTL, OWNER_BEFORE, YIELDS
	= unpack(ARGV)

local queue = queueOf(LOCK, WAITERS, LIVENESS, KEY, CHANNELS, RESERVATION, SKIP_DEAF)
local claim = claimOf(OWNER, WAITER, LEASE, WAITERS_TTL, FENCE, FENCE_TTL)
local value = look(LOCK)
if value ~= OWNER_BEFORE then
	return { 0, unpack(acquire(queue, claim)) }
end
if YIELDS ~= '1' then
	return { 1, unpack(take(queue, value, claim)) }
end
redis.call('DEL', LOCK)
unregister(queue, WAITER)
reserveForNext(queue, WAITER)
return { 1, unpack(acquire(queue, claim)) }
