package io.github.distributedlock.backend.redis;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.redis.connection.KeyNames;
import io.github.distributedlock.backend.redis.connection.Lane;
import io.github.distributedlock.backend.redis.connection.Link;
import io.github.distributedlock.backend.redis.connection.OwnConnections;
import io.github.distributedlock.backend.redis.connection.RedisFailures;
import io.github.distributedlock.backend.redis.connection.RedisRefusal;
import io.github.distributedlock.backend.redis.connection.UnsentException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.util.function.SingletonSupplier;

/**
 * Selects the best store that this server allows: when it is needed first, and again when
 * the server refuses what it used to allow: its access list was changed, or another
 * version has taken over.
 * <p>
 * States: not chosen; chosen, until a refusal makes another the better one. A step that
 * needs it while it is being chosen waits, at most as long as for a connection; a step
 * that was not refused goes on with the one of before.
 * <p>
 * Invariants: a refused step fails only if the server was asked for another way after the
 * refusal. Asking that was in vain is not done again for a while, however many are
 * refused.
 */
final class AtomicitySelector {

	private static final Logger logger = LoggerFactory.getLogger(AtomicitySelector.class);

	private static final long PAUSE_NANOS = 1_000_000_000;

	private final OwnConnections connections;

	private final RedisLockSettings settings;

	private final KeyNames names;

	private final Supplier<List<Store>> scripts;

	private final Supplier<List<Store>> plain;

	private final Supplier<Store> choosing;

	private final AtomicInteger asked = new AtomicInteger();

	private volatile @Nullable Store chosen;

	private volatile @Nullable RuntimeException nothing;

	private volatile long inVainAt = System.nanoTime() - PAUSE_NANOS;

	/**
	 * Creates it, not chosen.
	 * @throws IllegalArgumentException if what is wanted is not possible in a cluster
	 */
	AtomicitySelector(OwnConnections connections, RedisLockSettings settings) {
		this.connections = connections;
		this.settings = settings;
		this.names = new KeyNames(settings.prefix());
		this.scripts = SingletonSupplier.of(() -> List.of(new LuaStore(connections, settings)));
		this.plain = SingletonSupplier.of(this::makePlain);
		Atomicity wanted = settings.atomicity();
		if (connections.cluster() && (wanted == Atomicity.TRANSACTION || wanted == Atomicity.BEST_EFFORT)) {
			throw new IllegalArgumentException("In a cluster distributed-lock.redis.atomicity="
					+ AccessRules.text(wanted) + " is not possible: use auto, lua or native");
		}
		this.choosing = OwnConnections.bounded(this::choose, settings.commandTimeout());
	}

	private List<Store> makePlain() {
		UnansweredRenewals unanswered = new UnansweredRenewals();
		Stream<CompareAndSet> others = this.connections.cluster() ? Stream.empty()
				: Stream.of(new CompareAndSet.Transaction(), new CompareAndSet.BestEffort());
		return Stream.concat(Stream.of(CompareAndSet.Native.values()), others)
			.map((one) -> (Store) new PlainStore(one, this.connections, this.settings, unanswered))
			.toList();
	}

	private boolean isWanted(Store store) {
		Atomicity wanted = this.settings.atomicity();
		return store.atomicity() == wanted || (wanted == Atomicity.AUTO && store.atomicity() != Atomicity.BEST_EFFORT);
	}

	/**
	 * The selected store.
	 */
	Store get() {
		Store chosen = this.chosen;
		return (chosen != null) ? chosen : ask();
	}

	/**
	 * The selected store, if it is known already.
	 * @return the one that was chosen, or {@code null}
	 */
	@Nullable Store known() {
		return this.chosen;
	}

	/**
	 * Runs a step, with another store if the server refuses that of before.
	 * @param lane which connections to use
	 * @param step the step
	 * @param <T> the type of its answer
	 * @return its answer
	 */
	<T> @Nullable T run(Function<Store, Lane> lane, BiFunction<Store, Link, @Nullable T> step) {
		Store store = get();
		try {
			return run(store, lane, step);
		}
		catch (RuntimeException ex) {
			RedisRefusal refusal = RedisRefusal.of(ex);
			if (refusal != RedisRefusal.NOPERM && refusal != RedisRefusal.ERR) {
				throw ex;
			}
			return runAgain(store, ex, lane, step);
		}
	}

	// A step that was carried out in part may be repeated, as after a lost answer. But it
	// stays so, whatever becomes of the repetition.
	private <T> @Nullable T runAgain(Store refused, RuntimeException refusal, Function<Store, Lane> lane,
			BiFunction<Store, Link, @Nullable T> step) {
		try {
			if (isAnother(refused)) {
				return run(get(), lane, step);
			}
		}
		catch (RuntimeException ex) {
			throw RedisFailures.isUnfinished(refusal) ? RedisFailures.unfinished(ex) : ex;
		}
		throw refusal;
	}

	private static <T> @Nullable T run(Store store, Function<Store, Lane> lane,
			BiFunction<Store, Link, @Nullable T> step) {
		return lane.apply(store).run((link) -> {
			try {
				return step.apply(store, link);
			}
			catch (RuntimeException ex) {
				Store other = store.whileSlotMoves();
				if (other == null || !RedisRefusal.TRYAGAIN.isIn(ex)) {
					throw ex;
				}
				try {
					return step.apply(other, link);
				}
				catch (LockBackendException refused) { // It takes scripts.
					throw ex;
				}
			}
		});
	}

	private boolean isAnother(Store refused) {
		int before = this.asked.get();
		while (this.chosen == refused && !isInVain()) {
			ask();
			if (this.chosen == refused && this.asked.get() != before) {
				this.inVainAt = System.nanoTime();
			}
			// Else the server was asked before it refused, and has to be asked again.
		}
		return this.chosen != refused;
	}

	private boolean isInVain() {
		return System.nanoTime() - this.inVainAt < PAUSE_NANOS;
	}

	private Store ask() {
		RuntimeException nothing = this.nothing;
		if (nothing != null && isInVain()) {
			throw new UnsentException(nothing);
		}
		try {
			return this.choosing.get();
		}
		catch (UnsentException ex) {
			throw (this.connections.tls() && RedisFailures.isTimeout(ex))
					? new UnsentException(RedisFailures.silentTls(ex)) : ex;
		}
	}

	private Store choose() {
		this.asked.incrementAndGet();
		AtomicityProbe probe = new AtomicityProbe(this.connections.signals(), this.names,
				this.settings.replicasToAck() > 0);
		Store found = firstOf(probe);
		if (found == null) {
			throw nothing(probe);
		}
		this.nothing = null;
		Store before = this.chosen;
		this.chosen = found;
		if (found != before) {
			log(found, before, probe.server());
			warmUp(found.lanes().commands());
		}
		return found;
	}

	// Makes the pool of Jedis, or opens the connection of Lettuce, while there is still
	// time for that.
	private static void warmUp(Lane lane) {
		try {
			lane.run((link) -> null);
		}
		catch (RuntimeException ex) {
			logger.debug("The first step will open the connection", ex);
		}
	}

	// A client of one server cannot follow to the others of a cluster.
	private @Nullable Store firstOf(AtomicityProbe probe) {
		try {
			// The others are not even made if scripts may be used.
			Store found = probe.firstOf(
					Stream.of(this.scripts, this.plain).flatMap((some) -> some.get().stream()).filter(this::isWanted));
			if (found != null && this.chosen == null && !this.connections.cluster()) {
				probe.requireAllSlots();
			}
			return found;
		}
		catch (RuntimeException ex) {
			if (!RedisRefusal.MOVED.isIn(ex) || this.connections.cluster()) {
				throw ex;
			}
			throw nothing("the server has only some of the slots of a cluster: " + RedisFailures.lastWord(ex),
					"set spring.data.redis.cluster.nodes instead of spring.data.redis.host");
		}
	}

	private RuntimeException nothing(AtomicityProbe probe) {
		String denied = probe.deniedKey();
		if (denied != null) {
			return nothing(probe.server() + " denies the user of the connection the keys of locks, such as " + denied,
					AccessRules.otherKeys(this.names));
		}
		String rights = (this.connections.rights() + ((this.settings.replicasToAck() > 0) ? " +wait" : "")).strip();
		return nothing(
				probe.server() + " offers no atomic compare-and-change operation, and without one no lock is safe."
						+ " Tried, and answered:" + probe.answers(),
				AccessRules.waysOut(this.settings.atomicity(), this.names, rights, this.connections.cluster()));
	}

	private RuntimeException nothing(String problem, String remedy) {
		RuntimeException nothing = RedisFailures.nothingAllowed(problem, remedy);
		this.nothing = nothing;
		this.inVainAt = System.nanoTime();
		return nothing;
	}

	private static void log(Store found, @Nullable Store before, String server) {
		if (before != null) {
			logger.info("Locks are kept atomic by {} now, and no longer by {}, on {}", found.description(),
					before.description(), server);
			return;
		}
		logger.info("Locks are kept atomic by {} on {}", found.description(), server);
		if (found.atomicity() == Atomicity.BEST_EFFORT) {
			logger.warn("distributed-lock.redis.atomicity=best-effort: a lock is compared first and then changed, so a"
					+ " command that arrives more than {} ms late, or once its sender has given it up, can release,"
					+ " take or renew the lock of another owner; so can a waiter beside instances that use native or"
					+ " transaction. Use it only where the server allows nothing else",
					CompareAndSet.BestEffort.MARGIN_MILLIS);
		}
	}

}
