package io.github.distributedlock.protocol;

/**
 * What keeps readers together, holders of permits within their number, writers from
 * starving, and all awake.
 */
enum SharedRule {

	/**
	 * A reader does not join others while a writer waits.
	 */
	READERS_DEFER_TO_WRITERS,

	/**
	 * A reader joins those for whom a place is kept as it joins those who read.
	 */
	KEPT_PLACES_COUNT,

	/**
	 * All readers at the head of the waiters are woken together, and as many that have
	 * permits as are free.
	 */
	READERS_WAKE_TOGETHER,

	/**
	 * The last reader out wakes who is next.
	 */
	LAST_READER_WAKES,

	/**
	 * A reader that gives the lock back gives back the place that is kept for its JVM.
	 */
	RELEASE_ENDS_KEPT_PLACE,

	/**
	 * A release that finds its owner gone leaves the place alone.
	 */
	ONLY_OWNERS_END_KEPT_PLACES,

	/**
	 * Who gives up gives back the place that is kept for it.
	 */
	WITHDRAWAL_ENDS_KEPT_PLACE,

	/**
	 * A writer that gives up lets in the readers that waited behind it.
	 */
	WITHDRAWING_WRITERS_LET_READERS_IN,

	/**
	 * A writer that goes on as a reader lets in the readers that wait next.
	 */
	DOWNGRADES_LET_READERS_IN,

	/**
	 * Only the owner of the lock can share it.
	 */
	ONLY_OWNERS_DOWNGRADE,

	/**
	 * A writer counts as a reader from before the lock is shared.
	 */
	DOWNGRADED_BEFORE_IT_IS_SENT,

	/**
	 * A writer that has gone on as a reader passes nothing on.
	 */
	DOWNGRADED_KEYS_ARE_NOT_PASSED_ON,

	/**
	 * After its slice a JVM yields to its own readers, too.
	 */
	YIELDS_TO_OWN_READERS,

	/**
	 * Readers and writers of one JVM are silent or alive each for themselves.
	 */
	LIVENESS_OF_EACH_KIND,

	/**
	 * Who is silent for a second does not count as a waiter.
	 */
	THE_SILENT_ARE_DEAD,

	/**
	 * Who has permits and readers do not have the lock together.
	 */
	PERMITS_AND_READERS_ARE_APART,

	/**
	 * A place that is kept takes a permit.
	 */
	KEPT_PERMITS_COUNT,

	/**
	 * Who has permits goes by their own number, and not by that of those who have the
	 * lock.
	 */
	EACH_BY_ITS_OWN_PERMITS,

	/**
	 * Who has permits does not get ahead of anybody who waits.
	 */
	PERMITS_DEFER_TO_ALL_WAITERS,

	/**
	 * Each permit that is given back wakes who is next, not only the last one.
	 */
	EACH_PERMIT_WAKES,

	/**
	 * When a request has the lock together with others, the next one of its JVM asks at
	 * once.
	 */
	NEXT_ASKS_AT_ONCE

}
