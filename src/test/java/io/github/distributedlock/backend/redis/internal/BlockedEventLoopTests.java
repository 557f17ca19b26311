package io.github.distributedlock.backend.redis.internal;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Deque;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;

import io.github.distributedlock.backend.redis.internal.Command.Verb;
import io.github.distributedlock.backend.redis.internal.SignalConnector.SignalConnection;
import io.github.distributedlock.faults.FaultTest;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.TestRedis;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

/**
 * Lettuce's threads are the application's, which may block them. No call waits for one.
 */
class BlockedEventLoopTests {

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	private static final Command GET = Command.of(Verb.GET, "a".getBytes(StandardCharsets.UTF_8));

	private final Deque<Channel> channels = new ConcurrentLinkedDeque<>();

	private final Set<EventLoop> blocked = ConcurrentHashMap.newKeySet();

	private final CountDownLatch end = new CountDownLatch(1);

	private final Set<Thread> before = openingThreads();

	private final ClientResources resources = DefaultClientResources.builder()
		.ioThreadPoolSize(2)
		.nettyCustomizer(new NettyCustomizer() {

			@Override
			public void afterChannelInitialized(Channel channel) {
				BlockedEventLoopTests.this.channels.add(channel);
			}

		})
		.build();

	private final OwnConnections connections = RedisClients.derive(application(), Duration.ofSeconds(1));

	@AfterEach
	void unblock() {
		this.end.countDown();
		this.connections.close();
		Patience.get(this.resources.shutdown(), "the end of the client's threads");
	}

	@FaultTest(value = "one of two event loops of the client blocked by the application", with = "Lettuce",
			promise = "commands go on by a connection of the other")
	void aConnectionIsReplacedByOneOfAnotherEventLoop() {
		connect();
		block(this.channels.getLast());
		assertThat(this.blocked).as("one of two").hasSize(1);
		CompletableFuture<Void> works = CompletableFuture.runAsync(
				() -> await().ignoreExceptionsInstanceOf(DataAccessException.class)
					.untilAsserted(() -> this.connections.shared().commands().run((link) -> link.call(GET))),
				this.threads);
		Patience.get(works, "a command by the other event loop");
		assertThat(this.end.getCount()).as("still blocked").isEqualTo(1);
	}

	@Tag("thorough")
	@FaultTest(value = "all event loops of the client blocked by the application", with = "Lettuce",
			promise = "every call ends in time, also that which closes")
	void nothingIsWaitedForWithoutBound() {
		connect();
		SignalConnection subscription = await().ignoreExceptionsInstanceOf(DataAccessException.class)
			.until(this.connections.signals()::open, (opened) -> true);
		await().ignoreExceptionsInstanceOf(DataAccessException.class).until(() -> {
			this.connections.signals().open().close();
			this.channels.forEach(this::block);
			return this.blocked.size() == 2;
		});
		for (Lane lane : new Lane[] { this.connections.shared().commands(), this.connections.shared().renewals() }) {
			ends("a command", () -> assertThat(catchThrowable(() -> lane.run((link) -> link.call(GET)))).isNotNull());
		}
		ends("a new connection",
				() -> assertThat(catchThrowable(this.connections.signals()::open)).isInstanceOf(UnsentException.class));
		await("the end of the threads that opened connections").atMost(Patience.INTERNAL)
			.until(() -> this.before.containsAll(openingThreads()));
		ends("the end of a subscription", subscription::close);
		ends("the end", this.connections::close);
		assertThat(this.end.getCount()).as("still blocked").isEqualTo(1);
	}

	private static Set<Thread> openingThreads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().equals("distributed-lock-connect"))
			.collect(Collectors.toSet());
	}

	private void ends(String what, Runnable action) {
		Patience.get(CompletableFuture.runAsync(action, this.threads), what);
	}

	// The first commands of a client may take longer than their time-out.
	private void connect() {
		await().ignoreExceptionsInstanceOf(DataAccessException.class)
			.untilAsserted(() -> this.connections.shared().commands().run((link) -> link.call(GET)));
	}

	private void block(Channel channel) {
		if (this.blocked.add(channel.eventLoop())) {
			channel.eventLoop().execute(() -> Patience.await(this.end, "the end of the test"));
		}
	}

	private LettuceConnectionFactory application() {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration("localhost", redis.port()),
				LettuceClientConfiguration.builder().clientResources(this.resources).build());
		factory.afterPropertiesSet();
		return factory;
	}

}
