-- Each lock that its owner still owns lasts at least the lease from now; none is shortened.
-- KEYS: locks. ARGV: owner and lease in ms of each, in order. Answers for each whether its owner owns it.

-- Before a command that needs memory one that does not: a server that has none left still lets a script go on.
local function lengthen(lock, lease)
	redis.call('PEXPIRE', lock, math.max(redis.call('PTTL', lock), lease))
end

local function renewReader(lock, owner, lease)
	local reader = 'shared:' .. owner
	local expiry = redis.pcall('ZSCORE', lock, reader)
	if type(expiry) ~= 'string' or tonumber(expiry) <= millis() then
		return 0 -- What became something else is lost.
	end
	lengthen(lock, lease)
	redis.call('ZADD', lock, exact(math.max(expiry, millis() + lease)), reader)
	return 1
end

local owned = {}
for i = 1, #KEYS do
	local owner, lease = ARGV[2 * i - 1], tonumber(ARGV[2 * i])
	local value = redis.pcall('GET', KEYS[i])
	owned[i] = 0
	if value == owner then
		if redis.call('PTTL', KEYS[i]) < lease then
			redis.call('PEXPIRE', KEYS[i], ARGV[2 * i])
		end
		owned[i] = 1
	elseif type(value) == 'table' then
		if not string.find(value.err, 'WRONGTYPE', 1, true) then
			return value -- This concerns them all.
		end
		owned[i] = renewReader(KEYS[i], owner, lease)
	end
end
return owned
