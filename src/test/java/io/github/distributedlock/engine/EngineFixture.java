package io.github.distributedlock.engine;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.ReleaseListener;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.engine.EngineTime.Workers;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.internal.Binding;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An engine on a fake clock and a scripted store, and other JVMs beside the engine:
 * engines, or bare owners, on the same store.
 */
public abstract class EngineFixture {

	protected static final Duration LEASE = Duration.ofSeconds(30);

	/**
	 * The longest wait for what happens at once, in this JVM alone.
	 */
	protected static final Duration PATIENCE = Patience.INTERNAL;

	@BeforeAll
	static void waitNoLonger() {
		Awaitility.setDefaultTimeout(PATIENCE);
	}

	protected final FakeTime time = new FakeTime();

	protected final InMemoryLockBackend store = new InMemoryLockBackend(this.time::nanoTime);

	protected final ScriptedBackend backend = new ScriptedBackend(this.store);

	protected final List<LockEvent> events = new CopyOnWriteArrayList<>();

	protected final LockEngine engine = engine(this.backend, "us");

	private final List<Thread> threads = new ArrayList<>();

	protected LockEngine engine(LockBackend backend, String application) {
		LockEngine.Builder builder = LockEngine.builder(backend)
			.application(application)
			.watchdogTimeout(LEASE)
			.listener(this.events::add);
		return build(builder);
	}

	protected LockEngine build(LockEngine.Builder settings) {
		return build(settings, this.time, this.time);
	}

	protected static LockEngine build(LockEngine.Builder settings, EngineTime time, Workers workers) {
		return new LockEngine(settings, time, workers, () -> {
		});
	}

	/**
	 * Returns whether any key is held, waited for or withdrawn from in our engine.
	 */
	protected boolean hasQueues() {
		return this.engine.hasQueues();
	}

	protected static LockRequest request(String key) {
		return LockRequest.of(key);
	}

	protected static LockRequest waiting(String key, Duration waitTime) {
		return LockRequest.of(key).waitTime(waitTime);
	}

	/**
	 * Returns the name by which the store knows the engine of this test.
	 */
	protected String instance() {
		return this.backend.instance();
	}

	/**
	 * Another JVM owns the key.
	 */
	protected void ownedElsewhere(String key, Duration lease) {
		assertThat(this.store.acquire(Claim.of(key, "other#1:1", "other#1", lease)).acquired()).isTrue();
	}

	protected void releasedElsewhere(String key) {
		assertThat(this.store.release(key, "other#1:1")).isTrue();
	}

	/**
	 * In whose favour the key is busy, whatever the mode, or {@code null}.
	 */
	protected Holder holderOf(String key) {
		AcquireResult attempt = this.store.acquire(Claim.of(key, "probe#1:1", "probe#1", Duration.ofMillis(1)));
		if (attempt.acquired()) {
			this.store.leaveToExpire(key, "probe#1:1", Duration.ZERO);
			return null;
		}
		return attempt.holder().in(null);
	}

	/**
	 * Runs an action that may wait, on another thread.
	 * @return the result, for which nobody waits longer than {@link #PATIENCE}
	 */
	protected <T> CompletableFuture<T> inThread(Supplier<T> action) {
		CompletableFuture<T> future = new CompletableFuture<>();
		Thread thread = new Thread(() -> {
			try {
				future.complete(action.get());
			}
			catch (Throwable ex) {
				future.completeExceptionally(ex);
			}
		});
		this.threads.add(thread);
		thread.start();
		return future.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS);
	}

	protected CompletableFuture<LockHandle> acquiring(LockRequest request) {
		int before = this.time.waiting();
		CompletableFuture<LockHandle> acquiring = inThread(() -> this.engine.acquire(request));
		soon(() -> acquiring.isDone() || this.time.waiting() > before);
		return acquiring;
	}

	/**
	 * Waits for what a thread does at once. Awaitility would take milliseconds for that,
	 * and some tests wait ten thousand times.
	 */
	protected static void soon(BooleanSupplier done) {
		long end = System.nanoTime() + PATIENCE.toNanos();
		while (!done.getAsBoolean()) {
			assertThat(System.nanoTime() - end).as("waited in vain").isNegative();
			Thread.yield();
		}
	}

	/**
	 * Runs a task on another thread, and waits for the end of the task.
	 */
	protected void elsewhere(Runnable task) {
		Patience.get(inThread(() -> {
			task.run();
			return true;
		}), "another thread");
	}

	/**
	 * Runs what is due now.
	 */
	protected void act() {
		this.time.advance(Duration.ZERO);
	}

	/**
	 * Returns the time of this test, with an action before each step of the time.
	 */
	protected EngineTime before(Runnable action) {
		return time(action, () -> {
		});
	}

	/**
	 * Returns the time of this test, with an action after each step of the time.
	 */
	protected EngineTime after(Runnable action) {
		return time(() -> {
		}, action);
	}

	private EngineTime time(Runnable before, Runnable after) {
		return (EngineTime) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { EngineTime.class },
				(proxy, method, arguments) -> {
					before.run();
					Object result = method.invoke(this.time, arguments);
					after.run();
					return result;
				});
	}

	/**
	 * Our workers, if something lets them work.
	 * @param way gets the name of the worker, and the task
	 */
	protected Workers workers(BiConsumer<String, Runnable> way) {
		return (Workers) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Workers.class },
				(proxy, method, arguments) -> {
					way.accept(method.getName(), () -> {
						try {
							method.invoke(this.time, arguments);
						}
						catch (ReflectiveOperationException ex) {
							throw new IllegalStateException(ex);
						}
					});
					return null;
				});
	}

	/**
	 * Returns whether the calling thread is inside a method of a class of the engine.
	 */
	protected static boolean isInside(String type, String method) {
		return StackWalker.getInstance()
			.walk((frames) -> frames.anyMatch(
					(frame) -> frame.getClassName().endsWith("." + type) && frame.getMethodName().equals(method)));
	}

	/**
	 * Lets no message of the store arrive at our engine from now on.
	 * @return the key of the last notification that was lost
	 */
	protected AtomicReference<String> loseWakeUps() {
		AtomicReference<String> lost = new AtomicReference<>();
		this.store.listen(instance(), new ReleaseListener() {

			@Override
			public void onRelease(ReleaseNotification notification) {
				lost.set(notification.key());
			}

			@Override
			public void onResubscribed() {
			}

		});
		return lost;
	}

	/**
	 * Lets time pass in steps until a condition holds, for which other threads need real
	 * time, too.
	 */
	protected void advanceUntil(Duration step, BooleanSupplier condition) {
		Awaitility.await().pollInterval(Duration.ofMillis(5)).until(() -> {
			this.time.advance(step);
			return condition.getAsBoolean();
		});
	}

	protected static <T> T succeeded(CompletableFuture<T> future) {
		assertThat(future).succeedsWithin(PATIENCE);
		return future.join();
	}

	/**
	 * Asserts why a future fails.
	 * @param texts what the message contains
	 */
	protected static void assertFails(CompletableFuture<?> future, Class<? extends Throwable> reason, String... texts) {
		var failure = assertThat(future).failsWithin(PATIENCE).withThrowableThat().havingCause().isInstanceOf(reason);
		Stream.of(texts).forEach(failure::withMessageContaining);
	}

	protected List<LockEvent.Lost.Reason> lossReasons() {
		return events(LockEvent.Lost.class).stream().map(LockEvent.Lost::reason).toList();
	}

	protected Thread lastThread() {
		return this.threads.get(this.threads.size() - 1);
	}

	protected void untilWaiting(int threads) {
		soon(() -> this.time.waiting() == threads);
	}

	protected <T extends LockEvent> List<T> events(Class<T> type) {
		return this.events.stream().filter(type::isInstance).map(type::cast).toList();
	}

	@AfterEach
	protected void nothingIsLeftBehind() {
		Binding.all().forEach(Binding::unbind);
		this.threads.forEach(Thread::interrupt);
		Awaitility.await().until(() -> this.threads.stream().noneMatch(Thread::isAlive));
	}

}
