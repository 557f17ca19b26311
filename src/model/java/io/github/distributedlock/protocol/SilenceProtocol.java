package io.github.distributedlock.protocol;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.KeyRule;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.ModelKey;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.protocol.Silences.Phase;
import org.jspecify.annotations.Nullable;

/**
 * Signs of life of waiters need not be written each time that somebody waits, nor looked
 * at each time that the next one is woken, while the living poll in time. The
 * {@link FairProtocol} covers a server that stands still, so that all are silent.
 *
 * @param waiters how many wait, each again and again
 * @param broken the rule that is broken, of the server's expiry or of {@link KeyRule}, if
 * any
 */
record SilenceProtocol(int waiters, @Nullable Enum<?> broken) implements Model<Silences> {

	/**
	 * After how long a waiter is taken to be dead.
	 */
	private static final int SILENCE = 3;

	/**
	 * How long a tick is, so that the {@link ModelKey} has the same silence.
	 */
	static final int MILLIS = 300;

	/**
	 * How long the server's second is.
	 */
	static final int SECOND = 3;

	/**
	 * After how long a waiter polls at the latest.
	 */
	private static final int POLL = 2;

	/**
	 * For how long a sign of life of a waiter need not be written again.
	 */
	private static final int FRESH = SILENCE - POLL;

	private static final int TIME_TO_LIVE = SECOND + POLL + 1;

	private static final Duration LEASE = Duration.ofSeconds(10);

	private static final String HOLDER = "H:0#0";

	/**
	 * The rules that let the living keep their places, and forget the dead, on a server
	 * that lets queues expire.
	 */
	enum Rule {

		/**
		 * A new queue gets a time to live.
		 */
		NEW_QUEUES_END,

		/**
		 * A registration or poll renews the time to live of the queue, unless the last
		 * place in the queue was made in the same second.
		 */
		RENEWED_EACH_SECOND,

		/**
		 * A sign of life is written again before the next poll could come after the
		 * silence.
		 */
		HEARD_BEFORE_SILENCE

	}

	@Override
	public Silences first() {
		int fresh = holds(Rule.HEARD_BEFORE_SILENCE) ? FRESH : FRESH + 1;
		return Silences.of(ModelKey.FREE.pulse(fresh * MILLIS).ownedBy(HOLDER), this.waiters);
	}

	@Override
	public boolean isOver(Silences state) {
		return state.key().waiters().isEmpty()
				&& state.waiters().stream().noneMatch((waiter) -> waiter.phase() == Phase.WAITING);
	}

	@Override
	public List<Transition<Silences>> transitions(Silences state) {
		Transitions<Silences> transitions = new Transitions<>(state, Set.of(Fault.CRASH), (after) -> after);
		boolean late = false;
		for (int number = 0; number < this.waiters; number++) {
			Silences.Client waiter = state.waiters().get(number);
			if (waiter.phase() == Phase.AWAY) {
				transitions.mayHappen(name(number), "registers", asked(state, number));
			}
			else if (waiter.phase() == Phase.WAITING) {
				late |= waiter.poll() == 0;
				transitions.happens(name(number), "polls", asked(state, number));
				transitions.goesWrong(Fault.CRASH, name(number), "dies", state.in(number, Phase.DEAD, 0));
			}
		}
		if (!late) {
			transitions.happensInTime("time", "passes", state.tick());
		}
		if (!state.key().waiters().isEmpty() && !allDead(state)) {
			transitions.mayHappen("holder", "gives the lock back", woken(state));
		}
		return transitions.all();
	}

	private static boolean allDead(Silences state) {
		return state.waiters().stream().allMatch((waiter) -> waiter.phase() == Phase.DEAD);
	}

	private Silences asked(Silences state, int waiter) {
		ModelKey key = state.key();
		boolean renews = key.waiters().isEmpty() ? holds(Rule.NEW_QUEUES_END)
				: !key.isYoung() && holds(Rule.RENEWED_EACH_SECOND);
		Claim claim = Claim.of(ModelKey.NAME, new Owner(waiter, 0, 0).token(), Silences.waiter(waiter), LEASE)
			.number(1);
		Silences asked = state.with(after(key, (server) -> server.acquireOrRegister(claim), new ArrayList<>()))
			.in(waiter, Phase.WAITING, POLL);
		return renews ? asked.left(TIME_TO_LIVE) : asked;
	}

	private Silences woken(Silences state) {
		List<ReleaseNotification> sent = new ArrayList<>(1);
		ModelKey released = after(state.key(), (server) -> server.release(ModelKey.NAME, HOLDER), sent);
		Silences woken = state.with(released.ownedBy(HOLDER));
		for (ReleaseNotification notification : sent) {
			Waiter next = notification.waiter();
			int number = Owner.jvm(next.instance());
			if (state.waiters().get(number).phase() == Phase.WAITING) {
				woken = woken.in(number, Phase.AWAY, 0);
			}
			woken = state.key().isSilent(next) ? woken.outOfOrder() : woken;
		}
		return woken;
	}

	private ModelKey after(ModelKey key, Consumer<LockBackend> command, List<ReleaseNotification> sent) {
		Set<KeyRule> rules = (this.broken instanceof KeyRule rule) ? Set.of(rule) : Set.of();
		return key.after(rules, (instance) -> true, command, sent::add);
	}

	private static String name(int waiter) {
		return "W" + waiter;
	}

	private boolean holds(Rule rule) {
		return this.broken != rule;
	}

	@Override
	public String toString() {
		return this.waiters + " waiters that may be silent" + ((this.broken != null) ? ", without " + this.broken : "");
	}

}
