-- Needs lib-lock.lua.
--
-- KEYS are locks; ARGV are the owner and the lease in ms of each lock, in order. Each lock that its owner still owns
-- lasts at least the lease from now; no lease is shortened. Answers for each lock whether the owner owns the lock.

local function renewMember(lock, owner, lease)
	local member, expiry = memberOf(lock, owner)
	if not member or tonumber(expiry) <= millis() then
		return 0 -- A lock that has become another value is lost.
	end
	-- PEXPIRE comes first, since it needs no memory: a server that has none left still lets a script go on that has
	-- written.
	redis.call('PEXPIRE', lock, math.max(redis.call('PTTL', lock), lease))
	redis.call('ZADD', lock, exact(math.max(expiry, millis() + lease)), member)
	return 1
end

local owned = {}
for i, lock in ipairs(KEYS) do
	local owner, lease = ARGV[2 * i - 1], ARGV[2 * i]
	local value = redis.pcall('GET', lock)
	owned[i] = 0
	if value == owner then
		if redis.call('PTTL', lock) < tonumber(lease) then
			redis.call('PEXPIRE', lock, lease)
		end
		owned[i] = 1
	elseif type(value) == 'table' then
		if not string.find(value.err, 'WRONGTYPE', 1, true) then
			return value -- This failure concerns all locks.
		end
		owned[i] = renewMember(lock, owner, tonumber(lease))
	end
end
return owned
