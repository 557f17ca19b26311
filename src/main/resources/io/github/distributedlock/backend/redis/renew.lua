-- Each lock that its owner still owns lasts at least the lease from now; none is shortened.
-- KEYS: locks. ARGV: owner and lease in ms of each, in order. Answers for each whether its owner owns it.
local owned = {}
for i = 1, #KEYS do
	local value = redis.pcall('GET', KEYS[i])
	owned[i] = 0
	if value == ARGV[2 * i - 1] then
		if redis.call('PTTL', KEYS[i]) < tonumber(ARGV[2 * i]) then
			redis.call('PEXPIRE', KEYS[i], ARGV[2 * i])
		end
		owned[i] = 1
	elseif type(value) == 'table' and not string.find(value.err, 'WRONGTYPE', 1, true) then
		-- One lock that became something else is lost; anything else concerns them all.
		return value
	end
end
return owned
