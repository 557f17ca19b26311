package io.github.distributedlock.backend.redis.atomic;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.github.distributedlock.backend.redis.connection.Lane;
import io.github.distributedlock.backend.redis.connection.Opening;
import io.github.distributedlock.backend.redis.connection.OwnConnections;
import io.github.distributedlock.backend.redis.wire.ConnectionProblem;
import io.github.distributedlock.backend.redis.wire.KeyNames;
import io.github.distributedlock.backend.redis.wire.Link;
import io.github.distributedlock.backend.redis.wire.NothingAllowedException;
import io.github.distributedlock.backend.redis.wire.RedisFailures;
import io.github.distributedlock.backend.redis.wire.RedisRefusal;
import io.github.distributedlock.backend.redis.wire.SilentTlsException;
import io.github.distributedlock.backend.redis.wire.UnfinishedException;
import io.github.distributedlock.backend.redis.wire.UnsentException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Selects the best candidate that this server allows: when it is needed first, and again
 * when the server refuses what it used to allow: its access list was changed, or another
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
public final class AtomicitySelector {

	private static final Logger logger = LoggerFactory.getLogger(AtomicitySelector.class);

	private static final long PAUSE_NANOS = 1_000_000_000;

	private final KeyNames names;

	private final OwnConnections connections;

	private final Atomicity atomicity;

	/** What the user needs whichever way is chosen. */
	private final String rights;

	private final List<AtomicityCandidate> candidates;

	private final Opening<AtomicityCandidate> choosing;

	private final AtomicInteger asked = new AtomicInteger();

	private volatile @Nullable AtomicityCandidate chosen;

	private volatile @Nullable NothingAllowedException nothing;

	private volatile long inVainAt = System.nanoTime() - PAUSE_NANOS;

	/**
	 * Creates it, not chosen.
	 * @param atomicity what is wanted
	 * @param publishing whether waiters are told
	 * @param asksReplicas whether replicas are to acknowledge locks
	 * @throws IllegalArgumentException if that is not possible on these connections
	 */
	public AtomicitySelector(KeyNames names, OwnConnections connections, Duration timeout, Atomicity atomicity,
			Publishing publishing, boolean asksReplicas) {
		this.names = names;
		this.connections = connections;
		this.atomicity = atomicity;
		this.rights = (connections.rights() + (asksReplicas ? " +wait" : "")).strip();
		this.candidates = new AtomicityCandidates(names, connections, timeout, publishing, asksReplicas)
			.allowedBy(this.atomicity);
		if (this.candidates.isEmpty()) {
			throw new IllegalArgumentException("In a cluster, and by a connection factory that is neither Jedis' nor"
					+ " Lettuce's, distributed-lock.redis.atomicity=" + AtomicityCandidates.text(this.atomicity)
					+ " is not possible: use auto, lua or native");
		}
		this.choosing = new Opening<>(this::choose, timeout, Opening.FIRST);
	}

	/**
	 * The selected candidate.
	 * @return the one that was chosen
	 */
	public AtomicityCandidate get() {
		AtomicityCandidate chosen = this.chosen;
		return (chosen != null) ? chosen : ask();
	}

	/**
	 * The selected candidate, if it is known already.
	 * @return the one that was chosen, or {@code null}
	 */
	public @Nullable AtomicityCandidate known() {
		return this.chosen;
	}

	/**
	 * Runs a step, with another candidate if the server refuses that of before.
	 * @param lane which connections to use
	 * @param step the step
	 * @param <T> the type of its answer
	 * @return its answer
	 */
	public <T> @Nullable T run(Function<AtomicityCandidate, Lane> lane, Step<T> step) {
		AtomicityCandidate candidate = get();
		try {
			return run(candidate, lane, step);
		}
		catch (RuntimeException ex) {
			if (!isRefused(ex)) {
				throw ex;
			}
			return runAgain(candidate, ex, lane, step);
		}
	}

	// A step that was carried out in part may be repeated, as after a lost answer. But it
	// stays so, whatever becomes of the repetition.
	private <T> @Nullable T runAgain(AtomicityCandidate refused, RuntimeException refusal,
			Function<AtomicityCandidate, Lane> lane, Step<T> step) {
		try {
			if (isAnother(refused)) {
				return run(get(), lane, step);
			}
		}
		catch (RuntimeException ex) {
			throw (refusal instanceof UnfinishedException) ? new UnfinishedException(ex) : ex;
		}
		throw refusal;
	}

	private static <T> @Nullable T run(AtomicityCandidate candidate, Function<AtomicityCandidate, Lane> lane,
			Step<T> step) {
		return lane.apply(candidate).run((link) -> step.run(candidate.steps(), link));
	}

	private static boolean isRefused(RuntimeException failure) {
		RedisRefusal refusal = RedisRefusal.of(failure);
		return refusal == RedisRefusal.NOPERM || refusal == RedisRefusal.ERR;
	}

	private boolean isAnother(AtomicityCandidate refused) {
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

	private AtomicityCandidate ask() {
		NothingAllowedException nothing = this.nothing;
		if (nothing != null && isInVain()) {
			throw new UnsentException(nothing);
		}
		try {
			return this.choosing.await();
		}
		catch (UnsentException ex) {
			throw (this.connections.tls() && ConnectionProblem.isTimeout(ex))
					? new UnsentException(new SilentTlsException(ex)) : ex;
		}
	}

	private AtomicityCandidate choose() {
		this.asked.incrementAndGet();
		AtomicityProbe probe = new AtomicityProbe(this.connections.signals(), this.names);
		AtomicityCandidate found = firstOf(probe);
		if (found == null) {
			throw nothing(probe);
		}
		this.nothing = null;
		AtomicityCandidate before = this.chosen;
		this.chosen = found;
		if (found != before) {
			tell(found, before, probe.server());
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
	private @Nullable AtomicityCandidate firstOf(AtomicityProbe probe) {
		try {
			AtomicityCandidate found = probe.firstOf(this.candidates);
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

	private NothingAllowedException nothing(AtomicityProbe probe) {
		AccessRules rules = new AccessRules(this.names, this.rights);
		String denied = probe.deniedKey();
		if (denied != null) {
			return nothing(probe.server() + " denies the user of the connection the keys of locks, such as " + denied,
					rules.otherKeys());
		}
		String answers = probe.answers().collect(Collectors.joining(AccessRules.NEW_LINE));
		return nothing(
				probe.server() + " offers no atomic compare-and-change operation, and without one no lock is safe."
						+ " Tried, and answered:" + AccessRules.NEW_LINE + answers,
				rules.waysOut(this.atomicity, this.connections.exclusive() == null));
	}

	private NothingAllowedException nothing(String problem, String remedy) {
		NothingAllowedException nothing = new NothingAllowedException(problem, remedy);
		this.nothing = nothing;
		this.inVainAt = System.nanoTime();
		return nothing;
	}

	private static void tell(AtomicityCandidate found, @Nullable AtomicityCandidate before, String server) {
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
					BestEffortCompareAndSet.MARGIN_MILLIS);
		}
	}

	/**
	 * One of the steps, on a connection.
	 *
	 * @param <T> the type of its answer
	 */
	public interface Step<T> {

		@Nullable T run(Steps steps, Link link);

	}

}
