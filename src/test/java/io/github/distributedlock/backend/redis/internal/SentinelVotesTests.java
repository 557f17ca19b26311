package io.github.distributedlock.backend.redis.internal;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import io.github.distributedlock.backend.redis.internal.SignalConnector.Listener;
import io.github.distributedlock.backend.redis.internal.SignalConnector.SignalConnection;
import io.github.distributedlock.fixtures.Patience;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The master that counts when Sentinels name several. The Sentinels are connections that
 * answer as the test says.
 */
class SentinelVotesTests {

	private static final int BEFORE = 1;

	private static final int AFTER = 2;

	private final List<Sentinel> sentinels = new ArrayList<>();

	private final AtomicInteger switches = new AtomicInteger();

	private final List<Thread> watchers = new ArrayList<>();

	private SentinelMaster master;

	@AfterEach
	void end() {
		this.master.end();
	}

	/**
	 * Only those that agree are reachable. The others may know better.
	 */
	@ParameterizedTest
	@CsvSource({ "1,1,4,true", "2,1,4,false", "2,2,4,true", "3,1,4,false", "3,1,5,false", "3,2,4,true", "3,2,5,true",
			"4,2,4,false", "4,3,4,true" })
	void masterOfNoGreaterEpochNeedsTheMajorityOfAll(int all, int agreeing, int epoch, boolean believed) {
		start(all);
		onlyTheFirst(agreeing, epoch);
		lookTwice();
		assertNamed(believed ? AFTER : BEFORE, believed ? 1 : 0);
	}

	@Test
	void masterOfAGreaterEpochNeedsOneSentinel() {
		start(3);
		this.sentinels.get(2).answer = new Answer(AFTER, 6);
		lookTwice();
		assertNamed(AFTER, 1);
	}

	@Test
	void firstMasterOfOneEpochIsThatOfMost() {
		this.master = master(3, Thread::new);
		this.sentinels.get(2).answer = new Answer(AFTER, 5);
		assertNamed(BEFORE, 0);
	}

	/**
	 * Sentinels that were cut off know of less, whether they name the same master or a
	 * former one.
	 */
	@Test
	void greatestEpochIsRemembered() {
		start(3);
		this.sentinels.forEach((sentinel) -> sentinel.answer = new Answer(BEFORE, 9));
		lookTwice();
		this.sentinels.forEach((sentinel) -> sentinel.answer = new Answer(BEFORE, 2));
		lookTwice();
		onlyTheFirst(1, 8);
		lookTwice();
		assertNamed(BEFORE, 0);
	}

	@Test
	void masterIsKnownOnlyOnceItIsWatched() {
		Queue<ThreadFactory> threads = new ArrayDeque<>(List.of((task) -> {
			throw new InternalError("as if no thread could be had");
		}, Thread::new));
		this.master = master(1, (task) -> threads.remove().newThread(task));
		assertThatExceptionOfType(InternalError.class).isThrownBy(this.master::get);
		assertNamed(BEFORE, 0);
		assertThat(threads).isEmpty();
	}

	private void start(int sentinels) {
		this.master = master(sentinels, (task) -> {
			Thread watcher = new Thread(task, "watcher of Sentinels");
			this.watchers.add(watcher);
			return watcher;
		});
		assertNamed(BEFORE, 0);
	}

	private SentinelMaster master(int sentinels, ThreadFactory threads) {
		RedisSentinelConfiguration configuration = new RedisSentinelConfiguration().master("m");
		for (int port = 1; port <= sentinels; port++) {
			configuration.sentinel("s", port);
		}
		SentinelMaster created = new SentinelMaster(configuration, (server) -> {
			Sentinel sentinel = new Sentinel();
			this.sentinels.add(sentinel);
			return () -> sentinel;
		}, Patience.COMMAND, threads);
		created.onSwitch(this.switches::incrementAndGet);
		return created;
	}

	/**
	 * Has some name the other master from now on, without a gap, since one that is out of
	 * reach is not asked for seconds. The rest answers nothing.
	 */
	private void onlyTheFirst(int agreeing, int epoch) {
		for (int i = 0; i < this.sentinels.size(); i++) {
			this.sentinels.get(i).answer = (i < agreeing) ? new Answer(AFTER, epoch) : null;
		}
	}

	private void assertNamed(int port, int switches) {
		assertThat(this.master.get()).isEqualTo(new RedisNode("localhost", port));
		assertThat(this.switches).as("switches").hasValue(switches);
	}

	/**
	 * Waits until two whole rounds have come to their end: the first one may have begun
	 * before the Sentinels changed their minds.
	 */
	private void lookTwice() {
		Sentinel named = this.sentinels.stream()
			.filter((sentinel) -> sentinel.answer != null)
			.findFirst()
			.orElseThrow();
		int begun = named.asked.get() + 3;
		Awaitility.await("three more rounds").atMost(Patience.INTERNAL).until(() -> {
			this.watchers.forEach(LockSupport::unpark);
			return named.asked.get() >= begun;
		});
	}

	private record Answer(int port, int epoch) {
	}

	/**
	 * A Sentinel, and the connection to it.
	 */
	private static final class Sentinel implements SignalConnection {

		private final AtomicInteger asked = new AtomicInteger();

		private volatile @Nullable Answer answer = new Answer(BEFORE, 5);

		@Override
		public Link link() {
			return (command) -> {
				Answer answer = this.answer;
				if (answer == null) {
					throw new RedisConnectionFailureException("out of reach");
				}
				if (new String(command.arguments()[0], StandardCharsets.UTF_8).equals("MASTER")) {
					this.asked.incrementAndGet();
					return List.of("config-epoch".getBytes(StandardCharsets.UTF_8),
							String.valueOf(answer.epoch()).getBytes(StandardCharsets.UTF_8));
				}
				return List.of("localhost".getBytes(StandardCharsets.UTF_8),
						String.valueOf(answer.port()).getBytes(StandardCharsets.UTF_8));
			};
		}

		@Override
		public void listen(byte[] channel, Listener listener) {
			throw new UnsupportedOperationException();
		}

		@Override
		public void close() {
		}

	}

}
