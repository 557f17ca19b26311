package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.redis.internal.Link;
import io.github.distributedlock.backend.redis.internal.OwnConnections;
import io.github.distributedlock.backend.redis.internal.RedisClients;
import io.github.distributedlock.backend.redis.internal.RedisRefusal;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.params.SetParams;

import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * Steps of plain commands on a lock that others, who use scripts, turn into something of
 * another type between two of the commands.
 */
class ChangingKeyTests {

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	private static final KeyNames NAMES = new KeyNames("lock");

	private static final String KEY = "k";

	private static final String LOCK = "lock:{k}";

	private static final Claim CLAIM = Claim.of(KEY, "me:1", "me", Duration.ofSeconds(30));

	private static final int MOST_COMMANDS = 12;

	private static final Duration PATIENT = Duration.ofMinutes(1);

	private static final String RESERVATION = "reserved:" + CLAIM.instance();

	/**
	 * The content of the key before and after the commands of a step, where that is a
	 * text.
	 */
	private final Set<String> values = new HashSet<>();

	private JedisConnectionFactory factory;

	private OwnConnections connections;

	/** The content of the key. */
	enum Value {

		NOTHING, OTHERS, RESERVED, OWN, READERS, PLACE

	}

	@BeforeEach
	void connect() {
		this.factory = (JedisConnectionFactory) Client.JEDIS.connectTo(redis.port());
		this.factory.afterPropertiesSet();
		this.factory.start();
		this.connections = RedisClients.derive(this.factory, PATIENT);
	}

	@AfterEach
	void close() {
		this.connections.close();
		this.factory.destroy();
	}

	static Stream<Arguments> changes() {
		return Stream.of(Value.values())
			.flatMap((before) -> Stream.of(Value.values())
				.filter((after) -> after != before)
				.map((after) -> arguments(before, after)));
	}

	@ParameterizedTest
	@MethodSource("changes")
	void aChangeBetweenTwoCommandsIsNoFailure(Value before, Value after) {
		for (int command = 1; command <= MOST_COMMANDS; command++) {
			set(before);
			boolean acquired = store().acquire(changing(command, List.of(after)), CLAIM, true).acquired();
			assertThat(!acquired || had(CLAIM.owner())).as("acquired, and has been the owner's").isTrue();
			set(before);
			boolean released = store().release(changing(command, List.of(after)), KEY, CLAIM.owner());
			assertThat(!released || had(CLAIM.owner())).as("released, and was the owner's").isTrue();
			set(before);
			boolean withdrawn = store().withdraw(changing(command, List.of(after)), KEY, CLAIM.waiter(), Set.of());
			assertThat(!withdrawn || had(RESERVATION)).as("withdrawn, and was the waiter's").isTrue();
		}
	}

	@ParameterizedTest
	@EnumSource
	void aKeyThatDoesNotChangeIsAnsweredAsItIs(Value value) {
		set(value);
		assertThat(store().acquire(changing(0, List.of()), CLAIM, false).acquired()).as("acquired")
			.isEqualTo(EnumSet.of(Value.NOTHING, Value.RESERVED, Value.OWN).contains(value));
		set(value);
		assertThat(store().release(changing(0, List.of()), KEY, CLAIM.owner())).as("released")
			.isEqualTo(value == Value.OWN);
	}

	private boolean had(String value) {
		return this.values.contains(value);
	}

	@Test
	void oneThatChangesAgainAndAgainIsAskedForAgain() {
		List<Value> changes = IntStream.range(0, 6)
			.mapToObj((i) -> (i % 2 == 0) ? Value.OTHERS : Value.READERS)
			.toList();
		set(Value.READERS);
		assertThat(Values.holder(changing(2, changes), NAMES.lock(KEY)).name()).isEqualTo("other:1");
	}

	@ParameterizedTest
	@EnumSource(names = { "OTHERS", "READERS" })
	void whatIsNoLockIsToldInTheEnd(Value before) {
		set(before);
		redis.admin().del(LOCK);
		if (before == Value.READERS) {
			redis.admin().zadd(LOCK, 1, "somebody's");
		}
		else {
			redis.admin().rpush(LOCK, "somebody's");
		}
		assertThatException().isThrownBy(() -> store().acquire(changing(0, List.of()), CLAIM, true))
			.satisfies((ex) -> assertThat(RedisRefusal.of(ex)).isEqualTo(RedisRefusal.WRONGTYPE));
	}

	private Steps store() {
		return new PlainSteps(new CompareAndSet.BestEffort(), this.connections,
				RedisLockSettings.defaults().commandTimeout(PATIENT), new UnansweredRenewals());
	}

	/**
	 * The way to the server, on which the key changes before a command, and before each
	 * that comes next.
	 */
	private Link changing(int first, List<Value> values) {
		AtomicInteger commands = new AtomicInteger();
		Runnable change = () -> {
			int next = commands.incrementAndGet() - first;
			if (next >= 0 && next < values.size()) {
				set(values.get(next));
			}
		};
		this.values.clear();
		Link link = new SteppedLink(this.connections.shared().commands(), () -> {
			change.run();
			look();
		});
		return (command) -> {
			Object answer = link.exchange(command);
			look();
			return answer;
		};
	}

	private void look() {
		if (redis.admin().type(LOCK).equals("string")) {
			this.values.add(redis.admin().get(LOCK));
		}
	}

	private void set(Value value) {
		redis.admin().del(LOCK);
		switch (value) {
			case NOTHING -> {
			}
			case OTHERS -> redis.admin().set(LOCK, "other:1", SetParams.setParams().px(30_000));
			case RESERVED -> redis.admin().set(LOCK, RESERVATION, SetParams.setParams().px(30_000));
			case OWN -> redis.admin().set(LOCK, CLAIM.owner(), SetParams.setParams().px(30_000));
			case READERS -> redis.admin().zadd(LOCK, Long.MAX_VALUE / 4096, "shared:other:1");
			case PLACE -> redis.admin().zadd(LOCK, Long.MAX_VALUE / 4096, "reserved:other");
		}
	}

}
