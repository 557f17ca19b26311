-- Afterwards either the owner has the lock and its instance does not wait, or the instance waits.
-- KEYS: lock, waiters, and the last fencing token if the owner is to get the next.
-- ARGV: owner, instance, lease in ms, time to live of the waiters in ms ('0': do not register), and that of the token.
-- Answers 1 if acquired, and the token; else 0 and the value that stands there.

-- Seconds and microseconds are put together as text: a number would lose its last digits.
local function now()
	local time = redis.call('TIME')
	return time[1] .. string.format('%06d', time[2])
end

local value = redis.call('GET', KEYS[1])
if not value or value == ARGV[1] or value == 'reserved:' .. ARGV[2] then
	-- First what may be refused, so that a refusal leaves the lock alone.
	redis.call('ZREM', KEYS[2], ARGV[2])
	local token
	if KEYS[3] then
		-- Never less than the time, so that it does not go back when the last one is lost. Exact up to 2^53.
		local last = tonumber(redis.call('GET', KEYS[3])) or 0
		token = string.format('%.0f', math.max(last + 1, tonumber(now())))
		redis.call('SET', KEYS[3], token, 'PX', ARGV[5])
	end
	if value ~= ARGV[1] then
		redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
	elseif redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then
		-- Its own, of an attempt whose answer got lost. It may have been extended since.
		redis.call('PEXPIRE', KEYS[1], ARGV[3])
	end
	return { 1, token }
end
if ARGV[4] ~= '0' then
	redis.call('ZADD', KEYS[2], 'NX', now(), ARGV[2])
	redis.call('PEXPIRE', KEYS[2], ARGV[4])
end
return { 0, value }
