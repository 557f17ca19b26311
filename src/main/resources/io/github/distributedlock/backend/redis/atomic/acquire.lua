-- Needs lib-lock.lua, lib-waiters.lua and lib-acquire.lua.
--
-- Afterwards either the owner has the lock and its instance does not wait for it, or it waits.
-- Answers as acquire in lib-acquire.lua does.
local LOCK, WAITERS, LIVENESS, FENCE = unpack(KEYS)
local KEY, CHANNELS, RESERVATION, SKIP_DEAF, OWNER, WAITER, LEASE, WAITERS_TTL, FENCE_TTL = unpack(ARGV)

return acquire(queueOf(LOCK, WAITERS, LIVENESS, KEY, CHANNELS, RESERVATION, SKIP_DEAF),
	claimOf(OWNER, WAITER, LEASE, WAITERS_TTL, FENCE, FENCE_TTL))
