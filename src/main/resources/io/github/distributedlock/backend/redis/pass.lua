-- Needs lib-clock.lua, lib-grant.lua, lib-lock.lua, lib-waiters.lua and lib-acquire.lua.
--
-- An owner leaves its lock to the next owner of the same instance. If the next owner has to yield, the waiters come
-- first, and that instance behind all of them. The owners whose place the next owner takes come behind the other
-- arguments. Answers whether the first owner had the lock, and then the answer of acquire in lib-acquire.lua.
local OWNER_BEFORE, YIELDS = ARGV[12], ARGV[13]

local queue, claim = read(14)
local value = look(queue.lock)
if value ~= OWNER_BEFORE then
	return { 0, unpack(acquire(queue, claim)) }
end
if YIELDS ~= '1' then
	return { 1, unpack(take(queue, value, claim)) }
end
unregister(queue, claim.waiter)
wakeNext(queue, claim.waiter)
return { 1, unpack(acquire(queue, claim)) }
