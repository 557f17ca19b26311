-- Needs lib-clock.lua, lib-grant.lua and lib-lock.lua.
--
-- Who waits for a lock, and which of them gets it next.

-- A claim that was written so many ms ago may be of an instance that does without scripts by now.
local FORGOTTEN = 10000

-- The member of the liveness that is no group: since when silence counts, as it was reset then. No group begins with a
-- colon.
local RESET = ':pardon'

-- The waiters that are heard together: all tickets of an instance, whichever of them asks. Any other waiter is a group
-- by itself, so that one that nobody wants any more is silent though its instance lives.
local function groupOf(waiter)
	return isTicket(waiter) and 'fair:' .. instanceOf(waiter) or waiter
end

-- A waiter comes behind all others, unless it has its place already. Where something else is kept in the place of the
-- waiters or of their liveness, this fails before anything is changed; but without claims there are no grants.
-- number: that of the registration; '0' if its owner must not be granted the lock.
local function register(queue, waiter, timeToLive, number, lease, owner)
	local last = redis.call('ZRANGE', queue.waiters, '-1', '-1', 'WITHSCORES')[2]
	-- Times to live need not be written more than once a second.
	local renews = not last or math.floor(last / 1000000) ~= math.floor(micros() / 1000000)
	local mayBeGranted, reply = number ~= '0', nil
	if queue.claims and mayBeGranted then
		local claim = '0' .. number .. ' ' .. lease .. ' ' .. exact(millis()) .. ' ' .. owner
		reply = redis.pcall('HSET', queue.claims, waiter, claim)
	elseif queue.claims then
		reply = redis.pcall('HDEL', queue.claims, waiter)
	end
	local written = type(reply) == 'number' -- Else something else is kept there, or memory is short.
	local claims = written and mayBeGranted
	-- The first in a second renews for all, also without a claim of its own.
	if written and (renews or claims and reply == 1) then
		redis.call('PEXPIRE', queue.claims, timeToLive)
	end
	if not claims then
		redis.call('ZADD', queue.liveness, exact(millis()), groupOf(waiter))
		redis.call('PEXPIRE', queue.liveness, timeToLive)
	end
	local place = exact(math.max((last or 0) + 1, micros()))
	local comes = redis.call('ZADD', queue.waiters, 'NX', place, waiter) == 1
	if claims and (not comes or isTicket(waiter)) then
		-- For those that do not look at claims. An instance that has just come is no group yet, and so not dead. A ticket
		-- is one at once: it keeps its place when it is woken, so its death must be known for as long.
		redis.pcall('ZADD', queue.liveness, exact(millis()), groupOf(waiter))
		redis.pcall('PEXPIRE', queue.liveness, timeToLive)
	end
	if renews or not (claims and comes) then
		redis.call('PEXPIRE', queue.waiters, timeToLive)
	end
end

-- Answers when each group was heard last, in ms, as far as it is known: nothing is of an instance that does without
-- scripts. A claim of a time that is yet to come is told of once.
local function heardLast(queue)
	local heard = {}
	local groups = redis.pcall('ZRANGE', queue.liveness, '0', '-1', 'WITHSCORES')
	for i = 1, #groups, 2 do
		heard[groups[i]] = tonumber(groups[i + 1])
	end
	local claims = queue.claims and redis.pcall('HGETALL', queue.claims) or {}
	for i = 1, #claims, 2 do
		local group, claim = groupOf(claims[i]), claimed(claims[i + 1])
		if claim and millis() - claim.heard < FORGOTTEN then
			heard[group] = math.max(heard[group] or 0, claim.heard)
			if claim.heard > millis() then
				redis.pcall('HDEL', queue.claims, claims[i])
			end
		end
	end
	return heard
end

-- The silence of all groups counts from now on only.
local function resetSilence(queue, now)
	redis.pcall('ZADD', queue.liveness, exact(now), RESET)
	redis.pcall('PEXPIRE', queue.liveness, redis.call('PTTL', queue.waiters))
end

-- Answers the groups that were silent for too long. The group of the caller is not one of them, and an owner speaks for
-- the tickets of its instance, which do not ask while their instance has the lock. If no group was heard,
-- the server was paused, and silence is reset; but not that of groups that have said nothing since the last reset, or
-- requests that come too rarely to tell a silence would let the dead live for ever. It is reset, too, if a group was
-- heard at a time that is yet to come: the clock was set back, by a step or a failover.
local function silentGroups(queue, caller)
	local now, heard, newest = millis(), heardLast(queue), nil
	for _, last in pairs(heard) do
		newest = math.max(newest or last, last)
	end
	if not newest then
		return {}
	end
	local limit, reset, group = now - SILENCE, heard[RESET], groupOf(caller)
	if newest > now then
		for other in pairs(heard) do
			redis.pcall('ZADD', queue.liveness, exact(now - 1), other)
		end
		resetSilence(queue, now)
		limit = -1
	elseif newest <= limit then
		resetSilence(queue, now)
		limit = (reset or 0) - 1
	elseif reset and reset > limit then
		limit = -1
	end
	if isTicket(caller) then
		redis.pcall('ZADD', queue.liveness, 'XX', exact(now), group)
	end
	local silent = {}
	for other, last in pairs(heard) do
		if other ~= group and last <= limit then
			table.insert(silent, other)
		end
	end
	return silent
end

-- Removes all waiters of the groups that were silent for too long: they are dead. Answers these groups.
local function removeDead(queue, caller)
	local dead = {}
	local groups = silentGroups(queue, caller)
	if not groups[1] then
		return dead
	end
	for _, group in ipairs(groups) do
		dead[group] = true
		redis.call('ZREM', queue.liveness, group)
	end
	for _, waiter in ipairs(redis.call('ZRANGE', queue.waiters, '0', '-1')) do
		if dead[groupOf(waiter)] then
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

-- Answers the member that keeps a lock for a waiter; nil if the waiter is not one that has it together with others.
local function reservedMember(waiter)
	return isReader(waiter) and 'reserved:' .. instanceOf(waiter)
			or permitsOf(waiter) and 'permit:reserved:' .. waiter or nil
end

-- Answers whether a waiter may have the lock together with those that have it now: readers with readers; one of n permits
-- if fewer than n have it.
local function fits(queue, waiter)
	local others = redis.pcall('ZRANGE', queue.lock, '0', '0')
	local permits = permitsOf(waiter)
	return not others[1] or isOfPermits(others) == (permits ~= nil)
			and not (permits and redis.pcall('ZRANGE', queue.lock, permits - 1, permits - 1)[1])
end

-- Keeps the lock for the waiters that come first and have it together with others, as long as they fit: readers before
-- the first writer, and as many as there are permits. Answers whether there are any.
local function admit(queue)
	local admitted = false
	local waiter = oldest(queue)
	while waiter and reservedMember(waiter) and fits(queue, waiter) do
		unregister(queue, waiter)
		if notify(queue, waiter) then
			redis.pcall('ZADD', queue.lock, exact(millis() + queue.reservation), reservedMember(waiter))
			admitted = true
		end
		waiter = oldest(queue)
	end
	if admitted then
		lastsForAll(queue.lock)
	end
	return admitted
end

-- A lock becomes free, and is granted to exactly one waiter, or reserved for it, if it may have heard of that; or
-- reserved for all that are next and may have it together; or nobody waits. A ticket keeps its place until it has the
-- lock. Nothing may fail here: the lock was released, and a waiter that is not notified polls.
local function wakeNext(queue, caller)
	-- First what needs no memory: a server that has none left still lets a script go on that has written.
	redis.call('DEL', queue.lock)
	local waiter = oldest(queue)
	local claim = waiter and claimBy(queue, waiter)
	if not waiter or claim and grant(queue, waiter, claim) ~= false then
		return -- If it was refused, so would be any other, and each keeps its place.
	end
	removeDead(queue, caller)
	waiter = oldest(queue)
	while waiter do
		if reservedMember(waiter) then
			if admit(queue) then
				return
			end
		else
			claim = claimBy(queue, waiter)
			if claim and grant(queue, waiter, claim) ~= false then
				return
			end
			local keepsPlace = isTicket(waiter)
			if not keepsPlace then
				unregister(queue, waiter)
			end
			if (not claim and notify(queue, waiter)) or keepsPlace then
				redis.pcall('SET', queue.lock, 'reserved:' .. waiter, 'PX', queue.reservation)
				return
			end
		end
		waiter = oldest(queue)
	end
end

-- An owner releases its lock, which the next waiter gets then. The lock of another owner is left alone.
-- Answers 1 if the owner had it, else 0.
local function release(queue, owner)
	local value = look(queue.lock)
	local owned = value == owner
	if owned then
		value = false
	elseif type(value) == 'table' then
		owned = leaves(queue.lock, owner)
		local permits = isOfPermits(value)
		value = lastsForAll(queue.lock)
		if value and permits and oldest(queue) then
			removeDead(queue, owner)
			admit(queue)
		end
	end
	if not value then
		wakeNext(queue, owner)
	end
	return owned and 1 or 0
end
