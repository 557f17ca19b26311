-- Needs lib-clock.lua, lib-grant.lua, lib-lock.lua, lib-waiters.lua and lib-acquire.lua.
--
-- An owner leaves its lock to another of its instance. If it has to yield, those that wait come first, and that
-- instance behind all of them. The owners that it takes the place of come behind the other arguments.
-- Answers whether the first owner had the lock, and then as acquire in lib-acquire.lua does.
local LOCK, WAITERS, LIVENESS = unpack(KEYS)
local KEY, CHANNELS, RESERVATION, SKIP_DEAF, OWNER, WAITER, LEASE, WAITERS_TTL, FENCE_TTL, NUMBER, GRANT_LEASE,
	OWNER_BEFORE, YIELDS = unpack(ARGV)
local FENCE = FENCE_TTL ~= '0' and KEYS[#KEYS] or nil
local CLAIMS = KEYS[4] ~= FENCE and KEYS[4]

local queue = queueOf(LOCK, WAITERS, LIVENESS, CLAIMS, KEY, CHANNELS, RESERVATION, SKIP_DEAF)
local claim = claimOf(OWNER, WAITER, LEASE, WAITERS_TTL, FENCE, FENCE_TTL, NUMBER, GRANT_LEASE,
	{ unpack(ARGV, 14) })
local value = look(LOCK)
if value ~= OWNER_BEFORE then
	return { 0, unpack(acquire(queue, claim)) }
end
if YIELDS ~= '1' then
	return { 1, unpack(take(queue, value, claim)) }
end
unregister(queue, WAITER)
wakeNext(queue, WAITER)
return { 1, unpack(acquire(queue, claim)) }
