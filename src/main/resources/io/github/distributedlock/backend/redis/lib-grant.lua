-- Needs lib-clock.lua.
--
-- The queue of a lock: the lock, its waiters, their liveness, and their claims. A waiter is an instance; or 'shared:'
-- and an instance, for its readers; or 'permits:', a number, ':' and an instance, for its requests that hold the lock
-- together with so many, themselves included; or a ticket, which is an owner: an instance, ':' and more. The liveness is
-- when each group of waiters was heard last, in ms.
--
-- The claim of a waiter is what may be granted to it: the number of its registration, the lease of the grant in ms,
-- when it asked last, in ms, and the owner. It counts only as long as the waiter has a place: who registers writes its
-- claim anew, or removes it. The number has a zero before it. Scripts that undo a grant which reached nobody repeat that in
-- their messages, and the waiter asks then.

-- A waiter asks every 600 ms at the latest, and every 100 ms once the lock is reserved for one that may be dead. So
-- the dead are skipped within a second, and 300 ms are left for a JVM that is paused: a garbage collector may take
-- 200 ms.
local SILENCE = 900

-- Everything that the functions below need to know of one lock.
-- keys: those of the lock, its waiters, their liveness, and their claims, which is nil if nothing is to be granted.
-- arguments: the user's key; the prefix of the channels, '' to publish nothing; the reservation in ms; '1' if a message
-- that reached nobody means that the waiter is gone.
local function queueOf(keys, arguments)
	return { lock = keys[1], waiters = keys[2], liveness = keys[3], claims = keys[4], key = arguments[1],
		channels = arguments[2], reservation = arguments[3], skipsDeaf = arguments[4] == '1' }
end

local function isReader(waiter)
	return string.sub(waiter, 1, 7) == 'shared:'
end

-- Answers how many may hold the lock together with a waiter, itself included, as text; nil if that is not one of permits.
local function permitsOf(waiter)
	return string.match(waiter, '^permits:(%d+):')
end

local function isTicket(waiter)
	return not isReader(waiter) and not permitsOf(waiter) and string.find(waiter, ':', 1, true)
end

local function oldest(queue)
	return redis.pcall('ZRANGE', queue.waiters, '0', '0')[1]
end

-- A waiter leaves the queue. The claim of an instance is left to be written anew, since it comes again. All that is
-- kept goes with the last waiter; others: one that stays, if it is known.
local function unregister(queue, waiter, others)
	if redis.call('ZREM', queue.waiters, waiter) == 0 then
		return
	elseif others or oldest(queue) then
		if queue.claims and isTicket(waiter) then
			redis.pcall('HDEL', queue.claims, waiter)
		end
		return
	end
	-- Not by DEL, which would remove whatever somebody else keeps there.
	redis.pcall('ZREMRANGEBYSCORE', queue.liveness, '-inf', '+inf')
	local claims = queue.claims and redis.pcall('HGETALL', queue.claims) or {}
	for i = 1, #claims, 2 do
		redis.pcall('HDEL', queue.claims, claims[i])
	end
end

-- Reads a claim. Answers nil if it is none.
local function claimed(text)
	local number, lease, heard, owner = string.match(text, '^0?(%d+) (%d+) (%d+) (%S+)$')
	return number and { number = number, lease = lease, heard = tonumber(heard), owner = owner }
end

-- Answers the claim of a waiter that has a place; nil or false if nothing is to be granted to it: it has none, or has
-- not asked lately, and may be dead, or would have the lock together with others: a grant is for one owner alone.
local function claimBy(queue, waiter)
	local alone = not isReader(waiter) and not permitsOf(waiter)
	local text = queue.claims and alone and redis.pcall('HGET', queue.claims, waiter)
	local claim = type(text) == 'string' and claimed(text)
	local age = claim and millis() - claim.heard
	return claim and age >= 0 and age < SILENCE and claim
end

-- Makes what a waiter has claimed the owner of the lock, and tells it. Answers whether it may have heard. If not, it was
-- told of no grant, keeps its place, and the lock is to be given to another, or removed. Answers nil if the lock was left
-- as it was, since the server refuses to set it.
-- The message is certain: first the lock is set, so that nobody is told of what was refused. And before that an empty
-- message finds out whether a subscriber is here, since a grant cannot be taken back: the subscribers of a replica hear
-- each message, too, and are not counted.
local function grant(queue, waiter, claim, others)
	local channel = queue.channels .. string.match(waiter, '^[^:]*')
	if queue.skipsDeaf and redis.pcall('PUBLISH', channel, '') == 0 then
		return false
	elseif redis.pcall('SET', queue.lock, claim.owner, 'PX', claim.lease).err then
		return nil
	end
	redis.pcall('PUBLISH', channel,
		'granted: ' .. claim.number .. ' ' .. claim.owner .. ' ' .. waiter .. ' ' .. queue.key)
	unregister(queue, waiter, others)
	return true
end
