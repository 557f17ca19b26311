-- Needs lib-clock.lua, lib-grant.lua, lib-lock.lua, lib-waiters.lua and lib-acquire.lua.
--
-- Afterwards either the owner has the lock and its instance does not wait for it, or it waits. The owners that it takes
-- the place of come behind the other arguments.
-- Answers as acquire in lib-acquire.lua does.
local LOCK, WAITERS, LIVENESS = unpack(KEYS)
local KEY, CHANNELS, RESERVATION, SKIP_DEAF, OWNER, WAITER, LEASE, WAITERS_TTL, FENCE_TTL, NUMBER,
	GRANT_LEASE = unpack(ARGV)
local FENCE = FENCE_TTL ~= '0' and KEYS[#KEYS] or nil
local CLAIMS = KEYS[4] ~= FENCE and KEYS[4]

return acquire(queueOf(LOCK, WAITERS, LIVENESS, CLAIMS, KEY, CHANNELS, RESERVATION, SKIP_DEAF),
	claimOf(OWNER, WAITER, LEASE, WAITERS_TTL, FENCE, FENCE_TTL, NUMBER, GRANT_LEASE,
		{ unpack(ARGV, 12) }))
