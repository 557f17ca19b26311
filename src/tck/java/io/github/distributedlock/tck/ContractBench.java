package io.github.distributedlock.tck;

import io.github.distributedlock.backend.LockBackend.Renewal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.ForwardingLockBackend;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockFeature;
import io.github.distributedlock.backend.ReleaseListener;
import io.github.distributedlock.engine.LockEngine;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * The means by which the contract tests are written.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@ExtendWith(Repeated.class)
abstract class ContractBench {

	/**
	 * Longer than any test waits, so that what ends has not ended by that.
	 */
	static final Duration LONG = Duration.ofMinutes(10);

	static final Duration SHORT = Duration.ofMillis(300);

	/**
	 * Short, but certainly renewed in time by the next command.
	 */
	static final Duration RENEWABLE = Duration.ofSeconds(1);

	private final AtomicInteger tokens = new AtomicInteger();

	// The backends of one test, all of which runs in one thread.
	private final ThreadLocal<List<StandstillWatch>> open = ThreadLocal.withInitial(ArrayList::new);

	/**
	 * The stores to run on; one, unless the backend knows several.
	 * @return their names
	 */
	protected Stream<String> stores() {
		return Stream.of("the store");
	}

	/**
	 * Makes a fresh backend.
	 * @param store one of {@link #stores()}
	 * @return the backend, which the tests close
	 */
	protected abstract LockBackend backend(String store);

	/**
	 * How long a test waits at most for what must come, beside the time in which the
	 * store does not answer or the machine stands still.
	 * @return the time, 20 seconds unless said otherwise
	 */
	protected Duration patience() {
		return Duration.ofSeconds(20);
	}

	@AfterEach
	void closeBackends() {
		this.open.get().forEach((watch) -> watch.subject().close());
		this.open.remove();
	}

	/**
	 * Returns whether there was a standstill since the backends of the test were opened.
	 * @param waiting for how long no step was to end until now
	 */
	boolean stoodStill(Duration waiting) {
		return this.open.get().stream().anyMatch((watch) -> watch.stoodStill(waiting));
	}

	/**
	 * Opens the store.
	 * @param needed the features of the test, which is skipped on a store without them
	 */
	LockBackend open(String store, LockFeature... needed) {
		StandstillWatch watch = new StandstillWatch(backend(store));
		this.open.get().add(watch);
		LockBackend backend = watch.subject();
		for (LockFeature feature : needed) {
			assumeTrue(backend.features().contains(feature), () -> "Skipped: the store does not offer " + feature);
		}
		// Connects, at the expense of nobody's lease.
		backend.renew(List.of(Renewal.of(claim(key(), "nobody"))));
		watch.begin();
		return backend;
	}

	/**
	 * An engine on the store, whose renewals come often, so that a holder is told soon.
	 */
	static LockEngine engine(LockBackend backend, String application) {
		LockBackend asked = new ForwardingLockBackend(backend) {

			@Override
			public Listening listen(String instance, ReleaseListener listener) {
				return features().contains(LockFeature.NOTIFICATIONS) ? super.listen(instance, listener)
						: Listening.DEAF;
			}

		};
		return LockEngine.builder(asked).application(application).watchdogTimeout(Duration.ofSeconds(3)).build();
	}

	Ear listen(LockBackend backend, String instance) {
		boolean notifies = backend.features().contains(LockFeature.NOTIFICATIONS);
		Ear ear = new Ear(patience(), notifies);
		if (notifies) {
			backend.listen(instance, ear);
		}
		return ear;
	}

	Claim held(LockBackend backend, String key, String instance) {
		Claim claim = claim(key, instance);
		assertTrue(backend.acquire(claim).acquired(), String.format("acquired %s", key));
		return claim;
	}

	Claim claim(String key, String instance) {
		return claim(key, instance, LONG);
	}

	Claim claim(String key, String instance, Duration lease) {
		return Claim.of(key, instance + ":" + this.tokens.incrementAndGet(), instance, lease);
	}

	Claim fair(String key, String instance) {
		return claim(key, instance).fair(true);
	}

	Claim reader(String key, String instance) {
		return reader(key, instance, LONG);
	}

	Claim reader(String key, String instance, Duration lease) {
		return claim(key, instance, lease).mode(LockMode.SHARED);
	}

	/**
	 * Asks as the engine does after a first answer.
	 */
	static AcquireResult askAgain(LockBackend backend, Claim claim) {
		return backend.features().contains(LockFeature.PLACES) ? backend.acquireOrRegister(claim)
				: backend.acquire(claim);
	}

	/**
	 * A store that says who is in the way, and in which mode, says this.
	 */
	static void tells(Holder expected, AcquireResult busy) {
		Holder holder = busy.holder();
		if (holder != null) {
			assertEquals(expected.name(), holder.name());
			assertEquals(expected.state(), holder.state());
		}
	}

	// At once, unless the reservation has run out.
	void acquired(LockBackend backend, Claim claim) {
		eventually("acquired", () -> askAgain(backend, claim).acquired());
	}

	// The wait is well beyond the short lease that must not count. The owner is asked: an
	// attempt of somebody else would take the key as soon as the key is free.
	void staysOwned(LockBackend backend, Claim claim) {
		Claim probe = claim.lease(Duration.ofMillis(1));
		during(RENEWABLE.plusMillis(200),
				() -> assertTrue(backend.renew(List.of(Renewal.of(probe))).get(0), "still owned"));
	}

	void eventually(BooleanSupplier condition) {
		eventually("what the test waits for", condition);
	}

	void eventually(String what, BooleanSupplier condition) {
		Eventually.within(patience(), what, condition);
	}

	static void during(Duration time, Runnable check) {
		long begin = System.nanoTime();
		while (System.nanoTime() - begin < time.toNanos()) {
			check.run();
			Eventually.pause();
		}
		check.run();
	}

	/**
	 * Runs something in a thread for each name, and returns when all have ended, or one
	 * has failed.
	 */
	void inThreads(List<String> names, Consumer<String> action) {
		Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
		List<Thread> threads = names.stream().map((name) -> new Thread(() -> {
			try {
				action.accept(name);
			}
			catch (Throwable ex) {
				failures.add(ex);
			}
		}, name)).toList();
		threads.forEach(Thread::start);
		// One that waits in vain fails sooner, and ends this wait.
		Eventually.within(patience().multipliedBy(10), "the end of all threads",
				() -> !failures.isEmpty() || threads.stream().noneMatch(Thread::isAlive));
		threads.forEach(Thread::interrupt);
		failures.stream().findFirst().ifPresent((failure) -> {
			throw new AssertionError("A thread failed", failure);
		});
	}

	static String key() {
		return "contract-" + UUID.randomUUID();
	}

}
