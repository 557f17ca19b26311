-- Needs nothing.
--
-- A lock that has the expected value gets the replacement, or is removed if there is no replacement. Answers 1 if the
-- lock had the expected value, else 0.
local LOCK = KEYS[1]
local EXPECTED, TIME_TO_LIVE, REPLACEMENT = unpack(ARGV) -- TIME_TO_LIVE: in ms.

if redis.call('GET', LOCK) ~= EXPECTED then
	return 0
end
if not REPLACEMENT then
	redis.call('DEL', LOCK)
	return 1
end
-- A lock that keeps its value does not get a shorter time to live, however late this command comes.
if REPLACEMENT == EXPECTED and redis.call('PTTL', LOCK) >= tonumber(TIME_TO_LIVE) then
	return 1
end
-- PEXPIRE needs no memory, and a server that has none left still lets a script go on that has written.
redis.call('PEXPIRE', LOCK, TIME_TO_LIVE)
redis.call('SET', LOCK, REPLACEMENT, 'PX', TIME_TO_LIVE)
return 1
