-- Needs nothing.
--
-- KEYS are locks. All of them are the owner's afterwards, or none. Answers whether they are.
local OWNER, LEASE = unpack(ARGV)

for _, lock in ipairs(KEYS) do
	if redis.call('PTTL', lock) ~= -2 then -- It exists.
		return 0
	end
end
for _, lock in ipairs(KEYS) do
	redis.call('SET', lock, OWNER, 'PX', LEASE)
end
return 1
