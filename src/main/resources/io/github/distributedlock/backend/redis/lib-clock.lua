-- Needs nothing.

-- A number as text. Lua's own conversion loses the last digits.
local function exact(number)
	return string.format('%.0f', number)
end

local time
local function micros()
	if not time then
		local now = redis.call('TIME')
		time = now[1] * 1000000 + now[2]
	end
	return time
end

local function millis()
	return math.floor(micros() / 1000)
end
