package io.github.distributedlock.backend.redis;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;

import io.github.distributedlock.fixtures.Relay;
import io.github.distributedlock.fixtures.RelayedConnection;
import io.github.distributedlock.fixtures.RespMessage;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;

/**
 * Not Tair, whose server nobody but Alibaba Cloud has, but a Redis with a relay before it
 * that understands {@code CAD} and {@code CAS}, by what their documentation says: the
 * answer is 1 if the value was the expected one, 0 if not, and -1 for no key. All other
 * requests pass.
 * <p>
 * A request of its own is carried out when all before it on that connection are answered,
 * so the order of the answers is that of the requests.
 */
final class TairStandIn implements AutoCloseable {

	private static final Set<String> COMMANDS = Set.of("CAD", "CAS");

	private static final String SCRIPT = """
			local value = redis.call('GET', KEYS[1])
			if not value then
				return -1
			end
			if value ~= ARGV[1] then
				return 0
			end
			if ARGV[2] then
				redis.call('SET', KEYS[1], ARGV[2], ARGV[3], ARGV[4])
			else
				redis.call('DEL', KEYS[1])
			end
			return 1
			""";

	private final HostAndPort redis;

	private final Relay relay;

	TairStandIn(HostAndPort redis) {
		this.redis = redis;
		this.relay = new Relay(redis.getPort());
		this.relay.add(this::compare);
	}

	HostAndPort address() {
		return new HostAndPort("localhost", this.relay.port());
	}

	private boolean compare(RespMessage request, RelayedConnection connection)
			throws IOException, InterruptedException {
		boolean mine = COMMANDS.contains(request.command());
		if (mine) {
			connection.awaitReplies();
			connection.answer((":" + answer(request) + "\r\n").getBytes(StandardCharsets.US_ASCII));
		}
		return mine;
	}

	private long answer(RespMessage request) {
		List<String> words = request.words();
		int length = request.command().equals("CAD") ? 3 : 6;
		if (words.size() != length) {
			throw new IllegalArgumentException("not understood: " + words);
		}
		try (Jedis jedis = new Jedis(this.redis)) {
			return (Long) jedis.eval(SCRIPT, List.of(words.get(1)), words.subList(2, length));
		}
	}

	@Override
	public void close() {
		this.relay.close();
	}

}
