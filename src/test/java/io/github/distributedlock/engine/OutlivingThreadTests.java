package io.github.distributedlock.engine;

import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.concurrent.JdkLocks;
import io.github.distributedlock.fixtures.Patience;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Threads, as those of a servlet container, that outlive the application and its locks.
 */
class OutlivingThreadTests {

	private final ExecutorService thread = Executors.newSingleThreadExecutor();

	@AfterEach
	void endThread() {
		this.thread.shutdownNow();
	}

	@Test
	void handleOfAClosedEngineIsNoLongerCurrent() {
		LockEngine closed = LockEngine.builder(new InMemoryLockBackend()).build();
		try (LockEngine open = LockEngine.builder(new InMemoryLockBackend()).build();
				LockHandle outer = open.acquire("outer")) {
			LockHandle left = closed.acquire("left");
			assertThat(LockHandle.current()).containsSame(left);
			Patience.get(this.thread.submit(closed::close), "the end of the engine");
			assertThat(LockHandle.current()).containsSame(outer);
			assertThat(left.isHeld()).isFalse();
			assertThat(left.release()).isFalse();
		}
		assertThat(LockHandle.current()).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(classes = { Held.class, Lost.class, LockedInJdk.class })
	void threadKeepsNoClassLoaderOfAClosedEngine(Class<?> code) throws Exception {
		WeakReference<ClassLoader> application = runApplication(code);
		// Until another record is hashed, Java 17 keeps the types of the last one's
		// fields.
		runApplication(code);
		Awaitility.await("the end of the class loader").until(() -> {
			System.gc();
			return application.refersTo(null);
		});
	}

	/**
	 * Leaves a lock on a thread that goes on, and ends.
	 */
	private WeakReference<ClassLoader> runApplication(Class<?> code) throws Exception {
		URL[] classes = { location(LockEngine.class), location(code) };
		URLClassLoader application = new URLClassLoader(classes, new WithoutLibrary());
		Callable<?> main = (Callable<?>) application.loadClass(code.getName()).getConstructor().newInstance();
		assertThat(main.getClass()).isNotSameAs(code);
		AutoCloseable engine = (AutoCloseable) Patience.get(this.thread.submit(main), "a lock that is left");
		engine.close();
		return new WeakReference<>(application);
	}

	private static URL location(Class<?> type) {
		return type.getProtectionDomain().getCodeSource().getLocation();
	}

	private static final class WithoutLibrary extends ClassLoader {

		WithoutLibrary() {
			super(OutlivingThreadTests.class.getClassLoader());
		}

		@Override
		protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
			if (name.startsWith("io.github.distributedlock.")) {
				throw new ClassNotFoundException(name);
			}
			return super.loadClass(name, resolve);
		}

	}

	/**
	 * Leaves a lock that is held until the engine is closed.
	 */
	public static final class Held implements Callable<AutoCloseable> {

		@Override
		public AutoCloseable call() {
			LockEngine engine = LockEngine.builder(new InMemoryLockBackend()).build();
			engine.acquire("k");
			return engine;
		}

	}

	/**
	 * Leaves a lock that is lost before the engine is closed.
	 */
	public static final class Lost implements Callable<AutoCloseable> {

		@Override
		public AutoCloseable call() {
			InMemoryLockBackend store = new InMemoryLockBackend();
			LockEngine engine = LockEngine.builder(store).build();
			LockHandle handle = engine.acquire("k");
			store.release("k", handle.owner());
			if (handle.extend(Duration.ofMinutes(1))) {
				throw new IllegalStateException("not lost");
			}
			return engine;
		}

	}

	/**
	 * Leaves a lock of {@code java.util.concurrent} locked.
	 */
	public static final class LockedInJdk implements Callable<AutoCloseable> {

		@Override
		public AutoCloseable call() {
			LockEngine engine = LockEngine.builder(new InMemoryLockBackend()).build();
			new JdkLocks(engine).lock("k").lock();
			return engine;
		}

	}

}
