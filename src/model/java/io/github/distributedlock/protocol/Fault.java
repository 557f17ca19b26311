package io.github.distributedlock.protocol;

/**
 * The faults of a run.
 */
enum Fault {

	/**
	 * A JVM dies; commands that the JVM has sent may still be carried out.
	 */
	CRASH,

	/**
	 * A wake-up is published and never arrives; or reaches nobody, since the waiter, who
	 * is alive, does not listen for a moment.
	 */
	LOST_MESSAGE,

	/**
	 * A waiter gives up: the time is over, or the thread is interrupted.
	 */
	TIME_OUT,

	/**
	 * A lease or a reservation runs out under somebody alive who was too slow.
	 */
	LOST_LEASE,

	/**
	 * A command is carried out and the answer never arrives.
	 */
	LOST_ANSWER,

	/**
	 * A command is given up for unanswered, and carried out later or never.
	 */
	LATE_COMMAND,

	/**
	 * The server says that a command was not carried out, or there was no connection to
	 * send the command on.
	 */
	REFUSED_COMMAND,

	/**
	 * The server forgets everything.
	 */
	FLUSH,

	/**
	 * A JVM that is alive is not heard of for a second.
	 */
	SILENCE,

	/**
	 * A JVM dies, and the connections of that JVM look open to the server.
	 */
	UNSEEN_CRASH,

	/**
	 * A message arrives twice.
	 */
	REPEATED_MESSAGE,

	/**
	 * A waiter is subscribed at a replica of the server: a message is counted as heard by
	 * nobody, and reaches the waiter all the same.
	 */
	SUBSCRIBED_ELSEWHERE,

	/**
	 * The server's clock is set back, by longer than anybody waits.
	 */
	CLOCK_SET_BACK,

	/**
	 * The clock of a JVM stands still for a while.
	 */
	CLOCK_DRIFT

}
