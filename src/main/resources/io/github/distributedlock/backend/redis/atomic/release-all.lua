-- Needs lib-lock.lua and lib-waiters.lua.
--
-- Several locks of one owner are released, each as release.lua does it. KEYS are those of release.lua of each lock.
-- The user's key of each is in ARGV behind the other arguments. Answers for each whether the owner had it.
local CHANNELS, RESERVATION, SKIP_DEAF, OWNER = unpack(ARGV, 2, 5)
local OTHERS = 5 -- The number of arguments before the first user's key.

local owned = {}
for i = 1, #KEYS / 3 do
	local lock, waiters, liveness = unpack(KEYS, 3 * i - 2, 3 * i)
	owned[i] = release(queueOf(lock, waiters, liveness, ARGV[OTHERS + i], CHANNELS, RESERVATION, SKIP_DEAF), OWNER)
end
return owned
