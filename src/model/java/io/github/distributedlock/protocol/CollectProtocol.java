package io.github.distributedlock.protocol;

import java.util.List;
import java.util.Set;

import io.github.distributedlock.protocol.Collected.Held;
import io.github.distributedlock.protocol.Collected.Phase;
import io.github.distributedlock.protocol.Collected.Request;
import io.github.distributedlock.protocol.Collected.Undone;
import org.jspecify.annotations.Nullable;

/**
 * Two JVMs that ask for the same two keys, with a fixed lease, each in one request:
 * {@code RequestAcquisition}. Keys are deleted, and leases run out, while they are
 * collected. A command and the answer are one step, but a key that is given back may be
 * deleted later. Those who hold both keys give them back in time.
 *
 * @param broken the rule that is broken, if any
 */
record CollectProtocol(@Nullable Rule broken) implements Model<Collected> {

	static final int KEYS = 2;

	static final int LEASE = 2;

	private static final int MOST_FAULTS = 2;

	/**
	 * The rules that keep a request from going on without a key that was lost.
	 */
	enum Rule {

		/**
		 * A key that is lost counts no more: the request goes on from there.
		 */
		COUNTS_WHAT_IS_HELD,

		/**
		 * All keys are renewed, and looked at, when the last one is there.
		 */
		RENEWED_AT_THE_END,

		/**
		 * A fixed lease is renewed while the request collects.
		 */
		RENEWED_MEANWHILE,

		/**
		 * A key that is acquired after a loss has a new owner token.
		 */
		NEW_OWNER,

		/**
		 * Keys that come after the lost one are given back.
		 */
		LATER_KEYS_ARE_GIVEN_BACK

	}

	@Override
	public Collected first() {
		return Collected.FIRST;
	}

	@Override
	public boolean isOver(Collected state) {
		return state.requests().stream().allMatch((request) -> request.phase() == Phase.DONE);
	}

	@Override
	public List<Transition<Collected>> transitions(Collected state) {
		Set<Fault> faults = (state.faults() < MOST_FAULTS) ? Set.of(Fault.FLUSH, Fault.LOST_LEASE) : Set.of();
		Transitions<Collected> transitions = new Transitions<>(state, faults, Collected::afterFault);
		for (int number = 0; number < state.requests().size(); number++) {
			Request request = state.requests().get(number);
			String name = "J" + number;
			if (request.phase() == Phase.HOLDING) {
				transitions.happens(name, "gives back", state.givenBack(number));
			}
			else if (request.phase() == Phase.COLLECTING && request.missing() < KEYS) {
				transitions.happens(name, "asks for key " + request.missing(), state.asked(number));
				if (holds(Rule.RENEWED_MEANWHILE)) {
					transitions.happens(name, "renews", renewed(state, number));
				}
			}
			else if (request.phase() == Phase.COLLECTING) {
				Collected renewed = holds(Rule.RENEWED_AT_THE_END) ? renewed(state, number) : state;
				boolean has = renewed.requests().get(number).missing() == KEYS;
				transitions.happens(name, "has all", has ? renewed.in(number, Phase.HOLDING) : renewed);
			}
		}
		for (Undone undone : state.undone()) {
			transitions.happens("clean-up", "of " + undone, state.cleanedUp(undone));
		}
		for (int key = 0; key < KEYS; key++) {
			if (state.isCollected(key)) {
				transitions.goesWrong(Fault.FLUSH, "key " + key, "is deleted", state.deleted(key));
			}
		}
		if (!state.isDue(Phase.HOLDING)) {
			if (!state.isDue(Phase.COLLECTING) || !holds(Rule.RENEWED_MEANWHILE)) {
				transitions.happensInTime("time", "passes", ticked(state, state.isDue(Phase.COLLECTING)));
			}
			else {
				transitions.goesWrong(Fault.LOST_LEASE, "time", "passes too fast", ticked(state, false));
			}
		}
		return transitions.all();
	}

	private Collected renewed(Collected state, int number) {
		Collected renewed = state;
		int first = KEYS;
		for (int key = KEYS - 1; key >= 0; key--) {
			int owner = state.requests().get(number).held().get(key).owner();
			if (owner != 0 && state.owner(key) != owner) {
				first = key;
			}
			else if (owner != 0) {
				renewed = renewed.with(number, key, new Held(owner, LEASE));
			}
		}
		return lost(renewed, number, first);
	}

	/**
	 * A request has noticed the loss of a key.
	 * @param first the first one, {@link #KEYS} if there is none
	 */
	private Collected lost(Collected state, int number, int first) {
		if (first == KEYS || !holds(Rule.COUNTS_WHAT_IS_HELD)) {
			return state;
		}
		int last = holds(Rule.LATER_KEYS_ARE_GIVEN_BACK) ? KEYS : first + 1;
		return state.goneBack(number, first, last, holds(Rule.NEW_OWNER));
	}

	private Collected ticked(Collected state, boolean early) {
		Collected ticked = state.tick(early);
		for (int number = 0; number < state.requests().size(); number++) {
			ticked = lost(ticked, number, ticked.requests().get(number).firstOver());
		}
		return ticked;
	}

	private boolean holds(Rule rule) {
		return this.broken != rule;
	}

	@Override
	public String toString() {
		return "two keys for each of two requests" + ((this.broken != null) ? ", without " + this.broken : "");
	}

}
