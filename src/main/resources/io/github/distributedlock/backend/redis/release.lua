-- A lock that is given back, or gone, is reserved for exactly one waiter that was told, or is free and
-- nobody waits. Somebody else's lock is left alone. A withdrawal gives back what is reserved for the instance.
-- KEYS: lock, waiters.
-- ARGV: owner or reservation, the user's key, channel prefix, reservation in ms, '1' to skip who cannot hear,
-- and the instance that withdraws, if one does. Answers whether the lock had that value.
if ARGV[6] then
	redis.call('ZREM', KEYS[2], ARGV[6])
end
local value = redis.call('GET', KEYS[1])
if value and value ~= ARGV[1] then
	return 0
end
-- Before anything that needs memory: a server that has none left still lets a script go on that has written.
if value then
	redis.call('DEL', KEYS[1])
end
-- From here on nothing may fail: the lock is given back, and who is not woken polls.
while true do
	local instance = redis.pcall('ZPOPMIN', KEYS[2])[1]
	if not instance then
		break
	end
	local heard = redis.pcall('PUBLISH', ARGV[3] .. instance, instance .. ' ' .. ARGV[2])
	-- A refused PUBLISH tells nothing about who hears.
	if heard ~= 0 or ARGV[5] ~= '1' then
		redis.pcall('SET', KEYS[1], 'reserved:' .. instance, 'PX', ARGV[4])
		break
	end
end
return value and 1 or 0
