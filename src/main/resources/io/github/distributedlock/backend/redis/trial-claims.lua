-- Needs nothing.
--
-- Sends each further command that grants need, on claims that do not exist, and leaves nothing behind.
local CLAIMS = KEYS[1]

redis.call('HDEL', CLAIMS, '')
redis.call('HGET', CLAIMS, '')
redis.call('HGETALL', CLAIMS)
redis.call('HSET', CLAIMS, '', '')
redis.call('HDEL', CLAIMS, '')
return 1
