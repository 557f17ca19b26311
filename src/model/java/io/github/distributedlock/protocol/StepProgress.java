package io.github.distributedlock.protocol;

import org.jspecify.annotations.Nullable;

/**
 * How far a step is that takes several commands.
 *
 * @param step the step
 * @param next the command that is carried out next
 * @param again whether an acquisition has registered, and tries a second time
 * @param compared whether the key was seen to have the value that the next command
 * changes, which then does so unseen
 * @param current of a release, what the key is believed to hold, {@code null} if nothing
 * @param waiter of a release, the JVM that was seen to wait
 * @param last the last fencing token that was seen, or the last place of the waiters
 * @param time the time that was seen with the token
 * @param done whether the lock has been acquired, or given back, whatever follows
 * @param tooLate whether the deadline of the step has passed since
 * @param unheard whether the next command was sent, and given up for unanswered
 */
record StepProgress(Command step, Line next, boolean again, boolean compared, @Nullable Value current, int waiter,
		int last, int time, boolean done, boolean tooLate, boolean unheard) {

	/**
	 * The commands.
	 */
	enum Line {

		/**
		 * {@code SET lock owner NX PX}.
		 */
		SET_IF_ABSENT,

		/**
		 * {@code GET lock}, to see whether the lock is reserved, the owner's already, or
		 * free.
		 */
		WHOSE,

		/**
		 * {@code CompareAndSet} of the own value for the same value with the lease.
		 */
		RENEW,

		/**
		 * {@code CompareAndSet} of the reservation for the owner.
		 */
		TAKE,

		/**
		 * {@code ZRANGE waiters -1 -1 WITHSCORES}.
		 */
		SEE_LAST_PLACE,

		/**
		 * {@code ZADD waiters NX} with the next place.
		 */
		REGISTER,

		/**
		 * {@code GET fence} and {@code TIME}.
		 */
		SEE_TOKEN,

		/**
		 * {@code CompareAndSet} of the last fencing token for the next.
		 */
		NEXT_TOKEN,

		/**
		 * {@code ZREM waiters} of the own JVM.
		 */
		UNREGISTER,

		/**
		 * {@code ZRANGE waiters 0 0}.
		 */
		LOOK,

		/**
		 * {@code CompareAndSet} of the own value for nothing.
		 */
		REMOVE,

		/**
		 * {@code CompareAndSet} of the own value for a reservation, or {@code SET NX} of
		 * the reservation if the key is believed to be free.
		 */
		RESERVE,

		/**
		 * {@code GET lock}, to see why the lock was not changed.
		 */
		WHY,

		/**
		 * {@code ZREM waiters} of the JVM that the key is reserved for.
		 */
		FORGET,

		/**
		 * {@code PUBLISH} to the waiter.
		 */
		PUBLISH,

		/**
		 * {@code PUBLISH} of nothing to the oldest waiter, to see whether that one hears.
		 */
		SEE_WHO_HEARS,

		/**
		 * {@code ZREM waiters} of one that does not.
		 */
		SKIP,

		/**
		 * No command: the step has ended.
		 */
		END;

		boolean onlyReads() {
			return this == WHOSE || this == SEE_LAST_PLACE || this == SEE_TOKEN || this == LOOK || this == WHY
					|| this == SEE_WHO_HEARS;
		}

	}

	static StepProgress of(Command step) {
		Value current = switch (step.kind()) {
			case ACQUIRE, ACQUIRE_OR_REGISTER, PASS, PASS_OR_YIELD, WITHDRAW -> null;
			case RELEASE -> new Value.Owned(step.owner(), false);
		};
		Line first = switch (step.kind()) {
			case ACQUIRE, ACQUIRE_OR_REGISTER, PASS, PASS_OR_YIELD -> Line.SET_IF_ABSENT;
			case RELEASE -> Line.LOOK;
			case WITHDRAW -> Line.UNREGISTER;
		};
		return new StepProgress(step, first, false, false, current, -1, 0, 0, false, false, false);
	}

	Owner owner() {
		return this.step.owner();
	}

	StepProgress to(Line next) {
		return new StepProgress(this.step, next, this.again, false, this.current, this.waiter, this.last, this.time,
				this.done, this.tooLate, this.unheard);
	}

	/**
	 * The key has the value that the next command changes.
	 */
	StepProgress afterComparing() {
		return new StepProgress(this.step, this.next, this.again, true, this.current, this.waiter, this.last, this.time,
				this.done, this.tooLate, this.unheard);
	}

	StepProgress secondTry() {
		return new StepProgress(this.step, Line.SET_IF_ABSENT, true, false, this.current, this.waiter, this.last,
				this.time, this.done, this.tooLate, this.unheard);
	}

	StepProgress current(@Nullable Value current) {
		return new StepProgress(this.step, Line.LOOK, this.again, false, current, -1, this.last, this.time, this.done,
				this.tooLate, this.unheard);
	}

	StepProgress seen(int waiter) {
		return new StepProgress(this.step, Line.RESERVE, this.again, false, this.current, waiter, this.last, this.time,
				this.done, this.tooLate, this.unheard);
	}

	StepProgress seen(int last, int time) {
		return new StepProgress(this.step, Line.NEXT_TOKEN, this.again, false, this.current, this.waiter, last, time,
				this.done, this.tooLate, this.unheard);
	}

	StepProgress place(int last) {
		return new StepProgress(this.step, Line.REGISTER, this.again, false, this.current, this.waiter, last, this.time,
				this.done, this.tooLate, this.unheard);
	}

	StepProgress token(int token) {
		return new StepProgress(this.step, this.next, this.again, this.compared, this.current, this.waiter, token, 0,
				this.done, this.tooLate, this.unheard);
	}

	StepProgress succeeded() {
		return new StepProgress(this.step, this.next, this.again, this.compared, this.current, this.waiter, this.last,
				this.time, true, this.tooLate, this.unheard);
	}

	StepProgress late() {
		return new StepProgress(this.step, this.next, this.again, this.compared, this.current, this.waiter, this.last,
				this.time, this.done, true, this.unheard);
	}

	StepProgress givenUp() {
		return new StepProgress(this.step, this.next, this.again, this.compared, this.current, this.waiter, this.last,
				this.time, this.done, this.tooLate, true);
	}

	/**
	 * Returns whether the next command, which will not be answered, may acquire the lock
	 * for this owner.
	 */
	boolean mayTakeTheLockFor(Owner owner) {
		return this.unheard && owner().equals(owner)
				&& (this.next == Line.SET_IF_ABSENT || this.next == Line.TAKE || this.next == Line.RENEW);
	}

	/**
	 * Returns whether the next command is a {@code CompareAndSet} of the lock.
	 */
	boolean comparesAndSets() {
		return this.next == Line.RENEW || this.next == Line.TAKE || this.next == Line.REMOVE
				|| (this.next == Line.RESERVE && this.current != null);
	}

	/**
	 * Returns whether the next command changes the lock, whatever the value is by now.
	 */
	boolean isAboutToChange() {
		return this.compared && !this.unheard;
	}

	/**
	 * Returns whether the step counts as done even if the next command fails.
	 */
	boolean cannotFail() {
		return (this.step.kind() == Command.Kind.RELEASE && this.done) || this.next == Line.PUBLISH;
	}

	boolean hasEnded() {
		return this.next == Line.END;
	}

	boolean registers() {
		return this.step.kind() == Command.Kind.ACQUIRE_OR_REGISTER;
	}

	boolean isAboutToWake(int jvm) {
		return !this.unheard && this.waiter == jvm && (this.next == Line.FORGET || this.next == Line.PUBLISH);
	}

}
