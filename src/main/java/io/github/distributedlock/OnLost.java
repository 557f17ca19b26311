package io.github.distributedlock;

/**
 * The reaction to the loss of a lock while its method runs. A lock is lost when its lease
 * has ended, or when the application has ended before the method.
 *
 * @since 1.0
 */
public enum OnLost {

	/**
	 * Logs the loss and reports the loss to listeners. The method can ask
	 * {@link LockHandle#isHeld()}.
	 */
	REPORT,

	/**
	 * Reports the loss as {@link #REPORT} does, and interrupts the thread that runs the
	 * method, once, whatever the thread does just then; a database or a client may take
	 * the interrupt for a broken connection. An exception of the method is thrown, with
	 * {@link LockLostException} as suppressed exception; a result of the method is
	 * returned.
	 * <p>
	 * The interrupt never reaches beyond the method: none arrives after the method has
	 * ended, and the end of the method clears the thread's flag if this interrupt set the
	 * flag. An interrupt by other code is kept, with one exception that cannot be told
	 * apart: an interrupt that comes after this one, and to which the method has not
	 * reacted when it ends, is cleared together with this one.
	 * <p>
	 * {@code INTERRUPT} is refused at start-up for a method that returns a
	 * {@link java.util.concurrent.CompletionStage}: no thread could be interrupted once
	 * the method has returned. A reactive result and a {@code suspend} function are
	 * cancelled instead, and fail with {@link LockLostException} at once.
	 */
	INTERRUPT,

	/**
	 * Reports the loss as {@link #REPORT} does, and lets the call fail with
	 * {@link LockLostException} when the method has returned, also if the lock was lost
	 * early and nothing went wrong. An exception of the method is thrown, with the
	 * {@code LockLostException} as suppressed exception. A
	 * {@link java.util.concurrent.CompletionStage} fails with the
	 * {@code LockLostException} when the stage completes; the method must be declared to
	 * return {@code CompletionStage} or {@code CompletableFuture}, or start-up is
	 * refused. A reactive result and a {@code suspend} function fail with the
	 * {@code LockLostException} in place of their value or completion.
	 * <p>
	 * Transactions fail before they commit, so that they roll back: the transaction that
	 * was running when the lock was taken, and each transaction that the method's thread
	 * commits inside of the method, such as that of a {@code @Transactional} on the same
	 * method. For the latter, the transaction manager must be a bean that is a
	 * {@code ConfigurableTransactionManager}, as all of Spring's own are; for any other
	 * kind of bean a message is logged at start-up. Of reactive transactions, the one
	 * that was running rolls back, and that of a {@code @Transactional} on the same
	 * method. Between the last look at the lock and the commit the lock may still be
	 * lost: a store that must not be written late needs a condition of its own.
	 */
	THROW

}
