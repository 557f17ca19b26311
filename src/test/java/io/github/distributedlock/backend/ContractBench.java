package io.github.distributedlock.backend;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.TestInstance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What the contract tests are written with.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class ContractBench {

	static final Duration LONG = Duration.ofSeconds(30);

	static final Duration SHORT = Duration.ofMillis(300);

	private final AtomicInteger tokens = new AtomicInteger();

	private final List<LockBackend> open = new ArrayList<>();

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
		this.open.forEach(LockBackend::close);
		this.open.clear();
	}

	LockBackend open(String store) {
		LockBackend backend = backend(store);
		this.open.add(backend);
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

	// Well beyond the short lease that must not count. Asked of the owner: one who tries
	// to acquire would keep the key busy himself once it is free.
	void staysOwned(LockBackend backend, Claim claim) {
		Claim probe = new Claim(claim.key(), claim.owner(), claim.instance(), Duration.ofMillis(1));
		await().during(SHORT.multipliedBy(2))
			.atMost(SHORT.multipliedBy(10))
			.until(() -> backend.renew(List.of(probe)).get(0));
	}

	static String key() {
		return "contract-" + UUID.randomUUID();
	}

}
