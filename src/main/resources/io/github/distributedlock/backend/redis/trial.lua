-- Needs nothing.
--
-- Sends each command of the scripts but PUBLISH, on KEYS that do not exist, and leaves nothing behind. So a command
-- that the server refuses is known before a lock exists that could not be released. The last key is that of claims.
for _, name in ipairs(KEYS) do
	redis.call('SET', name, '', 'XX', 'PX', 1)
	redis.call('GET', name)
	redis.call('PTTL', name)
	redis.call('PEXPIRE', name, 1)
	redis.call('DEL', name)
	redis.call('ZADD', name, 'XX', 1, '')
	redis.call('ZREM', name, '')
	redis.call('ZSCORE', name, '')
	redis.call('ZRANGE', name, 0, 0)
	redis.call('ZREMRANGEBYSCORE', name, 0, 0)
end
local CLAIMS = KEYS[#KEYS]
redis.call('HDEL', CLAIMS, '')
redis.call('HGET', CLAIMS, '')
redis.call('HGETALL', CLAIMS)
redis.call('HSET', CLAIMS, '', '')
redis.call('HDEL', CLAIMS, '')
redis.call('TIME')
return 1
