-- How a claim gets the lock, or becomes a waiter.
-- KEYS: lock, waiters, liveness, and the last fencing token if the owner is to get the next.
-- ARGV after those of waiters.lua: owner, waiter, lease in ms, time to live of the waiters in ms ('0': do not
-- register), and that of the token.

local OWNER, WAITER, LEASE = ARGV[5], ARGV[6], ARGV[7]

-- Never less than the time, so that it does not go back when the last one is lost. Exact up to 2^53.
local function nextToken()
	local last = tonumber(redis.call('GET', KEYS[4])) or 0
	local token = exact(math.max(last + 1, micros()))
	redis.call('SET', KEYS[4], token, 'PX', ARGV[9])
	return token
end

-- None of those who share a lock ever gets a shorter lease.
local function join(value)
	if type(value) == 'string' then
		redis.call('DEL', KEYS[1])
	end
	local reader = 'shared:' .. OWNER
	local before = value and redis.call('ZSCORE', KEYS[1], reader) or 0
	redis.call('ZADD', KEYS[1], exact(math.max(before, millis() + LEASE)), reader)
	lastsForAll()
end

-- The lock is the owner's, instead of the value.
local function take(value)
	-- First what may be refused, so that a refusal leaves the lock alone.
	unregister(WAITER)
	local token = KEYS[4] and nextToken()
	if isReader(WAITER) then
		join(value)
	elseif value ~= OWNER then
		redis.call('SET', KEYS[1], OWNER, 'PX', LEASE)
	elseif redis.call('PTTL', KEYS[1]) < tonumber(LEASE) then
		-- Its own, of an attempt whose answer got lost. It may have been extended since.
		redis.call('PEXPIRE', KEYS[1], LEASE)
	end
	return { 1, token or nil }
end

-- Whether somebody waits who wants the lock alone.
local function writerWaits()
	bury(WAITER)
	local place = 0
	local waiter = oldest()
	while waiter and isReader(waiter) do
		place = place + 1
		waiter = redis.call('ZRANGE', KEYS[2], place, place)[1]
	end
	return waiter
end

-- Who came later is not let in before a writer that waits for readers to go. On a free lock nobody defers.
local function mayRead(value)
	if type(value) ~= 'table' then
		return not value or value == 'reserved:' .. WAITER
	end
	return redis.call('ZSCORE', KEYS[1], 'shared:' .. OWNER)
			or redis.call('ZSCORE', KEYS[1], 'reserved:' .. instanceOf(WAITER))
			or not writerWaits()
end

-- A ticket gets a free lock only if it is the first, or there is none.
local function mayTake(value)
	if isReader(WAITER) then
		return mayRead(value)
	elseif value == OWNER or value == 'reserved:' .. WAITER then
		return true
	elseif value or not isTicket(WAITER) then
		return not value
	end
	bury(WAITER)
	local first = oldest()
	return not first or first == WAITER
end

-- What is reserved for a ticket that died since is free.
local function lookPastTheDead()
	local value = look()
	local ticket = type(value) == 'string' and string.match(value, '^reserved:(.*)')
	if ticket and ticket ~= WAITER and isTicket(WAITER) and isTicket(ticket) and bury(WAITER)[lineOf(ticket)] then
		redis.call('DEL', KEYS[1])
		return false
	end
	return value
end

-- Answers 1 if acquired, and the token; else 0 and who has it.
local function acquire()
	local value = lookPastTheDead()
	if mayTake(value) then
		return take(value)
	end
	if ARGV[8] ~= '0' then
		register(WAITER, ARGV[8])
	end
	if not value then
		-- Free, and others come first: the reservation for the first of them has run out.
		wakeNext(WAITER)
		value = look()
		if not value or value == 'reserved:' .. WAITER then
			return take(value)
		end
	end
	if type(value) == 'table' then
		value = string.gsub(value[1], '^shared:', '')
	end
	return { 0, value or nil }
end
