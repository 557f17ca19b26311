package io.github.distributedlock.backend.redis;

import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.github.distributedlock.fixtures.RedisImages;
import io.github.distributedlock.tck.LockBackendContractTests;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIf;

/**
 * The contract on the images that people run, by each candidate that they have.
 */
@Tag("thorough")
@EnabledIf(value = "io.github.distributedlock.fixtures.RedisImages#isDockerThere",
		disabledReason = "there is no Docker engine")
class ContainerContractTests extends LockBackendContractTests {

	private final RedisImages images = new RedisImages();

	private final AtomicityStores stores = new AtomicityStores();

	@BeforeAll
	@Timeout(value = 10, unit = TimeUnit.MINUTES) // Images may have to be pulled.
	void startServers() {
		this.images.start().forEach(this.stores::add);
	}

	@AfterAll
	void stopServers() {
		this.images.close();
	}

	@Override
	protected Stream<String> stores() {
		return this.stores.names();
	}

	@Override
	protected RedisLockBackend backend(String store) {
		return this.stores.open(store);
	}

}
