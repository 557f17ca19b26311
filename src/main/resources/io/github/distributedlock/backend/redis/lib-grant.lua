-- Needs lib-clock.lua.
--
-- The queue of a lock: the lock, its waiters, their liveness, and their claims. A waiter is an instance; or 'shared:'
-- and an instance, for the readers of the instance; or 'permits:', a number, ':' and an instance, for requests of the
-- instance that hold the lock together with so many owners, themselves included; or a ticket, which is the owner of a
-- fair request: an instance, ':' and more. The liveness holds when each group of waiters was heard last, in ms.
--
-- The claim of a waiter holds all that a grant needs: the number of the registration, the lease of the grant in ms, the
-- time of the last question in ms, and the owner. A claim counts only as long as the waiter has a place: each
-- registration writes the waiter's claim anew, or removes the claim. The number has a zero before the digits. Scripts
-- that undo a grant which reached nobody repeat the zero in their messages, and the waiter asks then.

-- A waiter asks every 600 ms at the latest, and every 100 ms once the lock is reserved for a waiter that may be dead.
-- So dead waiters are skipped within a second, and 300 ms are left for a JVM that is paused: a garbage collector may
-- take 200 ms.
local SILENCE = 900

-- Answers all that the functions below need to know of one lock. keys: the keys of the lock, the waiters, the liveness
-- and the claims; the key of the claims is nil if nothing is to be granted. arguments: the user's key; the prefix of
-- the channels, '' to publish nothing; the reservation in ms; '1' if a message that reached nobody means that the
-- waiter is gone.
local function queueOf(keys, arguments)
	return { lock = keys[1], waiters = keys[2], liveness = keys[3], claims = keys[4], key = arguments[1],
		channels = arguments[2], reservation = arguments[3], skipsDeaf = arguments[4] == '1' }
end

local function isReader(waiter)
	return string.sub(waiter, 1, 7) == 'shared:'
end

-- Answers how many owners may hold the lock together, the waiter included, as text; nil if the waiter wants no permit.
local function permitsOf(waiter)
	return string.match(waiter, '^permits:(%d+):')
end

local function isTicket(waiter)
	return not isReader(waiter) and not permitsOf(waiter) and string.find(waiter, ':', 1, true)
end

local function oldest(queue)
	return redis.pcall('ZRANGE', queue.waiters, '0', '0')[1]
end

-- A waiter leaves the queue. The claim of an instance stays, to be written anew, since an instance comes again. With
-- the last waiter, liveness and claims are removed. others: a waiter that stays, if the caller knows one.
local function unregister(queue, waiter, others)
	if redis.call('ZREM', queue.waiters, waiter) == 0 then
		return
	elseif others or oldest(queue) then
		if queue.claims and isTicket(waiter) then
			redis.pcall('HDEL', queue.claims, waiter)
		end
		return
	end
	-- DEL is not used: it would remove values of any other kind that somebody else keeps under these keys.
	redis.pcall('ZREMRANGEBYSCORE', queue.liveness, '-inf', '+inf')
	local claims = queue.claims and redis.pcall('HGETALL', queue.claims) or {}
	for i = 1, #claims, 2 do
		redis.pcall('HDEL', queue.claims, claims[i])
	end
end

-- Reads a claim. Answers nil if the text is no claim.
local function claimed(text)
	local number, lease, heard, owner = string.match(text, '^0?(%d+) (%d+) (%d+) (%S+)$')
	return number and { number = number, lease = lease, heard = tonumber(heard), owner = owner }
end

-- Answers the claim of a waiter that has a place. Answers nil or false if nothing is to be granted to the waiter: the
-- waiter has no claim; or has not asked lately, and may be dead; or would have the lock together with others, while a
-- grant is for one owner alone.
local function claimBy(queue, waiter)
	local alone = not isReader(waiter) and not permitsOf(waiter)
	local text = queue.claims and alone and redis.pcall('HGET', queue.claims, waiter)
	local claim = type(text) == 'string' and claimed(text)
	local age = claim and millis() - claim.heard
	return claim and age >= 0 and age < SILENCE and claim
end

-- Makes the owner of a waiter's claim the owner of the lock, and tells the waiter. Answers true if the waiter may have
-- heard. Answers false if the waiter certainly does not hear: then no grant was announced, the waiter keeps its place,
-- and the caller has to give the lock to another waiter, or to remove the lock. Answers nil if the lock is unchanged,
-- since the server refuses to set the lock. A message of a grant is always true: the lock is set first, so that nobody
-- is told of a grant that the server refused. Before that, an empty message finds out whether a subscriber is at this
-- server, since a grant cannot be taken back: the subscribers of a replica hear each message, too, but are not counted.
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
