-- Needs release-fast.lua, lib-clock.lua and lib-grant.lua. Comes before release.lua and the other libraries of
-- release.lua.
--
-- Releases the lock of an owner behind which the oldest waiter has asked lately, as most releases do where others wait.
local queue = queueOf(KEYS, ARGV)
if owned then
	local claim = claimBy(queue, waiting[1])
	if claim and grant(queue, waiting[1], claim, waiting[2]) then
		return 1
	end
	-- DEL comes before anything that needs memory: a server that has none left still lets a script go on that has
	-- written.
	redis.call('DEL', LOCK)
end
