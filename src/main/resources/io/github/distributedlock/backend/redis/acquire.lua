-- Needs lib-clock.lua, lib-grant.lua, lib-lock.lua, lib-waiters.lua and lib-acquire.lua.
--
-- Afterwards either the owner has the lock, and the claim's waiter has no place, or the waiter waits. The owners whose
-- place the claim's owner takes come behind the other arguments. The answer is the answer of acquire in
-- lib-acquire.lua.
return acquire(read(12))
