-- Needs lib-clock.lua. What is said here of a lock holds for the key in which it is kept.
--
-- A lock is a string: its owner, or 'reserved:' and the waiter it is kept for, or 'parked:' and the owner that left
-- it. While it is shared, it is a sorted set of 'shared:' and an owner, 'reserved:' and an instance whose readers may
-- come in, and 'parked:' and an owner, each with its expiry by the server's time in ms.

-- The instance of a waiter or an owner.
local function instanceOf(name)
	return string.match(name, '^shared:(.*)') or string.match(name, '^[^:]*')
end

-- Answers false if the lock is free, else its value, or a table with one of those that share it. Those of them that
-- have run out are removed first.
local function look(lock)
	local value = redis.pcall('GET', lock)
	if type(value) ~= 'table' then
		return value
	end
	local first = redis.pcall('ZRANGE', lock, 0, 0)[1]
	local kind = first and string.match(first, '^(%l+):')
	if kind ~= 'shared' and kind ~= 'reserved' and kind ~= 'parked' then
		return redis.call('GET', lock) -- It is no lock: the same error, and nothing is changed.
	end
	redis.call('ZREMRANGEBYSCORE', lock, '-inf', exact(millis()))
	local living = redis.call('ZRANGE', lock, 0, 0)
	return living[1] and living
end

-- Lets a shared lock last as long as the last of those that share it. Answers whether there are any.
local function lastsForAll(lock)
	local last = redis.call('ZRANGE', lock, -1, -1, 'WITHSCORES')[2]
	if last then
		redis.call('PEXPIRE', lock, exact(last - millis()))
	end
	return last
end

-- A reader leaves a shared lock, and what was kept for its instance goes with it. Answers whether the reader had it.
local function leaves(lock, owner)
	if redis.call('ZREM', lock, 'shared:' .. owner) == 0 then
		return false
	end
	redis.call('ZREM', lock, 'reserved:' .. instanceOf(owner))
	return true
end
