package io.github.distributedlock.protocol;

/**
 * The rules of JVMs that keep grants safe, and all awake. Each rule is broken once, to
 * see that the model notices.
 */
enum GrantRule {

	/**
	 * Only a grant of the registration that was sent last is accepted: the deadline
	 * counts from that one.
	 */
	LAST_NUMBER_ONLY,

	/**
	 * The deadline does not count from the message.
	 */
	DEADLINE_BEFORE_MESSAGE,

	/**
	 * The deadline does not count from the answer to the registration.
	 */
	DEADLINE_BEFORE_ANSWER,

	/**
	 * A grant has a shorter lease than what was taken, so that one to a waiter that
	 * stands still costs no more.
	 */
	SHORT_AT_FIRST,

	/**
	 * A request that accepts a grant counts the lease that was granted.
	 */
	COUNTED_AS_GRANTED,

	/**
	 * The first renewal after a grant is planned from the lease that was granted.
	 */
	RENEWED_AS_GRANTED,

	/**
	 * The margin is as large as what a clock may lag behind in a lease.
	 */
	MARGIN_COVERS_DRIFT,

	/**
	 * A waiter that has begun to withdraw accepts nothing.
	 */
	NOT_WHILE_WITHDRAWING,

	/**
	 * A clean-up begins only once the request has ended.
	 */
	CLEAN_UP_AFTER_REQUEST,

	/**
	 * The next thread does not wait under the token of the thread before with another
	 * time.
	 */
	TIME_OF_THE_TOKEN,

	/**
	 * The next thread does not wait under a token that is being cleaned up.
	 */
	TOKEN_OF_ITS_OWN,

	/**
	 * The next thread names the token of the one before.
	 */
	PREDECESSOR_IS_NAMED,

	/**
	 * A token that is heard of while a command is under way is named in the next one.
	 */
	HEARD_WHILE_ASKING_IS_NAMED,

	/**
	 * A grant that comes before the answer to the registration is kept until then.
	 */
	EARLY_GRANT_IS_KEPT,

	/**
	 * A grant that nobody waits for is given back.
	 */
	UNWANTED_GRANT_IS_GIVEN_BACK,

	/**
	 * A registration that was not answered is cleaned up after, once the request has
	 * ended.
	 */
	UNANSWERED_REGISTRATION_IS_CLEANED_UP,

	/**
	 * A withdrawal that was not answered is cleaned up after.
	 */
	UNANSWERED_WITHDRAWAL_IS_CLEANED_UP

}
