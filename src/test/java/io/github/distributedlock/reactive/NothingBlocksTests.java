package io.github.distributedlock.reactive;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.autoconfigure.Contexts;
import io.github.distributedlock.fixtures.JvmProcess;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.TestRedis;
import io.github.distributedlock.reactive.ReactiveRedisTests.Stock;
import io.github.distributedlock.reactive.ReactiveRedisTests.Way;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.blockhound.BlockHound;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * BlockHound, in another JVM, finds nothing that blocks a thread of Reactor's parallel
 * scheduler: neither for a free nor for a busy lock, neither at the acquisition nor at a
 * re-entry, a release or a cancellation.
 */
class NothingBlocksTests {

	private static final String REACTIVE = "what blocks in reactive calls: ";

	private static final String BLOCKING = "what blocks in a blocking one: ";

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	@Test
	void onTheParallelScheduler() {
		check("jedis");
	}

	@Test
	@Tag("thorough")
	void onTheParallelSchedulerByLettuce() {
		check("lettuce");
	}

	private static void check(String client) {
		try (JvmProcess process = JvmProcess.start(List.of("-XX:+AllowRedefinitionToAddDeleteMethods"), Program.class,
				Map.of(), String.valueOf(redis.port()), client)) {
			assertThat(process.awaitLineAfter(REACTIVE)).isEqualTo("[]");
			assertThat(process.awaitLineAfter(BLOCKING)).as("what blocks is found")
				.contains("by [io.github.distributedlock.");
		}
	}

	static final class Program {

		private Program() {
		}

		public static void main(String[] arguments) {
			Queue<String> found = new ConcurrentLinkedQueue<>();
			Contexts.withRedis(Integer.parseInt(arguments[0]))
				.withBean(Stock.class)
				.withPropertyValues("spring.data.redis.client-type=" + arguments[1])
				.run((context) -> {
					Mono<Void> calls = Flux.fromArray(Way.values()).flatMap((way) -> calls(way.stock(context))).then();
					DistributedLock lock = context.getBean(DistributedLock.class);
					// The first call loads classes, and so reads files.
					calls.block(Patience.PATIENCE);
					lock.acquire("warm").close();
					BlockHound.install((builder) -> builder.blockingMethodCallback((method) -> tell(method, found)));
					calls.block(Patience.PATIENCE);
					System.out.println(REACTIVE + new TreeSet<>(found));
					found.clear();
					Mono.fromRunnable(() -> lock.acquire(LockRequest.of("k")).close())
						.subscribeOn(Schedulers.parallel())
						.block(Patience.PATIENCE);
					System.out.println(BLOCKING + new TreeSet<>(found));
				});
		}

		private static Mono<Void> calls(Stock stock) {
			Mono<Integer> step = stock.mono(() -> Mono.just(1));
			Flux<Integer> elements = stock.flux(() -> Flux.just(1, 2));
			Mono<Integer> again = stock.mono(() -> stock.inTurn(() -> Mono.just(1)));
			Mono<Integer> skipped = stock.ifFree(() -> Mono.just(1));
			Mono<Object> cancelled = stock.mono(Mono::never).timeout(Duration.ofMillis(20), Mono.empty());
			return Flux.range(0, 1_000)
				.flatMap((i) -> Flux.merge(step, elements, again, skipped, (i % 30 == 0) ? cancelled : Mono.empty())
					.subscribeOn(Schedulers.parallel()), 50)
				.then();
		}

		// A blocking call without a frame of the library, such as in the timers of
		// Reactor, would block without the library, too.
		private static void tell(Object method, Queue<String> found) {
			List<String> frames = StackWalker.getInstance()
				.walk((all) -> all.filter((frame) -> frame.getClassName().startsWith("io.github.distributedlock"))
					.filter((frame) -> !frame.getClassName().startsWith(Program.class.getName()))
					.limit(30)
					.map(StackWalker.StackFrame::toString)
					.toList());
			if (!frames.isEmpty()) {
				found.add(method + " by " + frames);
			}
		}

	}

}
