package io.github.distributedlock.backend.redis.connection;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;

import io.github.distributedlock.backend.redis.wire.Command;
import io.github.distributedlock.backend.redis.wire.Command.Verb;
import io.github.distributedlock.backend.redis.wire.KeyNames;
import io.github.distributedlock.backend.redis.wire.UnsentException;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.TestRedis;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.beans.DirectFieldAccessor;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.QueryTimeoutException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link LettuceBatchSender} and the links over it.
 */
class LettuceBatchSenderTests {

	private static final Duration SOON = Duration.ofMillis(50);

	@RegisterExtension
	final TestRedis redis = new TestRedis();

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	/** How many commands each write to the connection had. */
	private final Queue<Integer> writes = new ConcurrentLinkedQueue<>();

	private RedisClient client;

	private LettuceBatchSender sender;

	@BeforeEach
	void connect() {
		this.client = RedisClient.create(RedisURI.create("localhost", this.redis.port()));
		this.client.setOptions(ClientOptions.builder().autoReconnect(false).build());
		this.sender = new LettuceBatchSender(counted(this.client.connect(ByteArrayCodec.INSTANCE)));
	}

	@AfterEach
	void disconnect() {
		this.client.shutdown(Duration.ZERO, Patience.PATIENCE);
	}

	@Test
	void aThreadAloneIsSentAtOnce() {
		set("a", Patience.COMMAND);
		set("b", Patience.COMMAND);
		assertThat(this.writes).containsExactly(1, 1);
	}

	@Test
	void whatWaitsForTheFirstTwoIsSentTogether() {
		this.redis.server().pause();
		List<CompletableFuture<@Nullable Object>> first = setInThreads("first", 2);
		await("the first two to be sent").until(() -> this.writes.size() == 2);
		List<CompletableFuture<@Nullable Object>> others = setInThreads("other", 16);
		await("the others to wait").until(() -> waiting().size() == 16);
		this.redis.server().resume();
		first.forEach((one) -> Patience.get(one, "the reply to one of the first"));
		others.forEach((one) -> Patience.get(one, "the reply to one of the others"));
		assertThat(this.writes).containsExactly(1, 1, 16);
		assertThat(this.redis.admin().dbSize()).isEqualTo(18);
	}

	@Test
	void whatWasGivenUpUnsentIsNotSentLater() {
		this.redis.server().pause();
		List<CompletableFuture<@Nullable Object>> first = setInThreads("first", 2);
		await("the first two to be sent").until(() -> this.writes.size() == 2);
		assertThatExceptionOfType(UnsentException.class).isThrownBy(() -> set("late", SOON))
			.withCauseInstanceOf(QueryTimeoutException.class);
		this.redis.server().resume();
		first.forEach((one) -> Patience.get(one, "the reply to one of the first"));
		set("next", Patience.COMMAND);
		assertThat(this.redis.admin().keys("*")).containsExactlyInAnyOrder("first-0", "first-1", "next");
	}

	@Test
	void whatWasSentAndNotAnsweredInTimeMayHaveBeenCarriedOut() {
		this.redis.server().pause();
		assertThatExceptionOfType(QueryTimeoutException.class).isThrownBy(() -> set("late", SOON));
		this.redis.server().resume();
		set("next", Patience.COMMAND);
		assertThat(this.redis.admin().keys("*")).containsExactlyInAnyOrder("late", "next");
	}

	@Test
	void aBatchThatIsNotWaitedForAnyMoreKeepsNobodyWaiting() {
		this.redis.server().pause();
		assertThatExceptionOfType(QueryTimeoutException.class).isThrownBy(() -> set("a", SOON));
		assertThatExceptionOfType(QueryTimeoutException.class).isThrownBy(() -> set("b", SOON));
		assertThatExceptionOfType(QueryTimeoutException.class).isThrownBy(() -> set("c", SOON));
		assertThat(this.writes).containsExactly(1, 1, 1);
	}

	@Test
	void aLostConnectionFailsWhatWasSentAndIsNotUsedForWhatWaits() {
		this.redis.server().pause();
		List<CompletableFuture<@Nullable Object>> first = setInThreads("first", 2);
		await("the first two to be sent").until(() -> this.writes.size() == 2);
		List<CompletableFuture<@Nullable Object>> others = setInThreads("other", 16);
		await("the others to wait").until(() -> waiting().size() == 16);
		this.sender.close();
		first.forEach((one) -> assertThat(failure(one)).isInstanceOf(DataAccessException.class)
			.isNotInstanceOfAny(QueryTimeoutException.class, UnsentException.class));
		others.forEach((one) -> assertThat(failure(one)).isInstanceOf(UnsentException.class)
			.hasRootCauseMessage("the connection was closed before"));
		this.redis.server().resume();
	}

	private static @Nullable Throwable failure(CompletableFuture<@Nullable Object> call) {
		return catchThrowableOfType(CompletionException.class, () -> Patience.get(call, "its failure")).getCause();
	}

	@Test
	void commandsOfOneCallAreOneWriteAndEachHasItsReply() {
		byte[] name = KeyNames.bytes("a");
		List<@Nullable Object> replies = link(Patience.COMMAND)
			.call(List.of(Command.of(Verb.SET, name, KeyNames.bytes("1")), Command.of(Verb.ZREM, name, name),
					Command.of(Verb.GET, name)));
		assertThat(this.writes).containsExactly(3);
		assertThat(replies).hasSize(3);
		assertThat(replies.get(0)).isEqualTo(KeyNames.bytes("OK"));
		assertThat(replies.get(1)).asInstanceOf(InstanceOfAssertFactories.THROWABLE)
			.hasRootCauseMessage("WRONGTYPE Operation against a key holding the wrong kind of value");
		assertThat(replies.get(2)).isEqualTo(KeyNames.bytes("1"));
	}

	@Test
	void commandsOfOneCallAreAllSentOrNone() {
		this.redis.server().pause();
		List<CompletableFuture<@Nullable Object>> first = setInThreads("first", 2);
		await("the first two to be sent").until(() -> this.writes.size() == 2);
		byte[] name = KeyNames.bytes("late");
		assertThatExceptionOfType(UnsentException.class).isThrownBy(() -> link(SOON)
			.call(List.of(Command.of(Verb.DEL, name), Command.of(Verb.SET, name, KeyNames.bytes("1")))));
		this.redis.server().resume();
		first.forEach((one) -> Patience.get(one, "the reply to one of the first"));
		set("next", Patience.COMMAND);
		assertThat(this.redis.admin().exists("late")).isFalse();
	}

	@Test
	void anInterruptEndsTheWaitingAndStaysKnown() {
		this.redis.server().pause();
		CompletableFuture<Boolean> interrupted = CompletableFuture.supplyAsync(() -> {
			assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> set("interrupted", Patience.COMMAND))
				.withRootCauseInstanceOf(InterruptedException.class);
			return Thread.currentThread().isInterrupted();
		}, this.threads);
		await("the command to be sent").until(() -> this.writes.size() == 1);
		this.threads.all().get(0).interrupt();
		assertThat(Patience.get(interrupted, "the end of the waiting")).isTrue();
		this.redis.server().resume();
	}

	@Test
	@EnabledForJreRange(min = JRE.JAVA_21)
	void virtualThreadsThatWaitLeaveOthersTheirCarriers() throws ReflectiveOperationException {
		ExecutorService virtual = (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor")
			.invoke(null);
		int many = 64 * Runtime.getRuntime().availableProcessors();
		this.redis.server().pause();
		List<CompletableFuture<@Nullable Object>> calls = setInThreads("k", many, virtual);
		await("all but two to wait").until(() -> waiting().size() == many - 2);
		Patience.get(CompletableFuture.runAsync(() -> {
		}, virtual), "another virtual thread");
		this.redis.server().resume();
		calls.forEach((one) -> Patience.get(one, "a reply"));
		virtual.shutdownNow();
	}

	private List<CompletableFuture<@Nullable Object>> setInThreads(String name, int count) {
		return setInThreads(name, count, this.threads);
	}

	private List<CompletableFuture<@Nullable Object>> setInThreads(String name, int count, Executor executor) {
		return IntStream.range(0, count)
			.mapToObj((i) -> CompletableFuture.supplyAsync(() -> set(name + "-" + i, Patience.COMMAND), executor))
			.toList();
	}

	private @Nullable Object set(String name, Duration timeout) {
		return link(timeout).call(Command.of(Verb.SET, KeyNames.bytes(name), KeyNames.bytes("1")));
	}

	private LettuceLink link(Duration timeout) {
		return new LettuceLink(this.sender, timeout.toNanos());
	}

	private Collection<?> waiting() {
		return (Collection<?>) new DirectFieldAccessor(this.sender).getPropertyValue("batches.waiting");
	}

	@SuppressWarnings("unchecked")
	private StatefulRedisConnection<byte[], byte[]> counted(StatefulRedisConnection<byte[], byte[]> connection) {
		return (StatefulRedisConnection<byte[], byte[]>) Proxy.newProxyInstance(
				LettuceBatchSenderTests.class.getClassLoader(), new Class<?>[] { StatefulRedisConnection.class },
				(proxy, method, arguments) -> {
					if (method.getName().equals("dispatch")) {
						this.writes.add((arguments[0] instanceof Collection<?> several) ? several.size() : 1);
					}
					try {
						return method.invoke(connection, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

}
