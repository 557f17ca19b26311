package io.github.distributedlock.aop;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import java.util.stream.Stream;

import io.github.distributedlock.LockLostException;
import io.github.distributedlock.OnLost;
import io.github.distributedlock.annotation.DistributedLock;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.test.publisher.TestPublisher;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

/**
 * The application's part of a stream throws anything, at any signal: the lock is given
 * back, and the subscriber is told where that is still possible.
 */
class HostileCodeTests {

	private static AdvisorContext context;

	private final RecordingLock lock = context.lock();

	private final Service service = service(context.get(Service.class), this.lock);

	private final List<Throwable> dropped = new CopyOnWriteArrayList<>();

	@BeforeAll
	static void open() {
		context = AdvisorContext.of(Service.class);
	}

	@BeforeEach
	void start() {
		this.lock.events.clear();
		Hooks.onErrorDropped(this.dropped::add);
	}

	@AfterEach
	void stop() {
		Hooks.resetOnErrorDropped();
	}

	@AfterAll
	static void close() {
		context.close();
	}

	/**
	 * Returns the service to test: the annotated bean, unless a subclass locks in code.
	 */
	Service service(Service advised, RecordingLock lock) {
		return advised;
	}

	static Stream<Throwable> throwables() {
		return Stream.of(new IllegalStateException("theirs"), new IOException("theirs"), new AssertionError("theirs"),
				new NoClassDefFoundError("theirs"), new StackOverflowError("theirs"));
	}

	static Stream<Arguments> cancellations() {
		return Stream.of(Cancelled.values())
			.flatMap((source) -> Stream.of(End.values())
				.flatMap((end) -> throwables().map((thrown) -> Arguments.of(source, end, thrown))));
	}

	@ParameterizedTest
	@MethodSource("cancellations")
	void cancellationThatThrows(Cancelled source, End end, Throwable thrown) {
		Downstream downstream = new Downstream();
		TestPublisher<Object> timer = TestPublisher.create();
		Publisher<?> stream = source.stream((end == End.REFUSED) ? Flux.never() : null, () -> sneak(thrown));
		Throwable escaped = catchThrowable(() -> {
			subscribe(source != Cancelled.FLUX, stream, (end == End.TIMEOUT) ? timer : null, downstream);
			switch (end) {
				case DISPOSED -> downstream.subscription.cancel();
				case TIMEOUT -> timer.complete();
				case LOST -> this.lock.lose();
				case REFUSED -> {
				}
			}
		});
		await().untilAsserted(() -> assertThat(this.lock.events).containsOnlyOnce("release"));
		if (end != End.REFUSED || source == Cancelled.RAW) { // A sink that has its value
																// may not be told.
			await().untilAsserted(() -> assertThat(this.dropped).contains(thrown));
		}
		if (end == End.DISPOSED || (end == End.TIMEOUT && Exceptions.isJvmFatal(thrown))) {
			assertThat(downstream.signals).containsExactly("onSubscribe");
			assertThat(escaped).isSameAs(Exceptions.isJvmFatal(thrown) ? thrown : null);
		}
		else {
			await().untilAsserted(() -> assertThat(downstream.signals).containsExactly("onSubscribe", "onError"));
			assertThat(downstream.failure).isInstanceOf(end.failure);
		}
	}

	/**
	 * Tests set such hooks.
	 */
	@Test
	void hookForDroppedErrorsThatThrows() {
		Hooks.onErrorDropped((thrown) -> sneak(thrown));
		Downstream downstream = new Downstream();
		subscribe(true, Cancelled.RAW.stream(null, () -> sneak(new AssertionError("theirs"))), null, downstream);
		catchThrowable(downstream.subscription::cancel);
		assertThat(this.lock.events).containsExactly("acquire", "release");
	}

	/**
	 * The handle is there, and nobody would give it back.
	 */
	@Test
	void lockAndSubscriberThatThrow() {
		Error thrown = new StackOverflowError("theirs");
		this.lock.thrownOnPromise = thrown;
		this.lock.turn = new CompletableFuture<>();
		Downstream downstream = new Downstream("onError", thrown);
		try {
			assertThat(catchThrowable(() -> subscribe(true, Mono.never(), null, downstream))).isSameAs(thrown);
			this.lock.turn.complete(null);
		}
		finally {
			this.lock.turn = null;
			this.lock.thrownOnPromise = null;
		}
		assertThat(downstream.failure).isSameAs(thrown);
		await().untilAsserted(() -> assertThat(this.lock.events).containsExactly("waits", "acquire", "undone"));
	}

	@ParameterizedTest
	@MethodSource("throwables")
	void fallbackThatThrows(Throwable thrown) {
		Downstream downstream = new Downstream();
		this.lock.busy = true;
		try {
			this.service.orElse(thrown).subscribe(downstream);
		}
		finally {
			this.lock.busy = false;
		}
		assertThat(downstream.signals).containsExactly("onSubscribe", "onError");
		assertThat(downstream.failure).isSameAs(thrown);
	}

	static Stream<Arguments> callbacks() {
		return Stream.of("beforeCommit", "beforeCompletion", "afterCommit", "afterCompletion")
			.flatMap((callback) -> throwables().map((thrown) -> Arguments.of(callback, thrown)))
			// Spring neither commits nor rolls back then, and tells nobody of an end.
			.filter((call) -> !(call.get()[0].equals("beforeCommit") && call.get()[1] instanceof IOException));
	}

	@ParameterizedTest
	@MethodSource("callbacks")
	void callbackOfATransactionThatThrows(String callback, Throwable thrown) {
		TransactionSynchronization hostile = (TransactionSynchronization) Proxy.newProxyInstance(
				getClass().getClassLoader(), new Class<?>[] { TransactionSynchronization.class },
				(proxy, method, args) -> {
					if (method.getName().equals(callback)) {
						sneak(thrown);
					}
					return method.getReturnType().equals(int.class) ? 0 : null;
				});
		TransactionTemplate transaction = new TransactionTemplate(new RecordingTransactionManager(new ArrayList<>()));
		catchThrowable(() -> transaction.executeWithoutResult((status) -> {
			TransactionSynchronizationManager.registerSynchronization(hostile);
			this.service.run();
			assertThat(this.lock.events).containsExactly("acquire");
		}));
		assertThat(this.lock.events).containsExactly("acquire", "release");
	}

	static Stream<Arguments> signals() {
		return Stream.of(true, false)
			.flatMap((one) -> Stream.of("onSubscribe", "onNext", "onError", "onComplete")
				.flatMap((signal) -> throwables().map((thrown) -> Arguments.of(one, signal, thrown))));
	}

	@ParameterizedTest(name = "only one value: {0}, {1} throws {2}")
	@MethodSource("signals")
	void subscriberThatThrows(boolean one, String signal, Throwable thrown) {
		Downstream downstream = new Downstream(signal, thrown);
		Raw source = new Raw();
		catchThrowable(() -> subscribe(one, source, null, downstream));
		if (signal.equals("onSubscribe")) {
			assertThat(this.lock.events).isEmpty();
			return;
		}
		catchThrowable(() -> {
			if (signal.equals("onError")) {
				source.subscriber.onError(new IllegalStateException("ours"));
			}
			else {
				source.subscriber.onNext("value");
				source.subscriber.onComplete();
			}
		});
		assertThat(this.lock.events).containsExactly("acquire", "release");
		if (signal.equals("onNext")) {
			assertThat(downstream.failure).isSameAs(thrown);
			assertThat(source.cancelled).isEqualTo(!one);
		}
		else {
			assertThat(this.dropped).contains(thrown);
		}
	}

	static Stream<Arguments> steps() {
		return Stream.of(true, false)
			.flatMap((one) -> Stream.of(Raw.Step.values())
				.flatMap((step) -> throwables().map((thrown) -> Arguments.of(one, step, thrown))));
	}

	@ParameterizedTest(name = "only one value: {0}, {1} throws {2}")
	@MethodSource("steps")
	void sourceThatThrows(boolean one, Raw.Step step, Throwable thrown) {
		Downstream downstream = new Downstream();
		downstream.demand = (step == Raw.Step.LATE_REQUEST) ? 0 : Long.MAX_VALUE;
		Raw source = new Raw(step, () -> sneak(thrown));
		Throwable escaped = catchThrowable(() -> subscribe(one, source, null, downstream));
		if (step == Raw.Step.LATE_REQUEST) {
			assertThat(this.lock.events).containsExactly("acquire");
			escaped = catchThrowable(() -> downstream.subscription.request(1));
		}
		boolean tooLate = step == Raw.Step.AFTER_THE_END;
		assertThat(escaped).isSameAs((tooLate && Exceptions.isJvmFatal(thrown)) ? thrown : null);
		assertThat(this.lock.events).containsExactly("acquire", "release");
		assertThat(downstream.signals).filteredOn((signal) -> signal.matches("onError|onComplete")).hasSize(1);
		if (!tooLate) {
			assertThat(downstream.failure).isSameAs(thrown);
		}
	}

	private void subscribe(boolean one, Publisher<?> source, Publisher<?> timer, Downstream downstream) {
		if (one) {
			Mono<Object> result = this.service.mono(source);
			((timer != null) ? result.timeout(timer) : result).subscribe(downstream);
		}
		else {
			Flux<Object> result = this.service.flux(source);
			((timer != null) ? result.timeout(timer) : result).subscribe(downstream);
		}
	}

	@SuppressWarnings("unchecked")
	static <X extends Throwable> void sneak(Throwable thrown) throws X {
		throw (X) thrown;
	}

	/**
	 * The cause of a cancellation.
	 */
	enum End {

		DISPOSED(null), TIMEOUT(TimeoutException.class), REFUSED(IllegalStateException.class),
		LOST(LockLostException.class);

		private final Class<? extends Throwable> failure;

		End(Class<? extends Throwable> failure) {
			this.failure = failure;
		}

	}

	/**
	 * The place where the source hears of a cancellation.
	 */
	enum Cancelled {

		MONO_DISPOSE((element, hook) -> Mono.create((sink) -> {
			sink.onDispose(hook::run);
			if (element != null) {
				sink.success(element);
			}
		})),

		MONO_CANCEL((element, hook) -> Mono.create((sink) -> {
			sink.onCancel(hook::run);
			if (element != null) {
				sink.success(element);
			}
		})),

		FLUX((element, hook) -> Flux.create((sink) -> {
			sink.onDispose(hook::run);
			if (element != null) {
				sink.next(element);
			}
		})),

		OPERATOR((element, hook) -> Flux.concat((element != null) ? Mono.just(element) : Mono.empty(), Mono.never())
			.doOnCancel(hook)),

		RAW((element, hook) -> (Publisher<Object>) (subscriber) -> subscriber.onSubscribe(new Subscription() {

			@Override
			public void request(long n) {
				if (element != null) {
					subscriber.onNext(element);
				}
			}

			@Override
			public void cancel() {
				hook.run();
			}

		}));

		private final BiFunction<Object, Runnable, Publisher<?>> stream;

		Cancelled(BiFunction<Object, Runnable, Publisher<?>> stream) {
			this.stream = stream;
		}

		Publisher<?> stream(Object element, Runnable hook) {
			return this.stream.apply(element, hook);
		}

	}

	/**
	 * A source that throws at one step, and emits what the test wants.
	 */
	static final class Raw implements Publisher<Object>, Subscription {

		enum Step {

			SUBSCRIBE, AFTER_ON_SUBSCRIBE, REQUEST, LATE_REQUEST, AFTER_AN_ELEMENT, AFTER_THE_END

		}

		private final Step step;

		private final Runnable hostile;

		private Subscriber<? super Object> subscriber;

		private boolean cancelled;

		Raw() {
			this(null, () -> {
			});
		}

		Raw(Step step, Runnable hostile) {
			this.step = step;
			this.hostile = hostile;
		}

		@Override
		public void subscribe(Subscriber<? super Object> subscriber) {
			this.subscriber = subscriber;
			throwAt(Step.SUBSCRIBE);
			subscriber.onSubscribe(this);
			throwAt(Step.AFTER_ON_SUBSCRIBE);
		}

		@Override
		public void request(long n) {
			throwAt(Step.REQUEST);
			throwAt(Step.LATE_REQUEST);
			if (this.step == Step.AFTER_AN_ELEMENT || this.step == Step.AFTER_THE_END) {
				this.subscriber.onNext("value");
				throwAt(Step.AFTER_AN_ELEMENT);
				this.subscriber.onComplete();
				throwAt(Step.AFTER_THE_END);
			}
		}

		@Override
		public void cancel() {
			this.cancelled = true;
		}

		private void throwAt(Step step) {
			if (this.step == step) {
				this.hostile.run();
			}
		}

	}

	/**
	 * A subscriber that may throw at one signal.
	 */
	private static final class Downstream implements CoreSubscriber<Object> {

		private final String hostileAt;

		private final Throwable thrown;

		private final List<String> signals = new CopyOnWriteArrayList<>();

		private long demand = Long.MAX_VALUE;

		private volatile Subscription subscription;

		private volatile Throwable failure;

		Downstream() {
			this("", new AssertionError());
		}

		Downstream(String hostileAt, Throwable thrown) {
			this.hostileAt = hostileAt;
			this.thrown = thrown;
		}

		@Override
		public void onSubscribe(Subscription subscription) {
			this.subscription = subscription;
			note("onSubscribe");
			if (this.demand > 0) {
				subscription.request(this.demand);
			}
		}

		@Override
		public void onNext(Object value) {
			note("onNext");
		}

		@Override
		public void onError(Throwable failure) {
			this.failure = failure;
			note("onError");
		}

		@Override
		public void onComplete() {
			note("onComplete");
		}

		private void note(String signal) {
			this.signals.add(signal);
			if (signal.equals(this.hostileAt)) {
				sneak(this.thrown);
			}
		}

	}

	static class Service {

		@DistributedLock(key = "'k'")
		public void run() {
		}

		@DistributedLock(key = "'k'", fallback = "instead")
		public Mono<Object> orElse(Throwable thrown) {
			return Mono.empty();
		}

		Mono<Object> instead(Throwable thrown) {
			sneak(thrown);
			return Mono.empty();
		}

		@DistributedLock(key = "'k'", onLost = OnLost.INTERRUPT)
		public Mono<Object> mono(Publisher<?> stream) {
			return Mono.fromDirect(stream);
		}

		@DistributedLock(key = "'k'", onLost = OnLost.INTERRUPT)
		public Flux<Object> flux(Publisher<?> stream) {
			return Flux.from(stream);
		}

	}

}
