-- One waits no more. What was reserved for it goes to the next; and readers behind a writer need not wait for it.
-- ARGV after those of waiters.lua: the waiter.
local waiter = ARGV[5]
unregister(waiter)
local value = look()
if value == 'reserved:' .. waiter then
	redis.call('DEL', KEYS[1])
	value = false
elseif type(value) == 'table' and isReader(waiter) then
	redis.call('ZREM', KEYS[1], 'reserved:' .. instanceOf(waiter))
	value = lastsForAll()
elseif type(value) == 'table' then
	bury(waiter)
	admitReaders()
end
if not value then
	wakeNext(waiter)
end
