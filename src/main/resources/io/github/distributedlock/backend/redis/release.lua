-- A lock that is given back, or gone, is reserved for who waits, or is free and nobody waits. Somebody else's lock is
-- left alone.
-- ARGV after those of waiters.lua: owner. Answers whether the owner had it.
local value = look()
if type(value) == 'table' then
	owned = leaves(ARGV[5])
	value = lastsForAll()
end
if not value then
	wakeNext(instanceOf(ARGV[5]))
end
return owned and 1 or 0
