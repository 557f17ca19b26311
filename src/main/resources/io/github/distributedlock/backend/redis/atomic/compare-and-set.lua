-- The lock gets another value, or is removed, if it has the expected one.
-- KEYS: lock. ARGV: expected value, time to live in ms, and the other value if it is not to be removed.
-- Answers whether it had that value.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
	return 0
end
if not ARGV[3] then
	redis.call('DEL', KEYS[1])
	return 1
end
-- One that stays what it is does not live shorter, however late this comes.
if ARGV[3] == ARGV[1] and redis.call('PTTL', KEYS[1]) >= tonumber(ARGV[2]) then
	return 1
end
-- A server that has no memory left still lets a script go on that has written.
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[2])
return 1
