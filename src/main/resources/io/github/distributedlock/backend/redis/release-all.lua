-- Needs lib-clock.lua, lib-grant.lua, lib-lock.lua and lib-waiters.lua.
--
-- Several locks of one owner are released, each as release.lua does it. KEYS are those of release.lua of each lock.
-- The user's key of each is in ARGV behind the other arguments. Answers for each whether the owner had it.
local OWNER = ARGV[5]
local OTHERS = 5 -- The number of arguments before the first user's key.
local NAMES = #KEYS / (#ARGV - OTHERS) -- Those of one lock.

local owned = {}
for i = 1, #KEYS / NAMES do
	local queue = queueOf({ unpack(KEYS, NAMES * (i - 1) + 1, NAMES * i) }, ARGV)
	queue.key = ARGV[OTHERS + i]
	owned[i] = release(queue, OWNER)
end
return owned
