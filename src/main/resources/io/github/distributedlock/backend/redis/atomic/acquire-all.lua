-- All locks are the owner's, or none.
-- KEYS: locks. ARGV: owner, lease in ms. Answers whether they are.
for _, lock in ipairs(KEYS) do
	if redis.call('PTTL', lock) ~= -2 then -- It exists.
		return 0
	end
end
for _, lock in ipairs(KEYS) do
	redis.call('SET', lock, ARGV[1], 'PX', ARGV[2])
end
return 1
