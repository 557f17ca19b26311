package io.github.distributedlock.protocol;

/**
 * The progress of a thread with the request that it makes, or makes next.
 *
 * @param number the number of the request
 * @param phase how far the request is
 * @param refused whether the store has said once that the lock is busy
 * @param unsettled whether a command was never answered, and may have been carried out
 * @param handedOn how often the key was handed on in the slice in which this request got
 * the key
 * @param token the fencing token of the last grant, 0 for none
 */
record Request(int number, Phase phase, boolean refused, boolean unsettled, int handedOn, int token) {

	enum Phase {

		/**
		 * Has not asked yet.
		 */
		IDLE,

		/**
		 * Waits for the turn in the local queue.
		 */
		QUEUED,

		/**
		 * Has the turn, and sends a command next.
		 */
		ASKING,

		/**
		 * The commands of a step are under way.
		 */
		ASKED,

		/**
		 * The answer that the lock is acquired is under way.
		 */
		GRANTED,

		/**
		 * As {@link #GRANTED}, but the deadline has passed.
		 */
		GRANTED_TOO_LATE,

		/**
		 * Registered; the answer that the lock is busy is under way.
		 */
		REFUSED,

		/**
		 * There was no answer; the request asks again soon.
		 */
		FAILED,

		/**
		 * Waits for a wake-up.
		 */
		PARKED,

		/**
		 * Believes to hold the lock, and is right.
		 */
		HOLDING,

		/**
		 * The deadline has passed; the request knows that, and the method goes on.
		 */
		LOST,

		/**
		 * The answer to the release is under way.
		 */
		RELEASING,

		/**
		 * Will not ask again.
		 */
		ENDED

	}

	static final Request FIRST = new Request(0, Phase.IDLE, false, false, 0, 0);

	Request in(Phase phase) {
		return new Request(this.number, phase, this.refused, this.unsettled, this.handedOn, this.token);
	}

	Request refused(Phase phase) {
		return new Request(this.number, phase, true, this.unsettled, this.handedOn, this.token);
	}

	Request failed() {
		return new Request(this.number, Phase.FAILED, this.refused, true, this.handedOn, this.token);
	}

	Request granted(int token) {
		return new Request(this.number, Phase.GRANTED, this.refused, this.unsettled, this.handedOn, token);
	}

	/**
	 * Returns a request that is handed the key, or asks for the key to be passed on.
	 */
	Request handedOn(int handedOn) {
		return new Request(this.number, this.phase, this.refused, this.unsettled, handedOn, this.token);
	}

	/**
	 * Somebody else sees to what was not answered.
	 */
	Request settled() {
		return new Request(this.number, this.phase, this.refused, false, this.handedOn, this.token);
	}

	Request next(int requests) {
		int next = this.number + 1;
		return new Request(next, (next < requests) ? Phase.IDLE : Phase.ENDED, false, false, 0, 0);
	}

	boolean isUnderWay() {
		return this.phase != Phase.IDLE && this.phase != Phase.ENDED;
	}

	/**
	 * Returns whether the request has become a hold, and keeps the turn.
	 */
	boolean isHold() {
		return this.phase == Phase.HOLDING || this.phase == Phase.RELEASING;
	}

}
