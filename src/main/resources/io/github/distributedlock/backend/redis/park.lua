-- The lock runs out under a value that is nobody's owner token, so that no late renewal revives it.
-- KEYS: lock. ARGV: owner, rest in ms. Answers whether the owner owned the lock.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
	return 0
end
-- A server that has no memory left still lets a script go on that has written.
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('SET', KEYS[1], 'parked:' .. ARGV[1], 'PX', ARGV[2])
return 1
