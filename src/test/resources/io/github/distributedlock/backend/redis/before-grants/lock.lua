-- A lock, as it stands in Redis: a string, which is its owner, or 'reserved:' and who it is kept for, or
-- 'parked:' and who left it; or a sorted set while it is shared, of 'shared:' and an owner, 'reserved:' and an
-- instance whose readers may come in, and 'parked:' and an owner, each with its expiry by the server's time in ms.
-- KEYS: lock.

-- As text, of which Lua's own conversion loses the last digits.
local function exact(number)
	return string.format('%.0f', number)
end

local time
local function micros()
	if not time then
		local now = redis.call('TIME')
		time = now[1] * 1000000 + now[2]
	end
	return time
end

local function millis()
	return math.floor(micros() / 1000)
end

-- Of a waiter or an owner.
local function instanceOf(name)
	return string.match(name, '^shared:(.*)') or string.match(name, '^[^:]*')
end

-- False if it is free, its value, or a table with one of those who share it. The dead of those are gone then.
local function look()
	local value = redis.pcall('GET', KEYS[1])
	if type(value) ~= 'table' then
		return value
	end
	local first = redis.pcall('ZRANGE', KEYS[1], 0, 0)[1]
	local kind = first and string.match(first, '^(%l+):')
	if kind ~= 'shared' and kind ~= 'reserved' and kind ~= 'parked' then
		return redis.call('GET', KEYS[1]) -- It is no lock: the same error, and nothing is changed.
	end
	redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', exact(millis()))
	local living = redis.call('ZRANGE', KEYS[1], 0, 0)
	return living[1] and living
end

-- Lets a shared lock last as long as the last of those who share it. Answers whether anybody does.
local function lastsForAll()
	local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2]
	if last then
		redis.call('PEXPIRE', KEYS[1], exact(last - millis()))
	end
	return last
end

-- One reader goes, and what was kept for its instance with it. Answers whether it was there.
local function leaves(owner)
	if redis.call('ZREM', KEYS[1], 'shared:' .. owner) == 0 then
		return false
	end
	redis.call('ZREM', KEYS[1], 'reserved:' .. instanceOf(owner))
	return true
end
