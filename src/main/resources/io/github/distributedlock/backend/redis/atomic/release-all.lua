-- Several locks are given back by one owner, each as release.lua does it.
-- KEYS: those of lib-waiters.lua, for each lock. ARGV after those of lib-waiters.lua: owner, and the user's key of each lock.
-- Answers for each whether the owner had it.
local names = {}
for i, name in ipairs(KEYS) do
	names[i] = name
end
local answers = {}
for i = 1, #names / 3 do
	KEYS[1], KEYS[2], KEYS[3] = names[3 * i - 2], names[3 * i - 1], names[3 * i]
	ARGV[1] = ARGV[5 + i]
	answers[i] = giveBack(ARGV[5])
end
return answers
