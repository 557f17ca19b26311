-- Each command of the scripts but PUBLISH, without an effect on keys that do not exist: what the server refuses of it is
-- known before there is a lock that could not be given back.
-- KEYS: those of a lock that nobody uses.
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
	redis.call('ZRANGEBYSCORE', name, 0, 0)
	redis.call('ZREMRANGEBYSCORE', name, 0, 0)
end
redis.call('TIME')
return 1
