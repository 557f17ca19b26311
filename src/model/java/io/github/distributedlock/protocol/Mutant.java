package io.github.distributedlock.protocol;

/**
 * One rule of the protocol broken on purpose, to see that the model notices.
 */
enum Mutant {

	/**
	 * A release deletes the key without a look at the owner.
	 */
	NO_OWNER_CHECK,

	/**
	 * A request that registers as a waiter does not look whether the key is free by now.
	 */
	NO_RETRY_WHEN_REGISTERING,

	/**
	 * A withdrawal only ends the registration.
	 */
	WITHDRAW_WITHOUT_PASSING_ON,

	/**
	 * A release wakes a waiter and leaves the key free.
	 */
	NO_RESERVATION,

	/**
	 * A key that an unanswered acquire may have got is not given back.
	 */
	NO_CLEAN_UP,

	/**
	 * A release that was not answered is not repeated.
	 */
	NO_SECOND_RELEASE,

	/**
	 * A request that was granted the lock without hearing of the grant, and asks again,
	 * takes the request's own value for somebody else's.
	 */
	OWN_VALUE_NOT_RECOGNISED,

	/**
	 * A wake-up counts only for a thread that is parked at that moment.
	 */
	EARLY_WAKE_UP_FORGOTTEN,

	/**
	 * The last waiter of a JVM that gives up does not tell the store.
	 */
	NO_WITHDRAWAL,

	/**
	 * A waiter waits for a wake-up and for nothing else.
	 */
	NO_POLL,

	/**
	 * A reservation has no time to live.
	 */
	RESERVATION_FOR_EVER,

	/**
	 * The server may give the key away before the holder's deadline.
	 */
	DEADLINE_AFTER_SERVER,

	/**
	 * A grant counts even if the answer came after the deadline.
	 */
	LATE_ANSWER_COUNTS,

	/**
	 * A fencing token is one more than the last.
	 */
	TOKEN_FROM_A_COUNTER_ALONE,

	/**
	 * A fencing token is the server's time.
	 */
	TOKEN_FROM_THE_CLOCK_ALONE,

	/**
	 * Without Lua, the last fencing token is raised by what the one that was seen lacks.
	 */
	TOKEN_ADDS_TO_WHAT_WAS_SEEN,

	/**
	 * Without Lua, a release does not look for waiters again once the key is free.
	 */
	LOOKS_ONLY_ONCE,

	/**
	 * Without Lua, a release publishes the wake-up, and reserves the key then.
	 */
	WAKE_UP_BEFORE_RESERVING,

	/**
	 * Without Lua, the look at the oldest waiter ends the registration of that waiter.
	 */
	WAITER_POPPED_AT_ONCE,

	/**
	 * Without Lua, a release wakes a waiter and does not end the waiter's registration.
	 */
	WAITER_NOT_FORGOTTEN,

	/**
	 * Without Lua, a release reserves the key for a waiter and does not check that the
	 * waiter was still registered.
	 */
	WAITER_TAKEN_FOR_GRANTED,

	/**
	 * Without Lua, a release looks whether the key is the releaser's own, and deletes the
	 * key.
	 */
	GET_THEN_DELETE,

	/**
	 * With best effort, a release gives the key to the next waiter if the one that the
	 * key is reserved for does not wait any more, or does not hear.
	 */
	RESERVATION_CHANGED_BY_WHO_MADE_IT,

	/**
	 * Without Lua, an acquisition that has got the lock counts as not carried out if a
	 * later command of the acquisition is refused.
	 */
	REFUSED_MIDWAY_COUNTS_AS_NOT_BEGUN,

	/**
	 * A key is passed on whoever is the owner by then.
	 */
	PASSED_ON_WHOEVER_HAS_IT,

	/**
	 * A key is passed on inside a JVM also after the slice, though others wait.
	 */
	NO_YIELDING,

	/**
	 * A request that yields the key does not register as a waiter in the same step.
	 */
	YIELDS_WITHOUT_REGISTERING,

	/**
	 * A key that was passed on without an answer is not released for the former holder.
	 */
	NOT_RELEASED_AFTER_PASSING_ON_UNHEARD,

	/**
	 * A key that was left to one who gives up is nobody's.
	 */
	LEFT_KEY_FORGOTTEN,

	/**
	 * A request that leaves a key to the next one cleans up after commands that were not
	 * answered, though the key is kept under the same token.
	 */
	CLEAN_UP_WHILE_HANDED_ON,

	/**
	 * A request that takes over a vacant key ignores the deadline of the key.
	 */
	LOSS_BETWEEN_HOLDS_UNNOTICED,

	/**
	 * A key that is lost while vacant is not cleaned up after.
	 */
	NO_CLEAN_UP_BETWEEN_HOLDS,

	/**
	 * A request to which the key was passed on without an answer begins a new slice.
	 */
	UNHEARD_PASS_BEGINS_A_SLICE

}
