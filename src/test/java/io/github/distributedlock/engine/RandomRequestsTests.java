package io.github.distributedlock.engine;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.ReleaseOn;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockBackend.Listening;
import io.github.distributedlock.backend.ReleaseListener;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.engine.ScriptedBackend.Fault;
import io.github.distributedlock.internal.Binding;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Two engines on one store and one fake clock make random steps, in
 * {@code -Dlock.requests.runs} runs, 2,000 by default. Each run has another seed, the
 * first {@code -Dlock.requests.seed} or 1. The engines choose their names and the pauses
 * between their polls by other random numbers, so that a failure that depends on these
 * takes more than one trial of a seed.
 */
@Tag("thorough")
class RandomRequestsTests {

	private static final int RUNS = Integer.getInteger("lock.requests.runs", 2000);

	private static final String LIBRARY = LockHandle.class.getPackageName();

	private static final List<String> KEYS = List.of("a", "b");

	/** The message of an error that a run has caused, as that of {@link FakeTime}. */
	private static final String PLANTED = "(test)";

	/** More commands and messages than a run sends that does not spin. */
	private static final int MOST_COMMANDS = 2000;

	private final long seed = Long.getLong("lock.requests.seed", 1);

	private final LoggingSystem logging = LoggingSystem.get(getClass().getClassLoader());

	/** The engines tell of each trouble in detail. */
	@BeforeEach
	void logNothing() {
		this.logging.setLogLevel(LIBRARY, LogLevel.OFF);
	}

	@AfterEach
	void logAgain() {
		this.logging.setLogLevel(LIBRARY, null);
	}

	@Test
	void locksExcludeAndNothingIsLeftOver() {
		run(RUNS, true);
	}

	@Test
	void aStoreThatForgetsHoldersIsFound() {
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> run(100, false))
			.withMessageStartingWith("Seed ")
			.withMessageContaining("held twice");
	}

	private void run(int runs, boolean excusesForgottenKeys) {
		for (int i = 0; i < runs; i++) {
			new Run(this.seed + i, excusesForgottenKeys).run();
		}
	}

	/** The troubles that make a run harder. */
	private enum Trouble {

		LOST_COMMANDS(2), BATCHES_OF_ONE(2), NODE_FOR_EACH_KEY(2), NESTED_REQUESTS(2), ERRORS(2), LOST_CONNECTIONS(3),
		LOST_MESSAGES(3), STOPS(3), UNDOING(3), FORGOTTEN_KEYS(4);

		/** One run in so many has this trouble. */
		private final int oneIn;

		Trouble(int oneIn) {
			this.oneIn = oneIn;
		}

	}

	private static final Fault ERROR_BEFORE = (command) -> {
		throw new StackOverflowError(PLANTED);
	};

	private static final Fault ERROR_AFTER = (command) -> {
		command.get();
		throw new StackOverflowError(PLANTED);
	};

	/** The fates of a command; the last two only with {@link Trouble#ERRORS}. */
	private static final List<Fault> FAULTS = List.of(ScriptedBackend.LOST_REQUEST, ScriptedBackend.NOT_NOW,
			ScriptedBackend.LOST_REPLY, ERROR_BEFORE, ERROR_AFTER);

	/**
	 * A request without an answer yet.
	 *
	 * @param outer the lock that the request is nested in, or none
	 */
	private record Asked(LockRequest request, Side side, List<Held> outer, CompletableFuture<LockHandle> future) {
	}

	/**
	 * A lock whose handle is open.
	 *
	 * @param group the same for locks that one caller has nested, which may share a key
	 */
	private record Held(LockHandle handle, LockRequest request, Side side, Object group) {

		boolean holds(String key) {
			return this.handle.keys().contains(key) && this.handle.isHeld();
		}

		@Override
		public String toString() {
			return this.handle + "@" + this.side;
		}

	}

	/** An engine, and what the engine has told. */
	private record Side(String name, LockEngine engine, List<LockEvent> events) {

		@Override
		public String toString() {
			return this.name;
		}

	}

	private static final class Run {

		private final long seed;

		private final Random random;

		private final boolean excusesForgottenKeys;

		private final EnumSet<Trouble> troubles = EnumSet.noneOf(Trouble.class);

		private final double faultRate;

		private final FakeTime time = new FakeTime();

		private final InMemoryLockBackend store = new InMemoryLockBackend(this.time::nanoTime);

		private final List<Side> sides;

		/** Each kind of step, as often as is likely in so many steps. */
		private final List<Runnable> steps = new ArrayList<>();

		private final List<Object> log = new ArrayList<>();

		private final List<Asked> asked = new ArrayList<>();

		private final List<Held> held = new ArrayList<>();

		private final List<Side> stopped = new ArrayList<>();

		private final List<CompletableFuture<Void>> stops = new ArrayList<>();

		private int commands;

		/** The next command ends with an error. */
		private boolean failsNext;

		/** No message arrives, and the store knows that. */
		private boolean isDeaf;

		/** The store has forgotten a key, so that there may be two holders. */
		private boolean isForgotten;

		/** The troubles are over. */
		private boolean isCalm;

		Run(long seed, boolean excusesForgottenKeys) {
			this.seed = seed;
			this.random = new Random(seed);
			this.excusesForgottenKeys = excusesForgottenKeys;
			for (Trouble trouble : Trouble.values()) {
				if (oneIn(trouble.oneIn)) {
					this.troubles.add(trouble);
				}
			}
			this.faultRate = has(Trouble.LOST_COMMANDS) ? any(List.of(0.02, 0.1, 0.3)) : 0;
			this.sides = List.of(side("e0"), side("e1"));
			add(24, this::ask);
			add(16, () -> forAny(this.held, this::close));
			add(4, () -> forAny(this.asked, this::cancel));
			add(4, () -> forAny(this.held, this::extend));
			add(12, this::advance);
			add(1, this::setWallClock);
			add(has(Trouble.FORGOTTEN_KEYS) ? 4 : 0, () -> forAny(this.held, this::forgetKey));
			add(has(Trouble.STOPS) ? 4 : 0, () -> forAny(this.sides, this::stopOrStart));
			add(has(Trouble.ERRORS) ? 6 : 0, () -> forAny(List.of("worker", "callback"), this::lackThread));
			add(has(Trouble.LOST_CONNECTIONS) ? 4 : 0, this::loseOrFindConnection);
		}

		private void add(int times, Runnable step) {
			this.steps.addAll(Collections.nCopies(times, step));
		}

		private Side side(String name) {
			List<LockEvent> events = new ArrayList<>();
			LockEngine.Builder settings = LockEngine.builder(wire())
				.application(name)
				.watchdogTimeout(Duration.ofSeconds(oneIn(3) ? 2 : 30))
				.listener(events::add);
			if (oneIn(4)) {
				settings.localSlice(Duration.ZERO);
			}
			if (oneIn(3)) {
				settings.keepTime(Duration.ofMillis(200));
			}
			return new Side(name, new LockEngine(settings, this.time, this.time, () -> {
			}), events);
		}

		void run() {
			try {
				int count = 20 + this.random.nextInt(200);
				for (int i = 0; i < count; i++) {
					outlive(any(this.steps));
					settle();
					checkExclusion();
				}
				finish();
				checkNothingIsLeftOver();
			}
			catch (RuntimeException | Error ex) {
				throw new AssertionError(
						"Seed %d with %s, repeated by -Dlock.requests.seed=%d -Dlock.requests.runs=1: %s\n%s".formatted(
								this.seed, this.troubles, this.seed, ex,
								this.log.stream().map(String::valueOf).collect(Collectors.joining("\n"))),
						ex);
			}
		}

		private boolean has(Trouble trouble) {
			return this.troubles.contains(trouble);
		}

		private boolean oneIn(int count) {
			return this.random.nextInt(count) == 0;
		}

		private <T> T any(List<T> all) {
			return all.get(this.random.nextInt(all.size()));
		}

		private <T> void forAny(List<T> all, Consumer<T> step) {
			if (!all.isEmpty()) {
				step.accept(any(all));
			}
		}

		private Duration upTo(int millis) {
			return Duration.ofMillis(1 + this.random.nextInt(millis));
		}

		private void log(Object line) {
			if (this.commands <= MOST_COMMANDS) {
				this.log.add(line);
			}
		}

		private static boolean isPlanted(Throwable ex) {
			return ex instanceof Error && String.valueOf(ex.getMessage()).contains(PLANTED);
		}

		/**
		 * Returns whether the action came to an end without an error. Errors that are
		 * planted may reach the caller.
		 */
		private boolean outlive(Runnable action) {
			try {
				action.run();
				return true;
			}
			catch (Error ex) {
				if (!isPlanted(ex)) {
					throw ex;
				}
				log("  " + ex);
				return false;
			}
		}

		// Steps

		private void ask() {
			LockRequest request = request();
			Side side = any(this.sides);
			List<Held> own = this.held.stream().filter((one) -> one.side() == side).toList();
			boolean isNested = has(Trouble.NESTED_REQUESTS) && !own.isEmpty() && oneIn(2);
			List<Held> outer = isNested ? List.of(any(own)) : List.of();
			log("ask " + side + " for " + request + " within " + outer);
			this.asked.add(new Asked(request, side, outer, Binding.inChain(outer.stream().map(Held::handle).toList(),
					() -> side.engine().acquireAsync(request))));
		}

		/** Returns a valid request. Many combinations of options are not valid. */
		private LockRequest request() {
			while (true) {
				LockRequest request = (oneIn(3) ? LockRequest.of("a", "b") : LockRequest.of(any(KEYS))).detached(true)
					.waitTime(oneIn(3) ? Duration.ZERO : upTo(6000));
				for (int i = 0; i < 3; i++) {
					request = withOption(request);
				}
				try {
					request.requireValid();
					return request;
				}
				catch (IllegalArgumentException ex) {
					// Another one.
				}
			}
		}

		private LockRequest withOption(LockRequest request) {
			return switch (this.random.nextInt(14)) {
				case 0, 1, 2 -> request.keepTime(upTo(3000));
				case 3 -> request.leaseTime(upTo(10_000).plusMillis(200));
				case 4 -> request.minHoldTime(upTo(3000));
				case 5 -> request.maxHoldTime(upTo(10_000).plusMillis(200));
				case 6, 7 -> request.mode(LockMode.SHARED);
				case 8 -> request.permits(2);
				case 9 -> request.fair(true);
				case 10 -> request.fenced(true);
				case 11 -> request.releaseOn(ReleaseOn.EXPIRY);
				default -> request;
			};
		}

		private void close(Held one) {
			int way = this.random.nextInt(has(Trouble.UNDOING) ? 3 : 2);
			log(List.of("close ", "closeAsync ", "undo ").get(way) + one);
			switch (way) {
				case 0 -> one.handle().close();
				case 1 -> one.handle().closeAsync();
				default -> one.handle().undo();
			}
		}

		private void cancel(Asked one) {
			log("cancel " + one.request() + " of " + one.side());
			one.future().cancel(true);
		}

		private void extend(Held one) {
			Duration by = upTo(40_000).plusMillis(100);
			log("extend " + one + " by " + by);
			try {
				one.handle().extend(by);
			}
			catch (LockBackendException | IllegalArgumentException ex) {
				log("  " + ex);
			}
		}

		private void advance() {
			Duration by = upTo(any(List.of(1, 100, 1000, 15_000)));
			log("advance " + by);
			advance(by);
		}

		/** Goes on if a planted error ends what is due, but not for ever. */
		private void advance(Duration by) {
			for (int i = 0; i < 50 && !outlive(() -> this.time.advance(by)); i++) {
				log("  once more");
			}
		}

		private void setWallClock() {
			Duration by = oneIn(3) ? upTo(20_000).negated() : upTo(20_000);
			log("set the wall clock by " + by);
			this.time.suspend(by);
		}

		private void forgetKey(Held one) {
			String key = any(one.handle().keys());
			boolean wasHeld = this.store.release(key, one.handle().owner());
			log("forget " + key + " of " + one + ": " + wasHeld);
			this.isForgotten |= wasHeld;
		}

		private void stopOrStart(Side side) {
			boolean wasStopped = this.stopped.remove(side);
			log((wasStopped ? "start " : "stop ") + side);
			if (wasStopped) {
				side.engine().start();
			}
			else {
				this.stopped.add(side);
				this.stops.add(side.engine().stop());
			}
		}

		private void lackThread(String kind) {
			this.failsNext = oneIn(2);
			log("lack a thread: " + kind + (this.failsNext ? ", and an error comes next" : ""));
			this.time.lackAThread(kind);
			if (oneIn(2)) {
				forAny(this.held, this::close);
			}
		}

		private void loseOrFindConnection() {
			this.isDeaf ^= true;
			log("deaf: " + this.isDeaf);
		}

		/** Lets the workers work, and takes the answers to requests. */
		private void settle() {
			advance(Duration.ZERO);
			List<Asked> done = this.asked.stream().filter((one) -> one.future().isDone()).toList();
			this.asked.removeAll(done);
			done.forEach(this::take);
			this.held.removeIf((one) -> one.handle().isClosed());
		}

		private void take(Asked one) {
			try {
				LockHandle handle = one.future().getNow(null);
				Object group = one.outer()
					.stream()
					.filter((outer) -> outer.handle().owner().equals(handle.owner())
							|| !Collections.disjoint(outer.handle().keys(), handle.keys()))
					.map(Held::group)
					.findFirst()
					.orElseGet(Object::new);
				this.held.add(new Held(handle, one.request(), one.side(), group));
				log("  acquired " + handle + "@" + one.side());
			}
			catch (CancellationException ex) {
				log("  cancelled " + one.request());
			}
			catch (CompletionException ex) {
				Throwable cause = ex.getCause();
				log("  failed " + one.request() + ": " + cause);
				if (!(cause instanceof LockException || cause instanceof IllegalArgumentException
						|| isPlanted(cause))) {
					throw ex;
				}
			}
		}

		/**
		 * Ends all troubles, requests and locks, and gives the engines time to tidy up.
		 */
		private void finish() {
			log("finish");
			this.isCalm = true;
			this.isDeaf = false;
			this.failsNext = false;
			advance(Duration.ofSeconds(1));
			this.stopped.forEach((side) -> side.engine().start());
			this.asked.forEach((one) -> one.future().cancel(true));
			settle();
			this.held.forEach((one) -> one.handle().close());
			for (int i = 0; i < 200; i++) {
				advance(Duration.ofSeconds(1));
			}
		}

		// Checks

		private static void check(boolean isRight, String otherwise) {
			if (!isRight) {
				throw new AssertionError(otherwise);
			}
		}

		private void checkExclusion() {
			check(this.commands <= MOST_COMMANDS, "spins");
			if (this.isForgotten && this.excusesForgottenKeys) {
				return;
			}
			for (String key : KEYS) {
				Collection<List<Held>> groups = this.held.stream()
					.filter((one) -> one.holds(key))
					.collect(Collectors.groupingBy(Held::group))
					.values();
				List<Integer> limits = groups.stream().map(Run::limit).toList();
				if (groups.size() > 1) {
					int least = Collections.min(limits);
					boolean isShared = limits.contains(Integer.MAX_VALUE);
					check(groups.size() <= least && isShared == (least == Integer.MAX_VALUE),
							"held twice: " + key + " " + groups);
				}
			}
		}

		/** Returns how many groups may hold a key that the given group holds. */
		private static int limit(List<Held> group) {
			return group.stream()
				.map(Held::request)
				.filter((request) -> request.mode() == LockMode.EXCLUSIVE)
				.mapToInt(LockRequest::permits)
				.min()
				.orElse(Integer.MAX_VALUE);
		}

		/**
		 * A waiter that could not be withdrawn may stay in the store until another
		 * instance finds that waiter silent.
		 */
		private void checkNothingIsLeftOver() {
			check(this.commands <= MOST_COMMANDS, "spins");
			boolean mayLeaveWaiters = has(Trouble.LOST_COMMANDS) || has(Trouble.STOPS) || has(Trouble.ERRORS);
			for (String key : KEYS) {
				LockStatus status = this.store.inspect(key);
				check(status.isFree(), "left over in the store: " + status);
				check(mayLeaveWaiters || status.waiters().isEmpty(), "waiters left over in the store: " + status);
			}
			for (Side side : this.sides) {
				LockEngine engine = side.engine();
				check(!engine.hasQueues(), "queues left over in " + side);
				check(engine.keysHeld() == 0, "keys left over in " + side);
				check(engine.keysKept() == 0, "keys kept by " + side);
				check(engine.requestsWaiting() == 0, "requests left over in " + side);
				checkEvents(side);
			}
			check(this.stops.stream().allMatch(CompletableFuture::isDone), "a stop has no end");
		}

		/**
		 * Each key that was acquired was released or lost, and no other one. An engine
		 * tells nothing of a lock that is re-entered, nor where an error came first. A
		 * key that the store forgot, or whose release was deferred, may end twice.
		 */
		private void checkEvents(Side side) {
			if (has(Trouble.NESTED_REQUESTS) || has(Trouble.ERRORS)) {
				return;
			}
			boolean mayEndTwice = has(Trouble.FORGOTTEN_KEYS);
			Map<String, Integer> open = new HashMap<>();
			for (LockEvent event : side.events()) {
				if (event instanceof LockEvent.Acquired) {
					event.keys().forEach((key) -> open.merge(key, 1, Integer::sum));
				}
				boolean isDeferred = event instanceof LockEvent.ReleaseDeferred;
				mayEndTwice |= isDeferred;
				if (isDeferred || event instanceof LockEvent.Released || event instanceof LockEvent.Lost) {
					open.merge(event.keys().get(0), -1, Integer::sum);
				}
			}
			check(open.values().stream().allMatch((count) -> count <= 0), "acquired without an end: " + open);
			check(mayEndTwice || open.values().stream().allMatch((count) -> count >= 0),
					"ended without a beginning: " + open);
		}

		// The way of an engine to the store and back

		private LockBackend wire() {
			return proxy(LockBackend.class, (self, method, arguments) -> switch (method.getName()) {
				case "node" -> has(Trouble.NODE_FOR_EACH_KEY) ? arguments[0] : "";
				case "largestBatch", "largestRelease" -> has(Trouble.BATCHES_OF_ONE) ? 1 : 100;
				case "keepsPlacesOf", "grantsTo" ->
					!this.isDeaf && (boolean) ReflectionUtils.invokeMethod(method, this.store, arguments);
				case "listen" -> listen((String) arguments[0], (ReleaseListener) arguments[1]);
				case "acquire", "acquireOrRegister", "pass", "withdraw", "forget", "renew", "release", "releaseAll",
						"downgrade", "leaveToExpire" ->
					send(method, arguments);
				default -> ReflectionUtils.invokeMethod(method, this.store, arguments);
			});
		}

		private Object send(Method method, Object[] arguments) {
			count();
			Fault fault = Supplier::get;
			if (method.getName().equals("renew") && ((List<?>) arguments[0]).size() > 1 && isLost(this.faultRate)) {
				fault = ScriptedBackend.REFUSED; // A store may refuse a batch as a whole.
			}
			else if (this.failsNext) {
				fault = ERROR_BEFORE;
				this.failsNext = false;
			}
			else if (isLost(this.faultRate)) {
				fault = any(FAULTS.subList(0, has(Trouble.ERRORS) ? FAULTS.size() : FAULTS.indexOf(ERROR_BEFORE)));
			}
			log(Arrays.asList(method.getName(), Arrays.asList(arguments)));
			try {
				return fault.apply(() -> {
					Object answer = ReflectionUtils.invokeMethod(method, this.store, arguments);
					log(Arrays.asList("done", answer));
					return answer;
				});
			}
			catch (RuntimeException | Error ex) {
				log("    " + ex.getMessage());
				throw ex;
			}
		}

		private Listening listen(String instance, ReleaseListener listener) {
			Listening listening = this.store.listen(instance,
					proxy(ReleaseListener.class, (self, method, arguments) -> hear(listener, method, arguments)));
			return proxy(Listening.class, (self, method, arguments) -> method.getName().equals("hears") ? !this.isDeaf
					: ReflectionUtils.invokeMethod(method, listening, arguments));
		}

		private Object hear(ReleaseListener listener, Method method, Object[] arguments) {
			if (!method.getName().equals("onNotification")) {
				return ReflectionUtils.invokeMethod(method, listener, arguments);
			}
			count();
			boolean isMissed = this.isDeaf || isLost(has(Trouble.LOST_MESSAGES) ? 0.3 : 0);
			log(Arrays.asList(isMissed ? "missed" : "heard", arguments[0]));
			return isMissed ? null : ReflectionUtils.invokeMethod(method, listener, arguments);
		}

		private boolean isLost(double rate) {
			return !this.isCalm && this.random.nextDouble() < rate;
		}

		/** Counts, and ends each lease if the run spins, so that the run ends. */
		private void count() {
			if (++this.commands > MOST_COMMANDS) {
				this.time.pass(Duration.ofHours(1));
			}
		}

		private static <T> T proxy(Class<T> type, InvocationHandler handler) {
			return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, handler));
		}

	}

}
