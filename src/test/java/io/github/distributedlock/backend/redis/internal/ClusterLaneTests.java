package io.github.distributedlock.backend.redis.internal;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;

import io.github.distributedlock.backend.redis.internal.Command.Verb;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.data.redis.RedisSystemException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Where a cluster's commands go to, if a node redirects them or names nodes in part.
 */
class ClusterLaneTests {

	private static final byte[] KEY = "k".getBytes(StandardCharsets.UTF_8);

	/** The reply of each node to a command. */
	private final Map<String, Function<Command, Object>> nodes = new ConcurrentHashMap<>();

	private final List<String> closed = new CopyOnWriteArrayList<>();

	private List<Object> owner = List.of("here".getBytes(StandardCharsets.UTF_8), 1L,
			"id".getBytes(StandardCharsets.UTF_8));

	private final ClusterLane lane = new ClusterLane(List.of("here:1"), Node::new, Duration.ofSeconds(20));

	@AfterEach
	void close() {
		this.lane.close();
	}

	@Test
	void askingPrecedesEachCommandOfAChain() {
		List<String> received = new ArrayList<>();
		this.nodes.put("here:1", (command) -> error("ASK 1 there:2"));
		this.nodes.put("there:2", (command) -> {
			for (Command next = command; next != null; next = next.next()) {
				received.add(next.verb().name());
			}
			return 1L;
		});
		Command chain = Command.of(Verb.ZADD, KEY, 1, "a").with(Command.of(Verb.PEXPIRE, KEY, 1));
		assertThat(send(chain)).isEqualTo(1L);
		assertThat(received).containsExactly("ASKING", "ZADD", "ASKING", "PEXPIRE");
	}

	@ParameterizedTest
	@ValueSource(strings = { "MOVED 1 :2", "MOVED 1 ?:2", "ASK 1 :2", "ASK 1 ?:2" })
	void aNodeWithoutANameIsSoughtWhereTheAskedOneIs(String redirection) {
		this.nodes.put("here:1", (command) -> error(redirection));
		this.nodes.put("here:2", (command) -> 1L);
		assertThat(send(Command.of(Verb.GET, KEY))).isEqualTo(1L);
	}

	@Test
	void aNodeWithoutANameIsSoughtByItsAddress() {
		this.owner = List.of("?".getBytes(StandardCharsets.UTF_8), 1L, "id".getBytes(StandardCharsets.UTF_8),
				List.of("ip".getBytes(StandardCharsets.UTF_8), "10.0.0.1".getBytes(StandardCharsets.UTF_8)));
		this.nodes.put("10.0.0.1:1", (command) -> 1L);
		assertThat(send(Command.of(Verb.GET, KEY))).isEqualTo(1L);
		assertThat(this.closed).containsExactly("here:1");
	}

	@Test
	void aNodeWithoutNameAndAddressIsSoughtAtTheHostThatWasAsked() {
		this.owner = List.of("?".getBytes(StandardCharsets.UTF_8), 1L, "id".getBytes(StandardCharsets.UTF_8),
				List.of());
		this.nodes.put("here:1", (command) -> 1L);
		assertThat(send(Command.of(Verb.GET, KEY))).isEqualTo(1L);
		assertThat(this.closed).isEmpty();
	}

	@Test
	void anUnexpectedFailureOfANodeOfTheClusterStaysWhatItIs() {
		this.nodes.put("here:1", (command) -> {
			throw new IllegalStateException("a defect of the client");
		});
		assertThatIllegalStateException().isThrownBy(() -> send(Command.of(Verb.GET, KEY)))
			.withMessage("a defect of the client");
	}

	private Object send(Command command) {
		return this.lane.run((link) -> link.exchange(command));
	}

	private static RuntimeException error(String words) {
		return new RedisSystemException(words, new IllegalStateException(words));
	}

	/** A connection to a node. */
	private final class Node implements Lane {

		private final String name;

		Node(String name) {
			this.name = name;
		}

		@Override
		public <T> T run(Function<Link, T> step) {
			return step.apply((command) -> (command.verb() == Verb.CLUSTER)
					? List.of(List.of(0L, 16_383L, ClusterLaneTests.this.owner))
					: ClusterLaneTests.this.nodes.get(this.name).apply(command));
		}

		@Override
		public void close() {
			ClusterLaneTests.this.closed.add(this.name);
		}

	}

}
