package io.github.distributedlock.autoconfigure;

import java.nio.file.Path;

import com.example.locks.FileLocks;
import com.example.locks.FileLocksAutoConfiguration;
import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockBackendFactory;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.engine.LockEngine;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * An application chooses a store of another jar by name.
 */
class ForeignStoreTests {

	@TempDir
	static Path folder;

	private final ApplicationContextRunner application = Contexts.withoutRedis()
		.withConfiguration(AutoConfigurations.of(FileLocksAutoConfiguration.class));

	private final ApplicationContextRunner inFiles = this.application
		.withPropertyValues("distributed-lock.stores.files.folder=" + folder.resolve("locks"));

	@Test
	void annotatedMethodsLockInTheStoreOfTheName() {
		this.inFiles
			.withPropertyValues("distributed-lock.backend=files", "distributed-lock.wait-time=0",
					"management.endpoints.web.exposure.include=*")
			.withBean(Greeter.class)
			.run((context) -> {
				assertThat(context.getBean(LockBackend.class)).isInstanceOf(FileLocks.class);
				assertThat(context.getBean(DistributedLock.class)).isSameAs(context.getBean("filesLock"));
				assertThat(context.getBean(Greeter.class).heldKeys()).containsExactly("greeting");
				assertThat(context).hasBean("distributedLocksEndpoint");
				try (LockEngine other = LockEngine.builder(new FileLocks(folder.resolve("locks"))).build();
						LockHandle handle = other.acquire(LockRequest.of("greeting").detached(true))) {
					assertThat(handle.isHeld()).isTrue();
					assertThatExceptionOfType(LockNotAcquiredException.class)
						.isThrownBy(context.getBean(Greeter.class)::heldKeys);
					assertThat(context.getBean(DistributedLock.class).inspect("greeting").holders()).singleElement()
						.satisfies((holder) -> assertThat(holder.owner()).isEqualTo(handle.owner()));
				}
			});
	}

	@Test
	void isOneOfSeveralStores() {
		this.inFiles.withPropertyValues("distributed-lock.backend=memory, files").run((context) -> {
			assertThat(context.getBean(LockBackend.class)).isInstanceOf(InMemoryLockBackend.class);
			assertThat(context.getBean("filesLockBackend")).isInstanceOf(FileLocks.class);
			assertThat(context.getBean("filesLock", DistributedLock.class).inspect("k").isFree()).isTrue();
		});
	}

	@Test
	void inMemoryItIsThereToo() {
		this.application.withPropertyValues("distributed-lock.backend=memory")
			.withBean(Archive.class)
			.run((context) -> {
				LockHandle handle = context.getBean(Archive.class).inFiles();
				assertThat(context.getBean("memoryLock", DistributedLock.class).owns(handle)).isTrue();
			});
	}

	static class Archive {

		@io.github.distributedlock.annotation.DistributedLock(key = "'archive'", store = "filesLock")
		public LockHandle inFiles() {
			return LockHandle.current().orElseThrow();
		}

	}

	@Test
	void factoryIsFoundByItsWholeName() {
		Contexts.withoutRedis()
			.withBean("cabinet", LockBackendFactory.class, () -> (settings) -> new FileLocks(folder))
			.withPropertyValues("distributed-lock.backend=cabinet")
			.run((context) -> assertThat(context.getBean(LockBackend.class)).isInstanceOf(FileLocks.class));
	}

	@Test
	void unknownNameStopsTheStartAndListsThoseThereAre() {
		Contexts.refuses(this.application.withPropertyValues("distributed-lock.backend=file"),
				InvalidConfigurationPropertyValueException.class, "distributed-lock.backend with value 'file'",
				"redis, jdbc, memory or files");
	}

	@Test
	void whatTheFactoryRefusesStopsTheStart() {
		Contexts.refuses(this.application.withPropertyValues("distributed-lock.backend=files"),
				InvalidConfigurationPropertyValueException.class, "distributed-lock.stores.files with value",
				"set distributed-lock.stores.files.folder");
	}

}
