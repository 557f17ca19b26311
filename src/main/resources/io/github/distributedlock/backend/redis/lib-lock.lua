-- Needs lib-clock.lua.
--
-- In these comments, a lock is the Redis key that keeps the lock.
--
-- A lock is a string: the owner, or 'reserved:' and the waiter that the lock is kept for, or 'parked:' and the owner
-- that left the lock. A shared lock is a sorted set of 'shared:' and an owner, 'reserved:' and an instance whose
-- readers may come in, and 'parked:' and an owner, each with its expiry by the server's time in ms. A lock of owners
-- with permits is a sorted set of the same texts as in the string, each behind 'permit:'. So a JVM that knows no
-- permits fails on such a lock, and takes no owner with a permit for a reader.

-- Answers the instance of a waiter or an owner.
local function instanceOf(name)
	return string.match(name, '^shared:(.*)') or string.match(name, '^permits:%d+:(.*)') or string.match(name, '^[^:]*')
end

-- Answers whether owners that have permits hold a lock of this value.
local function isOfPermits(value)
	return type(value) == 'table' and string.sub(value[1], 1, 7) == 'permit:'
end

-- Answers false or nil if the lock is free; else the value, or a table with one of the members that share the lock.
-- Members whose time is over are removed first.
local function look(lock)
	local value = redis.pcall('GET', lock)
	if type(value) ~= 'table' then
		return value
	end
	local first = redis.pcall('ZRANGE', lock, '0', '0')[1]
	local kind = first and string.match(first, '^(%l+):')
	if kind ~= 'shared' and kind ~= 'reserved' and kind ~= 'parked' and kind ~= 'permit' then
		return redis.call('GET', lock) -- The key holds no lock: GET fails again, and nothing is changed.
	end
	redis.call('ZREMRANGEBYSCORE', lock, '-inf', exact(millis()))
	local living = redis.call('ZRANGE', lock, '0', '0')
	return living[1] and living
end

-- Lets a shared lock last until the last expiry of its members. Answers that expiry, nil if the lock has no members.
local function lastsForAll(lock)
	local last = redis.call('ZRANGE', lock, '-1', '-1', 'WITHSCORES')[2]
	if last then
		redis.call('PEXPIRE', lock, exact(last - millis()))
	end
	return last
end

-- Answers the member and the expiry of an owner that has a lock together with others; nothing if the owner does not
-- have the lock.
local function memberOf(lock, owner)
	for _, kind in ipairs({ 'shared:', 'permit:' }) do
		local expiry = redis.pcall('ZSCORE', lock, kind .. owner)
		if type(expiry) == 'string' then
			return kind .. owner, expiry
		end
	end
end

-- An owner leaves a lock that the owner has together with others. The reservation for the readers of the owner's
-- instance is removed, too. Answers the member of the owner; nil if the owner did not have the lock.
local function leaves(lock, owner)
	local member = memberOf(lock, owner)
	if member then
		redis.call('ZREM', lock, member)
		redis.call('ZREM', lock, 'reserved:' .. instanceOf(owner))
	end
	return member
end
