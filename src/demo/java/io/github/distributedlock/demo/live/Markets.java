package io.github.distributedlock.demo.live;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import io.github.distributedlock.fixtures.RedisServers;

/**
 * Three JVMs and their Redis.
 */
final class Markets implements AutoCloseable {

	static final int JVMS = 3;

	private final long start = System.nanoTime();

	private final RedisServers.Server redis = RedisServers.start(RedisServers.EMBEDDED);

	private final List<MarketJvm> jvms = new ArrayList<>();

	Markets() {
		for (int number = 1; number <= JVMS; number++) {
			this.jvms.add(new MarketJvm(number, this.redis.port()));
		}
	}

	/**
	 * Looks at all of them.
	 */
	Look look() {
		Duration at = Duration.ofNanos(System.nanoTime() - this.start);
		List<Look.Jvm> seen = this.jvms.stream().map((jvm) -> jvm.look(at)).toList();
		// Whoever runs can ask the store.
		Optional<MarketJvm> witness = seen.stream()
			.filter((jvm) -> jvm.state() == State.RUNNING)
			.findFirst()
			.map((jvm) -> jvm(jvm.number()));
		return new Look(at, seen,
				Stream.of(Good.values())
					.map(Good::key)
					.map((key) -> new Look.Key(key, witness.flatMap((jvm) -> jvm.holder(key))))
					.toList());
	}

	MarketJvm jvm(int number) {
		return this.jvms.get(number - 1);
	}

	@Override
	public void close() {
		this.jvms.forEach(MarketJvm::close);
		this.redis.close();
	}

}
