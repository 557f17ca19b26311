-- Needs lib-lock.lua.
--
-- The queue of a lock: the lock, its waiters, and their liveness. A waiter is an instance; or 'shared:' and an
-- instance, for its readers; or a ticket, which is an owner: an instance, ':' and more. The liveness is when each
-- line of waiters asked last, in ms.

-- A waiter asks every 500 ms at the latest, and every 100 ms once the lock is reserved for one that may be dead. So
-- the dead are skipped within a second.
local SILENCE = 800

-- The member of the liveness that is no line: when all lines were pardoned last. No line begins with a colon.
local PARDON = ':pardon'

-- Everything that the functions below need to know of one lock.
-- key: the user's key. channels: the prefix of the channels; '' to publish nothing. reservation: in ms.
-- skipDeaf: '1' if a message that reached nobody means that the waiter is gone.
local function queueOf(lock, waiters, liveness, key, channels, reservation, skipDeaf)
	return { lock = lock, waiters = waiters, liveness = liveness, key = key, channels = channels,
		reservation = reservation, skipsDeaf = skipDeaf == '1' }
end

local function isReader(waiter)
	return string.sub(waiter, 1, 7) == 'shared:'
end

local function isTicket(waiter)
	return not isReader(waiter) and string.find(waiter, ':', 1, true)
end

-- The waiters that are heard together: all tickets of an instance, whichever of them asks. Any other waiter is a line
-- by itself, so that one that nobody wants any more is silent though its instance lives.
local function lineOf(waiter)
	return isTicket(waiter) and 'fair:' .. instanceOf(waiter) or waiter
end

local function oldest(queue)
	return redis.pcall('ZRANGE', queue.waiters, 0, 0)[1]
end

-- A waiter leaves the queue. The liveness goes with the last one.
local function unregister(queue, waiter)
	if redis.call('ZREM', queue.waiters, waiter) == 1 and not oldest(queue) then
		-- Not by DEL, which would remove whatever somebody else keeps there.
		redis.pcall('ZREMRANGEBYSCORE', queue.liveness, '-inf', '+inf')
	end
end

-- A waiter comes behind all others, unless it has its place already. Where something else is kept in the place of the
-- waiters or of their liveness, this fails before anything is changed.
local function register(queue, waiter, timeToLive)
	local place = redis.call('ZSCORE', queue.waiters, waiter)
	redis.call('ZADD', queue.liveness, exact(millis()), lineOf(waiter))
	redis.call('PEXPIRE', queue.liveness, timeToLive)
	if not place then
		local last = redis.call('ZRANGE', queue.waiters, -1, -1, 'WITHSCORES')[2] or 0
		redis.call('ZADD', queue.waiters, exact(math.max(last + 1, micros())), waiter)
	end
	redis.call('PEXPIRE', queue.waiters, timeToLive)
end

-- Answers the lines that were silent for too long. The line of the speaker is not one of them. If no line was heard,
-- the server stood still, and all are pardoned; but not those that have said nothing since the last pardon, or
-- requests that come too rarely to tell a silence would pardon the dead for ever.
local function silentLines(queue, speaker)
	local newest = redis.pcall('ZRANGE', queue.liveness, -1, -1, 'WITHSCORES')[2]
	if not newest then
		return {} -- Nothing is known of an instance that does without scripts.
	end
	local now = millis()
	local silent = now - SILENCE
	local pardoned = redis.call('ZSCORE', queue.liveness, PARDON)
	redis.pcall('ZADD', queue.liveness, 'XX', exact(now), lineOf(speaker))
	if tonumber(newest) <= silent then
		redis.pcall('ZADD', queue.liveness, exact(now), PARDON)
		return pardoned and redis.call('ZRANGEBYSCORE', queue.liveness, '-inf', '(' .. pardoned) or {}
	elseif pardoned and tonumber(pardoned) > silent then
		return {}
	end
	return redis.call('ZRANGEBYSCORE', queue.liveness, '-inf', exact(silent))
end

-- Removes all waiters of the lines that were silent for too long: they are dead. Answers these lines.
local function bury(queue, speaker)
	local dead = {}
	local lines = silentLines(queue, speaker)
	if not lines[1] then
		return dead
	end
	for _, line in ipairs(lines) do
		dead[line] = true
		redis.call('ZREM', queue.liveness, line)
	end
	for _, waiter in ipairs(redis.call('ZRANGE', queue.waiters, 0, -1)) do
		if dead[lineOf(waiter)] then
			unregister(queue, waiter)
		end
	end
	return dead
end

-- Tells a waiter that the lock is kept for it. Answers whether it may have heard. A refused PUBLISH says nothing of
-- that.
local function notify(queue, waiter)
	if queue.channels == '' then
		return true -- It polls.
	end
	local heard = redis.pcall('PUBLISH', queue.channels .. instanceOf(waiter), waiter .. ' ' .. queue.key)
	return heard ~= 0 or not queue.skipsDeaf
end

-- Keeps the lock for all readers that wait before the first writer. Answers whether there are any.
local function admitReaders(queue)
	local admitted = false
	local waiter = oldest(queue)
	while waiter and isReader(waiter) do
		unregister(queue, waiter)
		if notify(queue, waiter) then
			local expiry = exact(millis() + queue.reservation)
			redis.pcall('ZADD', queue.lock, expiry, 'reserved:' .. instanceOf(waiter))
			admitted = true
		end
		waiter = oldest(queue)
	end
	if admitted then
		lastsForAll(queue.lock)
	end
	return admitted
end

-- A free lock is reserved for exactly one waiter that was notified, or for all readers that are next; or nobody
-- waits. A ticket keeps its place until it has the lock. Nothing may fail here: the lock was released, and a waiter
-- that is not notified polls.
local function reserveForNext(queue, speaker)
	if not oldest(queue) then
		return
	end
	bury(queue, speaker)
	local waiter = oldest(queue)
	while waiter do
		if isReader(waiter) then
			if admitReaders(queue) then
				return
			end
		else
			local keepsPlace = isTicket(waiter)
			if not keepsPlace then
				unregister(queue, waiter)
			end
			if notify(queue, waiter) or keepsPlace then
				redis.pcall('SET', queue.lock, 'reserved:' .. waiter, 'PX', queue.reservation)
				return
			end
		end
		waiter = oldest(queue)
	end
end

-- An owner releases its lock, which is reserved for the next waiter then. The lock of another owner is left alone.
-- Answers 1 if the owner had it, else 0.
local function release(queue, owner)
	local value = look(queue.lock)
	local owned = value == owner
	if owned then
		redis.call('DEL', queue.lock)
		value = false
	elseif type(value) == 'table' then
		owned = leaves(queue.lock, owner)
		value = lastsForAll(queue.lock)
	end
	if not value then
		reserveForNext(queue, owner)
	end
	return owned and 1 or 0
end
