-- Needs lib-clock.lua, lib-grant.lua, lib-lock.lua and lib-waiters.lua.
--
-- A waiter waits no more. A lock that was reserved for this waiter, or granted to one of the owners behind the other
-- arguments, goes to the next waiter. Later waiters that may share the lock need not wait for this waiter any more.
local queue = queueOf(KEYS, ARGV)
local LOCK, WAITER = queue.lock, ARGV[5]

unregister(queue, WAITER)
local value = look(LOCK)
local ours = value == 'reserved:' .. WAITER
for i = 6, #ARGV do
	ours = ours or value == ARGV[i]
end
if ours then
	value = false
elseif type(value) == 'table' then
	if reservedMember(WAITER) then
		redis.call('ZREM', LOCK, reservedMember(WAITER))
		value = lastsForAll(LOCK)
	end
	if value then
		removeDead(queue, WAITER)
		admit(queue)
	end
end
if not value then
	wakeNext(queue, WAITER)
end
return 1
