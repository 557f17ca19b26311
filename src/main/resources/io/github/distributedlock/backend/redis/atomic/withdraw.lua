-- Needs lib-lock.lua and lib-waiters.lua.
--
-- A waiter waits no more. What was reserved for it goes to the next one; and readers behind a writer need not wait
-- for it.
local LOCK, WAITERS, LIVENESS = unpack(KEYS)
local KEY, CHANNELS, RESERVATION, SKIP_DEAF, WAITER = unpack(ARGV)

local queue = queueOf(LOCK, WAITERS, LIVENESS, KEY, CHANNELS, RESERVATION, SKIP_DEAF)
unregister(queue, WAITER)
local value = look(LOCK)
if value == 'reserved:' .. WAITER then
	redis.call('DEL', LOCK)
	value = false
elseif type(value) == 'table' and isReader(WAITER) then
	redis.call('ZREM', LOCK, 'reserved:' .. instanceOf(WAITER))
	value = lastsForAll(LOCK)
elseif type(value) == 'table' then
	bury(queue, WAITER)
	admitReaders(queue)
end
if not value then
	reserveForNext(queue, WAITER)
end
