-- Needs release-fast.lua, lib-clock.lua, lib-grant.lua, release-grant.lua, lib-lock.lua and lib-waiters.lua.
--
-- Answers whether the owner had the lock.
return math.max(owned and 1 or 0, release(queue, OWNER))
