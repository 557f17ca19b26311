-- Needs lib-clock.lua, lib-grant.lua, lib-lock.lua and lib-waiters.lua.
--
-- A claim gets a lock, or its waiter is registered.

-- Reads the queue and the claim from KEYS and ARGV. firstReplaced: the index in ARGV of the first owner whose place the
-- claim's owner takes. lease, waitersTtl, fenceTtl: in ms; waitersTtl is '0' for a claim that does not register. fence:
-- the key of the last fencing token, nil unless the owner is to get the next token. number: the number of the
-- registration, '0' if the lock must not be granted to the owner. grantLease: the lease of a grant, in ms.
local function read(firstReplaced)
	local owner, waiter, lease, waitersTtl, fenceTtl, number, grantLease = unpack(ARGV, 5, 11)
	local claim = { owner = owner, waiter = waiter, lease = lease, waitersTtl = waitersTtl, fenceTtl = fenceTtl,
		fence = fenceTtl ~= '0' and KEYS[#KEYS] or nil, number = number, grantLease = grantLease,
		replaces = { [owner] = true } }
	for i = firstReplaced, #ARGV do
		claim.replaces[ARGV[i]] = true
	end
	local queue = queueOf(KEYS, ARGV)
	if queue.claims == claim.fence then
		queue.claims = nil
	end
	return queue, claim
end

-- Answers the next token. A token is never less than the time, so that tokens do not go back when the last token is
-- lost. Tokens are exact up to 2^53. Answers false if the key holds something other than a token: a new token could be
-- less than the last one.
local function nextToken(claim)
	local last = redis.call('GET', claim.fence) or '0'
	if not string.match(last, '^%d+$') or tonumber(last) >= 2 ^ 53 then
		return false
	end
	local token = exact(math.max(last + 1, micros()))
	redis.call('SET', claim.fence, token, 'PX', claim.fenceTtl)
	return token
end

-- A reader, or an owner with a permit, joins a lock that is free, reserved for the claim's waiter, or held by owners
-- that may have the lock together with the claim's owner. No lease ever becomes shorter.
local function join(lock, value, claim)
	if type(value) == 'string' then
		redis.call('DEL', lock)
	end
	local permits = permitsOf(claim.waiter)
	local member = (permits and 'permit:' or 'shared:') .. claim.owner
	local before = value and redis.call('ZSCORE', lock, member) or 0
	redis.call('ZADD', lock, exact(math.max(before, millis() + claim.lease)), member)
	if permits and claim.waitersTtl ~= '0' then
		redis.call('ZREM', lock, reservedMember(claim.waiter)) -- The owner replaces the reservation for its waiter.
	end
	lastsForAll(lock)
end

-- Makes the claim's owner an owner of a lock with this value. Answers 1, and the token if the claim is fenced; or 2 if
-- the claim needs a token and there can be none.
local function take(queue, value, claim)
	-- The token comes first, since the server may refuse it, and a refusal must leave the lock alone.
	local token = claim.fence and nextToken(claim)
	if token == false then
		return { 2 }
	end
	unregister(queue, claim.waiter)
	if reservedMember(claim.waiter) then
		join(queue.lock, value, claim)
	elseif value ~= claim.owner then
		redis.call('SET', queue.lock, claim.owner, 'PX', claim.lease)
	elseif redis.call('PTTL', queue.lock) < tonumber(claim.lease) then
		-- The owner has the lock from an attempt whose answer got lost. The lease may have been extended since.
		redis.call('PEXPIRE', queue.lock, claim.lease)
	end
	return { 1, token or nil }
end

-- Answers the oldest writer that waits, nil if none waits.
local function writerWaits(queue, caller)
	removeDead(queue, caller)
	local place = 0
	local waiter = oldest(queue)
	while waiter and isReader(waiter) do
		place = place + 1
		waiter = redis.call('ZRANGE', queue.waiters, place, place)[1]
	end
	return waiter
end

-- A reader may have the lock beside other readers. But a reader does not pass a writer that waits for readers to leave.
-- A free lock is for whoever asks first.
local function mayRead(queue, value, claim)
	if type(value) ~= 'table' then
		return not value or value == 'reserved:' .. claim.waiter
	end
	return redis.call('ZSCORE', queue.lock, 'shared:' .. claim.owner)
			or redis.call('ZSCORE', queue.lock, reservedMember(claim.waiter))
			or not isOfPermits(value) and not writerWaits(queue, claim.waiter)
end

-- Answers whether a lock that several owners may have is reserved for the waiter of a claim that registers.
local function keptFor(queue, claim)
	return claim.waitersTtl ~= '0' and redis.call('ZSCORE', queue.lock, reservedMember(claim.waiter) or '')
end

-- A claim may have a free permit, or a permit that is its own already or is reserved for its waiter. Such a claim
-- passes no waiter that came before, not even a waiter of its own instance if the claim does not wait itself.
local function mayHavePermit(queue, value, claim)
	if type(value) == 'string' then
		return value == 'reserved:' .. claim.waiter
	end
	local waits = claim.waitersTtl ~= '0'
	if value and (redis.call('ZSCORE', queue.lock, 'permit:' .. claim.owner) or keptFor(queue, claim)) then
		return true
	elseif not fits(queue, claim.waiter) then
		return false
	end
	removeDead(queue, waits and claim.waiter or claim.owner)
	local first = oldest(queue)
	return not first or waits and first == claim.waiter
end

-- A claim may have a lock that is free, is the claim's own already, or is reserved for its waiter. A ticket gets a free
-- lock only if the ticket is the oldest waiter, or nobody waits.
local function mayTake(queue, value, claim)
	if isReader(claim.waiter) then
		return mayRead(queue, value, claim)
	elseif permitsOf(claim.waiter) then
		return mayHavePermit(queue, value, claim)
	elseif value and (claim.replaces[value] or value == 'reserved:' .. claim.waiter) then
		return true
	elseif value or not isTicket(claim.waiter) then
		return not value
	end
	removeDead(queue, claim.waiter)
	local first = oldest(queue)
	return not first or first == claim.waiter
end

-- Answers the same as look, but a lock that is reserved for a ticket that has died since counts as free.
local function lookSkippingDead(queue, caller)
	local value = look(queue.lock)
	local ticket = type(value) == 'string' and string.match(value, '^reserved:(.*)')
	if ticket and redis.call('PTTL', queue.lock) > tonumber(queue.reservation) then
		redis.call('PEXPIRE', queue.lock, queue.reservation) -- The clock was set back since.
	end
	if ticket and ticket ~= caller and isTicket(caller) and isTicket(ticket)
			and removeDead(queue, caller)[groupOf(ticket)] then
		redis.call('DEL', queue.lock)
		return false
	end
	return value
end

-- Asks the instance of an owner whose token ends with '~' for a lock that the instance may have kept.
local function recall(queue, owner, claim)
	local instance = instanceOf(owner)
	if queue.channels ~= '' and instance ~= instanceOf(claim.owner) and instance ~= 'reserved' and instance ~= 'parked' then
		redis.pcall('PUBLISH', queue.channels .. instance, 'recall: ' .. owner .. ' ' .. queue.key)
	end
end

-- Answers 0, a holder, and for how many ms the claim cannot have the lock: until fewer owners than the claim's permits
-- have the lock, or until no owner has the lock.
local function busy(queue, value, claim)
	local left = redis.call('PTTL', queue.lock)
	if type(value) == 'string' and string.sub(value, -1) == '~' then
		recall(queue, value, claim)
	end
	if type(value) == 'table' then
		local permits = isOfPermits(value) and permitsOf(claim.waiter)
		local last = permits and redis.call('ZRANGE', queue.lock, -permits, -permits, 'WITHSCORES')[2]
		left = last and math.max(0, last - millis()) or left
		value = string.gsub(string.gsub(value[1], '^permit:', ''), '^shared:', '')
	end
	return { 0, value, left }
end

-- Answers as take does if the lock may be acquired; else as busy does.
local function acquire(queue, claim)
	local value = lookSkippingDead(queue, claim.waiter)
	if mayTake(queue, value, claim) then
		return take(queue, value, claim)
	end
	if claim.waitersTtl ~= '0' then
		register(queue, claim.waiter, claim.waitersTtl, claim.number, claim.grantLease, claim.owner)
	end
	if not value then
		-- The lock is free, but others come first: the reservation for the oldest waiter has run out.
		wakeNext(queue, claim.waiter)
	elseif isOfPermits(value) and fits(queue, claim.waiter) then
		admit(queue) -- Others come first, too.
	else
		return busy(queue, value, claim)
	end
	value = look(queue.lock)
	if not value or value == claim.owner or value == 'reserved:' .. claim.waiter
			or type(value) == 'table' and keptFor(queue, claim) then
		return take(queue, value, claim)
	end
	return busy(queue, value, claim)
end
