-- Needs lib-clock.lua, lib-grant.lua and lib-lock.lua.
--
-- The waiters of a lock, and the rules of which waiter gets the lock next.

-- The age of a claim, in ms, from which on the claim says nothing about silence: the instance may do without scripts by
-- now.
local FORGOTTEN = 10000

-- The member of the liveness that is no group. Its score is the time of the last reset, from which on silence counts.
-- No group begins with a colon.
local RESET = ':pardon'

-- Answers the group of a waiter, whose members are heard together: all tickets of an instance, whichever of them asks.
-- Any other waiter is a group by itself, so that a waiter that nobody needs any more is silent though the instance
-- lives.
local function groupOf(waiter)
	return isTicket(waiter) and 'fair:' .. instanceOf(waiter) or waiter
end

-- Gives a waiter a place behind all others, unless the waiter has a place already. If the key of the waiters or of the
-- liveness holds something else, the function fails before a place is given. If the key of the claims does, the waiter
-- is registered without a grant. number: the number of the registration; '0' if the lock must not be granted to the
-- owner.
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
	local written = type(reply) == 'number' -- Otherwise the key holds something else, or memory is short.
	local claims = written and mayBeGranted
	-- The first registration of a second renews the time to live for all, even without a claim of its own.
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
		-- The liveness is for JVMs that do not look at claims. An instance that has just come is no group yet, and so
		-- not dead. A ticket is a group at once: a ticket keeps its place when woken, so the death of the ticket must
		-- be known for as long.
		redis.pcall('ZADD', queue.liveness, exact(millis()), groupOf(waiter))
		redis.pcall('PEXPIRE', queue.liveness, timeToLive)
	end
	if renews or not (claims and comes) then
		redis.call('PEXPIRE', queue.waiters, timeToLive)
	end
end

-- Answers when each group was heard last, in ms, as far as that is known: of an instance that does without scripts
-- nothing is known. A claim from the future is reported once, and then removed.
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

-- Resets silence: the silence of all groups counts only from now on.
local function resetSilence(queue, now)
	redis.pcall('ZADD', queue.liveness, exact(now), RESET)
	redis.pcall('PEXPIRE', queue.liveness, redis.call('PTTL', queue.waiters))
end

-- Answers the groups that were silent for too long. The group of the caller is not one of them, and an owner speaks for
-- the tickets of its instance, which do not ask while their instance has the lock. If no group was heard lately, the
-- server was paused, and silence is reset. The silence of groups that have said nothing since the last reset is not
-- reset again: otherwise requests that come too rarely to tell a silence would let the dead live for ever. Silence is
-- reset, too, if a group was heard in the future: the clock was set back, by a step or a failover.
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

-- Tells a waiter that the lock is reserved for that waiter. Answers whether the waiter may have heard. A refused
-- PUBLISH says nothing about the waiter, which then counts as one that may have heard.
local function notify(queue, waiter)
	if queue.channels == '' then
		return true -- Nothing is published: the waiter polls.
	end
	local heard = redis.pcall('PUBLISH', queue.channels .. instanceOf(waiter), waiter .. ' ' .. queue.key)
	return heard ~= 0 or not queue.skipsDeaf
end

-- Answers the member that reserves a lock for a waiter; nil if the waiter would have the lock alone.
local function reservedMember(waiter)
	return isReader(waiter) and 'reserved:' .. instanceOf(waiter)
			or permitsOf(waiter) and 'permit:reserved:' .. waiter or nil
end

-- Answers whether a waiter may have the lock together with the present owners: readers with readers; a waiter with n
-- permits if there are fewer than n holders.
local function fits(queue, waiter)
	local others = redis.pcall('ZRANGE', queue.lock, '0', '0')
	local permits = permitsOf(waiter)
	return not others[1] or isOfPermits(others) == (permits ~= nil)
			and not (permits and redis.pcall('ZRANGE', queue.lock, permits - 1, permits - 1)[1])
end

-- Reserves the lock for the oldest waiters that would have the lock together with others, as long as they fit: readers
-- before the first writer, and as many waiters as there are permits. Answers whether the lock was reserved for any.
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

-- Frees a lock. Then the lock is granted to, or reserved for, exactly one waiter that may have heard of that; or
-- reserved for all next waiters that may have the lock together; or nobody waits. A ticket keeps its place until the
-- ticket has the lock. Nothing may fail here: the lock was released, and a waiter that is not notified polls.
local function wakeNext(queue, caller)
	-- DEL comes first, since it needs no memory: a server that has none left still lets a script go on that has written.
	redis.call('DEL', queue.lock)
	local waiter = oldest(queue)
	local claim = waiter and claimBy(queue, waiter)
	if not waiter or claim and grant(queue, waiter, claim) ~= false then
		return -- If the server refused this grant, it would refuse any other, so each waiter keeps its place.
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

-- An owner releases its lock, and the next waiter gets the lock. The lock of another owner is left alone. Answers 1 if
-- the owner had the lock, else 0.
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
