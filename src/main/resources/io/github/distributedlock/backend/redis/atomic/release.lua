-- Needs release-fast.lua, lib-lock.lua and lib-waiters.lua.
--
-- Answers whether the owner had the lock.
local LIVENESS = KEYS[3]
local KEY, CHANNELS, RESERVATION, SKIP_DEAF = unpack(ARGV)

local before = owned and 1 or 0
return math.max(before, release(queueOf(LOCK, WAITERS, LIVENESS, KEY, CHANNELS, RESERVATION, SKIP_DEAF), OWNER))
