-- An owner leaves its lock to another of its instance. If it has to yield, who waits comes first, and that instance
-- behind all of them.
-- ARGV after those of lib-acquire.lua: the owner before, and '1' to yield.
-- Answers whether that one had it, and then as an acquisition does.
local value = look()
if value ~= ARGV[10] then
	return { 0, unpack(acquire()) }
end
if ARGV[11] ~= '1' then
	return { 1, unpack(take(value)) }
end
redis.call('DEL', KEYS[1])
unregister(WAITER)
wakeNext(WAITER)
return { 1, unpack(acquire()) }
