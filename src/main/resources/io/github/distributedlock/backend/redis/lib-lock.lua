-- Needs lib-clock.lua. What is said here of a lock holds for the key in which it is kept.
--
-- A lock is a string: its owner, or 'reserved:' and the waiter it is kept for, or 'parked:' and the owner that left
-- it. While it is shared, it is a sorted set of 'shared:' and an owner, 'reserved:' and an instance whose readers may
-- come in, and 'parked:' and an owner, each with its expiry by the server's time in ms. While it is held by owners that
-- have permits, it is a sorted set of what a string would be, each behind 'permit:'. So a JVM that knows no permits fails
-- there, and takes none of them for a reader.

-- The instance of a waiter or an owner.
local function instanceOf(name)
	return string.match(name, '^shared:(.*)') or string.match(name, '^permits:%d+:(.*)') or string.match(name, '^[^:]*')
end

-- Answers whether owners that have permits hold a lock of this value.
local function isOfPermits(value)
	return type(value) == 'table' and string.sub(value[1], 1, 7) == 'permit:'
end

-- Answers false if the lock is free, else its value, or a table with one of those that share it. Those of them that
-- have run out are removed first.
local function look(lock)
	local value = redis.pcall('GET', lock)
	if type(value) ~= 'table' then
		return value
	end
	local first = redis.pcall('ZRANGE', lock, '0', '0')[1]
	local kind = first and string.match(first, '^(%l+):')
	if kind ~= 'shared' and kind ~= 'reserved' and kind ~= 'parked' and kind ~= 'permit' then
		return redis.call('GET', lock) -- It is no lock: the same error, and nothing is changed.
	end
	redis.call('ZREMRANGEBYSCORE', lock, '-inf', exact(millis()))
	local living = redis.call('ZRANGE', lock, '0', '0')
	return living[1] and living
end

-- Lets a shared lock last as long as the last of those that share it. Answers whether there are any.
local function lastsForAll(lock)
	local last = redis.call('ZRANGE', lock, '-1', '-1', 'WITHSCORES')[2]
	if last then
		redis.call('PEXPIRE', lock, exact(last - millis()))
	end
	return last
end

-- Answers an owner that has a lock together with others as a member, and its expiry; nil if it does not have it.
local function memberOf(lock, owner)
	for _, kind in ipairs({ 'shared:', 'permit:' }) do
		local expiry = redis.pcall('ZSCORE', lock, kind .. owner)
		if type(expiry) == 'string' then
			return kind .. owner, expiry
		end
	end
end

-- An owner leaves a lock that it has together with others, and what was kept for the readers of its instance goes with
-- it. Answers it as a member; nil if it did not have the lock.
local function leaves(lock, owner)
	local member = memberOf(lock, owner)
	if member then
		redis.call('ZREM', lock, member)
		redis.call('ZREM', lock, 'reserved:' .. instanceOf(owner))
	end
	return member
end
