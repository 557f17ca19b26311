-- Needs lib-clock.lua, lib-grant.lua, lib-lock.lua and lib-waiters.lua.
--
-- One owner releases several locks, each as in release.lua. KEYS are the keys of release.lua for each lock. The user's
-- keys are in ARGV behind the other arguments. Answers for each lock whether the owner had the lock.
local OWNER = ARGV[5]
local OTHERS = 5 -- The number of arguments before the first user's key.
local NAMES = #KEYS / (#ARGV - OTHERS) -- The number of keys of one lock.

local owned = {}
for i = 1, #KEYS / NAMES do
	local queue = queueOf({ unpack(KEYS, NAMES * (i - 1) + 1, NAMES * i) }, ARGV)
	queue.key = ARGV[OTHERS + i]
	owned[i] = release(queue, OWNER)
end
return owned
