package io.github.distributedlock.aop;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;

import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;
import reactor.test.publisher.TestPublisher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A subscription that is cancelled, at whatever moment, leaves no lock behind.
 */
class ReactiveCancellationTests extends ReactiveFixture<ReactiveFixture.Service> {

	ReactiveCancellationTests() {
		super(Service.class);
	}

	@Test
	void cancellationGivesTheLockBack() {
		TestPublisher<String> source = TestPublisher.create();
		Disposable subscription = this.service.flux(source::flux).subscribe();
		source.assertSubscribers();
		subscription.dispose();
		source.assertCancelled();
		assertThat(this.events).containsExactly("acquire", "release");
	}

	@Test
	void enoughElements() {
		StepVerifier.create(this.service.flux(() -> Flux.just("a", "b", "c")).take(2))
			.expectNext("a", "b")
			.verifyComplete();
		assertThat(this.events).containsExactly("acquire", "release");
	}

	@Test
	void cancellationWhileWaitingWithdrawsTheRequest() {
		this.lock.turn = new CompletableFuture<>();
		Disposable subscription = this.service.mono(() -> body("value")).subscribe();
		subscription.dispose();
		this.lock.turn.complete(null);
		assertThat(this.events).containsExactly("waits", "withdrawn");
	}

	/**
	 * A decorator that retries returns such a request.
	 */
	@Test
	void handleOfARequestThatCannotBeWithdrawnIsUndone() {
		this.lock.turn = new CompletableFuture<>();
		this.lock.dependent = true;
		Disposable subscription = this.service.mono(() -> body("value")).subscribe();
		subscription.dispose();
		this.lock.turn.complete(null);
		await().untilAsserted(() -> assertThat(this.events).containsExactly("waits", "acquire", "undone"));
	}

	/**
	 * No minimum hold time keeps the key then.
	 */
	@Test
	void cancellationBeforeTheMethodIsCalledUndoesTheLock() {
		AtomicReference<Disposable> subscription = new AtomicReference<>();
		CompletableFuture<Void> done = new CompletableFuture<>();
		this.lock.turn = new CompletableFuture<>();
		subscription.set(this.service.mono(() -> body("value")).subscribe());
		Schedulers.onScheduleHook("late", (task) -> () -> {
			subscription.get().dispose();
			task.run();
			done.complete(null);
		});
		try {
			this.lock.turn.complete(null);
			Patience.get(done, "the subscription, to be told of its lock");
		}
		finally {
			Schedulers.resetOnScheduleHook("late");
		}
		assertThat(this.events).containsExactly("waits", "acquire", "undone");
	}

	@Test
	void valueThatIsNotPassedOnIsDiscarded() {
		List<Object> discarded = new CopyOnWriteArrayList<>();
		TestPublisher<String> source = TestPublisher.create();
		Disposable subscription = this.service.mono(() -> Mono.fromDirect(source))
			.doOnDiscard(Object.class, discarded::add)
			.subscribe();
		source.next("value");
		subscription.dispose();
		assertThat(discarded).containsExactly("value");
	}

	/**
	 * The method runs on another thread, and a cancellation does not stop the method.
	 */
	@Test
	void cancellationWhileTheMethodRunsReleasesWhenItHasReturned() {
		AtomicReference<Disposable> subscription = new AtomicReference<>();
		this.lock.turn = new CompletableFuture<>();
		CompletableFuture<Void> done = new CompletableFuture<>();
		subscription.set(this.service.mono(() -> {
			subscription.get().dispose();
			this.events.add("cancelled");
			return body("value").doOnSubscribe((any) -> this.events.add("subscribed"));
		}).doFinally((signal) -> done.complete(null)).subscribe());
		this.lock.turn.complete(null);
		Patience.get(done, "the end of the method");
		await().untilAsserted(() -> assertThat(this.events).containsExactly("waits", "acquire", "cancelled",
				"subscribed", "release"));
	}

	/**
	 * After a cancellation neither a value nor an error reaches the subscriber.
	 */
	@Test
	void cancellationWhileTheLockIsReleased() {
		CompletableFuture<Void> released = new CompletableFuture<>();
		this.lock.released = released;
		List<Object> discarded = new CopyOnWriteArrayList<>();
		this.service.mono(() -> Mono.just("value")).doOnDiscard(String.class, discarded::add).subscribe().dispose();
		assertThat(this.events).containsExactly("acquire", "release begins");
		released.complete(null);
		await().untilAsserted(() -> assertThat(discarded).containsExactly("value"));
	}

}
