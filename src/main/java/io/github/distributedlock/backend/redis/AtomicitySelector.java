package io.github.distributedlock.backend.redis;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.redis.internal.Lane;
import io.github.distributedlock.backend.redis.internal.Lanes;
import io.github.distributedlock.backend.redis.internal.Link;
import io.github.distributedlock.backend.redis.internal.OwnConnections;
import io.github.distributedlock.backend.redis.internal.RedisFailures;
import io.github.distributedlock.backend.redis.internal.RedisRefusal;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.util.function.SingletonSupplier;

/**
 * Selects the best steps that this server allows. The first step selects. A later step
 * selects anew when the server refuses what the server used to allow: the access list was
 * changed, or another version has taken over.
 * <p>
 * States: not chosen; chosen, until a refusal makes other steps the better ones. A caller
 * that needs the steps while they are being chosen waits, at most as long as for a
 * connection. A caller that was not refused goes on with the former steps.
 * <p>
 * Invariants: a refused step fails only if the server was asked for another way after the
 * refusal. After a probe in vain, the server is not probed again for 1 s, however many
 * steps are refused.
 */
final class AtomicitySelector {

	private static final Logger logger = LoggerFactory.getLogger(AtomicitySelector.class);

	private static final long PAUSE_NANOS = 1_000_000_000;

	private final OwnConnections connections;

	private final RedisLockSettings settings;

	private final List<Atomicity> wanted;

	private final Supplier<List<Steps>> scripts;

	private final Supplier<List<Steps>> plain;

	private final Supplier<Steps> choosing;

	private final AtomicInteger probes = new AtomicInteger();

	private volatile @Nullable Steps chosen;

	private volatile @Nullable RuntimeException nothing;

	private volatile long inVainAt = System.nanoTime() - PAUSE_NANOS;

	/**
	 * Creates a selector that has chosen nothing yet.
	 * @throws IllegalArgumentException if the wanted way is not possible in a cluster
	 */
	AtomicitySelector(OwnConnections connections, RedisLockSettings settings) {
		this.connections = connections;
		this.settings = settings;
		this.scripts = SingletonSupplier.of(() -> List.of(new LuaSteps(connections, settings)));
		this.plain = SingletonSupplier.of(this::makePlain);
		Atomicity wanted = settings.atomicity();
		List<Atomicity> possible = Atomicity.possible(connections.cluster()).toList();
		if (!possible.contains(wanted)) {
			throw new IllegalArgumentException(
					"In a cluster distributed-lock.redis.atomicity=" + wanted.text() + " is not possible: use "
							+ possible.stream().map(Atomicity::text).collect(Collectors.joining(", ")));
		}
		this.wanted = possible.stream().filter(wanted::includes).toList();
		this.choosing = connections.bounded(this::choose, settings.commandTimeout());
	}

	private List<Steps> makePlain() {
		UnansweredRenewals unanswered = new UnansweredRenewals();
		return CompareAndSet.withoutScripts()
			.map((one) -> (Steps) new PlainSteps(one, this.connections, this.settings, unanswered))
			.toList();
	}

	/**
	 * Returns the selected steps, which the first call selects.
	 */
	Steps get() {
		Steps chosen = this.chosen;
		return (chosen != null) ? chosen : probe();
	}

	/**
	 * Returns the selected steps without asking the server.
	 * @return the steps, {@code null} if none were selected yet
	 */
	@Nullable Steps known() {
		return this.chosen;
	}

	/**
	 * Runs a step, and runs the step again in another way if the server refuses the
	 * selected way.
	 * @param lane which connections to use
	 * @param step the step
	 * @param <T> the type of the answer
	 * @return the answer
	 */
	<T> @Nullable T run(Function<Lanes, Lane> lane, BiFunction<Steps, Link, T> step) {
		Steps steps = get();
		try {
			return run(steps, lane, step);
		}
		catch (RuntimeException ex) {
			RedisRefusal refusal = RedisRefusal.of(ex);
			if (refusal != RedisRefusal.NOPERM && refusal != RedisRefusal.ERR) {
				throw ex;
			}
			return runAgain(steps, ex, lane, step);
		}
	}

	// A step that was carried out in part may be repeated, as after a lost answer. But
	// whatever becomes of the repetition, the first attempt remains carried out in part.
	private <T> @Nullable T runAgain(Steps refused, RuntimeException refusal, Function<Lanes, Lane> lane,
			BiFunction<Steps, Link, T> step) {
		try {
			if (areOthers(refused)) {
				return run(get(), lane, step);
			}
		}
		catch (RuntimeException ex) {
			throw RedisFailures.isUnfinished(refusal) ? RedisFailures.unfinished(ex) : ex;
		}
		throw refusal;
	}

	private <T> @Nullable T run(Steps steps, Function<Lanes, Lane> lane, BiFunction<Steps, Link, T> step) {
		return lane.apply(lanes(steps)).run((link) -> {
			try {
				return step.apply(steps, link);
			}
			catch (RuntimeException ex) {
				Steps other = steps.whileSlotMoves();
				if (other == null || !RedisRefusal.TRYAGAIN.isIn(ex)) {
					throw ex;
				}
				try {
					return step.apply(other, link);
				}
				catch (LockBackendException refused) { // The other steps cannot do this
														// step without scripts.
					throw ex;
				}
			}
		});
	}

	private Lanes lanes(Steps steps) {
		return this.connections.lanes(steps.atomicity() == Atomicity.TRANSACTION);
	}

	private boolean areOthers(Steps refused) {
		int before = this.probes.get();
		while (this.chosen == refused && !isInVain()) {
			probe();
			if (this.chosen == refused && this.probes.get() != before) {
				this.inVainAt = System.nanoTime();
			}
			// Otherwise the probe began before the refusal, and the server has to be
			// probed again.
		}
		return this.chosen != refused;
	}

	private boolean isInVain() {
		return System.nanoTime() - this.inVainAt < PAUSE_NANOS;
	}

	private Steps probe() {
		RuntimeException nothing = this.nothing;
		if (nothing != null && isInVain()) {
			throw RedisFailures.unsent(nothing);
		}
		return this.choosing.get();
	}

	private Steps choose() {
		this.probes.incrementAndGet();
		AtomicityProbe probe = new AtomicityProbe(this.connections, this.settings);
		Steps found = firstOf(probe);
		this.nothing = null;
		Steps before = this.chosen;
		this.chosen = found;
		if (found != before) {
			log(found, before, probe.server());
			warmUp(lanes(found).commands());
		}
		return found;
	}

	// Opens a connection before the first step, whose time is short.
	private static void warmUp(Lane lane) {
		try {
			lane.run((link) -> null);
		}
		catch (RuntimeException ex) {
			logger.debug("The first step will open the connection", ex);
		}
	}

	private Steps firstOf(AtomicityProbe probe) {
		try {
			// The plain steps are not even created if scripts may be used.
			return probe.firstOf(Stream.of(this.scripts, this.plain)
				.flatMap((some) -> some.get().stream())
				.filter((steps) -> this.wanted.contains(steps.atomicity())));
		}
		catch (RuntimeException ex) {
			if (RedisFailures.isNothingAllowed(ex)) {
				this.nothing = ex;
				this.inVainAt = System.nanoTime();
			}
			throw ex;
		}
	}

	private static void log(Steps found, @Nullable Steps before, String server) {
		if (before != null) {
			logger.info("Locks are kept atomic by {} now, and no longer by {}, on {}", found.description(),
					before.description(), server);
			return;
		}
		logger.info("Locks are kept atomic by {} on {}", found.description(), server);
		String risk = found.atomicity().risk();
		if (risk != null) {
			logger.warn("With distributed-lock.redis.atomicity={} {}. Use it only where the server allows nothing else",
					found.atomicity().text(), risk);
		}
	}

}
