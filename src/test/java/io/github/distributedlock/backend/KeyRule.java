package io.github.distributedlock.backend;

/**
 * The rules of {@link KeyStep} that models of the protocol break, each once, to see that
 * they notice. The last ones are broken by what goes wrong at a server.
 */
public enum KeyRule {

	/**
	 * A grant has the lease of the claim, not the time to live of a reservation.
	 */
	CLAIMED_LEASE,

	/**
	 * A request that takes the key has the full lease, whatever lease the request claims
	 * for a grant.
	 */
	TAKEN_IN_FULL,

	/**
	 * An owner that asks again has the full lease again.
	 */
	FULL_LEASE_AGAIN,

	/**
	 * A grant is published only once the key was set.
	 */
	SET_BEFORE_PUBLISH,

	/**
	 * A waiter to which the key could not be granted keeps the place.
	 */
	REFUSED_KEEPS_PLACE,

	/**
	 * A key is taken over from the tokens that are named, not from any of the same JVM.
	 */
	TAKEN_OVER_BY_NAME,

	/**
	 * A release compares the owner.
	 */
	OWNER_IS_COMPARED,

	/**
	 * A withdrawal gives back a key that was granted to the withdrawn token.
	 */
	WITHDRAWAL_NAMES_TOKEN,

	/**
	 * A clean-up of a token removes the registration of that token, too.
	 */
	LATE_REGISTRATION_IS_REMOVED,

	/**
	 * A claim that may not be granted drops the record of the one before.
	 */
	RECORD_IS_DROPPED,

	/**
	 * A waiter whose message reached nobody is passed over.
	 */
	THE_DEAF_ARE_PASSED_OVER,

	/**
	 * A waiter that is passed over was told of no grant: that nobody is counted does not
	 * prove that nobody hears.
	 */
	COUNTED_BEFORE_GRANT,

	/**
	 * A waiter that polls keeps the place.
	 */
	PLACES_STAY,

	/**
	 * A reader does not join others while a writer waits.
	 */
	READERS_DEFER_TO_WRITERS,

	/**
	 * A reader joins readers for whom a place is kept, as well as readers that have the
	 * lock.
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
	 * A reader that gives the lock back gives back the place that is kept for the
	 * reader's JVM.
	 */
	RELEASE_ENDS_KEPT_PLACE,

	/**
	 * A release that finds the owner gone leaves the place alone.
	 */
	ONLY_OWNERS_END_KEPT_PLACES,

	/**
	 * A request that gives up gives back the place that is kept for the request.
	 */
	WITHDRAWAL_ENDS_KEPT_PLACE,

	/**
	 * A writer that gives up lets in the readers that waited behind the writer.
	 */
	WITHDRAWING_WRITERS_LET_READERS_IN,

	/**
	 * A writer that goes on as a reader lets in the readers that wait next.
	 */
	DOWNGRADES_LET_READERS_IN,

	/**
	 * Only the owner of the lock can share the lock.
	 */
	ONLY_OWNERS_DOWNGRADE,

	/**
	 * A writer that has gone on as a reader passes nothing on: neither do JVMs, nor does
	 * the server.
	 */
	DOWNGRADED_KEYS_ARE_NOT_PASSED_ON,

	/**
	 * After a slice a JVM yields to the readers of this very JVM, too.
	 */
	YIELDS_TO_OWN_READERS,

	/**
	 * Readers and writers of one JVM are silent or alive each for themselves.
	 */
	LIVENESS_OF_EACH_KIND,

	/**
	 * A waiter that is silent for a second does not count.
	 */
	THE_SILENT_ARE_DEAD,

	/**
	 * Holders of permits and readers do not have the lock together.
	 */
	PERMITS_AND_READERS_ARE_APART,

	/**
	 * A place that is kept takes a permit.
	 */
	KEPT_PERMITS_COUNT,

	/**
	 * A request with permits goes by the request's number, and not by that of the
	 * holders.
	 */
	EACH_BY_ITS_OWN_PERMITS,

	/**
	 * A request with permits does not get ahead of any waiter.
	 */
	PERMITS_DEFER_TO_ALL_WAITERS,

	/**
	 * Each permit that is given back wakes who is next, not only the last one.
	 */
	EACH_PERMIT_WAKES,

	/**
	 * Nobody takes a free key while another ticket is older.
	 */
	NOBODY_BARGES,

	/**
	 * A ticket stays until the request of the ticket has the key.
	 */
	TICKETS_STAY,

	/**
	 * A request that finds the key free and may not take it reserves the key for the
	 * oldest waiter.
	 */
	RESERVED_ANEW,

	/**
	 * Reserves the key anew for an oldest waiter that is not fair, too.
	 */
	RESERVED_ANEW_FOR_THE_UNFAIR,

	/**
	 * A request that gives up passes on the reservation for the request.
	 */
	PASSED_ON,

	/**
	 * If all are silent, the server stood still, and all are pardoned; but not those that
	 * have said nothing since the last pardon.
	 */
	PARDONED_ONCE,

	/**
	 * If somebody was heard of at a time that is yet to come, the server's clock was set
	 * back: all are pardoned from now on, instead of for as long as that.
	 */
	TIME_BEGINS_ANEW,

	/**
	 * Waiters that were heard of at a time that is yet to come are pardoned, and not
	 * taken to be dead.
	 */
	THE_FUTURE_IS_NO_SILENCE,

	/**
	 * A JVM that asks, or gives the key back, lives.
	 */
	WHO_SPEAKS_LIVES,

	/**
	 * A poll is written down.
	 */
	POLLS_ARE_HEARD,

	/**
	 * A sign of life of somebody else says nothing of the oldest.
	 */
	OLDEST_IS_JUDGED,

	/**
	 * A request that registers as a waiter looks whether the key is free by now.
	 */
	RETRIED_WHEN_REGISTERED,

	/**
	 * A release that wakes a waiter keeps the key for that waiter.
	 */
	WOKEN_WITH_RESERVATION,

	/**
	 * A request that was granted the lock without hearing of the grant, and asks again,
	 * has the lock.
	 */
	OWNERS_ARE_RECOGNISED,

	/**
	 * Only the owner passes a key on.
	 */
	PASSED_ON_BY_OWNERS,

	/**
	 * After a slice a JVM lets others have the key first.
	 */
	YIELDS_TO_OTHERS,

	/**
	 * A request that yields registers as a waiter in the same step.
	 */
	REGISTERED_AFTER_YIELDING,

	/**
	 * A fencing token is not before the time of the server.
	 */
	TOKENS_FOLLOW_THE_CLOCK,

	/**
	 * A fencing token is greater than the last one.
	 */
	TOKENS_ARE_COUNTED,

	/**
	 * A request that finds a busy key which may be kept asks the owner for the key.
	 */
	BUSY_KEYS_ARE_RECALLED,

	/**
	 * Each attempt asks again.
	 */
	EACH_ATTEMPT_RECALLS,

	/**
	 * The server has memory for a grant.
	 */
	ENOUGH_MEMORY,

	/**
	 * The claim of a waiter may be granted only if the server has heard of the waiter
	 * lately.
	 */
	CLAIMS_ARE_RECENT,

	/**
	 * A JVM that hears notifications is subscribed at this server.
	 */
	SUBSCRIBERS_ARE_COUNTED,

	/**
	 * The command is of a version that knows claims, and grants them.
	 */
	KNOWS_GRANTS

}
