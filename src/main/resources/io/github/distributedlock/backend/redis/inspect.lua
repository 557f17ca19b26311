-- Needs lib-lock.lua.
--
-- Changes nothing. Answers 1 if the lock is shared, else 0; how many holders it has; for each of them its value or
-- member, and in how many ms its time is over, -1 if never; then the waiters, oldest first.
local LOCK, WAITERS = unpack(KEYS)

local answer = { 0, 0 }
local function add(holder, left)
	answer[2] = answer[2] + 1
	table.insert(answer, holder)
	table.insert(answer, left)
end

local value = redis.pcall('GET', LOCK)
if type(value) == 'string' then
	add(value, redis.call('PTTL', LOCK))
elseif value then
	answer[1] = 1
	local members = redis.call('ZRANGE', LOCK, 0, -1, 'WITHSCORES')
	for i = 1, #members, 2 do
		local left = members[i + 1] - millis()
		if left > 0 then
			add(members[i], left)
		end
	end
end
for _, waiter in ipairs(redis.call('ZRANGE', WAITERS, 0, -1)) do
	table.insert(answer, waiter)
end
return answer
