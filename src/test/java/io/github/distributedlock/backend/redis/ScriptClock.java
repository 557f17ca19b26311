package io.github.distributedlock.backend.redis;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.distributedlock.backend.redis.internal.Command;
import io.github.distributedlock.backend.redis.internal.Command.Verb;
import io.github.distributedlock.backend.redis.internal.Link;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.ZAddParams;

import org.springframework.dao.InvalidDataAccessResourceUsageException;

/**
 * A way to a real server on which time passes only when the test says so. Each script
 * runs behind a prelude that has a {@code redis} of its own: the time, the ends of keys
 * and the subscribers of channels are the test's. A plain command runs as a script of
 * this one command.
 * <p>
 * Confined to one thread.
 */
final class ScriptClock implements Link {

	/**
	 * The end of the name of the key that has the ends of the test's keys.
	 */
	private static final byte[] ENDS = KeyNames.bytes("ends-of-keys");

	/**
	 * A key whose time is over is removed before the script, a member of a lock after the
	 * script. So a clock that is set back revives nothing whose end a step has seen.
	 */
	private static final String PRELUDE = """
			local NOW, DEAF, ENDS, COUNT = tonumber(ARGV[1]), ARGV[2], ARGV[3], tonumber(ARGV[4])
			local names = { unpack(ARGV, 5, 4 + COUNT) }
			local ARGV = { unpack(ARGV, 5 + COUNT) }
			local server, redis, ends, sent = redis, {}, {}, {}

			local function exists(name)
				return server.call('EXISTS', name) == 1
			end

			local function endsAt(name, time)
				ends[name] = time
				if time <= NOW then
					server.call('DEL', name)
				end
			end

			local function run(call, verb, name, ...)
				if verb == 'TIME' then
					return { tostring(math.floor(NOW / 1000)), tostring(NOW % 1000 * 1000) }
				elseif verb == 'PUBLISH' then
					if string.find(DEAF, ' ' .. string.match(name, '[^:]*$') .. ' ', 1, true) then
						return 0
					end
					sent[#sent + 1] = ...
					return 1
				elseif verb == 'PTTL' then
					return not exists(name) and -2 or ends[name] and ends[name] - NOW or -1
				elseif verb == 'PEXPIRE' then
					if not exists(name) then
						return 0
					end
					endsAt(name, NOW + tonumber(...))
					return 1
				elseif verb == 'SET' then
					local value, px, millis, condition = ...
					if condition == 'NX' and exists(name) or condition == 'XX' and not exists(name) then
						return false
					end
					local reply = call(verb, name, value)
					endsAt(name, NOW + tonumber(millis))
					return reply
				end
				local reply = call(verb, name, ...)
				if not exists(name) then
					ends[name] = nil
				end
				return reply
			end

			function redis.call(...)
				return run(server.call, ...)
			end

			function redis.pcall(...)
				return run(server.pcall, ...)
			end

			for _, name in ipairs(names) do
				local time = tonumber(server.call('HGET', ENDS, name) or '0')
				if time > NOW then
					ends[name] = time
				elseif time > 0 then
					server.call('DEL', name)
				end
			end

			local function script()
			""";

	private static final String EPILOGUE = """

			end

			local answer = script()
			local stored = {}
			for i = 1, COUNT, 5 do
				server.pcall('ZREMRANGEBYSCORE', names[i], '-inf', string.format('%.0f', NOW))
				if not exists(names[i]) then
					ends[names[i]] = nil
				end
			end
			for i, name in ipairs(names) do
				local kind = server.call('TYPE', name).ok
				local text = string.format('%.0f', ends[name] or 0)
				stored[i] = { text, kind == 'string' and server.call('GET', name)
						or kind == 'zset' and server.call('ZRANGE', name, 0, -1, 'WITHSCORES')
						or kind == 'hash' and server.call('HGETALL', name) }
				if ends[name] then
					server.call('HSET', ENDS, name, text)
				else
					server.call('HDEL', ENDS, name)
				end
			end
			return { answer or false, sent, stored }
			""";

	private static final byte[] PLAIN = KeyNames.bytes("return redis.call(unpack(ARGV))");

	/**
	 * The digest of each script, by the array that has the text.
	 */
	private final Map<byte[], byte[]> loaded = new IdentityHashMap<>();

	private final Jedis server;

	private final KeyNames names;

	private final UnaryOperator<String> mistake;

	private long now;

	private String deaf = "";

	private List<String> keys = List.of();

	private final List<String> messages = new ArrayList<>();

	private final Map<String, Stored> stored = new HashMap<>();

	/**
	 * @param mistake changes the text of a script before the script is loaded
	 */
	ScriptClock(Jedis server, KeyNames names, UnaryOperator<String> mistake) {
		this.server = server;
		this.names = names;
		this.mistake = mistake;
	}

	/**
	 * The stored state of a user's key: texts, lists of texts, or {@code null}, each with
	 * an end in ms, 0 for none.
	 */
	record Stored(Kept lock, Kept waiters, Kept liveness, Kept claims, Kept fence) {

		record Kept(long end, @Nullable Object value) {

			/**
			 * Returns the members with their scores, or the fields with their values.
			 */
			Stream<String[]> pairs() {
				List<?> all = (this.value instanceof List<?> list) ? list : List.of();
				return IntStream.range(0, all.size() / 2)
					.mapToObj((i) -> new String[] { KeyNames.text((byte[]) all.get(2 * i)),
							KeyNames.text((byte[]) all.get(2 * i + 1)) });
			}

			@Nullable String text() {
				return (this.value instanceof byte[] bytes) ? KeyNames.text(bytes) : null;
			}

			long number() {
				String text = text();
				return (text != null) ? Long.parseLong(text) : 0;
			}

			@Override
			public String toString() {
				return text() + pairs().map(List::of).toList() + " until " + this.end;
			}

		}

	}

	/**
	 * Begins a step.
	 * @param millis the time of the server
	 * @param keys the user's keys of the step
	 * @param deaf the instances whose channels have no subscriber
	 */
	void begin(long millis, List<String> keys, Set<String> deaf) {
		this.now = millis;
		this.keys = keys;
		this.deaf = " " + String.join(" ", deaf) + " ";
		this.messages.clear();
	}

	/**
	 * Removes all that is kept of these keys.
	 */
	void remove(List<String> keys) {
		keys.forEach((key) -> all(key).forEach(this.server::del));
		this.server.del(ENDS);
		this.stored.clear();
	}

	/**
	 * Lets another group of waiters have been heard when this one was.
	 */
	void rename(String key, String group, String other) {
		byte[] liveness = this.names.liveness(key);
		Double time = this.server.zscore(liveness, KeyNames.bytes(group));
		this.server.zadd(liveness, time, KeyNames.bytes(other), ZAddParams.zAddParams().gt());
		this.server.zrem(liveness, KeyNames.bytes(group));
	}

	/**
	 * Returns what was published since the step began and was heard.
	 */
	List<String> messages() {
		return this.messages;
	}

	/**
	 * Returns what was kept of a user's key after the last script of a step on that key.
	 */
	@Nullable Stored stored(String key) {
		return this.stored.get(key);
	}

	@Override
	public Object exchange(Command command) {
		byte[][] arguments = command.arguments();
		if (command.verb() == Verb.EVALSHA) {
			// The error makes the client send the script in full.
			return new InvalidDataAccessResourceUsageException("NOSCRIPT");
		}
		if (command.verb() == Verb.EVAL) {
			int keys = Integer.parseInt(KeyNames.text(arguments[1]));
			List<byte[]> rest = List.of(arguments).subList(2, arguments.length);
			return run(arguments[0], rest.subList(0, keys), rest.subList(keys, rest.size()));
		}
		List<byte[]> words = new ArrayList<>(List.of(command.verb().bytes()));
		words.addAll(List.of(arguments));
		Object reply = run(PLAIN, List.of(), words);
		return (command.next() != null) ? exchange(command.next()) : reply;
	}

	private Object run(byte[] source, List<byte[]> keys, List<byte[]> arguments) {
		byte[] digest = this.loaded.computeIfAbsent(source, (text) -> KeyNames
			.bytes(this.server.scriptLoad(PRELUDE + this.mistake.apply(KeyNames.text(text)) + EPILOGUE)));
		List<byte[]> all = new ArrayList<>(List.of(KeyNames.number(this.now), KeyNames.bytes(this.deaf), ENDS,
				KeyNames.number(5L * this.keys.size())));
		this.keys.forEach((key) -> all.addAll(all(key)));
		all.addAll(arguments);
		List<?> reply = (List<?>) this.server.evalsha(digest, keys, all);
		for (Object message : (List<?>) reply.get(1)) {
			String text = KeyNames.text((byte[]) message);
			if (!text.isEmpty()) {
				this.messages.add(text);
			}
		}
		List<Stored.Kept> kept = ((List<?>) reply.get(2)).stream().map(ScriptClock::kept).toList();
		for (int i = 0; i < this.keys.size(); i++) {
			this.stored.put(this.keys.get(i), new Stored(kept.get(5 * i), kept.get(5 * i + 1), kept.get(5 * i + 2),
					kept.get(5 * i + 3), kept.get(5 * i + 4)));
		}
		return reply.get(0);
	}

	private List<byte[]> all(String key) {
		return List.of(this.names.lock(key), this.names.waiters(key), this.names.liveness(key), this.names.claims(key),
				this.names.fence(key));
	}

	private static Stored.Kept kept(Object reply) {
		List<?> pair = (List<?>) reply;
		return new Stored.Kept(Long.parseLong(KeyNames.text((byte[]) pair.get(0))), pair.get(1));
	}

}
