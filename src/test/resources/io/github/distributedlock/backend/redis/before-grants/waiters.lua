-- Who waits for the lock, and is it now. A waiter is an instance; 'shared:' and an instance, for its readers; or a
-- ticket, which is an owner: an instance, ':' and more. The liveness is when each line of them last asked, in ms.
-- KEYS: lock, waiters, liveness.
-- ARGV: the user's key, channel prefix, reservation in ms, '1' to skip who cannot hear.

-- Who waits asks every 500 ms at the latest, and every 100 once the lock is reserved for one that may be dead: so the
-- dead are skipped within a second.
local SILENCE = 800

local function isReader(waiter)
	return string.sub(waiter, 1, 7) == 'shared:'
end

local function isTicket(waiter)
	return not isReader(waiter) and string.find(waiter, ':', 1, true)
end

-- Those that are heard together: all tickets of an instance by whoever of them asks; any other waiter by itself, so
-- that one which nobody wants any more is silent though its instance lives.
local function lineOf(waiter)
	return isTicket(waiter) and 'fair:' .. instanceOf(waiter) or waiter
end

local function oldest()
	return redis.pcall('ZRANGE', KEYS[2], 0, 0)[1]
end

-- One waits no more. Nobody's liveness is kept when nobody waits.
local function unregister(waiter)
	if redis.call('ZREM', KEYS[2], waiter) == 1 and not oldest() then
		redis.call('DEL', KEYS[3])
	end
end

-- One waits, behind all others, unless it has its place already.
local function register(waiter, timeToLive)
	if not redis.call('ZSCORE', KEYS[2], waiter) then
		local last = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')[2] or 0
		redis.call('ZADD', KEYS[2], exact(math.max(last + 1, micros())), waiter)
	end
	redis.call('ZADD', KEYS[3], exact(millis()), lineOf(waiter))
	redis.call('PEXPIRE', KEYS[2], timeToLive)
	redis.call('PEXPIRE', KEYS[3], timeToLive)
end

-- Whoever was silent for too long is dead, and all its waiters go at once. Who speaks is not, before anybody is
-- judged; and if nobody was heard, it was the server that stood still. Of an instance that does without scripts
-- nothing is known. Answers who was dead.
local function bury(speaker)
	local dead = {}
	local newest = redis.pcall('ZRANGE', KEYS[3], -1, -1, 'WITHSCORES')[2]
	if not newest then
		return dead
	end
	local now = millis()
	local silent = exact(now - SILENCE)
	if tonumber(newest) <= now - SILENCE then
		silent = '-inf'
		for _, line in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1)) do
			redis.call('ZADD', KEYS[3], exact(now), line)
		end
	end
	redis.pcall('ZADD', KEYS[3], 'XX', exact(now), lineOf(speaker))
	local lines = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', silent)
	if not lines[1] then
		return dead
	end
	for _, line in ipairs(lines) do
		dead[line] = true
		redis.call('ZREM', KEYS[3], line)
	end
	for _, waiter in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
		if dead[lineOf(waiter)] then
			unregister(waiter)
		end
	end
	return dead
end

-- Answers whether it may have heard. A refused PUBLISH tells nothing about that.
local function wake(waiter)
	return redis.pcall('PUBLISH', ARGV[2] .. instanceOf(waiter), waiter .. ' ' .. ARGV[1]) ~= 0 or ARGV[4] ~= '1'
end

-- The readers that wait before any writer may come in. Answers whether there are any.
local function admitReaders()
	local admitted = false
	local waiter = oldest()
	while waiter and isReader(waiter) do
		unregister(waiter)
		if wake(waiter) then
			redis.pcall('ZADD', KEYS[1], exact(millis() + ARGV[3]), 'reserved:' .. instanceOf(waiter))
			admitted = true
		end
		waiter = oldest()
	end
	if admitted then
		lastsForAll()
	end
	return admitted
end

-- The lock is free: it is reserved for exactly one waiter that was told, or for all readers that are next; or
-- nobody waits. A ticket keeps its place until it has the lock. Nothing may fail here: the lock was given back, and
-- who is not woken polls.
local function wakeNext(speaker)
	if not oldest() then
		return
	end
	bury(speaker)
	local waiter = oldest()
	while waiter do
		if isReader(waiter) then
			if admitReaders() then
				return
			end
		else
			local keepsPlace = isTicket(waiter)
			if not keepsPlace then
				unregister(waiter)
			end
			if wake(waiter) or keepsPlace then
				redis.pcall('SET', KEYS[1], 'reserved:' .. waiter, 'PX', ARGV[3])
				return
			end
		end
		waiter = oldest()
	end
end

-- A lock that is given back, or gone, is reserved for who waits, or is free and nobody waits. Somebody else's lock is
-- left alone. Answers whether the owner had it.
local function giveBack(owner)
	local value = look()
	local owned = value == owner
	if owned then
		redis.call('DEL', KEYS[1])
		value = false
	elseif type(value) == 'table' then
		owned = leaves(owner)
		value = lastsForAll()
	end
	if not value then
		wakeNext(owner)
	end
	return owned and 1 or 0
end
