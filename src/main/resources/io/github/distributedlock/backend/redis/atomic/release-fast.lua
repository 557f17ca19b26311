-- Comes before release.lua and its libraries, each function of which costs the server time: what most releases are,
-- of an owner behind which nobody waits.
local LOCK, WAITERS, OWNER = KEYS[1], KEYS[2], ARGV[5]

local owned = redis.pcall('GET', LOCK) == OWNER
if owned then
	-- Before anything that needs memory: a server that has none left still lets a script go on that has written.
	redis.call('DEL', LOCK)
	if not redis.pcall('ZRANGE', WAITERS, 0, 0)[1] then
		return 1
	end
end
