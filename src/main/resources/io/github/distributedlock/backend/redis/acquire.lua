-- Needs lib-clock.lua, lib-grant.lua, lib-lock.lua, lib-waiters.lua and lib-acquire.lua.
--
-- Afterwards either the owner has the lock and its instance does not wait for it, or it waits. The owners that it takes
-- the place of come behind the other arguments.
-- Answers as acquire in lib-acquire.lua does.
return acquire(read(12))
