package io.github.distributedlock.annotation;

/**
 * What happens to a running method whose lock is lost: its lease has ended, or the
 * application has ended before the method.
 *
 * @since 1.0
 */
public enum OnLost {

	/**
	 * The loss is logged, and reported to listeners;
	 * {@link io.github.distributedlock.LockHandle#isHeld()} tells the method if it asks.
	 */
	REPORT,

	/**
	 * As {@link #REPORT}, and the thread that runs the method is interrupted, once, in
	 * whatever it does just then; a database or a client may take that for a broken
	 * connection. What the method throws is thrown, with
	 * {@link io.github.distributedlock.LockLostException} as suppressed exception; what
	 * it returns is returned.
	 * <p>
	 * The interrupt never reaches beyond the method: none arrives after it has ended, and
	 * the thread's flag is cleared then if this set it. An interrupt by other code is
	 * kept, with one exception that cannot be told apart: an interrupt that comes after
	 * this one, and that the method has not reacted to when it ends, is cleared together
	 * with this one.
	 * <p>
	 * Refused at start-up for a method that returns a
	 * {@link java.util.concurrent.CompletionStage}: no thread could be interrupted once
	 * it has returned. A reactive result and a {@code suspend} function are cancelled
	 * instead, and fail with {@link io.github.distributedlock.LockLostException} at once.
	 */
	INTERRUPT,

	/**
	 * As {@link #REPORT}, and the call fails with
	 * {@link io.github.distributedlock.LockLostException} when the method has returned,
	 * also if the lock was lost early and nothing went wrong. What the method throws is
	 * thrown, with that exception as suppressed one. A
	 * {@link java.util.concurrent.CompletionStage} fails with it when it completes; the
	 * method must be declared to return that or {@code CompletableFuture}, or start-up is
	 * refused. A reactive result and a {@code suspend} function fail with it in place of
	 * their value or completion.
	 * <p>
	 * Transactions fail before they commit, so that they roll back: one that was running
	 * when the lock was taken, and each that the method's thread commits inside of the
	 * method, such as that of a {@code @Transactional} on the same method. For the latter
	 * the transaction manager must be a bean that is a
	 * {@code ConfigurableTransactionManager}, as all of Spring's own are; for any other
	 * kind of bean a warning is logged at start-up. Of reactive transactions, one that
	 * was running rolls back, and that of a {@code @Transactional} on the same method.
	 * Between the last look at the lock and the commit the lock may still be lost: a
	 * store that must not be written late needs a condition of its own.
	 */
	THROW

}
