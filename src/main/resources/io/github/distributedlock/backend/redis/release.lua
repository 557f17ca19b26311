-- Locks that are given back, or gone, are reserved for who waits, or are free and nobody waits. Somebody else's lock is
-- left alone.
-- KEYS: those of waiters.lua, for each lock. ARGV after those of waiters.lua: owner, and the users' keys of further
-- locks. Answers for each whether the owner had it.
local OWNER = ARGV[5]

local function release()
	local value = look()
	local owned = value == OWNER
	if type(value) == 'table' then
		owned = leaves(OWNER)
		value = lastsForAll()
	elseif owned then
		-- Before anything that needs memory: a server that has none left still lets a script go on that has written.
		redis.call('DEL', KEYS[1])
		value = false
	end
	if not value then
		wakeNext(instanceOf(OWNER))
	end
	return owned and 1 or 0
end

local owned = { release() }
local names = { unpack(KEYS) }
for i = 2, #names / 3 do
	KEYS[1], KEYS[2], KEYS[3] = names[3 * i - 2], names[3 * i - 1], names[3 * i]
	ARGV[1] = ARGV[4 + i]
	owned[i] = release()
end
return owned
