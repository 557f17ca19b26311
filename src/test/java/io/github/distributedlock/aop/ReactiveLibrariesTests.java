package io.github.distributedlock.aop;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.annotation.IfBusy;
import io.github.distributedlock.fixtures.Patience;
import io.reactivex.rxjava3.core.Completable;
import io.reactivex.rxjava3.core.Flowable;
import io.reactivex.rxjava3.core.Maybe;
import io.reactivex.rxjava3.core.Observable;
import io.reactivex.rxjava3.core.Single;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The types of other reactive libraries.
 */
class ReactiveLibrariesTests extends AdvisedFixture<ReactiveLibrariesTests.Service> {

	ReactiveLibrariesTests() {
		super(Service.class);
	}

	@Test
	void rxJava() {
		Single<String> single = this.service.single();
		Maybe<String> maybe = this.service.maybe();
		Completable completable = this.service.completable();
		Flowable<String> flowable = this.service.flowable();
		Observable<String> observable = this.service.observable();
		assertThat(this.context.lock().events).isEmpty();
		assertThat(single.blockingGet()).isEqualTo("single");
		assertThat(maybe.blockingGet()).isEqualTo("maybe");
		completable.blockingAwait();
		assertThat(flowable.toList().blockingGet()).containsExactly("a", "b");
		assertThat(observable.toList().blockingGet()).containsExactly("c", "d");
		assertThat(this.context.lock().events).hasSize(10)
			.containsSubsequence("acquire", "release", "acquire", "release");
		this.context.lock().busy = true;
		assertThat(maybe.blockingGet()).as("skipped").isNull();
		assertThatThrownBy(single::blockingGet).isInstanceOf(LockNotAcquiredException.class);
	}

	@Test
	void mutiny() {
		Uni<String> uni = this.service.uni();
		Multi<String> multi = this.service.multi();
		assertThat(this.context.lock().events).isEmpty();
		assertThat(uni.await().atMost(Patience.PATIENCE)).isEqualTo("uni");
		assertThat(multi.collect().asList().await().atMost(Patience.PATIENCE)).containsExactly("a", "b");
		assertThat(this.context.lock().events).containsExactly("tryAcquire", "release", "acquire", "release");
		this.context.lock().busy = true;
		assertThat(uni.await().atMost(Patience.PATIENCE)).as("skipped").isNull();
	}

	@Test
	void fallbackIsOfTheSameLibrary() {
		this.context.lock().busy = true;
		assertThat(this.service.singleOr("x").blockingGet()).isEqualTo("no single: x");
		assertThat(this.service.observableOr("x").toList().blockingGet()).containsExactly("no", "x");
		assertThat(this.service.uniOr("x").await().atMost(Patience.PATIENCE)).isEqualTo("no uni: x");
		assertThat(this.service.multiOr("x").collect().asList().await().atMost(Patience.PATIENCE)).containsExactly("no",
				"x");
		assertThat(this.context.lock().events).containsOnly("busy").hasSize(4);
		this.context.lock().busy = false;
		assertThat(this.service.singleOr("x").blockingGet()).isEqualTo("x");
		assertThat(this.service.uniOr("x").await().atMost(Patience.PATIENCE)).isEqualTo("x");
	}

	/**
	 * A method with a future runs at the call, whatever the registry of reactive types
	 * says.
	 */
	@Test
	void futuresAreNoStreams() {
		this.service.stage();
		assertThat(this.context.lock().events).containsExactly("acquire", "release");
	}

	static class Service {

		@DistributedLock(key = "'k'")
		public Single<String> single() {
			return Single.just("single");
		}

		@DistributedLock(key = "'k'", ifBusy = IfBusy.SKIP)
		public Maybe<String> maybe() {
			return Maybe.just("maybe");
		}

		@DistributedLock(key = "'k'")
		public Completable completable() {
			return Completable.complete();
		}

		@DistributedLock(key = "'k'")
		public Flowable<String> flowable() {
			return Flowable.just("a", "b");
		}

		@DistributedLock(key = "'k'")
		public Observable<String> observable() {
			return Observable.just("c", "d");
		}

		@DistributedLock(key = "'k'", ifBusy = IfBusy.SKIP)
		public Uni<String> uni() {
			return Uni.createFrom().item("uni");
		}

		@DistributedLock(key = "'k'")
		public Multi<String> multi() {
			return Multi.createFrom().items("a", "b");
		}

		@DistributedLock(key = "'k'", fallback = "noSingle")
		public Single<String> singleOr(String argument) {
			return Single.just(argument);
		}

		Single<String> noSingle(String argument) {
			return Single.just("no single: " + argument);
		}

		@DistributedLock(key = "'k'", fallback = "nothingToObserve")
		public Observable<String> observableOr(String argument) {
			return Observable.just(argument);
		}

		Observable<String> nothingToObserve(String argument) {
			return Observable.just("no", argument);
		}

		@DistributedLock(key = "'k'", fallback = "noUni")
		public Uni<String> uniOr(String argument) {
			return Uni.createFrom().item(argument);
		}

		Uni<String> noUni(String argument) {
			return Uni.createFrom().item("no uni: " + argument);
		}

		@DistributedLock(key = "'k'", fallback = "noMulti")
		public Multi<String> multiOr(String argument) {
			return Multi.createFrom().items(argument);
		}

		Multi<String> noMulti(String argument) {
			return Multi.createFrom().items("no", argument);
		}

		@DistributedLock(key = "'k'")
		public CompletionStage<String> stage() {
			return CompletableFuture.completedFuture("stage");
		}

	}

}
