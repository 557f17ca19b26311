package io.github.distributedlock.protocol;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import io.github.distributedlock.protocol.Silences.Phase;
import io.github.distributedlock.protocol.Silences.Place;
import io.github.distributedlock.protocol.Silences.Waiter;
import org.jspecify.annotations.Nullable;

/**
 * What need not be written each time that somebody waits, and need not be looked at each
 * time that the next one is woken, while the living poll in time. That the server may
 * stand still, and all are silent then, is left to the {@link FairProtocol}.
 *
 * @param waiters how many wait, each again and again
 * @param broken the rule that is broken, if any
 */
record SilenceProtocol(int waiters, @Nullable Rule broken) implements Model<Silences> {

	/**
	 * After how long a waiter is taken to be dead.
	 */
	static final int SILENCE = 3;

	/**
	 * How long the server's second is.
	 */
	static final int SECOND = 3;

	/**
	 * After how long a waiter polls at the latest.
	 */
	private static final int POLL = 2;

	/**
	 * For how long it need not be written again that a waiter was heard of.
	 */
	private static final int FRESH = SILENCE - POLL;

	private static final int TIME_TO_LIVE = SECOND + POLL + 1;

	/**
	 * What lets the living keep their places, and forgets the dead.
	 */
	enum Rule {

		/**
		 * A new queue gets its time to live.
		 */
		NEW_QUEUES_END,

		/**
		 * Who registers or polls gives the queue its time to live again, unless the last
		 * place in it was made in the same second.
		 */
		RENEWED_EACH_SECOND,

		/**
		 * A poll is written down.
		 */
		POLLS_ARE_HEARD,

		/**
		 * It is if the next poll may come after the silence.
		 */
		HEARD_BEFORE_SILENCE,

		/**
		 * The dead are sought if the oldest waiter was silent for too long.
		 */
		SILENT_ARE_SOUGHT,

		/**
		 * That somebody else was heard of says nothing of the oldest.
		 */
		OLDEST_IS_JUDGED

	}

	@Override
	public Silences first() {
		return Silences.of(this.waiters);
	}

	@Override
	public boolean isOver(Silences state) {
		return state.queue().isEmpty()
				&& state.waiters().stream().noneMatch((waiter) -> waiter.phase() == Phase.WAITING);
	}

	@Override
	public List<Transition<Silences>> transitions(Silences state) {
		Transitions<Silences> transitions = new Transitions<>(state, Set.of(Fault.CRASH), (after) -> after);
		boolean late = false;
		for (int number = 0; number < this.waiters; number++) {
			Waiter waiter = state.waiters().get(number);
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
		if (!state.queue().isEmpty() && !allDead(state)) {
			transitions.mayHappen("holder", "gives the lock back", woken(state));
		}
		return transitions.all();
	}

	private static boolean allDead(Silences state) {
		return state.waiters().stream().allMatch((waiter) -> waiter.phase() == Phase.DEAD);
	}

	private Silences asked(Silences state, int waiter) {
		List<Place> queue = new ArrayList<>(state.queue());
		boolean isNew = queue.isEmpty();
		boolean young = !isNew && queue.get(queue.size() - 1).young();
		if (state.hasPlace(waiter)) {
			queue.replaceAll((place) -> (place.waiter() == waiter) ? heard(place) : place);
		}
		else {
			queue.add(new Place(waiter, 0, true));
		}
		boolean renews = isNew ? holds(Rule.NEW_QUEUES_END) : !young && holds(Rule.RENEWED_EACH_SECOND);
		Silences asked = state.with(List.copyOf(queue)).in(waiter, Phase.WAITING, POLL);
		return renews ? asked.left(TIME_TO_LIVE) : asked;
	}

	private Place heard(Place place) {
		int fresh = holds(Rule.HEARD_BEFORE_SILENCE) ? FRESH : FRESH + 1;
		boolean writes = place.heard() >= fresh && holds(Rule.POLLS_ARE_HEARD);
		return writes ? new Place(place.waiter(), 0, place.young()) : place;
	}

	private Silences woken(Silences state) {
		List<Place> queue = state.queue();
		boolean seeks = holds(Rule.OLDEST_IS_JUDGED) ? queue.get(0).isSilent()
				: queue.stream().allMatch(Place::isSilent);
		if (seeks && holds(Rule.SILENT_ARE_SOUGHT)) {
			queue = queue.stream().filter((place) -> !place.isSilent()).toList();
		}
		if (queue.isEmpty()) {
			return state.with(queue);
		}
		Place next = queue.get(0);
		Silences woken = state.with(queue.subList(1, queue.size()));
		if (state.waiters().get(next.waiter()).phase() == Phase.WAITING) {
			woken = woken.in(next.waiter(), Phase.AWAY, 0);
		}
		return next.isSilent() ? woken.outOfOrder() : woken;
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
