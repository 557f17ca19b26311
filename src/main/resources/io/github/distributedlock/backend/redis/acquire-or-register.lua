-- Afterwards either the owner has the lock and its instance does not wait, or the instance waits.
-- KEYS: lock, waiters. ARGV: owner, instance, lease in ms, time to live of the waiters in ms.
-- Answers nil if acquired, else the value that stands there.
local value = redis.call('GET', KEYS[1])
if not value or value == ARGV[1] or value == 'reserved:' .. ARGV[2] then
	-- First what may be refused, so that a refusal leaves the lock alone.
	redis.call('ZREM', KEYS[2], ARGV[2])
	if value ~= ARGV[1] then
		redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
	elseif redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then
		-- Its own, of an attempt whose answer got lost. It may have been extended since.
		redis.call('PEXPIRE', KEYS[1], ARGV[3])
	end
	return false
end
-- Seconds and microseconds are put together as text: a number would lose its last digits.
local time = redis.call('TIME')
redis.call('ZADD', KEYS[2], 'NX', time[1] .. string.format('%06d', time[2]), ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
return value
