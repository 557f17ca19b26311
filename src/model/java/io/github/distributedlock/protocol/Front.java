package io.github.distributedlock.protocol;

import java.util.Set;

/**
 * The request in front of a queue in a JVM, one after another.
 *
 * @param phase how far the request is
 * @param request the number of the request
 * @param requestsLeft how many requests follow
 * @param left for how long the request may still believe in the registration, or in the
 * hold
 * @param timer how long the request rests, if everything is in time
 * @param heard whether the grant of the registration has come before the answer to the
 * registration
 * @param wakes whether the request asks at once
 * @param unanswered whether a registration of the request may still be carried out
 * @param tokens the further tokens that may own the key
 */
record Front(Phase phase, int request, int requestsLeft, int left, int timer, boolean heard, boolean wakes,
		boolean unanswered, Tokens tokens) {

	enum Phase {

		IDLE, ASKING, WAITING, HOLDING, WITHDRAWING,

		/**
		 * The JVM has crashed, and the server has seen that.
		 */
		DEAD,

		/**
		 * The JVM has crashed, and the connections look open.
		 */
		DEAD_UNSEEN

	}

	/**
	 * Tokens that may own the key though nobody holds under them.
	 *
	 * @param named those that the command under way names
	 * @param next those that the next one has to name
	 * @param unclean those of requests that have ended
	 */
	record Tokens(Set<Owner> named, Set<Owner> next, Set<Owner> unclean) {

		static final Tokens NONE = new Tokens(Set.of(), Set.of(), Set.of());

		Tokens sent() {
			return new Tokens(this.next, Set.of(), this.unclean);
		}

		Tokens answered() {
			return new Tokens(Set.of(), this.next, this.unclean);
		}

		Tokens unanswered() {
			return new Tokens(Set.of(), all(), this.unclean);
		}

		Tokens next(Set<Owner> next) {
			return new Tokens(Set.of(), next, this.unclean);
		}

		Tokens heard(Owner owner) {
			return new Tokens(this.named, Sets.with(this.next, owner), this.unclean);
		}

		Tokens unclean(Set<Owner> more) {
			return new Tokens(this.named, this.next, Sets.union(this.unclean, more));
		}

		Tokens cleaned(Owner owner) {
			return new Tokens(this.named, this.next, Sets.without(this.unclean, owner));
		}

		Set<Owner> all() {
			return Sets.union(this.named, this.next);
		}

	}

	static Front of(int requests) {
		return new Front(Phase.IDLE, 0, requests, 0, 0, false, false, false, Tokens.NONE);
	}

	boolean isAlive() {
		return this.phase != Phase.DEAD && this.phase != Phase.DEAD_UNSEEN;
	}

	boolean believes() {
		return this.phase == Phase.HOLDING && this.left > 0;
	}

	boolean wants() {
		return this.phase == Phase.ASKING || this.phase == Phase.WAITING;
	}

	boolean isOver() {
		return !isAlive() || (this.phase == Phase.IDLE && this.requestsLeft == 0);
	}

	/**
	 * The next request sends a first registration.
	 */
	Front begins(int left, Set<Owner> named) {
		return new Front(Phase.ASKING, this.request + 1, this.requestsLeft - 1, left, 0, false, false, false,
				this.tokens.next(named).sent());
	}

	Front polls(int left) {
		return new Front(Phase.ASKING, this.request, this.requestsLeft, left, 0, false, false, this.unanswered,
				this.tokens.sent());
	}

	Front waits(int timer) {
		return new Front(Phase.WAITING, this.request, this.requestsLeft, this.left, timer, false, this.wakes,
				this.unanswered, this.tokens.answered());
	}

	Front waitsUnanswered() {
		return new Front(Phase.WAITING, this.request, this.requestsLeft, this.left, 0, false, false, true,
				this.tokens.unanswered());
	}

	Front holds(int timer) {
		return new Front(Phase.HOLDING, this.request, this.requestsLeft, this.left, timer, false, false,
				this.unanswered, this.tokens.answered());
	}

	Front withdraws() {
		return new Front(Phase.WITHDRAWING, this.request, this.requestsLeft, this.left, 0, false, false,
				this.unanswered, this.tokens);
	}

	/**
	 * The request has ended.
	 * @param unclean what may still own the key
	 */
	Front ends(Set<Owner> unclean) {
		return new Front(Phase.IDLE, this.request, this.requestsLeft, 0, 0, false, false, false,
				this.tokens.next(Set.of()).unclean(unclean));
	}

	Front dies(boolean seen) {
		return new Front(seen ? Phase.DEAD : Phase.DEAD_UNSEEN, 0, 0, 0, 0, false, false, false, Tokens.NONE);
	}

	Front left(int left) {
		return new Front(this.phase, this.request, this.requestsLeft, left, this.timer, this.heard, this.wakes,
				this.unanswered, this.tokens);
	}

	Front hearsEarly() {
		return new Front(this.phase, this.request, this.requestsLeft, this.left, this.timer, true, this.wakes,
				this.unanswered, this.tokens);
	}

	Front woken() {
		return new Front(this.phase, this.request, this.requestsLeft, this.left, this.timer, this.heard, true,
				this.unanswered, this.tokens);
	}

	Front with(Tokens tokens) {
		return new Front(this.phase, this.request, this.requestsLeft, this.left, this.timer, this.heard, this.wakes,
				this.unanswered, tokens);
	}

	Front tick() {
		return new Front(this.phase, this.request, this.requestsLeft, Math.max(0, this.left - 1),
				Math.max(0, this.timer - 1), this.heard, this.wakes, this.unanswered, this.tokens);
	}

}
