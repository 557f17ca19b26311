-- A lock is left to run out under another value, so that no late renewal revives it.
-- KEYS: lock. ARGV: owner, and the rest of its time in ms. Answers whether the owner had it.
local value = look()
local parked = 'parked:' .. ARGV[1]
if type(value) == 'table' and leaves(ARGV[1]) then
	redis.call('ZADD', KEYS[1], exact(millis() + ARGV[2]), parked)
	lastsForAll()
elseif value == ARGV[1] then
	-- A server that has no memory left still lets a script go on that has written.
	redis.call('PEXPIRE', KEYS[1], ARGV[2])
	redis.call('SET', KEYS[1], parked, 'PX', ARGV[2])
else
	return 0
end
return 1
