package io.github.distributedlock.backend.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.Lock;
import java.util.function.BiPredicate;
import java.util.function.BooleanSupplier;

import io.github.distributedlock.LockInterruptedException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockBackend.Renewal;
import io.github.distributedlock.concurrent.JdkLocks;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.Relay;
import io.github.distributedlock.fixtures.TestRedis;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Threads that are interrupted while a command of theirs is under way: the command has
 * reached a relay, which passes the command on to the server after the interrupt.
 */
class InterruptedCommandsTests {

	private static final int INTERRUPTS = 100;

	private static final String KEY = "k";

	@RegisterExtension
	final TestRedis redis = new TestRedis();

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	private Relay relay;

	@BeforeEach
	void connect() {
		this.relay = this.redis.closing(new Relay(this.redis.port()));
	}

	/**
	 * The steps by which the owner of a lock asks the store for that lock, with a check
	 * of the answer.
	 */
	private enum Step {

		ACQUIRE((store, claim) -> store.acquire(claim).acquired()),

		RENEW((store, claim) -> store.renew(List.of(Renewal.of(claim))).equals(List.of(true))),

		INSPECT((store, claim) -> !store.inspect(claim.key()).isFree()),

		RELEASE((store, claim) -> store.release(claim.key(), claim.owner()));

		private final BiPredicate<LockBackend, Claim> step;

		Step(BiPredicate<LockBackend, Claim> step) {
			this.step = step;
		}

	}

	@ParameterizedTest
	@EnumSource
	void eachCommandIsCompleted(Client client) {
		RedisLockBackend store = store(client);
		Claim claim = Claim.of(KEY, "a:1", "a", Duration.ofMinutes(10));
		store.acquire(claim);
		List<String> wrong = new ArrayList<>();
		for (int i = 0; i < INTERRUPTS; i++) {
			for (Step step : Step.values()) {
				interruptedAt(() -> step.step.test(store, claim))
					.ifPresent((answer) -> wrong.add(step + ": " + answer));
			}
		}
		assertThat(wrong).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void tryLockGetsAFreeLock(Client client) {
		Lock lock = new JdkLocks(this.redis.closing(LockEngine.builder(store(client)).build())).lock(KEY);
		List<String> wrong = new ArrayList<>();
		for (int i = 0; i < INTERRUPTS; i++) {
			interruptedAt(() -> {
				boolean locked = lock.tryLock();
				if (locked) {
					lock.unlock();
				}
				return locked;
			}).ifPresent(wrong::add);
		}
		assertThat(wrong).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void interruptibleRequestGivesUpABusyLock(Client client) {
		RedisLockBackend store = store(client);
		store.acquire(Claim.of(KEY, "a:1", "a", Duration.ofMinutes(10)));
		LockEngine engine = this.redis.closing(LockEngine.builder(store).build());
		List<String> wrong = new ArrayList<>();
		for (int i = 0; i < INTERRUPTS; i++) {
			interruptedAt(() -> {
				try {
					return engine.tryAcquire(LockRequest.of(KEY).waitTime(Duration.ofMinutes(10))).isPresent();
				}
				catch (LockInterruptedException ex) {
					return true;
				}
			}).ifPresent(wrong::add);
		}
		assertThat(wrong).isEmpty();
		Awaitility.await("the waiters have withdrawn")
			.until(() -> !this.redis.admin().exists("lock-waiters:{" + KEY + "}"));
	}

	private RedisLockBackend store(Client client) {
		RedisLockBackend store = this.redis.backend(
				client.connectTo(new RedisStandaloneConfiguration("localhost", this.relay.port())),
				RedisLockSettings.defaults().commandTimeout(Patience.COMMAND));
		store.inspect(KEY); // Connects, and loads what the client needs.
		return store;
	}

	/**
	 * Interrupts a thread at the thread's first command about the key.
	 * @return what is wrong: the answer, or the flag of the thread, if anything is
	 */
	private Optional<String> interruptedAt(BooleanSupplier step) {
		CountDownLatch underWay = new CountDownLatch(1);
		CountDownLatch interrupted = new CountDownLatch(1);
		this.relay.removeRules();
		this.relay.add((request, connection) -> {
			if (new String(request.bytes(), StandardCharsets.UTF_8).contains("{" + KEY + "}")) {
				underWay.countDown();
				Patience.await(interrupted, "the interrupt");
			}
			return false;
		});
		CompletableFuture<Optional<String>> wrong = new CompletableFuture<>();
		this.threads.execute(() -> {
			String answer;
			try {
				answer = step.getAsBoolean() ? "" : "wrong answer";
			}
			catch (RuntimeException ex) {
				answer = ex.toString();
			}
			String flag = Thread.interrupted() ? "" : "no interrupt flag";
			wrong.complete(Optional.of(answer + flag).filter((text) -> !text.isEmpty()));
		});
		Patience.await(underWay, "the command");
		List<Thread> all = this.threads.all();
		all.get(all.size() - 1).interrupt();
		interrupted.countDown();
		return Patience.get(wrong, "the end of the step");
	}

}
