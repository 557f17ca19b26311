package io.github.distributedlock.tck;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What the contract tests are written with.
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

	// Those of one test, all of which runs in one thread.
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

	@AfterEach
	void closeBackends() {
		this.open.get().forEach((watch) -> watch.backend().close());
		this.open.remove();
	}

	/**
	 * Whether there was a standstill since the backends of the test were opened.
	 */
	boolean stoodStill() {
		return this.open.get().stream().anyMatch(StandstillWatch::stoodStill);
	}

	LockBackend open(String store) {
		StandstillWatch watch = new StandstillWatch(backend(store));
		this.open.get().add(watch);
		LockBackend backend = watch.backend();
		// Connects, at the expense of nobody's lease.
		backend.renew(List.of(claim(key(), "nobody")));
		watch.begin();
		return backend;
	}

	static Ear listen(LockBackend backend, String instance) {
		Ear ear = new Ear();
		backend.listen(instance, ear);
		return ear;
	}

	Claim held(LockBackend backend, String key, String instance) {
		Claim claim = claim(key, instance);
		assertThat(backend.acquire(claim).acquired()).as("acquired %s", key).isTrue();
		return claim;
	}

	Claim claim(String key, String instance) {
		return claim(key, instance, LONG);
	}

	Claim claim(String key, String instance, Duration lease) {
		return new Claim(key, instance + ":" + this.tokens.incrementAndGet(), instance, lease);
	}

	Claim fair(String key, String instance) {
		return claim(claim(key, instance), LockMode.EXCLUSIVE, true);
	}

	Claim reader(String key, String instance) {
		return reader(key, instance, LONG);
	}

	Claim reader(String key, String instance, Duration lease) {
		return claim(claim(key, instance, lease), LockMode.SHARED, false);
	}

	private static Claim claim(Claim plain, LockMode mode, boolean fair) {
		return new Claim(plain.key(), plain.owner(), plain.instance(), plain.lease(), false, mode, fair);
	}

	// At once, unless the reservation has run out.
	static void acquired(LockBackend backend, Claim claim) {
		await().until(() -> backend.acquireOrRegister(claim).acquired());
	}

	// Well beyond the short lease that must not count. Asked of the owner: one who tries
	// to acquire would keep the key busy himself once it is free.
	void staysOwned(LockBackend backend, Claim claim) {
		Claim probe = new Claim(claim.key(), claim.owner(), claim.instance(), Duration.ofMillis(1));
		Duration beyond = RENEWABLE.plusMillis(200);
		await().during(beyond).until(() -> backend.renew(List.of(probe)).get(0));
	}

	static String key() {
		return "contract-" + UUID.randomUUID();
	}

}
