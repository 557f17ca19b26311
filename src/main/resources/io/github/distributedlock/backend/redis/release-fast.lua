-- Releases the lock of an owner behind which nobody waits, as most releases do. This part comes before release.lua and
-- the libraries, since each function of a library costs the server time. Constants are text here and in the libraries:
-- Lua needs 0.25 us for a number.
local LOCK, WAITERS, OWNER = KEYS[1], KEYS[2], ARGV[5]

local owned = redis.pcall('GET', LOCK) == OWNER
local waiting = owned and redis.pcall('ZRANGE', WAITERS, '0', '1')
if owned and not waiting[1] then
	redis.call('DEL', LOCK)
	return 1
end
