package io.github.distributedlock.backend.redis.internal;

import java.nio.charset.StandardCharsets;
import java.util.List;

import io.github.distributedlock.backend.redis.internal.Command.Verb;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.InitializingBean;
import org.springframework.context.SmartLifecycle;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Replies have the same form on each {@link Link}.
 */
class LinkTests {

	private static final byte[] TEXT = "text".getBytes(StandardCharsets.UTF_8);

	private static final byte[] SET = "set".getBytes(StandardCharsets.UTF_8);

	private static final byte[] VALUE = "value".getBytes(StandardCharsets.UTF_8);

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	/** The kinds of connections. */
	enum Kind {

		SHARED, EXCLUSIVE

	}

	@ParameterizedTest
	@CsvSource({ "JEDIS, SHARED", "JEDIS, EXCLUSIVE", "LETTUCE, SHARED", "LETTUCE, EXCLUSIVE" })
	void aReplyHasTheSameFormEverywhere(Client client, Kind kind) throws Exception {
		RedisConnectionFactory factory = client.connectTo(redis.port());
		((InitializingBean) factory).afterPropertiesSet();
		((SmartLifecycle) factory).start();
		OwnConnections connections = RedisClients.derive(factory, Patience.COMMAND);
		try {
			Lanes lanes = (kind == Kind.EXCLUSIVE) ? connections.exclusive() : connections.shared();
			lanes.commands().run((link) -> {
				values(link);
				members(link);
				scripts(link);
				errors(link);
				return null;
			});
		}
		finally {
			connections.close();
			((SmartLifecycle) factory).stop();
		}
	}

	private static void values(Link link) {
		assertThat(link.bytes(Command.of(Verb.GET, TEXT))).isNull();
		assertThat(link.ok(setIfAbsent("value"))).isTrue();
		assertThat(link.ok(setIfAbsent("other"))).isFalse();
		assertThat(link.bytes(Command.of(Verb.GET, TEXT))).isEqualTo(VALUE);
		assertThat(link.number(Command.of(Verb.PTTL, TEXT))).isBetween(1L, 60_000L);
		assertThat(link.number(Command.of(Verb.PEXPIRE, TEXT, 120_000))).isOne();
		assertThat(link.list(Command.at(TEXT, Verb.TIME))).hasSize(2);
		assertThatExceptionOfType(RuntimeException.class)
			.isThrownBy(() -> link.call(Command.of(Verb.ZREM, TEXT, VALUE)))
			.satisfies((ex) -> assertThat(RedisRefusal.of(ex)).isEqualTo(RedisRefusal.WRONGTYPE));
	}

	private static void members(Link link) {
		assertThat(link.list(Command.of(Verb.ZRANGE, SET, 0, -1))).isEmpty();
		for (String score : List.of("1", "2.5")) {
			link.call(Command.of(Verb.ZADD, SET, "NX", score, "m" + score));
		}
		assertThat(link.list(Command.of(Verb.ZRANGE, SET, 0, -1)))
			.extracting((one) -> new String((byte[]) one, StandardCharsets.UTF_8))
			.containsExactly("m1", "m2.5");
		assertThat(link.list(Command.of(Verb.ZRANGE, SET, 0, -1, "WITHSCORES"))).hasSizeBetween(2, 4);
	}

	private static Command setIfAbsent(String value) {
		return Command.of(Verb.SET, TEXT, value, "PX", 60_000, "NX");
	}

	private static void scripts(Link link) {
		List<?> list = link.list(script("return {1, 'a', false, 2}"));
		assertThat(list).hasSize(4);
		assertThat(list.get(0)).isEqualTo(1L);
		assertThat((byte[]) list.get(1)).isEqualTo("a".getBytes(StandardCharsets.UTF_8));
		assertThat(list.get(2)).isNull();
		assertThat(list.get(3)).isEqualTo(2L);
		assertThat(link.number(script("return 3"))).isEqualTo(3);
	}

	private static Command script(String source) {
		return Command.script(Verb.EVAL, source.getBytes(StandardCharsets.UTF_8), 1, TEXT);
	}

	private static void errors(Link link) {
		assertThat(link.exchange(Command.of(Verb.ZREM, TEXT, VALUE))).isInstanceOfSatisfying(RuntimeException.class,
				(ex) -> assertThat(RedisRefusal.of(ex)).isEqualTo(RedisRefusal.WRONGTYPE));
		assertThat(link.bytes(Command.of(Verb.GET, TEXT))).isEqualTo(VALUE);
	}

}
