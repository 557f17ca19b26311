-- Needs lib-lock.lua.
--
-- A lock is left to run out under another value, so that no late renewal revives the lock. Answers whether the owner
-- had the lock.
local LOCK = KEYS[1]
local OWNER, REST = unpack(ARGV) -- REST: in ms.

local value = look(LOCK)
local parked = 'parked:' .. OWNER
if type(value) == 'table' and leaves(LOCK, OWNER) then
	redis.call('ZADD', LOCK, exact(millis() + REST), isOfPermits(value) and 'permit:' .. parked or parked)
	lastsForAll(LOCK)
elseif value == OWNER then
	-- PEXPIRE needs no memory, and a server that has none left still lets a script go on that has written.
	redis.call('PEXPIRE', LOCK, REST)
	redis.call('SET', LOCK, parked, 'PX', REST)
else
	return 0
end
return 1
